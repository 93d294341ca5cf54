// The training loop: what it returns, what it leaves alone, and how it stops.
#include "tapestry/training.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "printed_by.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

// A small model of one attention layer that learns to copy ids.
struct Copier {
  Tensor words, w, gain, bias, out;

  explicit Copier(std::uint64_t seed = 1) : gain(Tensor::ones({8})), bias(Tensor::zeros({8})) {
    Random random(seed);
    words = random.normal({11, 8});
    w = random.normal({8, 8}, 0, 0.4);
    out = random.normal({8, 11}, 0, 0.4);
  }

  Parameters parameters() const {
    return {{"words", words}, {"w", w}, {"gain", gain}, {"bias", bias}, {"out", out}};
  }

  // Data and dropout are drawn from the step's own numbers.
  LossOfStep loss_of_step(std::uint64_t seed = 42) const {
    return [model = *this, seed](Index step) {
      Random random(seed, static_cast<std::uint64_t>(step));
      std::vector<std::int32_t> drawn(3 * 5);
      for (std::int32_t& id : drawn) id = static_cast<std::int32_t>(random.randint(11));
      const Indices ids({3, 5}, drawn);
      const Tensor x = layer_norm(embedding(model.words, ids), model.gain, model.bias);
      const Tensor q = matmul(x, model.w);
      const Tensor y = x + dropout(attention(q, q, x, Mask::causal()).output, 0.1, random);
      return cross_entropy(matmul(y, model.out), ids);
    };
  }
};

TrainingOptions quiet(Index steps) { return {.steps = steps, .what = ""}; }

std::vector<std::vector<real>> values_of(const Parameters& parameters) {
  std::vector<std::vector<real>> values;
  for (const Parameter& parameter : parameters) values.push_back(parameter.value.values());
  return values;
}

}  // namespace

TEST_CASE("training makes the steps of a loop written out", "[phase2][training]") {
  const Copier model, by_hand;
  Adam adam(model.parameters(), {.learning_rate = 0.01}), other(by_hand.parameters());
  TrainingOptions options = quiet(6);
  options.max_norm = 0.5;
  options.learning_rate = [](Index step) { return 0.01 / static_cast<double>(step); };
  const Training training = train(adam, model.loss_of_step(), options);
  REQUIRE(training.losses.size() == 6);
  REQUIRE(training.gradient_norms.size() == 6);
  for (Index step = 1; step <= 6; ++step) {
    Tape tape(by_hand.parameters());
    const Tensor loss = by_hand.loss_of_step()(step);
    Gradients gradients = tape.backward(loss);
    const double norm = clip_gradient_norm(gradients, 0.5);
    other.set_learning_rate(0.01 / static_cast<double>(step));
    other.step(gradients);
    const auto i = static_cast<std::size_t>(step - 1);
    CHECK(training.losses[i] == double{loss.item()});
    CHECK(training.gradient_norms[i] == norm);
    CHECK(norm > 0.5);  // so that clipping has something to do
  }
  CHECK(values_of(model.parameters()) == values_of(by_hand.parameters()));
  CHECK(training.first_step == 1);
  CHECK(training.seconds > 0);
}

TEST_CASE("training lowers the loss", "[phase2][training]") {
  const Copier model;
  Adam adam(model.parameters(), {.learning_rate = 0.02});
  const Training training = train(adam, model.loss_of_step(), quiet(60));
  CHECK(training.losses.back() < 0.5 * training.losses.front());
}

TEST_CASE("steps counts all that the optimiser has made", "[phase2][training]") {
  const Copier model;
  Adam adam(model.parameters());
  std::vector<Index> seen;
  TrainingOptions options = quiet(3);
  options.after_step = [&](Index step, double loss) {
    CHECK(std::isfinite(loss));
    seen.push_back(step);
  };
  train(adam, model.loss_of_step(), options);
  CHECK(train(adam, model.loss_of_step(), options).losses.empty());  // nothing is left to do
  options.steps = 5;
  CHECK(train(adam, model.loss_of_step(), options).first_step == 4);
  CHECK(seen == std::vector<Index>{1, 2, 3, 4, 5});
  CHECK(train(adam, model.loss_of_step(), quiet(0)).losses.empty());
}

