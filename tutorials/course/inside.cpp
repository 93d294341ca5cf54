#include "course/inside.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tapestry/analysis/patterns.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/input_format.hpp"

namespace tapestry {
namespace {

// The key of a letter of the prompt (the first key is <bos>), or -1 if it is not there just once.
std::int32_t key_of(const std::string& letter, const TaskSequence& sequence) {
  const auto begin = sequence.words.begin(), end = begin + sequence.given - 1;
  if (std::count(begin, end, letter) != 1) return -1;
  return static_cast<std::int32_t>(std::find(begin, end, letter) - begin) + 1;
}

}  // namespace

Transformer untrained(const Transformer& model, Initializer initializer, std::uint64_t seed) {
  TransformerOptions options = model.options;
  options.initializer = initializer;
  Random random(seed);
  return Transformer(options, random);
}

TaskSequence example_of(const TinyTask& task, Index letters, Index said, std::uint64_t seed) {
  Random random(seed);
  while (true) {  // ends for lengths that the task draws
    const TaskSequence sequence = task.sequence(Part::held_out, random);
    const Index answer = std::ssize(sequence.words) - sequence.given;
    if (sequence.given == letters + 1 && answer == said) return sequence;
  }
}

TaskSequence with_mixed_prompt(TaskSequence sequence, Random& random) {
  const Words old = sequence.words;
  const std::vector<Index> order = random.permutation(sequence.given - 1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    sequence.words[i] = old[static_cast<std::size_t>(order[i])];
  }
  return sequence;
}

Mask rows_with_targets(const Batch& batch, bool causal) {
  const Index rows = batch.inputs.shape[0], length = batch.inputs.shape[1];
  Tensor keep = Tensor::zeros({rows, length, length});  // (rows, length, length)
  for (Index b = 0; b < rows; ++b) {
    const Index words = batch.lengths[static_cast<std::size_t>(b)];
    for (Index i = 0; i < words; ++i) {
      if (batch.targets.values[static_cast<std::size_t>(b * length + i)] < 0) continue;
      for (Index j = 0; j < (causal ? i + 1 : words); ++j) keep.set({b, i, j}, 1);
    }
  }
  return Mask::from(MaskEncoding::keep, keep);
}

PromptKeys prompt_keys(const TinyTask& task, bool mix) {
  Random random(99);
  std::vector<TaskSequence> before, now;
  std::vector<Words> texts;
  for (int i = 0; i < 200; ++i) {
    before.push_back(task.sequence(Part::held_out, random));
    now.push_back(mix ? with_mixed_prompt(before.back(), random) : before.back());
    texts.push_back(now.back().words);
  }
  PromptKeys keys{next_word_batch(task.vocabulary(), texts), {}, {}, {}};
  const Shape shape = keys.batch.inputs.shape;
  const Indices none(shape, std::vector<std::int32_t>(keys.batch.inputs.values.size(), -1));
  keys.letter = keys.place = keys.behind = none;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    for (Index row = now[t].given; row < std::ssize(texts[t]); ++row) {
      const auto word = texts[t].begin() + row;
      const std::int32_t letter = key_of(*word, now[t]), place = key_of(*word, before[t]);
      const std::int32_t same = key_of(*(word - 1), now[t]), behind = same < 0 ? -1 : same + 1;
      const bool apart = behind > 0 && behind < now[t].given && letter != place &&
                         letter != behind && place != behind;
      if (letter < 0 || (mix && !apart)) continue;
      const std::size_t at = t * static_cast<std::size_t>(shape[1]) + static_cast<std::size_t>(row);
      keys.letter.values[at] = letter;
      keys.place.values[at] = place;
      keys.behind.values[at] = behind;
    }
  }
  return keys;
}

std::vector<Tensor> weights_of(const Transformer& model, const Indices& ids) {
  const Capture seen;
  model(ids, {}, {.need_weights = true});  // (rows, length, vocabulary)
  return captured_weights(seen);
}

Tensor map_of_head(const Transformer& model, const Indices& ids, HeadOf head) {
  const Tensor layer = weights_of(model, ids).at(static_cast<std::size_t>(head.layer));
  return squeeze(squeeze(slice(layer, 1, head.head, head.head + 1), 1), 0);  // (length, length)
}

Indices where_said(const std::string& letters, Indices numbers, const Indices& targets,
                   const Vocabulary& vocabulary) {
  for (std::size_t at = 0; at < numbers.values.size(); ++at) {
    const std::int32_t target = targets.values[at];
    const std::string word = target < 0 ? "" : vocabulary.word(target);
    if (word.size() != 1 || word[0] < letters.front() || word[0] > letters.back()) {
      numbers.values[at] = -1;
    }
  }
  return numbers;
}

namespace {

// The mean of a number over the rows that count.
double mean_of_counted(const Indices& keys,
                       const std::function<double(Index text, Index row, Index key)>& number) {
  double sum = 0, count = 0;
  const Index rows = keys.shape[1];
  for (Index at = 0; at < std::ssize(keys.values); ++at) {
    const Index key = keys.values[static_cast<std::size_t>(at)];
    if (key < 0) continue;
    sum += number(at / rows, at % rows, key);
    count += 1;
  }
  return sum / count;
}

}  // namespace

