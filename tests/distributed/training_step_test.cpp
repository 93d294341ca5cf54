// What one step of training by several ranks computes, and what it tells.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "copier.hpp"
#include "late.hpp"
#include "ops/expect.hpp"
#include "printed_by.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"

using namespace tapestry;

TEST_CASE("steps have the learning rate of their time", "[distributed][phase8]") {
  const Tensor x = Tensor::ones({1});
  Sgd sgd({{"x", x}}, {.learning_rate = 8});
  TrainingOptions options{.steps = 2, .max_norm = infinity, .what = ""};
  options.learning_rate = [](Index step) { return step == 1 ? 0.5 : 0.125; };
  train_in_parts(sgd, [&](Index, Index) { return MicroBatch{sum(x), 1}; }, {1}, options);
  CHECK(x.item() == 1 - 0.5 - 0.125);
}

TEST_CASE("where no token counts, losses and gradients are those of sums",
          "[distributed][phase8]") {
  const Tensor x = Tensor::full({3}, 2);
  Sgd sgd({{"x", x}}, {.learning_rate = 1});
  const Training training = train_in_parts(sgd, [&](Index, Index) { return MicroBatch{sum(x), 0}; },
                                           {2}, {.steps = 1, .max_norm = infinity, .what = ""});
  CHECK(training.losses.at(0) == 2 * 6);
  CHECK(x.values() == std::vector<real>{0, 0, 0});
}

TEST_CASE("the norm is that of all numbers, in however many blocks", "[distributed][phase8]") {
  for (const Index count : {4095, 4096, 4097, 8192, 10'000}) {
    const Tensor a = Tensor::full({count}, 3), b = Tensor::full({count}, 4);
    Sgd sgd({{"a", a}, {"b", b}}, {.learning_rate = 0});
    const Training training =
        train_in_parts(sgd, [&](Index, Index) { return MicroBatch{sum(a * a) + sum(b * b), 2}; },
                       {1}, {.steps = 1, .what = ""});
    CHECK(training.gradient_norms.at(0) == Approx(5 * std::sqrt(double(count))));
  }
}

TEST_CASE("what a rank does in a step is told", "[distributed][phase8]") {
  std::vector<std::vector<std::string>> entered(2);
  run_late(2, [&](LateRanks& ranks) {
    const Copier model;
    Adam adam(model.parameters());
    train_in_parts(adam, model.loss(3), {3}, {.steps = 1, .what = ""}, ranks);
    entered[static_cast<std::size_t>(ranks.rank())] = ranks.entered;
  });
  const std::string forward = "1 forward pass", backward = "1 backward pass",
                    sums = "1 sum of gradients", update = "1 update of the weights";
  CHECK(entered[0] == std::vector<std::string>{forward, backward, sums, update});
  CHECK(entered[1] == std::vector<std::string>{forward, backward, forward, backward, sums, update});
}

TEST_CASE("the first rank shows how far the steps are", "[distributed][phase8]") {
  const Tensor x = Tensor::ones({1});
  Sgd sgd({{"x", x}});
  const std::string shown = stderr_of([&] {
    train_in_parts(sgd, [&](Index, Index) { return MicroBatch{sum(x), 1}; }, {1},
                   {.steps = 1, .what = "learning"});
  });
  CHECK(shown.find("learning 1/1") != std::string::npos);
}

TEST_CASE("finite numbers that overflow together are told from others", "[distributed][phase8]") {
  const Tensor x = Tensor::ones({1});
  Sgd sgd({{"x", x}});
  const auto loss = [&](Index, Index) {
    return MicroBatch{sum(x * (0.75 * double{std::numeric_limits<real>::max()})), 1};
  };
  // In double already the squares of one gradient overflow.
  const char* const words = in_double
                                ? "micro-batch 0 on rank 0: no single operation made it: finite"
                                : "each micro-batch has finite numbers, whose sum overflowed";
  CHECK(complaint([&] { train_in_parts(sgd, loss, {2}, {.steps = 1, .what = ""}); },
                  {"train: step 1", words}) == "");
}
