#include "recorded_run.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "detectors.hpp"
#include "measures.hpp"
#include "recording.hpp"
#include "tapestry/analysis/lens.hpp"
#include "tapestry/analysis/question.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::command {
namespace {

static_assert(std::endian::native == std::endian::little, "blocks are little-endian");

template <class Number>
Json append(std::vector<std::byte>& bytes, std::span<const Number> numbers, const Shape& shape) {
  const std::size_t at = bytes.size();
  bytes.resize(at + numbers.size_bytes());
  if (!numbers.empty()) std::memcpy(bytes.data() + at, numbers.data(), numbers.size_bytes());
  return {{"at", at}, {"shape", std::vector<Index>(shape.begin(), shape.end())}};
}

// JSON has no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json pair_of(const Spread& spread) {
  return Json::array({number(spread.mean), number(spread.deviation)});
}

// ---- Maps

// weights (heads, length, length) -> (heads, length (length + 1) / 2): no later keys.
Tensor lower_triangles(const Tensor& weights) {
  const Index heads = weights.size(0), length = weights.size(1);
  const std::vector<real> all = weights.values();
  std::vector<real> kept;
  kept.reserve(all.size() / 2 + static_cast<std::size_t>(heads * length));
  for (Index row = 0; row < heads * length; ++row) {
    const auto begin = all.begin() + row * length;
    kept.insert(kept.end(), begin, begin + row % length + 1);
  }
  return Tensor({heads, length * (length + 1) / 2}, kept);
}

Tensor flat(const Tensor& weights) {
  return reshape(weights, {weights.size(0), -1});  // (heads, length length)
}

// weights (heads, length, length) -> (heads, bins, bins)
Tensor pooled(const Tensor& weights) {
  const Index heads = weights.size(0), length = weights.size(1), bins = std::min(length, most_bins);
  std::vector<double> sums(static_cast<std::size_t>(heads * bins * bins));
  std::vector<Index> bin_of(static_cast<std::size_t>(length)), size(std::size_t(bins), 0);
  for (Index bin = 0; bin < bins; ++bin) {
    for (Index i = bin * length / bins; i < (bin + 1) * length / bins; ++i) {
      bin_of[static_cast<std::size_t>(i)] = bin;
      ++size[static_cast<std::size_t>(bin)];
    }
  }
  const std::vector<real> all = weights.values();
  for (std::size_t at = 0; at < all.size(); ++at) {
    const std::size_t n = static_cast<std::size_t>(length), key = at % n, query = at / n % n;
    const Index row = static_cast<Index>(at / n / n) * bins + bin_of[query];
    sums[static_cast<std::size_t>(row * bins + bin_of[key])] += double{all[at]};
  }
  std::vector<real> means;
  for (std::size_t at = 0; at < sums.size(); ++at) {
    const std::size_t n = static_cast<std::size_t>(bins);
    means.push_back(static_cast<real>(sums[at] / static_cast<double>(size[at / n % n])));
  }
  return Tensor({heads, bins, bins}, means);
}

// What was added to the scaled scores for the distance of key and query: (heads, 2 length - 1).
Tensor distance_bias(const Tensor& scores, const Tensor& query, const Tensor& key,
                     const MultiHeadAttention& attention) {
  const Index heads = query.size(0), length = query.size(1);
  const double scale =
      attention.scores.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(2))));
  const double cap = attention.scores.softcap;
  const Mask mask = mask_of(attention);
  Tensor bias = Tensor::zeros({heads, 2 * length - 1});
  const Tensor products = matmul(query, transpose(key)) * scale;  // (heads, length, length)
  for (Index distance = 1 - length; distance < length; ++distance) {
    const Index i = std::max<Index>(0, -distance), j = i + distance;
    if (!mask.allows(0, i, j)) continue;
    for (Index head = 0; head < heads; ++head) {
      const double scaled = double{products.at({head, i, j})};
      const double capped = cap > 0 ? cap * std::tanh(scaled / cap) : scaled;
      bias.set({head, distance + length - 1}, double{scores.at({head, i, j})} - capped);
    }
  }
  return bias;
}

// ---- What heads do

Json patterns_of(const std::vector<Evidence>& of_head, bool baselines) {
  Json list = Json::array();
  for (const Evidence& one : of_head) {
    Json entry = {{"score", number(one.score.mean)},
                  {"offset", one.offset},
                  {"uniform", number(one.uniform)}};
    if (baselines) {
      entry["untrained"] = pair_of(one.untrained);
      entry["shuffled"] = pair_of(one.shuffled);
      entry["letter"] = pair_of(one.letter);
      entry["place"] = pair_of(one.place);
    }
    list.push_back(entry);
  }
  return list;
}