TEST_CASE("a seed gives the same losses and weights on any number of threads",
          "[phase2][training]") {
  const SmallWorkShared shared;
  std::vector<std::vector<double>> losses;
  std::vector<std::vector<std::vector<real>>> weights;
  for (const int threads : {1, 2, 3, 1}) {
    use_threads(threads);
    const Copier model;
    Adam adam(model.parameters(), {.learning_rate = 0.01});
    losses.push_back(train(adam, model.loss_of_step(), quiet(8)).losses);
    weights.push_back(values_of(model.parameters()));
  }
  for (std::size_t i = 1; i < losses.size(); ++i) {
    CHECK(losses[i] == losses[0]);
    CHECK(weights[i] == weights[0]);
  }
  const Copier model;
  Adam adam(model.parameters(), {.learning_rate = 0.01});
  CHECK(train(adam, model.loss_of_step(43), quiet(8)).losses != losses[0]);
}

TEST_CASE("from the second step on, training asks the system for no memory", "[phase2][training]") {
  Random start(1);
  const Transformer model(
      {.vocab_size = 9, .max_length = 5, .d_model = 8, .num_heads = 2, .dropout = 0.1}, start);
  const LossOfStep loss_of_step = [&](Index step) {
    Random random(42, static_cast<std::uint64_t>(step));
    const Indices ids({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 0, static_cast<std::int32_t>(step)});
    return cross_entropy(model(ids, {}, {.random = &random}), ids);
  };
  AdamW adam(model.parameters(), {.weight_decay = 0.1});
  std::vector<std::size_t> fresh, live;
  TrainingOptions options = quiet(6);
  options.max_norm = 1e-3;
  options.after_step = [&](Index, double) {
    fresh.push_back(memory_stats().num_allocs);
    live.push_back(memory_stats().live_bytes);
  };
  train(adam, loss_of_step, options);
  CHECK(fresh == std::vector<std::size_t>(6, fresh[0]));
  CHECK(live == std::vector<std::size_t>(6, live[0]));
}

TEST_CASE("the progress line tells step, loss, the loss of guessing, speed and time left",
          "[phase2][training]") {
  const Tensor w(1.0);
  Adam adam({{"w", w}}, {.learning_rate = 0});
  const LossOfStep half = [&](Index) { return w / 2; };
  const std::string text = stderr_of([&] {
    train(adam, half, {.steps = 5, .what = "learning", .tokens = 64, .baseline_loss = 2.5});
  });
  CHECK(text.find("learning 1/5 steps, ") == 0);
  CHECK(text.find("tokens/s, ") != std::string::npos);
  CHECK(text.find(" s left  loss 0.500 (guessing 2.500)\n") != std::string::npos);
  CHECK(stderr_of([&] { train(adam, half, {.steps = 9, .what = ""}); }) == "");
  const std::string alone =
      stderr_of([&] { train(adam, half, {.steps = 14, .what = "learning"}); });
  CHECK(alone.ends_with(" s left  loss 0.500\n"));
}

// ---------------------------------------------------------------- stopping

namespace {

// What train complains about, and nothing if it also changed the weight, or Adam's memory.
std::string stopped(const LossOfStep& loss_of_step, const Tensor& w,
                    std::initializer_list<const char*> words, double max_norm = 1) {
  Adam adam({{"w", w}});
  TrainingOptions options = quiet(4);
  options.max_norm = max_norm;
  std::vector<real> before = w.values();
  Index last = 0;
  options.after_step = [&](Index step, double) {
    before = w.values();
    last = step;
  };
  const std::string missing = complaint([&] { train(adam, loss_of_step, options); }, words);
  if (w.values() != before) return "the weights were changed";
  return adam.steps() == last ? missing : "the optimiser made a step";
}

}  // namespace

TEST_CASE("a loss that is not a number stops the training, with its cause", "[phase2][training]") {
  const Tensor w({2}, {1, 2});
  const LossOfStep bad_third = [&](Index step) { return sum(log(w - (step == 3 ? 5.0 : -5.0))); };
  CHECK(stopped(bad_third, w,
                {"train: step 3: the loss is NaN: record 2, log, is the first",
                 "2 of its 2 numbers are NaN", "The weights are as they were before this step."}) ==
        "");
  const LossOfStep large = [&](Index) { return sum(exp(w * 1e4)); };
  CHECK(stopped(large, w,
                {"step 1: the loss is infinite: record 2, exp, is the first",
                 ": 2 of its 2 numbers are infinite"}) == "");
}

