// Whole layers and whole training steps. Only products of matrices are counted, and of attention
// the visible pairs: norms, activations, Adam and the like are overhead here.
#include <memory>

#include "ours.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/tape.hpp"

namespace tapestry::bench {
namespace {

// Multiply-adds of causal attention, all heads together: forward 2, with the backward pass 7 for
// each visible pair and each number of a row.
double visible_pairs(double batch, double length, double width) {
  return batch * length * (length + 1) / 2 * width;
}

Row layer_row(bool forward_backward) {
  const Index batch = 32, length = 128, width = 512, heads = 8;
  const double rows = double(batch * length), square = double(width * width);
  // Four maps; backward a gradient by each weight, and by the rows of the last one alone.
  const double maps = (forward_backward ? 9 : 4) * rows * square;
  const double seen = (forward_backward ? 7 : 2) * visible_pairs(batch, length, width);
  Row row{"model",
          forward_backward ? "layer both ways" : "layer forward",
          2 * (maps + seen),
          bytes_of((forward_backward ? 12 : 6) * rows * double(width)),
          {}};
  row.name += " B32 L128 d512 h8";
  row.prepare = [=] {
    Random random(42);
    const MultiHeadAttention layer(width, heads, random, {.is_causal = true});
    const Tensor x = numbers({batch, length, width});
    if (!forward_backward) return std::vector<Contestant>{ours([=] { return layer(x); })};
    return std::vector<Contestant>{{"Tapestry", [=] {
                                      Tape tape(layer.parameters());
                                      const Gradients gradients = tape.backward(sum(layer(x)));
                                    }}};
  };
  return row;
}

struct Gpt {
  Index batch, vocabulary, length, width, heads, layers;
};

Indices random_ids(const Gpt& s, Random& random) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(s.batch * s.length));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.randint(s.vocabulary));
  return {{s.batch, s.length}, ids};
}

// Forward, cross entropy, backward, clipping to norm 1, AdamW.
Contestant training_step(const Gpt& s) {
  Random random(42);
  struct State {
    Transformer model;
    AdamW adam;
    Indices ids, targets;
  };
  const Transformer model({.vocab_size = s.vocabulary,
                           .max_length = s.length,
                           .d_model = s.width,
                           .num_heads = s.heads,
                           .num_layers = s.layers},
                          random);
  const auto state = std::make_shared<State>(
      State{model, AdamW(model.parameters(), {.learning_rate = 3e-4, .weight_decay = 0.01}),
            random_ids(s, random), random_ids(s, random)});
  return {"Tapestry", [state] {
            Tape tape(state->model.parameters());
            const Tensor loss = cross_entropy(state->model(state->ids), state->targets);
            Gradients gradients = tape.backward(loss);
            clip_gradient_norm(gradients, 1);
            state->adam.step(gradients);
          }};
}

Row training_row(const Gpt& s) {
  const double tokens = double(s.batch * s.length), layers = double(s.layers);
  const double weights = layers * 12 * double(s.width * s.width) + double(s.width * s.vocabulary);
  const double seen =
      7 * layers * visible_pairs(double(s.batch), double(s.length), double(s.width));
  // Weights are read in both passes and by Adam, which changes them, their means and mean squares.
  Row row{"model", "GPT step", 2 * (3 * tokens * weights + seen), bytes_of(10 * weights), {}};
  const auto add = [&](const char* letter, Index size) {
    row.name += std::string(letter) + std::to_string(size);
  };
  add(" B", s.batch), add(" V", s.vocabulary), add(" L", s.length);
  add(" d", s.width), add(" h", s.heads), add(" n", s.layers);
  row.memory = true;
  row.prepare = [s] { return std::vector<Contestant>{training_step(s)}; };
  return row;
}

}  // namespace

Contestant induction_step() {
  return training_step(
      {.batch = 32, .vocabulary = 22, .length = 13, .width = 64, .heads = 4, .layers = 2});
}

void add_model_rows(std::vector<Row>& rows) {
  for (const bool forward_backward : {false, true}) rows.push_back(layer_row(forward_backward));
  for (const Gpt& size : {Gpt{32, 100, 6, 64, 4, 2},
                          {32, 100, 32, 128, 8, 4},
                          {12, 65, 64, 128, 4, 4},
                          {4, 65, 256, 384, 6, 6}}) {
    rows.push_back(training_row(size));
  }
}

}  // namespace tapestry::bench
