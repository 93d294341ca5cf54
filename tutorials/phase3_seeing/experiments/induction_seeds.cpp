// Do the findings of steps 33, 35 and 36 hold for other seeds? The induction model of step 26 with
// ten of them; takes about 2 minutes.
//
// Heads of layer 1 that are named "induction" (step 33); what the log-probability of the letter to
// be said loses when one head of layer 1 is cut (the most of the four), and when all are (step 36);
// how far weights order links as cuts do (logit), of all links and of those of weight 0.5 or more;
// and rank agreement with the derivatives (step 35).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/analysis/jacobian.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr Index steps = 1000;
constexpr int texts = 20;
const TinyTask task(TaskKind::induction, {.longest = 6});

Transformer new_model(std::uint64_t seed) {
  Random random(seed);
  return Transformer({.vocab_size = task.vocabulary().size(),
                      .max_length = 16,
                      .has_feed_forward = false,
                      .initializer = init::lecun_normal},
                     random);
}

Transformer learn(std::uint64_t seed) {
  Transformer model = new_model(41 + seed);
  Adam adam(model.parameters());
  const ScheduleOptions rate = {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps};
  TrainingOptions options{.steps = steps};
  options.learning_rate = [&](Index step) { return cosine_schedule(step, rate); };
  const auto loss = [&](Index step) {
    Random random(seed, static_cast<std::uint64_t>(step));
    const Batch b = task.batch(Part::train, 64, random);  // (64, length)
    return cross_entropy(model(b.inputs), b.targets);     // ()
  };
  train(adam, loss, options);
  return model;
}

// How many heads of layer 1 get the name, as in step 33.
double named(const Transformer& model, std::uint64_t seed) {
  std::vector<TaskSequence> sequences, mixed;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    sequences.push_back(task.sequence(Part::held_out, random));
    mixed.push_back(with_mixed_prompt(sequences.back(), random));
  }
  const auto attended = [&](const Transformer& which, const Batch& batch) {
    return Attended{weights_of(which, batch.inputs)[1], rows_with_targets(batch, true),
                    batch.inputs};
  };
  const Batch text = task.batch(sequences);  // (300, length)
  const auto evidence =
      pattern_evidence(attended(model, text), attended(new_model(1000 + seed), text),
                       attended(model, task.batch(mixed)));
  return static_cast<double>(std::count_if(evidence.begin(), evidence.end(), [](const auto& head) {
    return head_name(head) == "induction";
  }));
}

struct Cuts {
  double one = 0, all = 0;  // log-probability lost: the most by one head, and by all
  double order = 0, strong = 0;
};

// The links of the last query, in 20 sequences.
Cuts cuts(const Transformer& model) {
  Cuts result;
  std::vector<double> by_head(all_heads.size()), weight, lost;
  Random random(3);
  for (int i = 0; i < texts; ++i) {
    const Reader reader = reader_of(model, task, task.sequence(Part::held_out, random).words);
    const Effect whole = reader.without_heads({});
    const Index last = reader.ids.shape[1] - 1;
    const Tensor weights = weights_of(model, reader.ids)[1];  // (1, heads, length, length)
    for (const Index head : all_heads) {
      Tensor of_weight = Tensor::zeros({1, last + 1}), of_cut = of_weight.clone();  // (1, length)
      for (Index key = 0; key <= last; ++key) {
        const double w{weights.at({0, head, last, key})},
            fall = std::abs((whole - reader.with_link(key, {head}, 0)).logit);
        of_weight.set({0, key}, w);
        of_cut.set({0, key}, fall);
        if (w < 0.5) continue;
        weight.push_back(w);
        lost.push_back(fall);
      }
      result.order += double{rank_agreement(of_weight, of_cut).item()} / (4 * texts);
      by_head[static_cast<std::size_t>(head)] +=
          (whole - reader.without_heads({head})).log_probability / texts;
    }
    result.all += (whole - reader.without_heads(all_heads)).log_probability / texts;
  }
  result.one = *std::max_element(by_head.begin(), by_head.end());
  result.strong = correlation(weight, lost);
  return result;
}

struct Agreement {
  double last_layer = 0, rollout = 0, other = 0, even = 0;
};

// Rank agreement with the derivatives, mean of 10 sequences.
Agreement agreement(const Transformer& model) {
  constexpr int few = 10;
  Agreement result;
  Tensor before;  // rollout of the sequence before
  for (int i = 0; i <= few; ++i) {
    const Words words = example_of(task, 6, 4, static_cast<std::uint64_t>(i)).words;
    const Indices ids = task.batch({TaskSequence{words, 7, false}}).inputs;  // (1, length)
    const std::vector<Tensor> layers = weights_of(model, ids);
    const std::vector<Tensor> even(2, uniform_attention(layers[0].shape(), Mask::causal()));
    const Tensor rollout = squeeze(attention_rollout(layers), 0);  // (length, length)
    if (i > 0) {
      const Tensor norms = jacobian_norms([&] { model(ids); }, "embedding", "blocks.1.output");
      const auto with = [&](const Tensor& map) {
        return double{rank_agreement(map, norms, Mask::causal()).item()} / few;
      };
      result.last_layer += with(squeeze(mean(layers[1], 1), 0));
      result.rollout += with(rollout);
      result.other += with(before);
      result.even += with(squeeze(attention_rollout(even), 0));
    }
    before = rollout;
  }
  return result;
}

void print(const char* what, const std::vector<double>& numbers, int digits) {
  std::printf("%-28s", what);
  for (const double number : numbers) std::printf(" %5.*f", digits, number);
  std::printf("\n");
}

}  // namespace

int main() try {
  std::vector<double> names, one, all, order, strong, last_layer, rollout, other, even;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = learn(seed);
    names.push_back(named(model, seed));
    const Cuts c = cuts(model);
    one.push_back(c.one), all.push_back(c.all);
    order.push_back(c.order), strong.push_back(c.strong);
    const Agreement a = agreement(model);
    last_layer.push_back(a.last_layer), rollout.push_back(a.rollout);
    other.push_back(a.other), even.push_back(a.even);
  }
  std::printf("%-28s", "seed");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) std::printf(" %5d", static_cast<int>(seed));
  std::printf("\n");
  print("named induction, of 4", names, 0);
  print("one head cut: ln p falls by", one, 3);
  print("all four cut", all, 3);
  print("weight and cut: same order", order, 2);
  print("  weight >= 0.5: correlation", strong, 2);
  std::printf("rank agreement with the derivatives\n");
  print("  weights of layer 1", last_layer, 2);
  print("  rollout", rollout, 2);
  print("  of another sequence", other, 2);
  print("  of even weights", even, 2);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