TEST_CASE("a gradient that is not a number stops the training, with its cause",
          "[phase2][training]") {
  const Tensor w({2}, {0, 2});
  const LossOfStep root = [&](Index) { return sum(sqrt(w)); };
  for (const double clip : {1.0, infinity}) {
    CHECK(stopped(root, w,
                  {"step 1: a gradient is not finite: the gradient of record 0, watched 'w'",
                   "1 of its 2 numbers is infinite, by way of record 1, sqrt",
                   "by way of record 1, sqrt", "The weights are as they were"},
                  clip) == "");
  }
}

TEST_CASE("a NaN made by a mask is told in terms of the mask", "[phase2][training]") {
  const Tensor w({2, 2}, {1, 2, 3, 4});
  const auto by_hand = [](const Tensor& scores) {  // a softmax as one writes it first
    const Tensor powers = exp(scores - max(scores, -1, true));
    return sum(powers / sum(powers, -1, true) * 2);
  };
  const Tensor hidden({2, 2}, {1, 1, 0, 1});  // nothing to see for the first row
  const Tensor additive({2, 2}, {-infinity, -infinity, 0, -infinity});
  CHECK(stopped([&](Index) { return by_hand(masked_fill(w, hidden, -infinity)); }, w,
                {"record 3, subtract", "2 of its 4 numbers are NaN",
                 "the infinity that record 1, where", "a mask hides",
                 "A row with nothing left to see?", "softmax()"}) == "");
  CHECK(stopped([&](Index) { return by_hand(w + additive); }, w,
                {"record 3, subtract", "the infinity that record 1, add", "a mask hides"}) == "");
  // The library's own softmax has no trouble with either.
  const LossOfStep fine = [&](Index) { return sum(softmax(w + additive) * w); };
  CHECK(stopped(fine, w, {"nothing was thrown"}) == "nothing was thrown");
  const Tensor zero_times_inf = (1 - hidden) * -infinity;
  CHECK(stopped([&](Index) { return sum(softmax(w + zero_times_inf)); }, w,
                {"record 1, add", "the other operand", "not on the tape", "0 * inf"}) == "");
  // The word to be guessed was itself hidden: its probability is 0, its loss infinite.
  const Tensor first_hidden({2}, {-infinity, 0});
  const LossOfStep no_chance = [&](Index) {
    return cross_entropy(w + first_hidden, Indices({2}, {0, 1}));
  };
  CHECK(stopped(no_chance, w,
                {"the loss is infinite: record 2, cross_entropy", "the infinity that record 1, add",
                 "Was the answer itself hidden?"}) == "");
}

TEST_CASE("a step that cannot be repeated is told so", "[phase2][training]") {
  const Tensor w(1.0);
  int calls = 0;
  const LossOfStep fickle = [&](Index) { return log(w - (calls++ == 0 ? 2.0 : 0.0)); };
  CHECK(stopped(fickle, w, {"step 1: the loss is NaN", "depends on more than the step"}) == "");
}

TEST_CASE("what cannot be trained is refused in words", "[phase2][training]") {
  const Tensor w({2}, {1, 2});
  CHECK(stopped([&](Index) { return w * 2; }, w, {"the loss is (2)", "one number"}) == "");
  CHECK(stopped([&](Index) { return Tensor(1); }, w, {"does not depend on any watched"}) == "");
  CHECK(stopped([&](Index) -> Tensor { throw Error("no data"); }, w, {"no data"}) == "");
  CHECK(stopped({}, w, {"train: there is no function"}) == "");
  const LossOfStep fine = [&](Index) { return sum(w); };
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(stopped(fine, w, {"train: max_norm is ", "above 0"}, bad) == "");
  }
  Adam adam({{"w", w}});
  CHECK(complaint([&] { train(adam, fine, quiet(-1)); }, {"train: steps is -1"}) == "");
  TrainingOptions options = quiet(1);
  options.tokens = -1;
  CHECK(complaint([&] { train(adam, fine, options); }, {"train: tokens is -1"}) == "");
  options.tokens = 0;
  for (const double bad : {HUGE_VAL, double(NAN)}) {
    options.baseline_loss = bad;
    CHECK(complaint([&] { train(adam, fine, options); },
                    {"train: baseline_loss is ", "must be finite"}) == "");
  }
  options.baseline_loss = -1;
  options.learning_rate = [](Index) { return -1.0; };
  CHECK(complaint([&] { train(adam, fine, options); }, {"adam: learning_rate is -1"}) == "");
  CHECK(difference(w, {2}, {1, 2}) == "");
}
