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

TEST_CASE("adam's first step moves every weight by the rate, whatever the gradient's size",
          "[phase1][optim]") {
  const Tensor w({4}, {1, 1, 1, 1});
  Adam adam({{"w", w}}, {.learning_rate = 0.25});
  adam.step(gradients_of({{"w", w}}, {Tensor({4}, {1000, -3, 0.001, 0})}));
  CHECK(difference(w, {4}, {0.75, 1.25, 0.75, 1}, 1e-5) == "");
}

TEST_CASE("adam follows its formula for many steps, with decay and changing gradients",
          "[phase1][optim]") {
  const AdamOptions options = {.learning_rate = 0.01,
                               .beta1 = 0.8,
                               .beta2 = 0.95,
                               .eps = 1e-3,
                               .weight_decay = 0.1,
                               .decay_all = true};
  const Tensor w(2.0);
  Adam adam({{"w", w}}, options);
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
  Adam adam({{"w", w}}, {.learning_rate = 0.5, .weight_decay = 0.25});
  adam.step(gradients_of({{"w", w}}, {Tensor({1, 2}, {0, 0})}));
  CHECK(difference(w, {1, 2}, {3.5, -7}) == "");
}

TEST_CASE("biases and gains do not decay unless that is asked for", "[phase2][optim]") {
  for (const bool all : {false, true}) {
    const Parameters list = {{"gain", Tensor({2}, {4, -8})}, {"scale", Tensor(2.0)}};
    Adam adam(list, {.learning_rate = 0.5, .weight_decay = 0.25, .decay_all = all});
    adam.step(gradients_of(list, {Tensor({2}, {0, 0}), 0.0}));
    const double left = all ? 0.875 : 1;
    CHECK(difference(list[0].value, {2}, {4 * left, -8 * left}) == "");
    CHECK(difference(list[1].value, {}, {2 * left}) == "");
  }
}

TEST_CASE("both optimisers find the bottom of a bowl", "[phase1][optim]") {
  const Tensor target = random_tensor({5, 3}), steepness = random_between({5, 3}, 0.5, 2, 2);
  const auto loss_after = [&](auto make, int steps) {
    const Tensor w = Tensor::zeros({5, 3});
    auto optimiser = make(Parameters{{"w", w}});
    for (int i = 0; i < steps; ++i) {
      Tape tape({w});
      const Tensor away = w - target;
      optimiser.step(tape.backward(sum(steepness * away * away)));
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

TEST_CASE("optimisers refuse parameters that they could not update", "[phase1][optim]") {
  const Tensor w = Tensor::zeros({2, 3});
  CHECK(complaint([&] { Sgd({{"w", w}, {"tied", w}}); },
                  {"sgd: parameter 'tied'", "'w'", "updated twice"}) == "");
  CHECK(complaint([&] { Adam({{"w", transpose(w)}}); }, {"'w' (3, 2) is a strided view"}) == "");
  CHECK(complaint([&] { Adam({{"w", Tensor()}}); }, {"adam: parameter 'w' is undefined"}) == "");
}

TEST_CASE("optimisers refuse options out of range, by name", "[phase1][optim]") {
  const Parameters none;
  CHECK(complaint([&] { Sgd(none, {.learning_rate = -0.1}); }, {"sgd: learning_rate is -0.1"}) ==
        "");
  CHECK(complaint([&] { Sgd(none, {.momentum = 1}); }, {"momentum is 1", "in [0, 1)"}) == "");
  CHECK(complaint([&] { Adam(none, {.learning_rate = infinity}); },
                  {"adam: learning_rate is inf"}) == "");
  CHECK(complaint([&] { Adam(none, {.beta1 = not_a_number}); }, {"beta1 is nan"}) == "");
  CHECK(complaint([&] { Adam(none, {.beta2 = 1.5}); }, {"beta2 is 1.5"}) == "");
  if (!in_double) {  // which a float does not tell from 1: corrections would divide by 0
    CHECK(complaint([&] { Adam(none, {.beta2 = 0.99999999}); }, {"beta2 is 1", "[0, 1)"}) == "");
    CHECK(complaint([&] { Adam(none, {.eps = 1e-50}); }, {"eps is 1e-50"}) == "");
  }
  const Adam least(none,
                   {.learning_rate = 0, .beta1 = 0, .beta2 = 0, .weight_decay = 0});  // are allowed
  const Sgd still(none, {.learning_rate = 0, .momentum = 0});
  CHECK(complaint([&] { Adam(none, {.eps = 0}); }, {"eps is 0", "above 0"}) == "");
  CHECK(complaint([&] { Adam(none, {.weight_decay = -1}); }, {"weight_decay is -1"}) == "");
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
    std::copy_n(memory[i].value.data(), memory[i].value.count(), place[i].value.data());
  }
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::copy_n(one[i].value.data(), one[i].value.count(), other[i].value.data());
  }
  second.set_steps(2);
  first.step(gradients_of(one, slopes));
  second.step(gradients_of(other, slopes));
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].value.values() == other[i].value.values());
  }
  CHECK(complaint([&] { second.set_steps(-1); }, {"adam: -1 steps", "0 or more"}) == "");
}

