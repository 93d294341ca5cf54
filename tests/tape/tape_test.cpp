// The tape: what it records, its backward pass, and operations of one's own.
#include "tapestry/tape.hpp"

#include <functional>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

Tape::Entry last_entry(const Tape& tape) { return tape.entries().back(); }

}  // namespace

TEST_CASE("the minus infinity of a mask is not the first bad number, a NaN after it is",
          "[phase0][tape]") {
  const Tensor x({3}, {1, 2, 3});
  Tape tape({x}, Tape::Keep::values);
  const Tensor hidden = masked_fill(x, Tensor({3}, {0, 1, 0}), -infinity);
  const Tensor weights = softmax(hidden);
  CHECK(tape.first_non_finite() == "");
  const Tensor broken = log(weights - 1);
  CHECK(missing_word(tape.first_non_finite(), {"log", "finite: 3 of its 3 numbers are NaN"}) == "");
  CHECK(broken.numel() == 3);
}

TEST_CASE("a loss that is not finite is told of with the mask that its infinity comes from",
          "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tape tape({x}, Tape::Keep::values);
  const Tensor hidden = masked_fill(x, Tensor({2}, {0, 1}), -infinity);
  const Tensor other = x * 2, loss = sum(hidden);  // `other` stands between them
  CHECK(missing_word(
            tape.first_non_finite(),
            {"record 3, sum, is the first", "finite: it is infinite; it was",
             "the infinity that record 1, where, puts", "Was the answer itself hidden?"}) == "");
  CHECK(other.defined());
  CHECK(loss.defined());
}

TEST_CASE("gradients share no numbers, even where one incoming gradient went to both",
          "[phase0][tape]") {
  const Tensor a = Tensor::ones({3}), b = Tensor::ones({3});
  Tape tape({a, b});
  const Gradients gradients = tape.backward(sum(a + b));
  CHECK_FALSE(gradients[a].buffer() == gradients[b].buffer());
  CHECK(gradients[a].is_contiguous());
  gradients[a].data()[0] = 7;
  CHECK(gradients[b].at({0}) == 1);
}