// weights (heads, length, length)
void add_measures(Json& layer, const Tensor& weights, const Mask& mask) {
  for (Index head = 0; head < weights.size(0); ++head) {
    const Measures found =
        measure(squeeze(slice(weights, 0, head, head + 1), 0), mask);  // (length, length)
    layer["entropy"].push_back(number(found.entropy));
    layer["even_entropy"].push_back(number(found.even_entropy));
    layer["distance"].push_back(number(found.distance));
    layer["even_distance"].push_back(number(found.even_distance));
  }
}

// One layer of a run, from what was captured.
class Layer {
 public:
  Layer(const Subject& subject, const Capture& seen, Index number)
      : attention_(subject.model.attention(number)),
        causal_(subject.model.options().is_causal),
        seen_(seen),
        prefix_("blocks." + std::to_string(number) + ".attention.") {}

  Tensor part(const char* name) const { return squeeze(seen_[prefix_ + name], 0); }
  Attended attended(const Indices& ids) const {
    return {seen_[prefix_ + "weights"], mask_of(attention_), ids};
  }

  // `layers`: of the whole model.
  Json json(Block& block, Index layers) const {
    const Tensor weights = part("weights");  // (heads, length, length)
    const bool fits = layers * weights.numel() / (causal_ ? 2 : 1) <= most_weights;
    Json result;
    for (const char* name : {"query", "key", "value"}) result[name] = block.add(part(name));
    result["weights"] = !fits     ? Json(nullptr)
                        : causal_ ? block.add(lower_triangles(weights))
                                  : block.add(flat(weights));
    result["pooled"] = fits ? Json(nullptr) : block.add(pooled(weights));
    result["bias"] = has_bias() ? block.add(bias()) : Json(nullptr);
    add_measures(result, weights, mask_of(attention_));
    return result;
  }

 private:
  bool has_bias() const {
    return attention_.positions == Positions::alibi || attention_.relative.has_value();
  }
  Tensor bias() const {
    const Tensor key = squeeze(attention_.by_heads(seen_[prefix_ + "key"]), 0);
    return distance_bias(part("scores"), part("query"), key, attention_);
  }

  const MultiHeadAttention& attention_;
  bool causal_;
  const Capture& seen_;
  std::string prefix_;
};

Json layers_of(const Subject& subject, const Reading& reading, const Capture& seen,
               const Detected& detected, Block& block) {
  Indices text = reading.ids;
  text.shape = {1, reading.ids.shape[0]};
  const Index count = subject.model.options().num_layers;
  Json layers = Json::array();
  for (Index i = 0; i < count; ++i) {
    const Layer layer(subject, seen, i);
    const bool baselines = !detected.empty();
    const Attended attended = layer.attended(text);
    const auto evidence = baselines ? detected[static_cast<std::size_t>(i)]
                                    : pattern_evidence(attended, attended, attended);
    Json entry = layer.json(block, count);
    for (const auto& of_head : evidence) {
      entry["patterns"].push_back(patterns_of(of_head, baselines));
      entry["named"].push_back(baselines ? Json(head_name(of_head)) : Json(nullptr));
    }
    layers.push_back(entry);
  }
  return layers;
}

// ---- What the model says

// The likeliest words of each row of shares (rows, vocabulary).
struct Likeliest {
  std::size_t count;  // in each row
  std::vector<std::int32_t> words = {};
  std::vector<real> probabilities = {};

  void add(const Tensor& shares, const Subject& subject, WordList& list) {
    const std::vector<real> all = shares.values();
    const std::size_t width = static_cast<std::size_t>(shares.size(1));
    std::vector<std::int32_t> order(width);
    for (std::size_t at = 0; at < all.size(); at += width) {
      std::iota(order.begin(), order.end(), 0);
      const auto above = [&](std::int32_t a, std::int32_t b) {
        const real x = all[at + std::size_t(a)], y = all[at + std::size_t(b)];
        return x > y || (x == y && a < b);
      };
      std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(count), order.end(), above);
      for (std::size_t i = 0; i < count; ++i) {
        words.push_back(list.at(subject.word(order[i])));
        probabilities.push_back(all[at + static_cast<std::size_t>(order[i])]);
      }
    }
  }
};

std::size_t at_most(std::size_t count, const Tensor& logits) {
  return std::min(count, static_cast<std::size_t>(logits.size(-1)));
}

