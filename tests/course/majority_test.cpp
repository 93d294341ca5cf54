// The task of tasks.hpp to say which letter occurs most often, and what guesses reach.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "catch.hpp"
#include "course/tasks.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

std::string prompt_of(const TaskSequence& sequence) {
  std::string prompt;
  for (const std::string& word : sequence.words) {
    if (word == "=>") return prompt;
    prompt += word;
  }
  return "no =>";
}

// Of letters in alphabetical order: the longest run of one letter. All of them in a tie.
std::string longest_runs(std::string text) {
  std::sort(text.begin(), text.end());
  std::string letters;
  std::size_t longest = 0;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = std::min(text.find_first_not_of(text[at], at), text.size());
    if (end - at > longest) letters.clear();
    if (end - at >= longest) letters += text[at];
    longest = std::max(longest, end - at);
  }
  return letters;
}

// Of prompts of majority: the letter that this guess says.
using Guess = std::function<char(const std::string& prompt)>;

double share_right(const Guess& guess) {
  const TinyTask task(TaskKind::majority, few_letters);
  Random random(4);
  int right = 0;
  for (int i = 0; i < 20000; ++i) {
    const TaskSequence sequence = task.sequence(Part::held_out, random);
    right += sequence.words.back() == std::string(1, guess(prompt_of(sequence)));
  }
  return right / 20000.0;
}

// The latest letter that stands twice in a row, or the last one.
char latest_pair(const std::string& prompt) {
  for (std::size_t at = prompt.size() - 1; at > 0; --at) {
    if (prompt[at] == prompt[at - 1]) return prompt[at];
  }
  return prompt.back();
}

// What occurs most often among the last `count` letters; in a tie, any of these by chance.
Guess in_the_last(std::size_t count) {
  return [count, random = std::make_shared<Random>(5)](const std::string& prompt) {
    const std::string letters = longest_runs(prompt.substr(prompt.size() - count));
    return letters[static_cast<std::size_t>(random->randint(std::ssize(letters)))];
  };
}

// Where a head that gives each letter the same weight finds most: its weights of one letter, added.
char by_equal_weights(const std::string& prompt) {
  const Index length = std::ssize(prompt);
  Tensor values = Tensor::zeros({length, 4});
  for (Index i = 0; i < length; ++i) values.set({i, prompt[static_cast<std::size_t>(i)] - 'a'}, 1);
  const Tensor query = Tensor::zeros({1, 8}), keys = Random(6).normal({length, 8});
  const Tensor found = attention(query, keys, values).output;  // (1, 4)
  return static_cast<char>('a' + argmax(found, -1).values[0]);
}

}  // namespace

TEST_CASE("one letter of majority occurs most often, and each one equally often",
          "[phase5][text]") {
  const TinyTask task(TaskKind::majority, {.letters = 3, .shortest = 5, .longest = 6});
  Random random(3);
  std::set<std::string> prompts;
  std::map<std::string, int> answers;
  for (int i = 0; i < 6000; ++i) {
    const TaskSequence sequence = task.sequence(i % 2 ? Part::train : Part::held_out, random);
    const std::string prompt = prompt_of(sequence);
    CHECK(longest_runs(prompt).size() == 1);
    if (i % 2) prompts.insert(prompt), ++answers[sequence.words.back()];
  }
  CHECK(answers.size() == 3);
  for (const auto& [letter, count] : answers) CHECK(std::abs(count - 1000) < 130);  // 5 deviations
  // 3^5 and 3^6 texts, less 90 and 150 with a tie, less one in ten that is held out.
  CHECK(std::abs(std::ssize(prompts) - 0.9 * 732) < 5 * std::sqrt(732 * 0.09));
}

// The numbers of majority at the top of tasks.hpp.
TEST_CASE("guesses without counting are often right about the majority, equal weights always",
          "[phase5][text]") {
  const auto near = [](double share) { return Approx(share).margin(0.015); };
  CHECK(share_right([](const std::string&) { return 'a'; }) == near(0.25));
  CHECK(share_right([](const std::string& prompt) { return prompt.back(); }) == near(0.5));
  CHECK(share_right([](const std::string& prompt) { return prompt.front(); }) == near(0.5));
  CHECK(share_right(in_the_last(3)) == near(0.61));
  CHECK(share_right(latest_pair) == near(0.78));
  CHECK(share_right(in_the_last(5)) == near(0.79));
  CHECK(share_right(by_equal_weights) == 1);
}
