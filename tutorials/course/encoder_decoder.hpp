// The translator of step 69 and of its experiment: an encoder and a decoder made of attention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/translation.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/nn/transformer_block.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

struct EncoderDecoder : Module {
  static constexpr Index width = 48, heads = 4;

  Embedding source_words, target_words;
  TransformerBlock encoder;  // self-attention over the source, and a feed-forward part
  LayerNorm encoded_norm;
  TransformerBlock said;  // masked self-attention over the target, without feed-forward
  LayerNorm cross_norm;
  MultiHeadAttention cross;  // queries from the target, keys and values from the source
  LayerNorm feed_forward_norm;
  FeedForward feed_forward;
  LayerNorm last_norm;
  Linear out;

  EncoderDecoder(const TranslationTask& task, Random& random)
      : source_words(task.source_words().size(), width, random, init::lecun_normal),
        target_words(task.target_words().size(), width, random, init::lecun_normal),
        encoder(width, heads, random,
                {.attention = {.initializer = init::xavier_uniform},
                 .feed_forward = {.initializer = init::xavier_uniform}}),
        encoded_norm(width),
        said(width, heads, random,
             {.attention = {.is_causal = true, .initializer = init::xavier_uniform},
              .has_feed_forward = false}),
        cross_norm(width),
        cross(width, heads, random, {.initializer = init::xavier_uniform}),
        feed_forward_norm(width),
        feed_forward(width, random, {.initializer = init::xavier_uniform}),
        last_norm(width),
        out(width, task.target_words().size(), random, {.initializer = init::xavier_uniform}) {}

  // -> logits (rows, length of the target, words)
  Tensor operator()(const TranslationBatch& b, const ForwardContext& pass = {}) const {
    const Tensor encoded = encode(b, pass);  // (rows, source, width)
    return decode(b.target.inputs, encoded, Mask::padding(b.source_lengths), pass);
  }

  // -> (rows, source, width)
  Tensor encode(const TranslationBatch& b, const ForwardContext& pass) const {
    const Capture::Name name("source");
    const Tensor x = placed(source_words(b.source));  // (rows, source, width)
    return encoded_norm(
        encoder(x, Mask::padding(b.source_lengths), pass));  // (rows, source, width)
  }

  // -> logits (rows, target, words). Padding behind the target needs no mask: it comes later, and
  // has no part in the loss.
  Tensor decode(const Indices& target, const Tensor& encoded, const Mask& source_mask,
                const ForwardContext& pass) const {
    Tensor y = look_back(placed(target_words(target)), pass);  // (rows, target, width)
    const Capture::Name name("cross");
    y = y + cross.cross_attend(cross_norm(y), encoded, source_mask, pass);  // (rows, target, width)
    return out(last_norm(y + feed_forward(feed_forward_norm(y))));          // (rows, target, words)
  }

  Tensor look_back(const Tensor& x, const ForwardContext& pass) const {  // x's shape
    const Capture::Name name("target");
    return said(x, {}, pass);
  }

  static Tensor placed(const Tensor& x) {  // x's shape
    return x + sinusoidal_positions(x.size(1), width);
  }

  Members members() const override {
    return {{"source_words", source_words},
            {"target_words", target_words},
            {"encoder", encoder},
            {"encoded_norm", encoded_norm},
            {"said", said},
            {"cross_norm", cross_norm},
            {"cross", cross},
            {"feed_forward_norm", feed_forward_norm},
            {"feed_forward", feed_forward},
            {"last_norm", last_norm},
            {"out", out}};
  }
};

// In all passes that are compared: one algorithm, so that rounding does not tell variants apart.
constexpr ForwardContext stored = {.need_weights = true};

// Replaces recorded tensors by zeros, "target.attention.output" say.
inline void ablate(Capture& capture, const std::vector<const char*>& names) {
  for (const char* name : names) {
    capture.replace(name, [](const Tensor& x) { return Tensor::zeros(x.shape()); });
  }
}

// Trains a model in which these are ablated from the first step on.
inline EncoderDecoder learn(const std::vector<const char*>& ablated, const TranslationTask& task,
                            std::uint64_t seed, Index steps = 500) {
  Random random(seed);
  EncoderDecoder model(task, random);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = steps, .what = ""};
  options.learning_rate = [steps](Index step) {
    return cosine_schedule(step, {.peak = 5e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps});
  };
  const auto loss_of_step = [&](Index step) {
    Capture capture;
    ablate(capture, ablated);
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const TranslationBatch b = task.batch(Part::train, 32, drawn);
    return cross_entropy(model(b, stored), b.target.targets);  // logits (rows, target, words)
  };
  train(adam, loss_of_step, options);
  return model;
}

// The last word of a sentence: how often it is a verb, and has the right stem and the right ending.
struct Verb {
  double any = 0, stem = 0, ending = 0;  // an ending counts only where the word is a verb
};

