// The trainings that steps 53, 54 and 58 share with their experiments.
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "course/entropy_runs.hpp"
#include "course/head_counts.hpp"
#include "course/induction_runs.hpp"
#include "course/trained_by_hand.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("a crossing counts once it lasts", "[phase5]") {
  CHECK(lasting_crossing({4, 3, 2, 1, 0}, 0.5) == Approx(10));
  CHECK(lasting_crossing({4, 3, 2, 1, 0}, 0.25) == Approx(5));
  CHECK(lasting_crossing({4, 1, 3, 1, 0}, 0.5) == Approx(12.5));  // below 2 at once, not for good
  CHECK(lasting_crossing({0, 3, 1, 3, 4}, 0.5) == Approx(12.5));  // likewise upwards
  CHECK(lasting_crossing({4, 0, 0, 0, 0}, 0.5) == Approx(2.5));
}

TEST_CASE("a control passes the marks of another loss, or never does", "[phase5]") {
  EntropyRun run, control;
  run.losses = {4, 3, 2, 1, 0};
  control.losses = {4.5, 3.5, 3.5, 2.5, 1.5};
  CHECK(control_crossing(control, run, 0.25) == Approx(12.5));  // below 3 for good
  CHECK(control_crossing(control, run, 0.5) == Approx(17.5));
  CHECK(control_crossing(control, run, 0.75) == std::nullopt);
  control.losses.back() = 0.5;
  CHECK(control_crossing(control, run, 0.75) == Approx(18.75));
}

TEST_CASE("the heads of a layer that lost a quarter of uniform entropy count", "[phase5]") {
  EntropyRun run;
  run.uniform = 2;
  run.entropies = {{2, 2, 2}, {2, 1, 0}, {2, 1.8, 1.6}, {2, 2, 0},  // layer 0
                   {2, 2, 2}, {2, 2, 2}, {2, 2, 2},     {2, 1, 1.5}};
  CHECK(layer_crossing(run, 0, 0.5).heads == 2);
  CHECK(layer_crossing(run, 0, 0.5).step == Approx((5 + 7.5) / 2));
  CHECK(layer_crossing(run, 1, 0.5).heads == 1);
  run.entropies[7] = {2, 1, 1.6};
  CHECK(layer_crossing(run, 1, 0.5).heads == 0);
}

TEST_CASE("entropy is measured every five steps; kept uniform it is that of uniform attention",
          "[phase5]") {
  for (const EntropyProblem& problem : entropy_problems()) {
    const EntropyRun run = train_with_entropies(problem, 55, 1, true);
    CHECK(run.steps.size() == 12);
    CHECK(run.steps[1] == 5);
    CHECK(run.steps.back() == 55);
    CHECK(run.losses.size() == 12);
    CHECK(run.losses.back() < run.losses.front());
    REQUIRE(run.entropies.size() == static_cast<std::size_t>(4 * problem.options.num_layers));
    for (const std::vector<double>& entropy : run.entropies) {
      CHECK(entropy.back() == Approx(run.uniform).epsilon(1e-4));
    }
  }
  const EntropyRun run = train_with_entropies(entropy_problems()[1], 55, 1);
  CHECK(run.entropies[0].back() < 0.9 * run.uniform);
}

TEST_CASE("step 53 trains on 32 texts at a time, with a rate that rises and falls", "[phase5]") {
  const EntropyProblem problem = entropy_problems()[1];
  Random start(2), fresh(77);
  const Transformer model(problem.options, start);
  const Batch test = problem.draw(Part::held_out, 60, fresh);  // (60, length)
  train_by_hand(model, {3e-3, 1e-4, 50, 55}, [&](Index step) {
    Random random(2, static_cast<std::uint64_t>(step));
    const Batch b = problem.draw(Part::train, 32, random);  // (32, length)
    return cross_entropy(model(b.inputs), b.targets);       // logits (32, length, vocabulary)
  });
  const double loss{cross_entropy(model(test.inputs), test.targets).item()};
  CHECK(train_with_entropies(problem, 55, 2).losses.back() == Approx(loss).epsilon(1e-5));
}

TEST_CASE("the problems of step 53: steps, layers and words", "[phase5]") {
  const std::vector<EntropyProblem> problems = entropy_problems();
  REQUIRE(problems.size() == 3);
  const Index steps[] = {450, 240, 800}, layers[] = {1, 2, 2}, words[] = {96, 22, 22};
  for (std::size_t i = 0; i < 3; ++i) {
    const TransformerOptions& options = problems[i].options;
    CHECK(problems[i].steps == steps[i]);
    CHECK(options.num_layers == layers[i]);
    CHECK(options.vocab_size == words[i]);
    CHECK(options.max_length == 16);
    CHECK_FALSE(options.has_feed_forward);
    CHECK(options.is_causal == (i > 0));
    Random random(1);
    CHECK(problems[i].draw(Part::train, 7, random).inputs.shape[0] == 7);
  }
}

TEST_CASE("steps to learn: the number of weights, and a limit", "[phase5]") {
  const TinyTask task(TaskKind::reverse, {.shortest = 3, .longest = 5});
  CHECK(model_with_heads(task, {4, 16, 16}, 1).num_parameters() ==
        model_with_heads(task, {1, 64, 64}, 1).num_parameters());
  CHECK(model_with_heads(task, {4, 16, 16}, 1).num_parameters() -
            model_with_heads(task, {4, 4, 16}, 1).num_parameters() ==
        2 * 2 * 64 * 4 * 12);  // layers, queries and keys, d_model, heads, narrower by 12
  const StepsToLearn few = steps_to_learn(task, {4, 16, 16}, 1, 40);
  CHECK(few.steps == 40);
  CHECK_FALSE(few.done);
  CHECK(few.right.size() == 2);
  const StepsToLearn enough = steps_to_learn(task, {4, 16, 16}, 1, 400);
  CHECK(enough.done);
  CHECK(enough.steps < 400);
  CHECK(enough.right.back() >= 0.99);
  CHECK(enough.right.size() == static_cast<std::size_t>(enough.steps / 20));
}

