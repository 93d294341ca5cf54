#include "tapestry/text/batch.hpp"

#include <algorithm>
#include <utility>

#include "tapestry/accuracy.hpp"
#include "tapestry/error.hpp"

namespace tapestry {

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

Batch masked_lm_batch(const Vocabulary& vocabulary, const std::vector<Words>& texts,
                      Random& random) {
  Batch batch{vocabulary.batch(texts), {}, {}};
  const auto longest = static_cast<std::size_t>(batch.inputs.shape[1]);
  std::vector<std::int32_t> targets(batch.inputs.values.size(), -1);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const auto length = static_cast<Index>(texts[row].size());
    if (length == 0) throw Error("hidden words: text " + std::to_string(row) + " has no words.");
    batch.lengths.push_back(length);
    const std::size_t at = row * longest + static_cast<std::size_t>(random.randint(length));
    targets[at] = std::exchange(batch.inputs.values[at], Vocabulary::mask);
  }
  batch.targets = Indices(batch.inputs.shape, std::move(targets));
  return batch;
}

Index exact_matches(const Tensor& logits, const Indices& targets) {
  if (logits.ndim() != 3 || logits.shape().removed(-1) != targets.shape) {
    throw Error("exact_matches: logits are " + to_string(logits.shape()) + ", targets are " +
                to_string(targets.shape) +
                ": logits must be (rows, length, vocabulary), targets (rows, length).");
  }
  targets.check("exact_matches");
  const Indices said = predicted_classes(logits);
  const auto length = static_cast<std::size_t>(targets.shape[1]);
  Index right = 0;
  for (Index row = 0; row < targets.shape[0]; ++row) {
    bool asked = false, wrong = false;
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t at = static_cast<std::size_t>(row) * length + t;
      if (targets.values[at] < 0) continue;
      asked = true;
      wrong |= said.values[at] != targets.values[at];
    }
    right += asked && !wrong;
  }
  return right;
}

}  // namespace tapestry
