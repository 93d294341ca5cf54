#include "tapestry/optim.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Gradients that equal `wanted`: those of sum(w * wanted).
Gradients gradients_of(const Parameters& parameters, const std::vector<Tensor>& wanted) {
  Tape tape(parameters);
  Tensor total = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    total = total + sum(parameters[i].value * wanted[i]);
  }
  return tape.backward(total);
}

}  // namespace

TEST_CASE("sgd steps by rate times gradient into the model's own tensor", "[phase1][optim]") {
  const Tensor w({3}, {1, 2, -3}), shares = w;
  Sgd sgd({{"w", w}}, {.learning_rate = 0.5});
  sgd.step(gradients_of({{"w", w}}, {Tensor({3}, {2, -4, 0})}));
  CHECK(difference(shares, {3}, {0, 4, -3}) == "");
}

TEST_CASE("momentum keeps part of the last steps", "[phase1][optim]") {
  const Tensor w(1.0);
  Sgd sgd({{"w", w}}, {.learning_rate = 0.1, .momentum = 0.5});
  const Gradients ones = gradients_of({{"w", w}}, {1.0});
  sgd.step(ones);  // velocity 1
  CHECK(difference(w, {}, {0.9}) == "");
  sgd.step(ones);  // velocity 1.5
  CHECK(difference(w, {}, {0.75}) == "");
  sgd.step(gradients_of({{"w", w}}, {0.0}));  // velocity 0.75
  CHECK(difference(w, {}, {0.675}) == "");
}

TEST_CASE(
    "sgd follows its formula for many steps, with Nesterov's momentum and decay, at odd sizes",
    "[phase2][optim]") {
  for (const Index n : {1, 3, 17}) {
    for (const bool nesterov : {false, true}) {
      const SgdOptions options = {
          .learning_rate = 0.05, .momentum = 0.9, .nesterov = nesterov, .weight_decay = 0.1};
      const Tensor w = random_tensor({n, 1}), directions = random_tensor({n, 1}, 2);
      std::vector<double> weight = doubles(w), velocity(weight.size(), 0);
      Sgd sgd({{"w", w}}, options);
      for (int t = 1; t <= 20; ++t) {
        sgd.step(gradients_of({{"w", w}}, {directions * std::sin(t)}));
        for (std::size_t i = 0; i < weight.size(); ++i) {
          const double gradient = doubles(directions)[i] * std::sin(t);
          velocity[i] = options.momentum * velocity[i] + gradient;
          const double move = nesterov ? gradient + options.momentum * velocity[i] : velocity[i];
          weight[i] -= options.learning_rate * (options.weight_decay * weight[i] + move);
        }
        CAPTURE(n, nesterov, t);
        CHECK(difference(w, {n, 1}, weight, in_double ? 1e-12 : 1e-5) == "");
      }
    }
  }
}

TEST_CASE("Nesterov's momentum looks one step ahead", "[phase2][optim]") {
  const Tensor w(1.0);
  Sgd sgd({{"w", w}}, {.learning_rate = 0.5, .momentum = 0.5, .nesterov = true});
  sgd.step(gradients_of({{"w", w}}, {1.0}));  // velocity 1, move 1.5
  CHECK(difference(w, {}, {0.25}) == "");
  sgd.step(gradients_of({{"w", w}}, {0.0}));  // velocity 0.5, move 0.25
  CHECK(difference(w, {}, {0.125}) == "");
}

TEST_CASE("adam is adamw without decay, and adamw decays by 0.01 unless told", "[phase2][optim]") {
  const Tensor start = random_tensor({5, 3}), slope = random_tensor({5, 3}, 2);
  const auto after = [&](auto make) {
    const Parameters w = {{"w", start.clone()}};
    auto optimizer = make(w);
    for (int i = 0; i < 3; ++i) optimizer.step(gradients_of(w, {slope}));
    return w[0].value.values();
  };
  const auto with_decay = [&](double decay) {
    return after([&](const Parameters& w) { return AdamW(w, {.weight_decay = decay}); });
  };
  CHECK(after([](const Parameters& w) { return Adam(w); }) == with_decay(0));
  CHECK(after([](const Parameters& w) { return AdamW(w); }) == with_decay(0.01));
  CHECK(with_decay(0.01) != with_decay(0));
}

