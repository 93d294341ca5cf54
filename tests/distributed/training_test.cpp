// Training by several ranks: the bits of one process, whatever is divided.
#include "tapestry/distributed/training.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "copier.hpp"
#include "late.hpp"
#include "ops/expect.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

using Numbers = std::vector<std::vector<real>>;
using Maker = std::function<std::unique_ptr<Optimizer>(Parameters)>;

const std::vector<Maker> makers = {
    [](Parameters p) { return std::make_unique<Adam>(std::move(p)); },
    [](Parameters p) { return std::make_unique<AdamW>(std::move(p)); },
    [](Parameters p) {
      return std::make_unique<Sgd>(std::move(p), SgdOptions{.momentum = 0.9, .nesterov = true});
    },
};

Numbers numbers_in(const Parameters& parameters) {
  Numbers numbers;
  for (const Parameter& one : parameters) numbers.push_back(one.value.values());
  return numbers;
}

struct Outcome {
  Numbers weights, state;
  std::vector<double> losses, norms;
  bool operator==(const Outcome&) const = default;
};

struct Job {
  Maker make = makers[0];
  Index micro_batches = 8;
  bool shard_state = false;
  Index steps = 4;
  double max_norm = 0.5;  // clips each step
};

// Rank 0's outcome; the others' weights must be the same.
Outcome outcome(int ranks, const Job& job) {
  Outcome made;
  std::vector<Numbers> weights(static_cast<std::size_t>(ranks));
  run_as_threads(ranks, [&](Ranks& here) {
    const Copier model;
    const std::unique_ptr<Optimizer> optimizer = job.make(model.parameters());
    TrainingOptions options{.steps = job.steps, .max_norm = job.max_norm, .what = ""};
    options.learning_rate = [](Index step) { return 0.01 / double(step); };
    const Training training = train_in_parts(*optimizer, model.loss(job.micro_batches),
                                             {job.micro_batches, job.shard_state}, options, here);
    weights[static_cast<std::size_t>(here.rank())] = numbers_in(model.parameters());
    save_from_all(here, *optimizer, [&] {
      made = {numbers_in(model.parameters()), numbers_in(optimizer->state()), training.losses,
              training.gradient_norms};
    });
  });
  for (const Numbers& there : weights) CHECK(there == made.weights);
  return made;
}

}  // namespace

TEST_CASE("any number of ranks gives the bits of one", "[distributed][phase8]") {
  for (const Index micro_batches : {1, 3, 5, 8}) {
    const Outcome expected = outcome(1, {.micro_batches = micro_batches});
    CHECK(expected.losses.front() != expected.losses.back());
    for (const int ranks : {2, 3, 4, 8}) {
      if (ranks > micro_batches) continue;
      CAPTURE(micro_batches, ranks);
      CHECK(outcome(ranks, {.micro_batches = micro_batches}) == expected);
    }
  }
}

TEST_CASE("a divided state changes no bit, with any optimizer", "[distributed][phase8]") {
  for (std::size_t i = 0; i < makers.size(); ++i) {
    const Outcome expected = outcome(1, {.make = makers[i]});
    for (const int ranks : {1, 2, 3, 8}) {
      CAPTURE(i, ranks);
      CHECK(outcome(ranks, {.make = makers[i], .shard_state = true}) == expected);
      CHECK(outcome(ranks, {.make = makers[i]}) == expected);
    }
  }
}

TEST_CASE("the bits do not depend on threads", "[distributed][phase8]") {
  const SmallWorkShared shared;
  use_threads(1);
  const Outcome expected = outcome(2, {});
  use_threads(2);
  CHECK(outcome(1, {}) == expected);
  CHECK(outcome(3, {.shard_state = true}) == expected);
}