// kac-in, kac-en: of the other words only one preposition ends so.
inline bool is_verb_form(const std::string& word) {
  return (word.ends_with("in") || word.ends_with("en")) && word != "visin";
}

// Where the verb is said: a row of the decoder for each sentence, counted over the whole batch.
inline std::vector<std::size_t> verb_rows(const TranslationBatch& b) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < b.target.lengths.size(); ++i) {
    rows.push_back(i * static_cast<std::size_t>(b.target.inputs.shape[1]) +
                   static_cast<std::size_t>(b.target.lengths[i]) - 2);
  }
  return rows;
}

// 1 where a verb is said, 0 elsewhere: (rows, target).
inline Tensor says_verb(const TranslationBatch& b) {
  Tensor says = Tensor::zeros({b.target.inputs.shape[0] * b.target.inputs.shape[1]});
  for (const std::size_t row : verb_rows(b)) says.set({static_cast<Index>(row)}, 1);
  return reshape(says, b.target.inputs.shape);
}

// What a part brings where a verb is said, the mean over the batch: 1 row of x, which is
// (rows, heads, target, d) or (rows, target, d).
inline Tensor usual_for_verbs(const Tensor& x, const TranslationBatch& b) {
  const Index rows = x.size(0), target = x.size(-2);
  const Tensor at =
      reshape(says_verb(b), x.ndim() == 4 ? Shape{rows, 1, target, 1} : Shape{rows, target, 1});
  return sum(x * at, {0, -2}, true) / double(rows);
}

// The heads of a set (bit h: head h), "0 2" say; "none".
inline std::string head_numbers(unsigned set) {
  std::string text;
  for (Index head = 0; head < EncoderDecoder::heads; ++head) {
    if (set >> head & 1U) text += (text.empty() ? "" : " ") + std::to_string(head);
  }
  return text.empty() ? "none" : text;
}

// What the output of an ablated part becomes.
enum class Instead { zeros, mean_of_verbs };

// The verb without these heads of the cross-attention (bit h: head h), and without what else is
// ablated; given the right words before it.
inline Verb verb_without(const EncoderDecoder& model, const TranslationTask& task,
                         const TranslationBatch& b, unsigned heads,
                         const std::vector<const char*>& ablated = {},
                         Instead by = Instead::zeros) {
  Tensor keep = Tensor::ones({EncoderDecoder::heads, 1, 1});  // (heads, 1, 1)
  for (Index head = 0; head < EncoderDecoder::heads; ++head) {
    if (heads >> head & 1U) keep.set({head, 0, 0}, 0);
  }
  const auto instead = [&](const Tensor& x) {  // of x's shape
    const Tensor zeros = Tensor::zeros(x.shape());
    return by == Instead::zeros ? zeros : zeros + usual_for_verbs(x, b);
  };
  Capture capture;
  for (const char* name : ablated) capture.replace(name, instead);
  capture.replace("cross.heads",
                  [&](const Tensor& x) { return x * keep + instead(x) * (1.0 - keep); });
  const Indices said = predicted_classes(model(b, stored));  // (rows, target)
  Verb right;
  for (const std::size_t at : verb_rows(b)) {
    const std::string word = task.target_words().word(said.values[at]);
    const std::string verb = task.target_words().word(b.target.targets.values[at]);
    if (!is_verb_form(word)) continue;
    const std::size_t stem = word.size() - 2;  // an ending has two letters
    right.any += 1;
    right.stem += word.substr(0, stem) == verb.substr(0, verb.size() - 2);
    right.ending += word.substr(stem) == verb.substr(verb.size() - 2);
  }
  const auto rows = static_cast<double>(b.target.lengths.size());
  return {right.any / rows, right.stem / rows, right.ending / rows};
}

// The first noun becomes one of the other class, in the source or in the words given to the
// decoder; there the adjective behind it may take its ending. The other side and the targets stay.
enum class Side { source, given, given_with_adjective };
inline TranslationBatch swapped(const TranslationTask& task, TranslationBatch b, Side side) {
  Indices& ids = side == Side::source ? b.source : b.target.inputs;
  // In both vocabularies the eight nouns stand together, four of each class.
  const std::int32_t first =
      side == Side::source ? task.source_words().id("cats") : task.target_words().id("gati");
  for (std::size_t row = 0; row < b.target.lengths.size(); ++row) {
    std::size_t at = row * static_cast<std::size_t>(ids.shape[1]);
    while (ids.values[at] < first || ids.values[at] >= first + 8) ++at;
    ids.values[at] = first + (ids.values[at] - first + 4) % 8;
    if (side != Side::given_with_adjective) continue;
    const std::string next = task.target_words().word(ids.values[at + 1]);
    for (const std::string stem : {"pikol", "vek", "ner", "svelt"}) {
      if (next == stem + 'i') ids.values[at + 1] = task.target_words().id(stem + 'e');
      if (next == stem + 'e') ids.values[at + 1] = task.target_words().id(stem + 'i');
    }
  }
  return b;
}

}  // namespace tapestry