TEST_CASE("only gradients that share numbers are copied, whatever stands between them",
          "[phase0][tape]") {
  const Tensor a = Tensor::ones({3}), b = Tensor::ones({3}), x({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor c({3}, {1, 2, 3});
  std::vector<Tensor> others;
  for (Index i = 2; i < 6; ++i) others.push_back(Tensor::ones({i}));
  Tape tape({others[0], a, others[1], b, others[2], x, others[3]});
  Tensor loss = sum((a + b) * c) + sum(transpose(x) * Tensor({3, 2}, {1, 2, 3, 4, 5, 6}));
  for (const Tensor& other : others) loss = loss + sum(other * 2);
  const Gradients gradients = tape.backward(loss);
  CHECK(difference(gradients[x], {2, 3}, {1, 3, 5, 2, 4, 6}) == "");
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    CAPTURE(i);
    CHECK(gradients.at(i).is_contiguous());
    CHECK(gradients.at(i).buffer().owners() == 1);
  }
}

TEST_CASE("watched slices of one buffer's size are told apart by where they begin",
          "[phase0][tape]") {
  const Tensor numbers({5}, {1, 2, 3, 4, 5});
  const Tensor first = slice(numbers.clone(), 0, 3, 5), second = slice(numbers.clone(), 0, 0, 2),
               third = slice(numbers.clone(), 0, 1, 3);
  Tape tape({first, second, third});
  const Gradients gradients = tape.backward(sum(first * 2) + sum(second * 3) + sum(third * 4));
  CHECK(difference(gradients[first], {2}, {2, 2}) == "");
  CHECK(difference(gradients[second], {2}, {3, 3}) == "");
  CHECK(difference(gradients[third], {2}, {4, 4}) == "");
}

TEST_CASE("gradients of many uses are added up in place", "[phase0][tape]") {
  const std::size_t start = memory_stats().live_bytes;
  const Tensor x = random_tensor({100, 100});
  const std::size_t one = memory_stats().live_bytes - start;
  const auto most = [&](const std::function<Tensor(Index)>& use) {
    Tape tape({x});
    Tensor loss(0);
    for (Index i = 0; i < 4; ++i) loss = loss + sum(use(i));
    const std::size_t before = memory_stats().live_bytes;
    reset_peak_memory();
    (void)tape.backward(loss);
    return memory_stats().peak_bytes - before;
  };
  CHECK(most([&](Index i) { return x * double(i); }) < 2 * one + one / 2);  // a sum and a part
  CHECK(most([&](Index i) { return slice(x, 0, i, i + 1); }) < one + one / 2);
}

TEST_CASE("a slice adds to no gradient that another tensor shares", "[phase0][tape]") {
  const Tensor x({3}, {1, 2, 3}), y({3}, {4, 5, 6}), c({3}, {10, 20, 30});
  Tape tape({x, y});
  const Tensor part = slice(x, 0, 0, 1), loss = sum((x + y) * c) + sum(part);
  const Gradients gradients = tape.backward(loss);
  CHECK(difference(gradients[x], {3}, {11, 20, 30}) == "");
  CHECK(difference(gradients[y], {3}, {10, 20, 30}) == "");
}

TEST_CASE("gradients come back by tensor and by position, shaped like it", "[phase0][tape]") {
  const Tensor w({2, 2}, {1, 2, 3, 4}), b({2}, {5, 6}), x({1, 2}, {1, -1});
  Tape tape({w, b});
  const Gradients gradients = tape.backward(sum(matmul(x, w) * b));
  CHECK(gradients.size() == 2);
  CHECK(difference(gradients[w], {2, 2}, {5, 6, -5, -6}) == "");
  CHECK(difference(gradients[b], {2}, {-2, -2}) == "");
  CHECK(largest_difference(gradients.at(1), gradients[b]) == 0);
}

TEST_CASE("y = a + a; z = y * a: a gradient that is shared is not added to in place",
          "[phase0][tape]") {
  const Tensor a({3}, {1, 2, -3});
  Tape tape({a});
  const Tensor y = a + a;
  const Gradients gradients = tape.backward(sum(y * a));
  CHECK(difference(gradients[a], {3}, {4, 8, -12}) == "");
}

TEST_CASE("handing one gradient to many inputs changes none of them", "[phase0][tape]") {
  const Tensor a({2}, {1, 2}), b({2}, {3, 4}), c({2}, {5, 6});
  Tape tape({a, b, c});
  const Tensor y = (a + b) + (c + a) + (b + b);
  const Gradients gradients = tape.backward(y, Tensor({2}, {1, 10}));
  CHECK(difference(gradients[a], {2}, {2, 20}) == "");
  CHECK(difference(gradients[b], {2}, {3, 30}) == "");
  CHECK(difference(gradients[c], {2}, {1, 10}) == "");
}

TEST_CASE("the seed and the dy of a record are never written to", "[phase0][tape]") {
  const Tensor a({2}, {1, 2}), seed({2}, {1, 1});
  Tape tape({a});
  Tensor kept;
  const Tensor y = a * 2;
  const Tensor z =
      Tape::record("keeper", {y}, y.clone(), [&kept](const Tensor& dy, GradientSink& to) {
        kept = dy;
        to.accumulate(0, dy);
        to.accumulate(0, dy);
      });
  tape.backward(z + y, seed);
  CHECK(difference(seed, {2}, {1, 1}) == "");
  CHECK(difference(kept, {2}, {1, 1}) == "");
}

TEST_CASE("a value used twice is differentiated once: 60 doublings are 60 steps",
          "[phase0][tape]") {
  const Tensor x(3);
  Tape tape({x});
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = y + y;
  CHECK(tape.size() == 61);
  CHECK(tape.backward(y)[x].item() == static_cast<real>(0x1p60));
}

TEST_CASE("a diamond adds up what comes back on both sides", "[phase0][tape]") {
  const Tensor x({2}, {0.5, -1.5});
  CHECK(wrong_gradient(
            [](const std::vector<Tensor>& in) {
              const Tensor top = exp(in[0]), left = sin(top), right = top * in[0];
              return left * right + right / (1 + left * left) + top;
            },
            {x}) == "");
}

TEST_CASE("the backward pass of a million records needs no recursion", "[phase0][tape]") {
  const std::size_t before = memory_stats().live_bytes;
  {
    const Tensor x(0);
    Tape tape({x});
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = y + x;
    CHECK(tape.size() == 1'000'001);
    CHECK(tape.backward(y)[x].item() == 1'000'001);
  }
  CHECK(memory_stats().live_bytes == before);
}

TEST_CASE("a tape without a backward pass is freed without recursion too", "[phase0][tape]") {
  const std::size_t before = memory_stats().live_bytes;
  {
    const Tensor x(1);
    Tape tape({x});
    Tensor y = x;
    for (int i = 0; i < 300'000; ++i) y = y * x;
    CHECK(y.item() == 1);
  }
  CHECK(memory_stats().live_bytes == before);
}

TEST_CASE("only what depends on a watched tensor is recorded", "[phase0][tape]") {
  const Tensor w({2}, {1, 2}), x({2}, {3, 4});
  Tape tape({w});
  CHECK(tape.size() == 1);
  const Tensor data = exp(x) * 2 + x;
  CHECK(tape.size() == 1);
  const Tensor y = w * data;
  CHECK(tape.size() == 2);
  CHECK(last_entry(tape).operation == "multiply");
  CHECK(last_entry(tape).inputs == std::vector<std::size_t>{0});
  const Tensor z = y + y;
  CHECK(last_entry(tape).inputs == std::vector<std::size_t>{1, 1});
  CHECK(last_entry(tape).shape == Shape{2});
}

TEST_CASE("a watched tensor that the loss does not use gets zeros", "[phase0][tape]") {
  const Tensor used({2}, {1, 2}), unused({3, 1}, {1, 2, 3});
  Tape tape({unused, used});
  const Tensor dead_end = exp(unused);
  const Gradients gradients = tape.backward(sum(used));
  CHECK(difference(gradients[unused], {3, 1}, {0, 0, 0}) == "");
  CHECK(difference(gradients[used], {2}, {1, 1}) == "");
  CHECK(dead_end.defined());
}

TEST_CASE("a watched tensor can itself be the loss", "[phase0][tape]") {
  const Tensor x(4), other(5);
  Tape tape({x, other});
  const Gradients gradients = tape.backward(x);
  CHECK(gradients[x].item() == 1);
  CHECK(gradients[other].item() == 0);
}

TEST_CASE("a seed makes the backward pass a vector-Jacobian product", "[phase0][tape]") {
  const Tensor x({2}, {2, 3}), seed({2, 2}, {1, 10, 100, 1000});
  Tape tape({x});
  const Tensor y = stack({x * x, slice(x, 0, 0, 1) * x}, 0);  // (x0^2, x1^2), (x0 x0, x0 x1)
  const Gradients gradients = tape.backward(y, transpose(transpose(seed)));
  CHECK(difference(gradients[x], {2}, {4 + 400 + 3000, 60 + 2000}) == "");
}

TEST_CASE("the backward pass starts at y: later records are ignored", "[phase0][tape]") {
  const Tensor x(3);
  Tape tape({x});
  const Tensor y = x * x, later = exp(y) * x;
  CHECK(tape.backward(y)[x].item() == 6);
  CHECK(later.defined());
}

TEST_CASE("detached stops the gradient, also through views of it", "[phase0][tape]") {
  const Tensor x({2, 1}, {2, 3});
  Tape tape({x});
  const Tensor y = x * x.detach() + expand(transpose(x.detach()), {2, 2}) * 5;
  const Tensor constant = (x * 2).detach() * x.detach();
  CHECK(tape.size() == 4);  // x, x * x', the sum and x * 2: no record for what is detached
  const Gradients gradients = tape.backward(sum(y) + sum(x) + sum(constant));
  CHECK(difference(gradients[x], {2, 1}, {2 * 2 + 1, 2 * 3 + 1}) == "");
}

TEST_CASE("gradients go through views made while the tape records", "[phase0][tape]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  Tape tape({x});
  const Tensor y = transpose(x), z = slice(y, 0, 0, 3, 2);  // columns 0 and 2
  CHECK(difference(tape.backward(sum(z * z))[x], {2, 3}, {2, 0, 6, 8, 0, 12}) == "");
}

namespace {

// x^3, as a user would add it; the factor 3 is right.
Tensor cube(const Tensor& x, double factor) {
  const Tensor inside = x.detach();  // no records for what happens inside
  const Tensor y = inside * inside * inside;
  return Tape::record("cube", {x}, y,
                      [x = Tape::save(x), factor](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, dy * (factor * x * x));
                      });
}

}  // namespace

TEST_CASE("a user's own operation is one record with its own backward function", "[phase0][tape]") {
  const Tensor x({2}, {2, -1});
  Tape tape({x});
  const Tensor y = cube(x, 3);
  CHECK(tape.size() == 2);
  CHECK(last_entry(tape).operation == "cube");
  CHECK(last_entry(tape).saved_bytes == 2 * sizeof(real));
  CHECK(difference(tape.backward(sum(y))[x], {2}, {12, 3}) == "");
  CHECK(wrong_gradient([](const std::vector<Tensor>& in) { return cube(in[0], 3); }, {x}) == "");
  CHECK(wrong_gradient([](const std::vector<Tensor>& in) { return cube(in[0], 2); }, {x}) != "");
}

TEST_CASE("accumulate() sums a broadcast gradient back, and refuses any other shape",
          "[phase0][tape]") {
  const auto give = [](const Shape& input, const Tensor& gradient) {
    const Tensor x = Tensor::ones(input);
    Tape tape({x});
    const Tensor y =
        Tape::record("own", {x}, Tensor(1),
                     [gradient](const Tensor&, GradientSink& to) { to.accumulate(0, gradient); });
    return tape.backward(y)[x];
  };
  const Tensor numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(difference(give({2, 3}, numbers), {2, 3}, {1, 2, 3, 4, 5, 6}) == "");
  CHECK(difference(give({3, 2}, transpose(numbers)), {3, 2}, {1, 4, 2, 5, 3, 6}) == "");
  CHECK(difference(give({3}, numbers), {3}, {5, 7, 9}) == "");
  CHECK(difference(give({2, 1}, numbers), {2, 1}, {6, 15}) == "");
  CHECK(difference(give({}, numbers), Shape{}, {21}) == "");
  CHECK(difference(give({1, 1, 3}, reshape(numbers, {2, 1, 3})), {1, 1, 3}, {5, 7, 9}) == "");
  CHECK(difference(give({3}, Tensor::zeros({0, 3})), {3}, {0, 0, 0}) == "");
  for (const Shape& wrong : {Shape{2}, Shape{3, 3}, Shape{2, 3, 1}, Shape{6}}) {
    CHECK(complaint([&] { give(wrong, numbers); }, {"own:", "gradient of shape (2, 3)",
                                                    "input of shape", "backward is wrong"}) == "");
  }
}

TEST_CASE("a gradient sink tells which inputs need a gradient and drops the others",
          "[phase0][tape]") {
  const Tensor x(2), constant(3);
  std::vector<bool> wanted;
  Tape tape({x});
  const Tensor y = Tape::record(
      "own", {constant, x, x.detach()}, Tensor(1), [&wanted](const Tensor& dy, GradientSink& to) {
        for (std::size_t i = 0; i < 4; ++i) wanted.push_back(to.needs_gradient(i));
        to.accumulate(0, Tensor::ones({7}));  // not looked at
        to.accumulate(1, 5 * dy);
        to.accumulate(3, Tensor::ones({7}));  // there is none: dropped, too
      });
  const Tensor behind = y * x;  // whose inputs follow those of y
  CHECK(tape.backward(behind)[x].item() == 11);
  CHECK(wanted == std::vector<bool>{false, true, false, false});
}

TEST_CASE("a record that gives nothing ends the backward pass there", "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tape tape({x});
  const Tensor y = Tape::record("stop", {x}, x.clone(), [](const Tensor&, GradientSink&) {});
  CHECK(difference(tape.backward(sum(y * 2))[x], {2}, {0, 0}) == "");
}