TEST_CASE("the gradient is that of the mean over all tokens", "[distributed][phase8]") {
  constexpr Index micro_batches = 5;
  const Copier model;
  // One step of plain descent without clipping moves the weights by the gradient.
  Sgd sgd(model.parameters(), {.learning_rate = 1});
  const Numbers before = numbers_in(model.parameters());
  const LossOfMicroBatch loss = model.loss(micro_batches);
  Tape tape(model.parameters());
  Tensor sum = Tensor::zeros({});
  double tokens = 0;
  for (Index i = 0; i < micro_batches; ++i) {
    const MicroBatch part = loss(1, i);
    sum = sum + part.loss_sum;
    tokens += part.tokens;
  }
  CHECK(tokens == 15 + 14 + 0 + 12 + 11);
  const Tensor mean = sum / tokens;
  const Gradients gradients = tape.backward(mean);
  const Training training =
      train_in_parts(sgd, loss, {micro_batches},
                     {.steps = 1, .max_norm = std::numeric_limits<double>::infinity(), .what = ""});
  CHECK(training.losses.at(0) == Approx(mean.item()));
  CHECK(training.gradient_norms.at(0) == Approx(gradient_norm(gradients)));
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::vector<real> after = model.parameters()[i].value.values();
    const std::vector<real> gradient = gradients.at(i).values();
    for (std::size_t j = 0; j < after.size(); ++j) {
      CHECK(before[i][j] - after[j] == Approx(gradient[j]).margin(1e-6));
    }
  }
}

TEST_CASE("gradients are clipped as clip_gradient_norm clips them", "[distributed][phase8]") {
  const Tensor x = Tensor::zeros({2});
  Sgd sgd({{"x", x}}, {.learning_rate = 1});
  const auto loss = [&](Index, Index) {  // the gradient is (3e-6, 4e-6), whose norm is 5e-6
    return MicroBatch{sum(x * Tensor({2}, {3e-6, 4e-6})), 1};
  };
  const Training training =
      train_in_parts(sgd, loss, {1}, {.steps = 1, .max_norm = 2e-6, .what = ""});
  CHECK(training.gradient_norms.at(0) == Approx(5e-6));
  CHECK(x.at({0}) == Approx(-1e-6));  // 2e-6 / (5e-6 + 1e-6) of it
  CHECK(x.at({1}) == Approx(-4e-6 / 3));
}

TEST_CASE("with one micro-batch steps draw what train() draws", "[distributed][phase8]") {
  for (const Index step : {1, 2, 7}) {
    CHECK(random_of(3, step, 0, 1).bits() == Random(3, std::uint64_t(step)).bits());
  }
  std::vector<std::uint64_t> streams;
  for (Index step = 1; step <= 3; ++step) {
    for (Index i = 0; i < 4; ++i) streams.push_back(random_of(3, step, i, 4).stream());
  }
  for (std::size_t i = 1; i < streams.size(); ++i) CHECK(streams[i] == streams[i - 1] + 1);
}

TEST_CASE("a number that is not finite ends all ranks, and is named", "[distributed][phase8]") {
  // The first of a rank, and the last of one.
  struct Fault {
    Index micro_batch;
    int rank;
    bool shard_state;
  };
  for (const Fault& fault : {Fault{1, 0, true}, {3, 1, false}, {3, 1, true}, {4, 2, false}}) {
    std::vector<std::string> told(3), entered(3);
    std::vector<Numbers> weights(3), kept(3);  // after the last step, and after the error
    run_late(3, [&](LateRanks& ranks) {
      const Copier model;
      Adam adam(model.parameters());
      const auto loss = [&](Index step, Index micro_batch) {
        MicroBatch made = model.loss(6)(step, micro_batch);
        if (step == 2 && micro_batch == fault.micro_batch)
          made.loss_sum = log(made.loss_sum * -1.0);
        return made;
      };
      const auto number = static_cast<std::size_t>(ranks.rank());
      TrainingOptions options{.steps = 3, .what = ""};
      options.after_step = [&](Index, double) { weights[number] = numbers_in(model.parameters()); };
      try {
        train_in_parts(adam, loss, {6, fault.shard_state}, options, ranks);
      } catch (const Error& error) {
        told[number] = error.what();
      }
      kept[number] = numbers_in(model.parameters());
      entered[number] = ranks.entered.back();
    });
    CHECK(kept == weights);
    CHECK(entered ==
          std::vector<std::string>(3, "2 search for the first number that is not finite"));
    for (const std::string& one : told) {
      CHECK(one.starts_with("train: step 2: the loss is NaN: micro-batch " +
                            std::to_string(fault.micro_batch) + " on rank " +
                            std::to_string(fault.rank) + ": "));
      CHECK(one.find("log") != std::string::npos);
      CHECK(one.ends_with(". The weights are as they were before this step."));
    }
  }
}

