#include "course/tasks.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

using Ids = std::vector<std::int32_t>;

constexpr TaskKind kinds[] = {TaskKind::copy, TaskKind::reverse, TaskKind::sort,
                              TaskKind::induction, TaskKind::majority};

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

// The letters before "=>"; of induction, before the first that comes again.
std::string prompt_of(const TaskSequence& sequence) {
  const std::string text = joined(sequence.words);
  const std::size_t end = text.find("=>");
  return text.substr(0, end == text.npos ? static_cast<std::size_t>(sequence.given) - 1 : end);
}

// Of induction: the place in the prompt where the repetition begins.
std::size_t start_of(const TaskSequence& sequence) {
  const std::string first = sequence.words[static_cast<std::size_t>(sequence.given) - 1];
  return prompt_of(sequence).find(first);
}

// `start`: of the repetition, for induction.
std::string expected(TaskKind kind, std::string prompt, std::size_t start = 0) {
  if (kind == TaskKind::induction) return prompt + prompt.substr(start);
  std::string answer = prompt;
  if (kind == TaskKind::reverse) answer = {prompt.rbegin(), prompt.rend()};
  if (kind == TaskKind::sort) std::sort(answer.begin(), answer.end());
  if (kind == TaskKind::majority) {
    const auto count = [&](char letter) {
      return std::count(prompt.begin(), prompt.end(), letter);
    };
    answer = *std::max_element(prompt.begin(), prompt.end(),
                               [&](char a, char b) { return count(a) < count(b); });
  }
  return prompt + "=>" + answer;
}

}  // namespace

TEST_CASE("each task gives the right answer, for every length it may have", "[phase2][text]") {
  for (const TaskKind kind : kinds) {
    CAPTURE(to_string(kind));
    const TinyTask task(kind);
    Random random(1);
    std::map<std::size_t, int> lengths;
    for (int i = 0; i < 1000; ++i) {
      const TaskSequence sequence = task.sequence(i % 2 ? Part::train : Part::held_out, random);
      const std::string prompt = prompt_of(sequence);
      ++lengths[prompt.size()];
      const std::size_t start = kind == TaskKind::induction ? start_of(sequence) : 0;
      CHECK(joined(sequence.words) == expected(kind, prompt, start));
      CHECK(sequence.given == static_cast<Index>(prompt.size()) + 1);
      CHECK(sequence.has_end == (kind != TaskKind::induction));
      CHECK(std::all_of(prompt.begin(), prompt.end(), [](char c) { return c >= 'a' && c <= 'p'; }));
    }
    CHECK(lengths.size() == 5);
    for (const auto& [length, count] : lengths) CHECK(std::abs(count - 200) < 64);  // 5 deviations
  }
}

TEST_CASE("a task knows the length of its longest row", "[phase2][text]") {
  for (const TaskKind kind : kinds) {
    for (const Index longest : {4, 7}) {
      const TinyTask task(kind, {.longest = longest});
      Random random(1);
      CHECK(task.batch(Part::train, 100, random).inputs.shape[1] == task.length());
    }
  }
}

TEST_CASE("no letter comes twice in a prompt of induction", "[phase2][text]") {
  const TinyTask task(TaskKind::induction, {.letters = 8, .shortest = 3, .longest = 8});
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const std::string prompt = prompt_of(task.sequence(Part::train, random));
    CHECK(std::set<char>(prompt.begin(), prompt.end()).size() == prompt.size());
  }
}

TEST_CASE("induction repeats from any letter that another one follows", "[phase2][text]") {
  const TinyTask task(TaskKind::induction, {.shortest = 5, .longest = 5});
  Random random(3);
  std::map<std::size_t, int> starts;
  for (int i = 0; i < 1000; ++i) ++starts[start_of(task.sequence(Part::train, random))];
  CHECK(starts.size() == 4);
  CHECK(starts.rbegin()->first == 3);
  for (const auto& [start, count] : starts) CHECK(std::abs(count - 250) < 70);  // 5 deviations
  CHECK(complaint([] { TinyTask(TaskKind::induction, {.letters = 26, .shortest = 1}); },
                  {"induction task", "must have two letters or more"}) == "");
}