TEST_CASE("adam's first step moves every weight by the rate, whatever the gradient's size",
          "[phase1][optim]") {
  const Tensor w({4}, {1, 1, 1, 1});
  Adam adam({{"w", w}}, {.learning_rate = 0.25});
  adam.step(gradients_of({{"w", w}}, {Tensor({4}, {1000, -3, 0.001, 0})}));
  CHECK(difference(w, {4}, {0.75, 1.25, 0.75, 1}, 1e-5) == "");
}

TEST_CASE("adamw follows its formula for many steps, with decay and changing gradients",
          "[phase1][optim]") {
  const AdamWOptions options = {.learning_rate = 0.01,
                                .beta1 = 0.8,
                                .beta2 = 0.95,
                                .eps = 1e-3,
                                .weight_decay = 0.1,
                                .decay_all = true};
  const Tensor w(2.0);
  AdamW adam({{"w", w}}, options);
  double weight = 2, mean = 0, square = 0;
  for (int t = 1; t <= 20; ++t) {
    const double gradient = std::sin(t);
    adam.step(gradients_of({{"w", w}}, {gradient}));
    mean = options.beta1 * mean + (1 - options.beta1) * gradient;
    square = options.beta2 * square + (1 - options.beta2) * gradient * gradient;
    const double unbiased_mean = mean / (1 - std::pow(options.beta1, t));
    const double unbiased_square = square / (1 - std::pow(options.beta2, t));
    weight -= options.learning_rate * options.weight_decay * weight;
    weight -= options.learning_rate * unbiased_mean / (std::sqrt(unbiased_square) + options.eps);
    CAPTURE(t);
    CHECK(difference(w, {}, {weight}, in_double ? 1e-12 : 1e-5) == "");
  }
}

TEST_CASE("weight decay shrinks a weight without a gradient, by rate times decay",
          "[phase1][optim]") {
  const Tensor w({1, 2}, {4, -8});
  AdamW adam({{"w", w}}, {.learning_rate = 0.5, .weight_decay = 0.25});
  adam.step(gradients_of({{"w", w}}, {Tensor({1, 2}, {0, 0})}));
  CHECK(difference(w, {1, 2}, {3.5, -7}) == "");
}

TEST_CASE("biases and gains do not decay unless that is asked for", "[phase2][optim]") {
  const auto decayed = [](auto make, double left) {
    const Parameters list = {{"gain", Tensor({2}, {4, -8})}, {"scale", Tensor(2.0)}};
    auto optimizer = make(list);
    optimizer.step(gradients_of(list, {Tensor({2}, {0, 0}), 0.0}));
    CHECK(difference(list[0].value, {2}, {4 * left, -8 * left}) == "");
    CHECK(difference(list[1].value, {}, {2 * left}) == "");
  };
  for (const bool all : {false, true}) {
    const double left = all ? 0.875 : 1;
    decayed(
        [&](const Parameters& list) {
          return AdamW(list, {.learning_rate = 0.5, .weight_decay = 0.25, .decay_all = all});
        },
        left);
    decayed(
        [&](const Parameters& list) {
          return Sgd(list, {.learning_rate = 0.5, .weight_decay = 0.25, .decay_all = all});
        },
        left);
  }
}