TEST_CASE("training in parts refuses what cannot be", "[distributed][phase8]") {
  const auto complaint = [](int ranks, const PartsOptions& parts, const TrainingOptions& options,
                            double tokens) {
    std::string told;
    try {
      run_as_threads(ranks, [&](Ranks& here) {
        const Tensor x = Tensor::ones({2});
        Adam adam({{"x", x}});
        const auto loss = [&](Index, Index) { return MicroBatch{sum(x), tokens}; };
        train_in_parts(adam, loss, parts, options, here);
      });
    } catch (const Error& error) {
      told = error.what();
    }
    return told;
  };
  const TrainingOptions one_step{.steps = 1, .what = ""};
  CHECK(complaint(3, {2}, one_step, 1) ==
        "train: 3 ranks share 2 micro-batches, and some would have none: take more micro-batches, "
        "or fewer ranks.");
  CHECK(complaint(1, {0}, one_step, 1) == "train: micro_batches is 0: it must be 1 or more.");
  CHECK(complaint(1, {1}, {.steps = -1, .what = ""}, 1) ==
        "train: steps is -1: it must be 0 or more.");
  CHECK(complaint(1, {1}, {.steps = 1, .max_norm = 0, .what = ""}, 1) ==
        "train: max_norm is 0: it must be above 0; infinity to leave gradients as they are.");
  CHECK(complaint(1, {2}, one_step, -1) ==
        "train: micro-batch 0 of step 1 has -1 tokens: it must be 0 or more.");
  CHECK(complaint(2, {2}, one_step, 0).empty());  // nothing counts: gradients of sums, as they are
  Sgd sgd({{"x", Tensor::ones({1})}});
  CHECK(tapestry::complaint([&] { train_in_parts(sgd, {}, {1}, one_step); },
                            {"train: there is no function to make the loss."}) == "");
}

TEST_CASE("an optimizer that dropped state changes nothing without it", "[distributed][phase8]") {
  const Tensor a = Tensor::ones({2}), b = Tensor::ones({2});
  Adam adam({{"a", a}, {"b", b}});
  adam.drop_state_outside(1, 2);
  CHECK_FALSE(adam.state()[0].value.defined());  // mean.a
  CHECK(adam.state()[1].value.defined());
  const Tensor one = Tensor::ones({2});
  try {
    adam.step({one, one});
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "adam: what was remembered of 'a' was dropped here: another process changes it. Give no "
          "gradient for it, or call restore_state and load a checkpoint.");
  }
  CHECK(adam.steps() == 0);
  CHECK(b.values() == std::vector<real>{1, 1});
  adam.step({Tensor(), one});
  CHECK(adam.steps() == 1);
  CHECK(a.values() == std::vector<real>{1, 1});
  CHECK(b.at({0}) == Approx(0.999));
  adam.restore_state();
  CHECK(adam.state()[0].value.values() == std::vector<real>{0, 0});
  CHECK_THROWS_AS(adam.step({one}), Error);
  CHECK_THROWS_AS(adam.step({Tensor::ones({3}), one}), Error);
  Adam three({{"a", a}, {"b", b}, {"c", Tensor::ones({3})}});
  three.drop_state_outside(1, 2);
  for (std::size_t i = 0; i < 6; ++i) CHECK(three.state()[i].value.defined() == (i % 3 == 1));
  three.restore_state();
  for (std::size_t i = 0; i < 6; ++i) CHECK(three.state()[i].value.numel() == (i % 3 == 2 ? 3 : 2));
}
