#include "course/tasks.hpp"

#include <algorithm>
#include <map>

#include "course/held_out.hpp"
#include "tapestry/error.hpp"

namespace tapestry {
namespace {

constexpr const char* separator = "=>";

Words letters_and_separator(Index letters) {
  Words words;
  for (Index i = 0; i < std::min<Index>(letters, 26); ++i) {
    words.emplace_back(1, static_cast<char>('a' + i));
  }
  words.emplace_back(separator);
  return words;
}

// The letters that no other one outnumbers: more than one in a tie.
Words most_frequent(const Words& prompt) {
  std::map<std::string, Index> counts;
  for (const std::string& letter : prompt) ++counts[letter];
  Words result;
  Index most = 0;
  for (const auto& [letter, count] : counts) {
    if (count > most) result.clear();
    if (count >= most) result.push_back(letter);
    most = std::max(most, count);
  }
  return result;
}

// Whether the prompt has one right answer.
bool has_answer(TaskKind kind, const Words& prompt) {
  return kind != TaskKind::majority || most_frequent(prompt).size() == 1;
}

// The texts that have an answer, up to 100 of them. A text is a number whose digits are the
// letters: the first ones are mostly a, so only few have ties.
Index count_without_ties(Index letters, Index length, Index texts) {
  Index count = 0;
  for (Index text = 0; text < texts && count < 100; ++text) {
    Words words;
    Index rest = text;
    for (Index i = 0; i < length; ++i, rest /= letters) {
      words.emplace_back(1, static_cast<char>('a' + rest % letters));
    }
    count += has_answer(TaskKind::majority, words);
  }
  return count;
}

// How many prompts of this length there are, or any number from 100 on.
Index count_prompts(TaskKind kind, Index letters, Index length) {
  if (kind == TaskKind::majority) {
    Index texts = 1;
    for (Index i = 0; i < length && texts < 1000; ++i) texts *= letters;
    return count_without_ties(letters, length, texts);
  }
  Index count = 1;
  for (Index i = 0; i < length && count < 100; ++i) {
    count *= kind == TaskKind::induction ? letters - i : letters;
  }
  return count;
}

void check(TaskKind kind, const TaskSize& size) {
  const std::string name = to_string(kind);
  const auto refuse = [&](const std::string& rule) {
    throw Error(name + " task: " + std::to_string(size.letters) + " letters, prompts of " +
                std::to_string(size.shortest) + " to " + std::to_string(size.longest) + ": " +
                rule);
  };
  if (size.letters < 2 || size.letters > 26) refuse("letters must be 2 to 26.");
  if (size.shortest < 1 || size.shortest > size.longest || size.longest > 1000) {
    refuse("lengths must be 1 to 1000, and the shortest not above the longest.");
  }
  if (kind == TaskKind::induction && size.longest > size.letters) {
    refuse("a prompt repeats no letter and cannot be longer than there are letters.");
  }
  if (kind == TaskKind::induction && size.shortest < 2) {
    refuse("a prompt of induction must have two letters or more.");
  }
  if (count_prompts(kind, size.letters, size.shortest) < 100) {
    refuse("less than 100 prompts of the shortest length. Take longer ones, or more letters.");
  }
}

Words answer(TaskKind kind, Words prompt) {
  if (kind == TaskKind::reverse) std::reverse(prompt.begin(), prompt.end());
  if (kind == TaskKind::sort) std::sort(prompt.begin(), prompt.end());
  if (kind == TaskKind::majority) return most_frequent(prompt);
  return prompt;
}

}  // namespace

std::string to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::copy:
      return "copy";
    case TaskKind::reverse:
      return "reverse";
    case TaskKind::sort:
      return "sort";
    case TaskKind::induction:
      return "induction";
    case TaskKind::majority:
      return "majority";
  }
  return "";
}

TinyTask::TinyTask(TaskKind kind, TaskSize size)
    : kind_(kind), size_(size), vocabulary_(letters_and_separator(size.letters)) {
  check(kind, size);
}

Index TinyTask::length() const {
  if (kind_ == TaskKind::majority) return 1 + size_.longest + 2;  // <bos>, the prompt, =>, a letter
  const Index separators = kind_ == TaskKind::induction ? 0 : 1;
  return 1 + 2 * size_.longest + separators;  // <bos>, the prompt, =>, and as many letters again
}

Words TinyTask::prompt(Part part, Random& random) const {
  const Index length = size_.shortest + random.randint(size_.longest - size_.shortest + 1);
  while (true) {  // ends: check() saw to it that there are prompts enough of either part
    Words words;
    const std::vector<Index> deck = random.permutation(size_.letters);
    for (Index i = 0; i < length; ++i) {
      const Index letter = kind_ == TaskKind::induction ? deck[static_cast<std::size_t>(i)]
                                                        : random.randint(size_.letters);
      words.emplace_back(1, static_cast<char>('a' + letter));
    }
    if (!has_answer(kind_, words)) continue;
    if (is_held_out(words) == (part == Part::held_out)) return words;
  }
}

TaskSequence TinyTask::sequence(Part part, Random& random) const {
  TaskSequence sequence{prompt(part, random), 0, kind_ != TaskKind::induction};
  Words& words = sequence.words;
  Words said = answer(kind_, words);
  if (kind_ == TaskKind::induction) {  // from any letter on, if one comes after it
    said.erase(said.begin(), said.begin() + random.randint(std::ssize(said) - 1));
  } else {
    words.emplace_back(separator);
  }
  sequence.given = std::ssize(words) + (kind_ == TaskKind::induction ? 1 : 0);
  words.insert(words.end(), said.begin(), said.end());
  return sequence;
}

Batch TinyTask::batch(Part part, Index rows, Random& random) const {
  if (rows < 1) throw Error("task: a batch needs 1 row or more, not " + std::to_string(rows) + ".");
  std::vector<TaskSequence> sequences;
  for (Index row = 0; row < rows; ++row) sequences.push_back(sequence(part, random));
  return batch(sequences);
}

Batch TinyTask::batch(const std::vector<TaskSequence>& sequences) const {
  std::vector<Words> texts;
  for (const TaskSequence& sequence : sequences) texts.push_back(sequence.words);
  Batch batch = next_word_batch(vocabulary_, texts);  // (rows, length)
  auto target = batch.targets.values.begin();
  for (const TaskSequence& sequence : sequences) {
    std::fill_n(target, sequence.given, -1);
    if (!sequence.has_end) target[static_cast<Index>(sequence.words.size())] = -1;
    target += batch.targets.shape[1];
  }
  return batch;
}

}  // namespace tapestry