TEST_CASE("both optimizers find the bottom of a bowl", "[phase1][optim]") {
  const Tensor target = random_tensor({5, 3}), steepness = random_between({5, 3}, 0.5, 2, 2);
  const auto loss_after = [&](auto make, int steps) {
    const Tensor w = Tensor::zeros({5, 3});
    auto optimizer = make(Parameters{{"w", w}});
    for (int i = 0; i < steps; ++i) {
      Tape tape({w});
      const Tensor away = w - target;
      optimizer.step(tape.backward(sum(steepness * away * away)));
    }
    return largest_difference(w, target);
  };
  CHECK(loss_after([](Parameters p) { return Sgd(p, {.learning_rate = 0.1}); }, 200) < 1e-5);
  CHECK(loss_after([](Parameters p) { return Sgd(p, {.learning_rate = 0.02, .momentum = 0.8}); },
                   300) < 1e-5);
  CHECK(loss_after([](Parameters p) { return Adam(p, {.learning_rate = 0.05}); }, 500) < 1e-3);
}

TEST_CASE("the rate can be changed between steps", "[phase1][optim]") {
  const Tensor w(1.0);
  const Gradients ones = gradients_of({{"w", w}}, {1.0});
  Sgd sgd({{"w", w}}, {.learning_rate = 0.5});
  sgd.set_learning_rate(0.25);
  CHECK(sgd.learning_rate() == 0.25);
  sgd.step(ones);
  CHECK(difference(w, {}, {0.75}) == "");
  Adam adam({{"w", w}}, {.learning_rate = 0.5});
  adam.set_learning_rate(0);
  adam.step(ones);
  CHECK(difference(w, {}, {0.75}) == "");
  CHECK(complaint([&] { adam.set_learning_rate(-1); },
                  {"adam: learning_rate is -1", "0 or more"}) == "");
  CHECK(complaint([&] { sgd.set_learning_rate(not_a_number); }, {"sgd: learning_rate is nan"}) ==
        "");
}

TEST_CASE("every parameter has a memory of its own, odd sizes too", "[phase1][optim]") {
  const Parameters list = {
      {"a", Tensor::zeros({1})}, {"none", Tensor::zeros({0})}, {"b", Tensor::zeros({17, 3})}};
  Adam adam(list, {.learning_rate = 0.125});
  const Gradients gradients =
      gradients_of(list, {Tensor({1}, {1}), Tensor::zeros({0}), Tensor::full({17, 3}, -2)});
  adam.step(gradients);
  adam.step(gradients);
  CHECK(difference(list[0].value, {1}, {-0.25}, 1e-5) == "");
  CHECK(difference(list[2].value, {17, 3}, std::vector<double>(51, 0.25), 1e-5) == "");
}

TEST_CASE("a parameter that the tape was not asked about stops the step before it begins",
          "[phase1][optim]") {
  const Parameter a = {"a", Tensor(1.0)}, b = {"b", Tensor(1.0)};
  const Gradients gradients = gradients_of({a}, {1.0});
  Sgd sgd({a, b});
  Adam adam({a, b});
  CHECK(complaint([&] { sgd.step(gradients); }, {"sgd: there is no gradient", "'b' ()"}) == "");
  CHECK(complaint([&] { adam.step(gradients); }, {"adam: there is no gradient", "'b' ()"}) == "");
  CHECK(a.value.item() == 1);
}

TEST_CASE("a parameter whose state was dropped stops the step before it begins", "[optim]") {
  const Parameters list = {{"a", Tensor(1.0)}, {"b", Tensor(1.0)}};
  const Gradients gradients = gradients_of(list, {1.0, 1.0});
  Sgd sgd(list);
  Adam adam(list);
  for (Optimizer* optimizer : {static_cast<Optimizer*>(&sgd), static_cast<Optimizer*>(&adam)}) {
    optimizer->drop_state_outside(0, 1);
    CHECK(complaint([&] { optimizer->step(gradients); },
                    {optimizer->kind().c_str(), "what was remembered of 'b' was dropped",
                     "call restore_state"}) == "");
    CHECK(optimizer->steps() == 0);
    CHECK(list[0].value.item() == 1);
    CHECK(optimizer->state()[0].value.item() == 0);
  }
}