// logits (length, vocabulary)
Json next_of(const Subject& subject, const Reading& reading, const Tensor& logits, Block& block,
             WordList& words) {
  const Index length = reading.ids.shape[0];
  const Tensor shares = softmax(logits);  // (length, vocabulary)
  Likeliest found{at_most(10, logits)};
  found.add(shares, subject, words);
  const Index ahead = subject.guess == Guess::next_word ? 1 : 0;
  Tensor actual = Tensor::zeros({length});
  for (Index i = 0; i < length; ++i) {
    const bool known = i + ahead < length;
    const Index id = known ? reading.ids.values[static_cast<std::size_t>(i + ahead)] : 0;
    actual.set({i}, known ? double{shares.at({i, id})} : std::nan(""));
  }
  const Shape shape = {length, static_cast<Index>(found.count)};
  return {{"words", block.add(found.words, shape)},
          {"probabilities", block.add(Tensor(shape, found.probabilities))},
          {"actual", block.add(actual)}};
}

// The residual stream as the changes left it.
Tensor changed_streams(const Subject& subject, const Capture& seen) {
  std::vector<Tensor> streams;  // (1, length, d_model)
  const auto add = [&](const std::string& name) {
    const Tensor& x = seen[name];  // (length, d_model), or with a batch of 1
    streams.push_back(reshape(x, {1, x.size(-2), x.size(-1)}));
  };
  add("embedding");
  for (Index i = 0; i < subject.model.options().num_layers; ++i) {
    add("blocks." + std::to_string(i) + ".output");
  }
  return concat(streams, 0);  // (layers + 1, length, d_model)
}

// A lens (layers + 1, length): what each layer would say. Of large vocabularies the logits of
// all positions at once would not fit into memory. streams (layers + 1, length, d_model): the run
// that stores its weights holds them but for the last bits (1e-6); without changes a run of its own
// gives the numbers of `tapestry lens`.
Json lens_of(const Subject& subject, const Tensor& streams, const Tensor& logits, Block& block,
             WordList& words) {
  const Transformer& model = subject.model.transformer();
  const Index layers = streams.size(0), length = streams.size(1);
  std::vector<std::int32_t> last;  // what is said in the end
  for (Index i = 0; i < length; ++i) last.push_back(likeliest_token(logits, i));
  Likeliest found{at_most(5, logits)};
  Tensor final = Tensor::zeros({layers, length});
  constexpr Index most = 32;
  for (Index layer = 0; layer < layers; ++layer) {
    for (Index begin = 0; begin < length; begin += most) {
      const Index end = std::min(begin + most, length);
      const Tensor part = slice(slice(streams, 0, layer, layer + 1), 1, begin, end);
      const Tensor shares = squeeze(softmax(model.read_out(part)), 0);  // (end - begin, vocabulary)
      found.add(shares, subject, words);
      for (Index i = begin; i < end; ++i) {
        const Index id = last[static_cast<std::size_t>(i)];
        final.set({layer, i}, double{shares.at({i - begin, id})});
      }
    }
  }
  const Shape shape = {layers, length, static_cast<Index>(found.count)};
  return {{"words", block.add(found.words, shape)},
          {"probabilities", block.add(Tensor(shape, found.probabilities))},
          {"final", block.add(final)}};
}

}  // namespace

Json Block::add(const Tensor& numbers) {
  std::vector<float> floats;
  for (const real value : numbers.values()) floats.push_back(static_cast<float>(value));
  return append(bytes, std::span<const float>(floats), numbers.shape());
}

Json Block::add(std::span<const std::int32_t> numbers, const Shape& shape) {
  return append(bytes, numbers, shape);
}

std::int32_t WordList::at(const std::string& word) {
  const auto [place, is_new] = places.try_emplace(word, static_cast<std::int32_t>(words.size()));
  if (is_new) words.push_back(word);
  return place->second;
}

Json recorded_run(const Subject& subject, const Reading& reading, const Changes& changes,
                  bool baselines, Block& block, WordList& words) {
  const Detected detected = baselines ? detect(subject, reading.ids) : Detected{};
  Json run;
  const bool says = subject.guess != Guess::other;
  const bool has_lens = says && !subject.model.is_one_head();
  Tensor logits, streams;  // (length, vocabulary) and (layers + 1, length, d_model)
  {
    Capture seen;
    change(seen, subject, reading, changes);
    logits = subject.model(reading.ids, {.need_weights = true});
    run["layers"] = layers_of(subject, reading, seen, detected, block);
    if (has_lens && !changes.empty()) streams = changed_streams(subject, seen);
  }
  if (has_lens && changes.empty()) {
    streams = residual_streams(subject.model.transformer(), reading.ids);
  }
  run["next"] = says ? next_of(subject, reading, logits, block, words) : Json(nullptr);
  run["lens"] = has_lens ? lens_of(subject, streams, logits, block, words) : Json(nullptr);
  return run;
}

}  // namespace tapestry::command