TEST_CASE("the warm-up of the 2017 paper rises in a line and falls with the root of the step",
          "[phase2][optim]") {
  for (const Index step : {1, 2, 3999, 4000, 4001, 100'000}) {
    CAPTURE(step);
    const auto s = static_cast<double>(step);
    const double formula =
        std::pow(512, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(4000, -1.5));
    CHECK(same_number(inverse_square_root_schedule(step, 512, 4000) / formula, 1, 1e-12));
  }
  CHECK(same_number(inverse_square_root_schedule(4000, 512, 4000), 6.98771242968684e-4, 1e-12));
  CHECK(inverse_square_root_schedule(1, 1, 1) == 1);
  CHECK(inverse_square_root_schedule(4, 1, 1) == 0.5);
  CHECK(complaint([] { inverse_square_root_schedule(0, 1, 1); }, {"step is 0", "at least 1"}) ==
        "");
  CHECK(complaint([] { inverse_square_root_schedule(1, 0, 1); }, {"d_model is 0"}) == "");
  CHECK(complaint([] { inverse_square_root_schedule(1, 1, 0); }, {"warmup_steps is 0"}) == "");
}

TEST_CASE("the cosine rate rises to the highest, falls to the lowest and stays there",
          "[phase2][optim]") {
  const CosineOptions options = {.peak = 3, .floor = 1, .warmup_steps = 4, .steps = 12};
  const auto rate = [&](Index step) { return cosine_schedule(step, options); };
  CHECK(rate(1) == 0.75);
  CHECK(rate(4) == 3);
  CHECK(cosine_schedule(2, {.peak = 0.9, .floor = 0.2, .warmup_steps = 2, .steps = 9}) == 0.9);
  CHECK(same_number(rate(6), 2 + std::sqrt(0.5), 1e-12));  // an eighth of the wave
  CHECK(same_number(rate(8), 2, 1e-12));
  CHECK(same_number(rate(10), 2 - std::sqrt(0.5), 1e-12));
  CHECK(rate(12) == 1);
  CHECK(rate(1000) == 1);
  CHECK(same_number(cosine_schedule(1, {.peak = 1, .steps = 2}), 0.5, 1e-12));
  CHECK(cosine_schedule(1, {.peak = 1, .floor = 0.25, .steps = 1}) == 0.25);
}

TEST_CASE("a cosine rate refuses options out of range, by name", "[phase2][optim]") {
  const auto refused = [](Index step, const CosineOptions& options,
                          std::initializer_list<const char*> words) {
    return complaint([&] { cosine_schedule(step, options); }, words);
  };
  CHECK(cosine_schedule(1, {.peak = 0, .steps = 9}) == 0);  // all at their ends
  CHECK(cosine_schedule(8, {.peak = 0.5, .floor = 0.5, .warmup_steps = 8, .steps = 9}) == 0.5);
  CHECK(refused(0, {}, {"cosine_schedule: step is 0", "at least 1"}) == "");
  CHECK(refused(1, {.peak = -1}, {"peak is -1"}) == "");
  CHECK(refused(1, {.peak = not_a_number}, {"peak is nan"}) == "");
  CHECK(refused(1, {.peak = 1, .floor = 2}, {"floor is 2", "0 .. peak"}) == "");
  CHECK(refused(1, {.floor = -1}, {"floor is -1"}) == "");
  CHECK(refused(1, {.warmup_steps = -1}, {"warmup_steps is -1"}) == "");
  CHECK(refused(1, {.warmup_steps = 10, .steps = 10}, {"warmup_steps is 10", "below steps"}) == "");
  CHECK(refused(1, {.steps = 0}, {"steps is 0"}) == "");
}
