// An experiment for step 6e: what does it cost in training that heads share keys and values? Ten
// seeds of a small decoder that sorts letters; beside it one with a single head. Those with fewer
// parameters are tried with wider feed-forward layers, one with more query heads, too. Is it that
// heads share, or that a position has fewer numbers? Heads of their own from few numbers, and a
// wide head that is shared.
// Takes about four minutes of processor time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/transformer_block.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;

struct Heads {
  Index queries, groups;     // groups: heads of keys and values
  Index feed_forward = 256;  // width of the feed-forward layers
  Index width = 8;           // of a head
  Index few = 0;             // keys and values are made from so many numbers; 0: from all 64

  Index cached() const { return few > 0 ? few : 2 * groups * width; }  // numbers a position
};

// A layer of width 64. Its keys and values can be made from few numbers of a position.
struct Layer : Module {
  TransformerBlock block;
  std::optional<Linear> few;

  Layer(const Heads& heads, Random& random)
      : block(64, heads.queries, random,
              {.attention = {.d_k = heads.width,
                             .d_v = heads.width,
                             .d_context = heads.few,
                             .num_key_value_heads = heads.groups,
                             .is_causal = true},
               .feed_forward = {.d_ff = heads.feed_forward}}) {
    if (heads.few == 0) return;
    few.emplace(64, heads.few, random,
                LinearOptions{.initializer = init::lecun_normal, .bias = false});
    // so that keys and values begin as large as if made from all 64
    const double factor = std::sqrt(64.0 / double(heads.few));
    block.attention.key.weight = block.attention.key.weight * factor;      // (few, heads width)
    block.attention.value.weight = block.attention.value.weight * factor;  // (few, heads width)
  }

  Tensor operator()(const Tensor& x) const {  // shape of x (rows, length, 64)
    if (!few) return block(x);
    const Tensor normed = block.attention_norm(x);                              // as x
    const Tensor y = x + block.attention.cross_attend(normed, (*few)(normed));  // as x
    return y + (*block.feed_forward)((*block.feed_forward_norm)(y));
  }

  Members members() const override { return {{"block", block}, {"few", few}}; }
};

// A decoder of two layers.
struct Decoder : Module {
  Embedding words, positions;
  std::vector<Layer> layers;
  LayerNorm norm;
  Linear out;

  Decoder(const TinyTask& task, const Heads& heads, Random& random)
      : words(task.vocabulary().size(), 64, random),
        positions(task.length(), 64, random),
        norm(64),
        out(64, task.vocabulary().size(), random) {
    for (int i = 0; i < 2; ++i) layers.emplace_back(heads, random);
  }

  Tensor operator()(const Indices& ids) const {  // logits (rows, length, words)
    Tensor x = words(ids) + slice(positions.weight, 0, 0, ids.shape[1]);  // (rows, length, 64)
    for (const Layer& layer : layers) x = layer(x);
    return out(norm(x));
  }

  Members members() const override {
    return {{"words", words},
            {"positions", positions},
            {"layers", layers},
            {"norm", norm},
            {"out", out}};
  }
};

// The loss on held-out prompts after training.
double loss_of(const TinyTask& task, const Heads& heads, std::uint64_t seed) {
  constexpr Index steps = 300;
  Random random(seed);
  Decoder model(task, heads, random);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = steps, .what = ""};
  options.learning_rate = [](Index step) {
    return cosine_schedule(step, {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 20, .steps = steps});
  };
  const auto loss = [&](Part part, Index rows, Random& drawn) {
    const Batch b = task.batch(part, rows, drawn);
    return cross_entropy(model(b.inputs), b.targets);  // logits (rows, length, words)
  };
  train(
      adam,
      [&](Index step) {
        Random drawn(seed, static_cast<std::uint64_t>(step));
        return loss(Part::train, 32, drawn);
      },
      options);
  Random test(99);
  return double{loss(Part::held_out, 300, test).item()};
}

void print(const TinyTask& task, const Heads& heads) {
  std::vector<double> losses;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    losses.push_back(loss_of(task, heads, seed));
    sum += losses.back();
  }
  std::sort(losses.begin(), losses.end());
  Random random(1);
  const Index count = Decoder(task, heads, random).num_parameters();
  std::printf("%11d   %15d   %6d   %10d   %8.3f   %6.3f   %8.3f\n", int(heads.queries),
              int(heads.groups), int(heads.cached()), int(count), losses.front(),
              sum / double(seeds), losses.back());
  std::fflush(stdout);
}

}  // namespace

int main() try {
  std::printf("Experiment 6e_sharing: two layers, 300 steps, 10 seeds; the loss on held-out\n");
  std::printf("prompts of sorting letters. Cached: numbers of a position, in each layer\n\n");
  std::printf(
      "query heads   of keys, values   cached   parameters   smallest     mean    largest\n");
  const TinyTask task(TaskKind::sort);
  print(task, {8, 8});
  print(task, {8, 2});
  print(task, {8, 1});
  print(task, {1, 1});
  print(task, {1, 1, 312});  // about as many parameters as {8, 1}
  print(task, {8, 2, 304});  // and these as many as {8, 8}
  print(task, {8, 1, 312});
  print(task, {16, 1});             // as many, but in the attention
  print(task, {8, 8, 296, 8, 16});  // heads of their own, from as few numbers as {8, 1} has
  print(task, {8, 8, 700});         // about as many parameters as the next
  print(task, {8, 1, 256, 64});     // a shared head with as many numbers as {8, 8} has
  print(task, {8, 8, 256, 64});     // the same, not shared
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