double mean_weight(const Tensor& weights, Index head, const Indices& keys) {
  return mean_of_counted(keys, [&](Index text, Index row, Index key) {
    return double{weights.at({text, head, row, key})};
  });
}

std::vector<double> mean_weights(const Transformer& model, const Indices& ids,
                                 const Indices& keys) {
  std::vector<double> result;
  for (const Tensor& weights : weights_of(model, ids)) {  // (rows, heads, length, length)
    for (Index head = 0; head < weights.size(1); ++head) {
      result.push_back(mean_weight(weights, head, keys));
    }
  }
  return result;
}

Indices letter_before(const Batch& batch) {
  Indices keys = batch.inputs;  // (rows, length)
  for (std::size_t at = 0; at < keys.values.size(); ++at) {
    const auto place = static_cast<std::int32_t>(static_cast<Index>(at) % keys.shape[1]);
    keys.values[at] = place >= 2 && place <= 4 ? place - 1 : -1;
  }
  return keys;
}

double mean_distance(const Indices& keys) {
  return mean_of_counted(
      keys, [](Index, Index row, Index key) { return static_cast<double>(row - key); });
}

double mean_distance(const Tensor& weights, const Indices& keys) {
  const Tensor by_row = mean(attention_distance(weights), 1);  // (rows, queries)
  return mean_of_counted(
      keys, [&](Index text, Index row, Index) { return double{by_row.at({text, row})}; });
}

double share_said(const Indices& said, const Indices& read, const Indices& keys) {
  double same = 0, count = 0;
  for (std::size_t at = 0; at < keys.values.size(); ++at) {
    const std::int32_t key = keys.values[at];
    if (key < 0) continue;
    const std::size_t row = at - at % static_cast<std::size_t>(keys.shape[1]);
    same += said.values[at] == read.values[row + static_cast<std::size_t>(key)] ? 1 : 0;
    count += 1;
  }
  return same / count;
}

Tensor usual_output(const Tensor& heads, const Batch& batch) {  // (rows, heads, length, d_v)
  const Index rows = heads.size(0), length = heads.size(2);
  Tensor present = Tensor::zeros({rows, 1, length, 1});  // (rows, 1, length, 1)
  for (Index row = 0; row < rows; ++row) {
    for (Index at = 0; at < batch.lengths[static_cast<std::size_t>(row)]; ++at) {
      present.set({row, 0, at, 0}, 1);
    }
  }
  return sum(heads * present, 0, true) / maximum(sum(present, 0, true), 1);
}

namespace {

// In double, and without 1 - p, which float rounds to 0.
double log_odds(const Tensor& logits, const Indices& targets) {
  const std::vector<real> values = logits.values();
  const auto words = static_cast<std::size_t>(logits.size(-1));
  double sum = 0, count = 0;
  for (std::size_t row = 0; row < targets.values.size(); ++row) {
    if (targets.values[row] < 0) continue;
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * words);
    const auto right = static_cast<std::size_t>(targets.values[row]);
    const double most{*std::max_element(begin, begin + static_cast<std::ptrdiff_t>(words))};
    double others = 0;
    for (std::size_t word = 0; word < words; ++word) {
      if (word != right) others += std::exp(double{values[row * words + word]} - most);
    }
    sum += double{values[row * words + right]} - most - std::log(others);
    ++count;
  }
  return sum / count;
}

}  // namespace

void replace_heads(Capture& capture, const Transformer& model, const Batch& batch,
                   const std::vector<HeadOf>& cut, Replacement by) {
  for (const HeadOf& one : cut) {
    Tensor keep = Tensor::ones({model.options.num_heads, 1, 1});  // (heads, 1, 1)
    for (const HeadOf& other : cut) {
      if (other.layer == one.layer) keep.set({other.head, 0, 0}, 0);
    }
    capture.replace("blocks." + std::to_string(one.layer) + ".attention.heads",
                    [&batch, keep, by](const Tensor& heads) {
                      if (by == Replacement::zero)
                        return heads * keep;  // (rows, heads, length, d_v)
                      return heads * keep + usual_output(heads, batch) * (1.0 - keep);
                    });
  }
}

Said said_without(const Transformer& model, const Batch& batch, const std::vector<HeadOf>& cut,
                  Replacement by) {
  Capture reach;
  replace_heads(reach, model, batch, cut, by);
  // (rows, length, vocabulary)
  const Tensor logits = model(batch.inputs, Mask::padding(batch.lengths));
  const double rows{static_cast<double>(batch.inputs.shape[0])};
  return {-double{cross_entropy(logits, batch.targets).item()},
          static_cast<double>(exact_matches(logits, batch.targets)) / rows,
          log_odds(logits, batch.targets)};
}

}  // namespace tapestry
