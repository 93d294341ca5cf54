#include "tapestry/text/batch.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

bool is_greatest(std::span<const real> logits, std::size_t target) {
  if (target >= logits.size()) return false;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const bool wins = i < target ? logits[target] > logits[i] : logits[target] >= logits[i];
    if (!wins) return false;
  }
  return true;
}

struct Row {  // how many positions have a target, and at how many of them it is the greatest
  Index asked = 0, right = 0;
};

std::vector<Row> count_right(const char* name, const Tensor& logits, const Indices& targets) {
  if (logits.rank() != 3 || logits.shape().removed(-1) != targets.shape) {
    throw Error(std::string(name) + ": logits are " + to_string(logits.shape()) + ", targets are " +
                to_string(targets.shape) +
                ": logits must be (rows, length, vocabulary), targets (rows, length).");
  }
  targets.check(name);
  const Tensor dense = logits.contiguous();
  const auto classes = static_cast<std::size_t>(dense.size(2));
  std::vector<Row> rows(static_cast<std::size_t>(dense.size(0)));
  for (std::size_t at = 0; at < targets.values.size(); ++at) {
    if (targets.values[at] < 0) continue;
    const real* first = dense.data() + at * classes;
    Row& row = rows[at / static_cast<std::size_t>(dense.size(1))];
    ++row.asked;
    row.right += is_greatest({first, classes}, static_cast<std::size_t>(targets.values[at]));
  }
  return rows;
}

}  // namespace

Batch next_word_batch(const Vocabulary& vocabulary, const std::vector<Words>& texts) {
  Batch batch;
  std::size_t longest = 0;
  for (const Words& words : texts) {
    batch.lengths.push_back(static_cast<Index>(words.size() + 1));
    longest = std::max(longest, words.size() + 1);
  }
  const Shape shape = {static_cast<Index>(texts.size()), static_cast<Index>(longest)};
  std::vector<std::int32_t> inputs(texts.size() * longest, Vocabulary::pad);
  std::vector<std::int32_t> targets(texts.size() * longest, -1);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    std::size_t at = row * longest;
    inputs[at] = Vocabulary::bos;
    for (const std::string& word : texts[row]) {
      targets[at] = inputs[at + 1] = vocabulary.id(word);
      ++at;
    }
    targets[at] = Vocabulary::eos;
  }
  batch.inputs = Indices(shape, std::move(inputs));
  batch.targets = Indices(shape, std::move(targets));
  return batch;
}

Batch hidden_word_batch(const Vocabulary& vocabulary, const std::vector<Words>& texts,
                        Random& random) {
  Batch batch{vocabulary.batch(texts), {}, {}};
  const auto longest = static_cast<std::size_t>(batch.inputs.shape[1]);
  std::vector<std::int32_t> targets(batch.inputs.values.size(), -1);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const auto length = static_cast<Index>(texts[row].size());
    if (length == 0) throw Error("hidden words: text " + std::to_string(row) + " has no words.");
    batch.lengths.push_back(length);
    const std::size_t at = row * longest + static_cast<std::size_t>(random.below(length));
    targets[at] = std::exchange(batch.inputs.values[at], Vocabulary::mask);
  }
  batch.targets = Indices(batch.inputs.shape, std::move(targets));
  return batch;
}

Index rows_right(const Tensor& logits, const Indices& targets) {
  Index right = 0;
  for (const Row& row : count_right("rows_right", logits, targets)) {
    right += row.asked > 0 && row.right == row.asked;
  }
  return right;
}

double words_right(const Tensor& logits, const Indices& targets) {
  Row all;
  for (const Row& row : count_right("words_right", logits, targets)) {
    all.asked += row.asked;
    all.right += row.right;
  }
  return all.asked == 0 ? 0 : static_cast<double>(all.right) / static_cast<double>(all.asked);
}

}  // namespace tapestry
