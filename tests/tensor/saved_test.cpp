// What is changed between the forward and the backward pass is refused; what is only read is not.
#include "tapestry/saved.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw.hpp"

using namespace tapestry;

namespace {

// What is wrong with the refusal of a backward pass through w * w, after that work.
std::string not_refused(const std::function<void(Tensor w)>& work) {
  const Tensor w({2}, {1, 2});
  Tape tape(Parameters{{"w", w}});
  const Tensor loss = sum(w * w);
  work(w);
  return complaint([&] { (void)tape.backward(loss); },
                   {"backward: record 1, multiply, saved 'w' (2)", "changed since", "clone()"});
}

// What is wrong with its gradient.
std::string wrong_gradient_after(const std::function<void(Tensor w)>& work) {
  const Tensor w({2}, {1, 2});
  Tape tape({w});
  const Tensor loss = sum(w * w);
  work(w);
  return difference(tape.backward(loss)[w], {2}, {2, 4});
}

}  // namespace

TEST_CASE("a weight that was changed before the backward pass is refused", "[phase0][tape]") {
  CHECK(not_refused([](Tensor w) { w.data()[0] = 100; }) == "");
  CHECK(not_refused([](Tensor w) { w.set({1}, 100); }) == "");
  CHECK(not_refused([](Tensor w) { reshape(w.detach(), {1, 2}).data()[1] = 100; }) == "");
  CHECK(not_refused([](Tensor w) { std::thread([=] { w.data()[0] = 100; }).join(); }) == "");
  CHECK(not_refused([](Tensor w) {
          const double read = double{w.data()[0]};
          w.data()[0] = real(read + 1);
        }) == "");
}

TEST_CASE("what is only read, or put back, is not refused", "[phase0][tape]") {
  CHECK(wrong_gradient_after([](Tensor w) { (void)(w.data()[0] + w.at({1})); }) == "");
  CHECK(wrong_gradient_after([](Tensor w) { (void)w.values(); }) == "");
  CHECK(wrong_gradient_after([](Tensor w) {
          w.data()[0] = 7;
          w.data()[0] = 1;
        }) == "");
  CHECK(wrong_gradient_after([](Tensor w) { w.set({1}, 2); }) == "");
  CHECK(wrong_gradient_after([](Tensor w) { w.clone().data()[0] = 7; }) == "");
}

TEST_CASE("an address from before the tape began is watched, too", "[phase0][tape]") {
  const Tensor w({2}, {1, 2});
  real* const numbers = w.data();
  for (int step = 0; step < 3; ++step) {
    Tape tape({w});
    const Tensor loss = sum(w * w);
    if (step == 1) numbers[1] = 5;
    if (step == 1) {
      CHECK(complaint([&] { (void)tape.backward(loss); }, {"multiply", "(2)", "changed"}) == "");
    } else {
      const double other = step == 0 ? 4 : 10;
      CHECK(difference(tape.backward(loss)[w], {2}, {2, other}) == "");
    }
  }
}

TEST_CASE("an optimiser between a forward pass and its backward pass is refused",
          "[phase0][tape]") {
  const Parameters parameters = {{"w", Tensor({2}, {1, 2})}};
  const Tensor& w = parameters[0].value;
  Adam adam(parameters, {.learning_rate = 1e-3});
  Sgd sgd(parameters, {.learning_rate = 1e-3});
  const std::function<void(const Gradients&)> steps[] = {[&](const Gradients& g) { adam.step(g); },
                                                         [&](const Gradients& g) { sgd.step(g); }};
  for (const auto& step : steps) {
    Tape first(parameters);
    const Gradients gradients = first.backward(sum(w * w));
    Tape second(parameters);
    const Tensor loss = sum(w * w);
    step(gradients);
    CHECK(complaint([&] { (void)second.backward(loss); }, {"multiply, saved 'w' (2)"}) == "");
    step(gradients);  // in its place, after the backward pass
    Tape third(parameters);
    CHECK(difference_to(third.backward(sum(w * w))[w], 2 * w) == "");
  }
}

TEST_CASE("an output that was changed is refused under its label", "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tape tape({x});
  const Tensor y = exp(x);
  tape.label(y, "growth");
  y.data()[0] = 100;
  CHECK(complaint([&] { (void)tape.backward(sum(y)); },
                  {"record 1, exp 'growth', saved 'growth' (2)"}) == "");
  CHECK(complaint([&] { (void)tape.backward(sum(y)); }, {"already called"}) == "");
}