TEST_CASE("what is held out is never trained on, in any task", "[phase2][text]") {
  std::set<std::string> parts[2];
  for (const TaskKind kind : kinds) {
    const Index shortest = kind == TaskKind::majority ? 3 : 2;
    const TinyTask task(kind, {.letters = 12, .shortest = shortest, .longest = 3});
    for (const Part part : {Part::train, Part::held_out}) {
      Random random(part == Part::train ? 1 : 2, static_cast<std::uint64_t>(kind));
      for (int i = 0; i < 3000; ++i) {
        parts[part == Part::train].insert(prompt_of(task.sequence(part, random)));
      }
    }
  }
  // Nearly all of 144 + 1728 prompts were seen, each in one part, one in ten in the second.
  const std::size_t all = parts[0].size() + parts[1].size();
  CHECK(all > 1800);
  CHECK(std::abs(static_cast<double>(parts[0].size()) - 0.1 * 1872) < 5 * std::sqrt(1872 * 0.09));
  for (const std::string& prompt : parts[0]) CHECK(parts[1].count(prompt) == 0);
}

TEST_CASE("a batch asks for the answer only, and tells the lengths", "[phase2][text]") {
  for (const TaskKind kind : kinds) {
    CAPTURE(to_string(kind));
    const TinyTask task(kind, {.letters = 16, .shortest = 3, .longest = 5});
    Random random(7), again(7);
    const Batch batch = task.batch(Part::train, 20, random);
    const auto columns = static_cast<std::size_t>(batch.inputs.shape[1]);
    std::size_t longest = 0;
    for (std::size_t row = 0; row < 20; ++row) {
      const TaskSequence one = task.sequence(Part::train, again);
      const Ids ids = task.vocabulary().encode(one.words).values;
      Ids inputs(columns, Vocabulary::pad), targets(columns, -1);
      inputs[0] = Vocabulary::bos;
      std::copy(ids.begin(), ids.end(), inputs.begin() + 1);
      std::copy(ids.begin() + one.given, ids.end(), targets.begin() + one.given);
      if (kind != TaskKind::induction) targets[ids.size()] = Vocabulary::eos;
      const auto at = static_cast<std::ptrdiff_t>(row * columns);
      CHECK(std::equal(inputs.begin(), inputs.end(), batch.inputs.values.begin() + at));
      CHECK(std::equal(targets.begin(), targets.end(), batch.targets.values.begin() + at));
      CHECK(batch.lengths[row] == static_cast<Index>(ids.size()) + 1);
      longest = std::max(longest, ids.size() + 1);
    }
    CHECK(columns == longest);
  }
}

TEST_CASE("one sequence of each task, written out", "[phase2][text]") {
  for (const TaskKind kind : kinds) {
    const TinyTask task(kind, {.letters = 10, .shortest = 3, .longest = 3});
    CHECK(task.vocabulary().size() == 16);
    CHECK(task.vocabulary().id("=>") == 15);
    Random random(1);
    const Batch batch = task.batch(Part::held_out, 1, random);
    std::string prompt;
    for (std::size_t i = 1; i < 4; ++i)
      prompt += static_cast<char>('a' + batch.inputs.values[i] - 5);
    const bool induction = kind == TaskKind::induction;
    const std::size_t start = induction && batch.inputs.values[4] != batch.inputs.values[1];
    Ids expected_targets;
    for (const char sign : expected(kind, prompt, start)) {
      if (sign == '>') continue;  // "=>" is one word
      expected_targets.push_back(sign == '=' ? 15 : sign - 'a' + 5);
    }
    expected_targets.push_back(induction ? -1 : Vocabulary::eos);
    std::fill_n(expected_targets.begin(), 4, -1);
    CHECK(batch.targets.values == expected_targets);
  }
}

TEST_CASE("a seed gives the same batch again", "[phase2][text]") {
  const TinyTask task(TaskKind::sort);
  const auto values = [&](std::uint64_t seed) {
    Random random(seed);
    return task.batch(Part::train, 8, random).inputs.values;
  };
  CHECK(values(1) == values(1));
  CHECK(values(1) != values(2));
  CHECK(to_string(TaskKind::copy) == "copy");
}

