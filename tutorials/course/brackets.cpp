#include "course/brackets.hpp"

#include <array>

#include "course/held_out.hpp"
#include "tapestry/error.hpp"

namespace tapestry {
namespace {

constexpr std::array opening = {"(", "[", "{"}, closing = {")", "]", "}"};

BracketSize checked(const BracketSize& size) {
  const auto refuse = [&](const std::string& rule) {
    throw Error("brackets task: " + std::to_string(size.kinds) + " kinds, " +
                std::to_string(size.fewest) + " to " + std::to_string(size.most) +
                " pairs, depth " + std::to_string(size.depth) + ": " + rule);
  };
  if (size.kinds < 2 || size.kinds > std::ssize(opening)) refuse("kinds must be 2 or 3.");
  if (size.fewest < 4 || size.fewest > size.most || size.most > 500) {
    refuse("pairs must be 4 to 500, and the fewest not above the most.");
  }
  if (size.depth < 2) refuse("the depth must be 2 or more.");
  return size;
}

Words brackets(Index kinds) {
  Words words(opening.begin(), opening.begin() + kinds);
  words.insert(words.end(), closing.begin(), closing.begin() + kinds);
  return words;
}

Words draw(const BracketSize& size, Random& random) {
  Index left = size.fewest + random.randint(size.most - size.fewest + 1);  // pairs not yet opened
  std::vector<std::size_t> open;  // kinds of the open brackets, the latest last
  Words words;
  while (left > 0 || !open.empty()) {
    const bool may_open = left > 0 && std::ssize(open) < size.depth;
    if (may_open && (open.empty() || random.randint(2) == 0)) {
      open.push_back(static_cast<std::size_t>(random.randint(size.kinds)));
      words.emplace_back(opening[open.back()]);
      --left;
    } else {
      words.emplace_back(closing[open.back()]);
      open.pop_back();
    }
  }
  return words;
}

}  // namespace

BracketTask::BracketTask(BracketSize size)
    : size_(checked(size)), vocabulary_(brackets(size.kinds)) {}

Words BracketTask::text(Part part, Random& random) const {
  while (true) {  // ends: of the fewest pairs there are 128 texts or more, some of either part
    const Words words = draw(size_, random);
    if (is_held_out(words) == (part == Part::held_out)) return words;
  }
}

Batch BracketTask::batch(Part part, Index rows, Random& random) const {
  if (rows < 1) {
    throw Error("brackets task: a batch needs 1 row or more, not " + std::to_string(rows) + ".");
  }
  std::vector<Words> texts;
  for (Index row = 0; row < rows; ++row) texts.push_back(text(part, random));
  Batch batch = next_word_batch(vocabulary_, texts);  // (rows, length)
  const std::int32_t first = vocabulary_.id(opening[0]), end = vocabulary_.id(closing[0]);
  for (std::int32_t& target : batch.targets.values) {
    if (target >= first && target < end) target = -1;  // an opening bracket
  }
  return batch;
}

}  // namespace tapestry
