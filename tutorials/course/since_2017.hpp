// What step 71 and its experiment train: the block of 2017 and what changed since, each alone and
// all together, on the stories of stories.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "course/stories.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/training.hpp"

namespace tapestry::since_2017 {

constexpr Index merges = 160, longest = 160;  // most tokens of a story

struct StoryBatch : Batch {
  Indices again;  // the targets in words that were said before; -1 for all others
};

// Stories as tokens.
class Stories {
 public:
  Stories() : tokenizer_(byte_pair_tokenizer(learn_byte_pairs(many(1000), merges))) {}

  const Tokenizer& tokenizer() const { return tokenizer_; }

  // inputs (rows, length): <|endoftext|> and the tokens of a story; targets: the next token, and -1
  // behind the last. `bits`: the entropy of these stories, in all.
  StoryBatch batch(Index rows, Random& random, double* bits = nullptr) const {
    std::vector<Indices> stories, agains;
    Index length = 0;
    for (Index row = 0; row < rows; ++row) {
      const Story one = story(random);
      if (bits != nullptr) *bits += one.bits;
      stories.push_back(tokenizer_.encode(one.text));   // (tokens)
      agains.push_back(again_of(one, stories.back()));  // (tokens)
      length = std::max(length, stories.back().shape[0]);
    }
    const std::int32_t begin = tokenizer_.size() - 1;
    StoryBatch batch;
    for (std::size_t row = 0; row < stories.size(); ++row) {
      const Indices& ids = stories[row];
      std::vector<std::int32_t> inputs{begin}, targets = ids.values;
      inputs.insert(inputs.end(), ids.values.begin(), ids.values.end() - 1);
      inputs.resize(static_cast<std::size_t>(length), begin);
      targets.resize(static_cast<std::size_t>(length), -1);
      agains[row].values.resize(static_cast<std::size_t>(length), -1);
      batch.inputs.values.insert(batch.inputs.values.end(), inputs.begin(), inputs.end());
      batch.targets.values.insert(batch.targets.values.end(), targets.begin(), targets.end());
      batch.again.values.insert(batch.again.values.end(), agains[row].values.begin(),
                                agains[row].values.end());
    }
    batch.inputs.shape = batch.targets.shape = batch.again.shape = {rows, length};
    return batch;
  }

 private:
  static std::string many(int count) {
    Random random(0);
    std::string text;
    for (int i = 0; i < count; ++i) text += story(random).text;
    return text;
  }

  // The tokens of a story that have a byte of such a word; -1 for all others.
  Indices again_of(const Story& one, Indices ids) const {
    std::size_t begin = 0;
    for (std::int32_t& id : ids.values) {
      const std::size_t end = begin + tokenizer_.bytes_of(id).size();
      const bool again = std::any_of(one.again.begin(), one.again.end(), [&](const auto& word) {
        return begin < word.second && word.first < end;
      });
      if (!again) id = -1;
      begin = end;
    }
    return ids;
  }

  Tokenizer tokenizer_;
};

struct Variant {
  std::string name;
  TransformerOptions options;
};

// As in 2017: the norm behind, LayerNorm, ReLU, learned positions (the paper has sinusoids, and
// found both alike), each head with keys and values of its own, an lm_head of its own.
inline TransformerOptions of_2017(Index words) {
  return {.vocab_size = words,
          .max_length = longest,
          .d_model = 64,
          .num_heads = 4,
          .num_layers = 2,
          .d_ff = 256,
          .norm_place = NormPlace::post,
          .activation = Activation::relu,
          .initializer = init::lecun_normal};
}

inline Index parameters_of(const TransformerOptions& options) {
  Random random(1);
  return Transformer(options, random).num_parameters();
}

// The same with the width of the feed-forward layers that comes closest to `count` parameters.
inline TransformerOptions as_large_as(Index count, TransformerOptions options) {
  options.d_ff = 1;
  const Index least = parameters_of(options);
  options.d_ff = 2;
  const Index each = parameters_of(options) - least;
  options.d_ff = 1 + (2 * (count - least) + each) / (2 * each);  // rounded
  return options;
}

using Change = void (*)(TransformerOptions&);
struct Named {
  const char* name;
  Change change;
};
inline const Named changes[] = {
    {"norm in front", [](TransformerOptions& o) { o.norm_place = NormPlace::pre; }},
    {"RMS norm", [](TransformerOptions& o) { o.norm_kind = NormKind::rms; }},
    {"SwiGLU",
     [](TransformerOptions& o) {
       o.activation = Activation::silu;
       o.gated = true;
     }},
    {"rotary positions", [](TransformerOptions& o) { o.positions = Positions::rotary; }},
    {"grouped queries", [](TransformerOptions& o) { o.num_key_value_heads = 2; }},
    {"tied logits", [](TransformerOptions& o) { o.tied_logits = true; }},
};

// 2017, each change alone, all together; each with as many parameters as that of 2017.
inline std::vector<Variant> variants(Index words) {
  const TransformerOptions first = of_2017(words);
  const Index count = parameters_of(first);
  std::vector<Variant> all{{"2017", first}};
  TransformerOptions together = first;
  for (const auto& [name, change] : changes) {
    TransformerOptions options = first;
    change(options);
    change(together);
    all.push_back({name, as_large_as(count, options)});
  }
  all.push_back({"all six", as_large_as(count, together)});
  return all;
}

constexpr Index rows = 8;

struct Result {
  Transformer model;
  std::vector<double> losses;  // of each step
};

// Without `warmup`, a tenth of the steps.
inline Result trained(const Stories& stories, const TransformerOptions& options, Index seed,
                      Index steps, double rate, const std::string& what = "", Index warmup = -1) {
  if (warmup < 0) warmup = steps / 10;
  Random random{static_cast<std::uint64_t>(seed), 0};
  Transformer model(options, random);
  Adam adam(model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data{static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(step)};
    const Batch b = stories.batch(rows, data);         // (rows, length)
    return cross_entropy(model(b.inputs), b.targets);  // logits (rows, length, words)
  };
  TrainingOptions training{.steps = steps, .what = what};
  training.learning_rate = [=](Index step) {
    return cosine_schedule(
        step, {.peak = rate, .floor = rate / 20, .warmup_steps = warmup, .steps = steps});
  };
  const Training run = train(adam, loss_of_step, training);
  return {model, run.losses};
}

struct Bits {
  double model, entropy;  // of a story: what the model needs, and what no model can be below
  double again = 0;       // of what it needs, in words that were said before
};

// Of 200 stories that no model was trained on. nats(batch): what all targets of a batch cost.
template <class Nats>
Bits bits_for(const Stories& stories, Nats nats) {
  Random random(1'000'000);
  Bits bits{0, 0};
  for (int part = 0; part < 4; ++part) {
    const StoryBatch b = stories.batch(50, random, &bits.entropy);  // (50, length)
    bits.model += nats(b);
  }
  return {bits.model / std::log(2.0) / 200, bits.entropy / 200};
}

inline Bits bits_of(const Stories& stories, const Transformer& model) {
  const auto nats = [](const Tensor& logits, const Indices& targets) {
    return double{sum_of_losses(logits, targets).loss_sum.item()};
  };
  double again = 0;
  Bits bits = bits_for(stories, [&](const StoryBatch& b) {
    const Tensor logits = model(b.inputs);  // (50, length, words)
    again += nats(logits, b.again);
    return nats(logits, b.targets);
  });
  bits.again = again / std::log(2.0) / 200;
  return bits;
}

}  // namespace tapestry::since_2017