TEST_CASE("optimizers refuse parameters that they could not update", "[phase1][optim]") {
  const Tensor w = Tensor::zeros({2, 3});
  CHECK(complaint([&] { Sgd({{"w", w}, {"tied", w}}); },
                  {"sgd: parameter 'tied'", "'w'", "updated twice"}) == "");
  CHECK(complaint([&] { Adam({{"w", transpose(w)}}); }, {"'w' (3, 2) is a strided view"}) == "");
  CHECK(complaint([&] { Adam({{"w", Tensor()}}); }, {"adam: parameter 'w' is undefined"}) == "");
}

TEST_CASE("optimizers refuse options out of range, by name", "[phase1][optim]") {
  const Parameters none;
  CHECK(complaint([&] { Sgd(none, {.learning_rate = -0.1}); }, {"sgd: learning_rate is -0.1"}) ==
        "");
  CHECK(complaint([&] { Sgd(none, {.momentum = 1}); }, {"momentum is 1", "in [0, 1)"}) == "");
  CHECK(complaint([&] { Sgd(none, {.nesterov = true}); }, {"sgd: nesterov is 1", "no momentum"}) ==
        "");
  CHECK(complaint([&] { Sgd(none, {.weight_decay = -1}); }, {"sgd: weight_decay is -1"}) == "");
  CHECK(complaint([&] { Sgd(none, {.decay_all = true}); },
                  {"sgd: decay_all is 1: it must be false where weight_decay is 0"}) == "");
  CHECK(complaint([&] { AdamW(none, {.weight_decay = 0, .decay_all = true}); },
                  {"adamw: decay_all is 1"}) == "");
  CHECK(complaint([&] { Adam(none, {.learning_rate = infinity}); },
                  {"adam: learning_rate is inf"}) == "");
  CHECK(complaint([&] { Adam(none, {.beta1 = not_a_number}); }, {"beta1 is nan"}) == "");
  CHECK(complaint([&] { Adam(none, {.beta2 = 1.5}); }, {"beta2 is 1.5"}) == "");
  if (!in_double) {  // which a float does not tell from 1: corrections would divide by 0
    CHECK(complaint([&] { Adam(none, {.beta2 = 0.99999999}); }, {"beta2 is 1", "[0, 1)"}) == "");
    CHECK(complaint([&] { Adam(none, {.eps = 1e-50}); }, {"eps is 1e-50"}) == "");
  }
  const AdamW least(
      none, {.learning_rate = 0, .beta1 = 0, .beta2 = 0, .weight_decay = 0});  // are allowed
  const Sgd still(none, {.learning_rate = 0, .momentum = 0});
  CHECK(complaint([&] { Adam(none, {.eps = 0}); }, {"eps is 0", "above 0"}) == "");
  CHECK(complaint([&] { AdamW(none, {.weight_decay = -1}); }, {"adamw: weight_decay is -1"}) == "");
}

TEST_CASE("the norm of gradients is that of all of them together", "[phase1][optim]") {
  const Parameters two = {{"a", Tensor::zeros({2})}, {"b", Tensor::zeros({1, 1})}};
  CHECK(gradient_norm(gradients_of(two, {Tensor({2}, {3, -4}), Tensor({1, 1}, {12})})) == 13);
  CHECK(gradient_norm(gradients_of(two, {Tensor::zeros({2}), Tensor::zeros({1, 1})})) == 0);
  CHECK(gradient_norm(gradients_of({{"none", Tensor::zeros({0, 3})}}, {Tensor::zeros({0, 3})})) ==
        0);
  const double large = gradient_norm(gradients_of(two, {Tensor({2}, {3e30, 4e30}), Tensor(0.0)}));
  CHECK(std::abs(large - 5e30) <= 1e24);  // whose squares no float can hold
  const double small = gradient_norm(gradients_of(two, {Tensor({2}, {3e-30, 4e-30}), Tensor(0.0)}));
  CHECK(std::abs(small - 5e-30) <= 1e-36);
  for (const double bad : {not_a_number, infinity}) {
    CHECK(!std::isfinite(
        gradient_norm(gradients_of(two, {Tensor({2}, {1, bad}), Tensor::ones({1, 1})}))));
  }
}

