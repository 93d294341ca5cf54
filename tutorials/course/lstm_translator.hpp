// The translator of steps 68 and 6c: an LSTM reads a sentence, another one writes its translation,
// and attention joins them, as in Luong, Pham & Manning (2015). All parts of the attention are
// written out here.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "course/translation.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/lstm.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

enum class Visibility { nothing, last_state, all_states };

struct LstmTranslatorOptions {
  Visibility visibility = Visibility::all_states;
  Index hidden = 48;             // how many numbers a state has
  bool is_additive = false;      // score v . tanh(W s + U h) (Bahdanau et al. 2015), not s . W h
  bool both_directions = false;  // half of a state reads from the left, half from the right
  // Attention brings the words themselves, not the states, and the output layer sees nothing else:
  // weights are then the only way from a source word to the translation.
  bool words_only = false;
  Index handed_over = 0;  // of the last h and of the last c only so many numbers; 0: all
};

struct LstmTranslator : Module {
  struct Output {
    Tensor logits;   // (rows, target, words)
    Tensor weights;  // (rows, target, source), or one key where only the last state is seen
  };

  LstmTranslatorOptions options;
  Embedding source_words, target_words;
  Lstm encoder, from_the_right, decoder;
  Linear ask, key, score;  // W, U and v
  Linear join, out;

  LstmTranslator(const LstmTranslatorOptions& o, const TranslationTask& task, Random& random)
      : options(o),
        source_words(task.source_words().size(), width, random, init::lecun_normal),
        target_words(task.target_words().size(), width, random, init::lecun_normal),
        encoder(width, o.both_directions ? o.hidden / 2 : o.hidden, random),
        from_the_right(width, o.hidden / 2, random),
        decoder(width, o.hidden, random),
        ask(o.hidden, o.hidden, random, {.bias = false}),
        key(o.hidden, o.hidden, random, {.bias = false}),
        score(o.hidden, 1, random, {.bias = false}),
        join(o.words_only ? width : 2 * o.hidden, o.hidden, random),
        out(o.hidden, task.target_words().size(), random) {}

  Output operator()(const TranslationBatch& b) const {
    Lstm::Output read = this->read(b);  // all: (rows, source, hidden)
    if (options.handed_over > 0) read.last = {narrow(read.last.h), narrow(read.last.c)};
    const bool starts = options.visibility != Visibility::nothing;
    const Tensor states =  // (rows, target, hidden)
        decoder(target_words(b.target.inputs), {}, starts ? read.last : LstmState{}).outputs;
    // The bottleneck is attention over one thing.
    const bool all = options.visibility == Visibility::all_states;
    const Tensor seen = all ? read.outputs : unsqueeze(read.last.h, 1);  // (rows, keys, hidden)
    const Tensor raw = scores(states, seen);                             // (rows, target, keys)
    const Mask mask = all ? Mask::padding(b.source_lengths) : Mask();
    const Tensor weights = softmax(where(mask.tensor(raw.shape()), raw, -infinity));  // as raw
    // (rows, target, hidden), or (rows, target, width) of words alone
    Tensor brought = matmul(weights, options.words_only ? source_words(b.source) : seen);
    if (!starts) brought = Tensor::zeros(brought.shape());
    const Tensor joined = options.words_only ? brought : concat({states, brought}, -1);
    return {out(tanh(join(joined))), weights};
  }

  // What each state s of the decoder thinks of each state h of the encoder. (rows, target, keys)
  Tensor scores(const Tensor& s, const Tensor& h) const {
    if (!options.is_additive) return matmul(ask(s), transpose(h));
    // (rows, target, keys, hidden): each s beside each h
    const Tensor pairs = tanh(unsqueeze(ask(s), 2) + unsqueeze(key(h), 1));
    return squeeze(score(pairs), -1);  // (rows, target, keys)
  }

  Lstm::Output read(const TranslationBatch& b) const {
    const Lstm::Output forward = encoder(source_words(b.source), b.source_lengths);
    if (!options.both_directions) return forward;
    const Indices turned = backwards(b);  // places, the same turn there and back
    const auto turn = [&](const Tensor& x) {
      return embedding(reshape(x, {-1, x.size(-1)}), turned);  // x's shape: (rows, source, width)
    };
    const Lstm::Output other = from_the_right(turn(source_words(b.source)), b.source_lengths);
    return {
        concat({forward.outputs, turn(other.outputs)}, -1),
        {concat({forward.last.h, other.last.h}, -1), concat({forward.last.c, other.last.c}, -1)}};
  }

  Members members() const override {
    const bool all = options.visibility == Visibility::all_states, both = options.both_directions;
    return {{"source", source_words},
            {"target", target_words},
            {"encoder", encoder},
            {"from_the_right", both ? &from_the_right : nullptr},
            {"decoder", decoder},
            {"ask", all ? &ask : nullptr},
            {"key", options.is_additive ? &key : nullptr},
            {"score", options.is_additive ? &score : nullptr},
            {"join", join},
            {"out", out}};
  }

 private:
  static constexpr Index width = 32;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  Tensor narrow(const Tensor& state) const {  // (rows, hidden)
    return concat({slice(state, 1, 0, options.handed_over),
                   Tensor::zeros({state.size(0), options.hidden - options.handed_over})},
                  1);
  }

  // Of each word the place, in a list of all rows, of the word as far from the other end of its
  // sentence. Padding stays where it is. (rows, source)
  static Indices backwards(const TranslationBatch& b) {
    Indices places = b.source;
    const auto length = static_cast<std::size_t>(b.source.shape[1]);
    for (std::size_t at = 0; at < places.values.size(); ++at) {
      const std::size_t row = at / length, i = at % length;
      const auto words = static_cast<std::size_t>(b.source_lengths[row]);
      places.values[at] = static_cast<std::int32_t>(row * length + (i < words ? words - 1 - i : i));
    }
    return places;
  }
};

inline LstmTranslator learn(const LstmTranslatorOptions& options, const TranslationTask& task,
                            std::uint64_t seed, Index steps = 500) {
  Random random(seed);
  LstmTranslator model(options, task, random);
  Adam adam(model.parameters());
  TrainingOptions how{.steps = steps, .what = ""};
  how.learning_rate = [steps](Index step) {
    return cosine_schedule(step, {.peak = 1e-2, .floor = 2e-4, .warmup_steps = 20, .steps = steps});
  };
  const auto loss_of_step = [&](Index step) {
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const TranslationBatch b = task.batch(Part::train, 32, drawn);
    return cross_entropy(model(b).logits, b.target.targets);  // logits (rows, target, words)
  };
  train(adam, loss_of_step, how);
  return model;
}

}  // namespace tapestry