TEST_CASE("step 54 trains on 32 texts at a time, with a rate that rises for 50 steps", "[phase5]") {
  const TinyTask task(TaskKind::reverse, {.shortest = 3, .longest = 5});
  const Transformer model = model_with_heads(task, {4, 16, 16}, 3);
  Random fresh(77);
  const Batch test = task.batch(Part::held_out, 200, fresh);  // (200, length)
  std::vector<double> right;
  Index step_made = 0;
  train_by_hand(model, {3e-3, 3e-3, 50, 81}, [&](Index step) {
    if (step_made > 0 && step_made % 20 == 0) {
      right.push_back(double(exact_matches(model(test.inputs), test.targets)) / 200);
    }
    step_made = step;
    Random random(3, static_cast<std::uint64_t>(step));
    const Batch b = task.batch(Part::train, 32, random);  // (32, length)
    return cross_entropy(model(b.inputs), b.targets);     // logits (32, length, vocabulary)
  });
  const StepsToLearn found = steps_to_learn(task, {4, 16, 16}, 3, 80);
  CHECK(found.right == right);
  CHECK(right.back() > 0);
  CHECK(found.milliseconds > 0.01);
  CHECK(found.milliseconds < 10000);
}

TEST_CASE("repetitions ask for each letter that can be known", "[phase5]") {
  Random random(1);
  const Batch batch = repetitions(50, random);  // (50, 25)
  for (Index row = 0; row < 50; ++row) {
    const auto letter = batch.inputs.values.begin() + row * 25 + 1;  // <bos> stands before it
    const auto target = batch.targets.values.begin() + row * 25;
    const auto first = std::find_if(target, target + 25, [](auto id) { return id >= 0; }) - target;
    const Index piece = first - 1;  // its first repeated letter cannot be known
    CHECK((piece >= 6 && piece <= 12));
    for (Index i = first; i < 24; ++i) CHECK(target[i] == letter[i - piece]);
    CHECK(target[24] == -1);
  }
}

TEST_CASE("runs on repetitions: what is measured, and how positions begin", "[phase5]") {
  const auto run = [](Positions positions, FirstPositions first) {
    return train_on_repetitions({"", 2, 2, positions, first}, 0, 10);
  };
  const InductionRun sinusoids = run(Positions::sinusoidal, FirstPositions::drawn);
  CHECK(sinusoids.at == std::vector<double>{0, 10});
  CHECK(sinusoids.loss[1] < sinusoids.loss[0]);
  CHECK(sinusoids.best_previous().size() == 2);
  CHECK(sinusoids.best_induction()[0] < 0.1);
  Random random(99);
  const Batch test = repetitions(60, random);  // (60, 25), of which some ask for nothing
  Tensor keep = Tensor::zeros({60, 25, 25});
  for (Index row = 0; row < 60 * 25; ++row) {
    const bool asks = test.targets.values[static_cast<std::size_t>(row)] >= 0;
    for (Index key = 0; asks && key <= row % 25; ++key) keep.data()[row * 25 + key] = 1;
  }
  const Tensor scores = [&] {
    const Capture seen;
    sinusoids.model(test.inputs, {}, {.need_weights = true});  // (60, 25, 31)
    return mean(pattern_score(Pattern::induction, seen["blocks.1.attention.weights"],
                              Mask::from(MaskEncoding::keep, keep), test.inputs),
                0);  // (2)
  }();
  CHECK(sinusoids.best_induction()[1] == Approx(double{max(scores).item()}));
  CHECK(repetition_test().inputs.values == test.inputs.values);
  CHECK(repetition_test().targets.values == test.targets.values);
  const auto size = [&](FirstPositions first) {
    double squares = 0;
    const Tensor at = run(Positions::learned, first).model.position_embedding->weight;  // (25, 32)
    for (const real x : at.values()) squares += double{x} * double{x};
    return squares / static_cast<double>(at.numel());
  };
  CHECK(size(FirstPositions::sinusoids) == Approx(0.5).margin(0.02));  // ten steps change little
  CHECK(size(FirstPositions::large_noise) == Approx(0.5).margin(0.1));
  CHECK(size(FirstPositions::drawn) < 0.2);
}

TEST_CASE("step 58 trains on 32 texts at a time, with a rate that rises for 50 steps", "[phase5]") {
  const InductionSetting setting{"", 2, 2, Positions::learned};
  const Transformer by_hand = train_on_repetitions(setting, 1, 0).model;
  CHECK(by_hand.num_parameters() == 31 * 32 + 25 * 32 + 2 * (4 * 32 * 32 + 64) + 64 + 32 * 31);
  train_by_hand(by_hand, {5e-3, 5e-3, 50, 52}, [&](Index step) {
    Random data(2, static_cast<std::uint64_t>(step));
    const Batch b = repetitions(32, data);               // (32, 25)
    return cross_entropy(by_hand(b.inputs), b.targets);  // logits (32, 25, 31)
  });
  CHECK(distance_between(train_on_repetitions(setting, 1, 52).model, by_hand) < 1e-6);
}
