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
  if (logits.rank() != 3 || logits.shape().removed(-1) != targets.shape) {
    throw Error("rows_right: logits are " + to_string(logits.shape()) + ", targets are " +
                to_string(targets.shape) +
                ": logits must be (rows, length, vocabulary), targets (rows, length).");
  }
  const Tensor dense = logits.contiguous();
  const auto classes = static_cast<std::size_t>(dense.size(2));
  Index right = 0;
  for (Index row = 0; row < dense.size(0); ++row) {
    Index asked = 0, said = 0;
    for (Index at = row * dense.size(1); at < (row + 1) * dense.size(1); ++at) {
      const std::int32_t target = targets.values[static_cast<std::size_t>(at)];
      if (target < 0) continue;
      const real* first = dense.data() + at * dense.size(2);
      ++asked;
      said += is_greatest({first, classes}, static_cast<std::size_t>(target));
    }
    right += asked > 0 && said == asked;
  }
  return right;
}

}  // namespace tapestry