TEST_CASE("both parts have prompts of every length, for the smallest tasks that are allowed",
          "[phase2][text]") {
  const TaskSize smallest[] = {{2, 7, 7}, {3, 5, 5}, {4, 4, 4}, {5, 3, 3}, {10, 2, 2}, {26, 2, 2}};
  Random random(1);
  for (const TaskSize& size : smallest) {
    const TinyTask task(TaskKind::copy, size);
    for (const Part part : {Part::train, Part::held_out}) {
      CHECK(task.sequence(part, random).given > size.shortest);
    }
  }
  for (const TaskSize& size : {TaskSize{2, 7, 7}, {3, 5, 5}, {4, 4, 4}, {7, 3, 3}, {26, 3, 3}}) {
    const TinyTask task(TaskKind::majority, size);
    for (const Part part : {Part::train, Part::held_out}) {
      CHECK(task.sequence(part, random).given == size.shortest + 1);
    }
  }
  for (const TaskSize& size : {TaskSize{11, 2, 2}, {6, 3, 3}, {6, 6, 6}, {5, 4, 5}}) {
    const TinyTask task(TaskKind::induction, size);
    for (const Part part : {Part::train, Part::held_out}) {
      CHECK(task.sequence(part, random).given > size.shortest);
    }
  }
}

TEST_CASE("without sizes, tasks have 16 letters and prompts of 4 to 8", "[phase2][text]") {
  const auto values = [](const TinyTask& task) {
    Random random(3);
    return task.batch(Part::train, 200, random).inputs.values;
  };
  CHECK(values(TinyTask(TaskKind::copy)) == values(TinyTask(TaskKind::copy, {16, 4, 8})));
}

TEST_CASE("sizes that make no task are refused", "[phase2][text]") {
  const auto refused = [](TaskKind kind, TaskSize size, const char* words) {
    return complaint([&] { TinyTask(kind, size); }, {words});
  };
  CHECK(refused(TaskKind::copy, {27, 4, 8}, "copy task: 27 letters, prompts of 4 to 8: ") == "");
  CHECK(refused(TaskKind::copy, {1, 4, 8}, "letters must be 2 to 26") == "");
  CHECK(refused(TaskKind::copy, {-1, 4, 8}, "letters must be 2 to 26") == "");
  CHECK(refused(TaskKind::sort, {16, 5, 4}, "the shortest not above the longest") == "");
  CHECK(refused(TaskKind::sort, {16, 0, 4}, "lengths must be 1 to 1000") == "");
  CHECK(refused(TaskKind::sort, {16, 1, 4}, "less than 100 prompts of the shortest") == "");
  CHECK(refused(TaskKind::induction, {8, 4, 9}, "a prompt repeats no letter") == "");
  CHECK(refused(TaskKind::induction, {10, 2, 2}, "less than 100 prompts") == "");
  CHECK(refused(TaskKind::majority, {26, 2, 2}, "less than 100 prompts") == "");  // 26 have no tie
  CHECK(refused(TaskKind::majority, {6, 3, 3}, "less than 100 prompts") == "");   // 96
  CHECK(refused(TaskKind::majority, {2, 6, 6}, "less than 100 prompts") == "");   // 44
  Random random(1);
  CHECK(TinyTask(TaskKind::copy).batch(Part::train, 1, random).lengths.size() == 1);
  CHECK(TinyTask(TaskKind::copy, {2, 1000, 1000}).length() == 2002);
  CHECK(refused(TaskKind::copy, {2, 1000, 1001}, "lengths must be 1 to 1000") == "");
  CHECK(TinyTask(TaskKind::induction, {6, 3, 6}).length() == 13);
  CHECK(TinyTask(TaskKind::majority, {2, 1000, 1000}).length() == 1003);
  CHECK(complaint([&] { TinyTask(TaskKind::copy).batch(Part::train, 0, random); },
                  {"a batch needs 1 row or more, not 0"}) == "");
}