TEST_CASE("an output of linear that was changed is refused", "[phase0][tape]") {
  const Tensor x({1, 2}, {1, 2}), w({2, 3}, {1, 2, 3, 4, 5, 6});
  Tape tape({w});
  const Tensor y = linear(x, w, Tensor(), Activation::relu), loss = sum(y);
  y.data()[0] = 100;
  CHECK(complaint([&] { (void)tape.backward(loss); }, {"record 1, linear, saved (1, 3)"}) == "");
}

TEST_CASE("what one tape saved is watched after another one has ended", "[phase0][tape]") {
  const Tensor w({2}, {1, 2});
  std::promise<void> recorded, may_end;
  std::thread other([&] {
    const Tape earlier({w});
    (void)(w * w);
    recorded.set_value();
    may_end.get_future().wait();
  });
  recorded.get_future().wait();
  Tape tape({w});
  const Tensor loss = sum(w * w);
  may_end.set_value();
  other.join();
  w.data()[1] = 7;
  CHECK(complaint([&] { (void)tape.backward(loss); }, {"multiply", "saved (2)"}) == "");
}

TEST_CASE("no fingerprint is 0, which says that there is none", "[phase0][tape]") {
  // XXH3, turned back, tells whose hash is 0.
  const std::uint64_t bits = 0xff27d738e168d542;
  const Tensor x = Tensor::zeros({8 / Index{sizeof(real)}});
  std::memcpy(x.data(), &bits, sizeof(bits));
  CHECK(fingerprint(x) == 1);
}

TEST_CASE("what a record saved of another keeps that one's label", "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tape tape({x});
  const Tensor y = x * 2, z = y * y;
  tape.label(y, "double");
  tape.label(z, "square");
  y.data()[0] = 100;
  CHECK(complaint([&] { (void)tape.backward(sum(z)); },
                  {"record 2, multiply 'square', saved 'double' (2)"}) == "");
}

TEST_CASE("only what the loss depends on, and only elements that are saved, must stay",
          "[phase0][tape]") {
  const Tensor both({4}, {1, 2, 3, 4});
  const Tensor w = slice(both, 0, 0, 2), x({2}, {5, 6});
  Tape tape({w, x});
  const Tensor unused = x * x, loss = sum(w * w);
  both.data()[3] = 7;
  x.data()[0] = 7;
  CHECK(difference(tape.backward(loss)[w], {2}, {2, 4}) == "");
}

TEST_CASE("what is saved as a strided view is compared as one", "[phase0][tape]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor constant({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor column = slice(constant, 1, 1, 2);
  for (const Index changed : {0, 1}) {
    Tape tape({x});
    const Tensor loss = sum(x * column);
    constant.set({0, changed}, 9);
    const auto backward = [&] { (void)tape.backward(loss); };
    CHECK((complaint(backward, {"saved (2, 1)"}) == "") == (changed == 1));
  }
}

TEST_CASE("the input of a checkpoint must stay as it is, too", "[phase0][tape]") {
  const Tensor w({2}, {1, 2});
  Tape tape(Parameters{{"w", w}});
  const auto square = [](const std::vector<Tensor>& in) { return in[0] * in[0]; };
  const Tensor loss = sum(checkpoint(square, {w}));
  w.data()[0] = 3;
  CHECK(complaint([&] { (void)tape.backward(loss); }, {"checkpoint, saved 'w' (2)"}) == "");
}

TEST_CASE("a step of training gives away no address, so nothing is compared", "[phase2][tape]") {
  Random random(1);
  const Transformer model({.vocab_size = 11,
                           .max_length = 6,
                           .d_model = 8,
                           .num_heads = 2,
                           .num_layers = 1,
                           .dropout = 0.1},
                          random);
  Adam adam(model.parameters(), {.learning_rate = 1e-3});
  const Indices ids({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  for (int step = 0; step < 2; ++step) {
    Tape tape(model.parameters(), Tape::Keep::values);
    Gradients gradients = tape.backward(cross_entropy(model(ids, {}, {.random = &random}), ids));
    clip_gradient_norm(gradients, 1e-3);
    adam.step(gradients);
    for (const Tape::Entry& entry : tape.entries()) {
      CAPTURE(entry.operation, entry.shape);
      CHECK_FALSE(entry.value.buffer().given_away());
    }
  }
  const Tensor weight = model.parameters()[0].value;
  (void)weight.data();
  CHECK(weight.buffer().given_away());
}
