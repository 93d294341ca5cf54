// An experiment for step 6e: what does it cost in training that heads share keys and values? Ten
// seeds of a small decoder that sorts letters; beside it one with a single head. Those with fewer
// parameters are tried with wider feed-forward layers, too.
// Takes about six minutes of processor time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/transformer_block.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;

struct Heads {
  Index queries, groups;     // groups: heads of keys and values
  Index feed_forward = 256;  // width of the feed-forward layers
};

// A decoder of two layers with heads of width 8.
struct Decoder : Module {
  Embedding words, positions;
  std::vector<TransformerBlock> blocks;
  LayerNorm norm;
  Linear out;

  Decoder(const TinyTask& task, const Heads& heads, Random& random)
      : words(task.vocabulary().size(), 64, random),
        positions(task.length(), 64, random),
        norm(64),
        out(64, task.vocabulary().size(), random) {
    const MultiHeadAttentionOptions attention{
        .d_k = 8, .d_v = 8, .num_key_value_heads = heads.groups, .is_causal = true};
    const TransformerBlockOptions options{.attention = attention,
                                          .feed_forward = {.d_ff = heads.feed_forward}};
    for (int i = 0; i < 2; ++i) blocks.emplace_back(64, heads.queries, random, options);
  }

  Tensor operator()(const Indices& ids) const {  // logits (rows, length, words)
    Tensor x = words(ids) + slice(positions.weight, 0, 0, ids.shape[1]);  // (rows, length, 64)
    for (const TransformerBlock& block : blocks) x = block(x);
    return out(norm(x));
  }

  Members members() const override {
    return {{"words", words},
            {"positions", positions},
            {"blocks", blocks},
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
  const Index count = Decoder(task, heads, random).parameter_count();
  std::printf("%11d   %15d   %10d   %8.3f   %6.3f   %8.3f\n", int(heads.queries), int(heads.groups),
              int(count), losses.front(), sum / double(seeds), losses.back());
  std::fflush(stdout);
}

}  // namespace

int main() try {
  std::printf(
      "Experiment 6e_sharing: two layers, heads of width 8, 300 steps, 10 seeds; the loss\n");
  std::printf("on held-out prompts of sorting letters\n\n");
  std::printf("query heads   of keys, values   parameters   smallest     mean    largest\n");
  const TinyTask task(TaskKind::sort);
  print(task, {8, 8});
  print(task, {8, 2});
  print(task, {8, 1});
  print(task, {1, 1});
  print(task, {1, 1, 312});  // about as many parameters as {8, 1}
  print(task, {8, 2, 304});  // and these as many as {8, 8}
  print(task, {8, 1, 312});
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