TEST_CASE("clip_gradient_norm shortens what is too long, and tells how long it was",
          "[phase1][optim]") {
  const Parameters two = {{"a", Tensor::zeros({2})}, {"b", Tensor::zeros({1})}};
  Gradients gradients = gradients_of(two, {Tensor({2}, {3, -4}), Tensor({1}, {12})});
  CHECK(clip_gradient_norm(gradients, 13.5) == 13);
  CHECK(clip_gradient_norm(gradients, infinity) == 13);
  CHECK(difference(gradients.at(0), {2}, {3, -4}, 0) == "");
  CHECK(clip_gradient_norm(gradients, 6.5) == 13);
  CHECK(difference(gradients.at(0), {2}, {1.5, -2}, 2e-6) == "");
  CHECK(difference(gradients.at(1), {1}, {6}, 2e-6) == "");
  CHECK(std::abs(gradient_norm(gradients) - 6.5) <= 1e-5);
  CHECK(clip_gradient_norm(gradients, 0) > 6);
  CHECK(gradient_norm(gradients) == 0);
  CHECK(clip_gradient_norm(gradients, 0) == 0);
  Gradients tiny = gradients_of(two, {Tensor({2}, {1e-6, 0}), Tensor({1}, {0})});
  clip_gradient_norm(tiny, 1e-7);  // times 1e-7 / (1e-6 + 1e-6), as PyTorch
  CHECK(std::abs(double{tiny.at(0).at({0})} / 5e-8 - 1) < 1e-3);
}

TEST_CASE("gradients that are not finite are not clipped but reported", "[phase1][optim]") {
  const Parameters two = {{"a", Tensor::zeros({2})}, {"b", Tensor::zeros({3})}};
  for (const double bad : {not_a_number, infinity}) {
    Gradients gradients = gradients_of(two, {Tensor({2}, {3, 4}), Tensor({3}, {1, bad, 1})});
    CHECK(complaint([&] { clip_gradient_norm(gradients, 1); },
                    {"clip_gradient_norm: the norm is ", "gradient 1 (3)", "Nothing was changed",
                     "first_non_finite"}) == "");
    CHECK(difference(gradients.at(0), {2}, {3, 4}, 0) == "");
  }
  Gradients gradients = gradients_of(two, {Tensor({2}, {3, 4}), Tensor({3}, {0, 0, 0})});
  for (const double bad : {not_a_number, -1.0}) {
    CHECK(complaint([&] { clip_gradient_norm(gradients, bad); },
                    {"clip_gradient_norm: max_norm is ", "0 or more"}) == "");
  }
}

TEST_CASE("an adam that takes over another's state makes the same steps", "[phase2][optim]") {
  const Parameters one = {{"a", Tensor({2, 1}, {1, -2})}, {"b", Tensor({3}, {0, 1, 5})}};
  const Parameters other = {{"a", one[0].value.clone()}, {"b", one[1].value.clone()}};
  const std::vector<Tensor> slopes = {Tensor({2, 1}, {3, 0.5}), Tensor({3}, {-1, 0, 1e-3})};
  Adam first(one), second(other);
  first.step(gradients_of(one, slopes));
  first.step(gradients_of(one, {Tensor({2, 1}, {-1, 1}), Tensor::ones({3})}));
  CHECK(first.steps() == 2);
  const Parameters memory = first.state(), place = second.state();
  REQUIRE(place.size() == 4);
  CHECK((memory[0].name == "mean.a" && memory[3].name == "square.b"));
  for (std::size_t i = 0; i < place.size(); ++i) {
    std::copy_n(memory[i].value.data(), memory[i].value.numel(), place[i].value.data());
  }
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::copy_n(one[i].value.data(), one[i].value.numel(), other[i].value.data());
  }
  second.set_steps(2);
  first.step(gradients_of(one, slopes));
  second.step(gradients_of(other, slopes));
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].value.values() == other[i].value.values());
  }
  CHECK(complaint([&] { second.set_steps(-1); }, {"adam: -1 steps", "0 or more"}) == "");
  second.set_steps(0);
  CHECK(second.steps() == 0);
}
