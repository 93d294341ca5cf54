// The steps of a tape: what each record adds to the gradients of its inputs; lines of a program.
#include <cmath>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape_steps.hpp"

using namespace tapestry;

TEST_CASE("a neuron step by step, forward and backward, as by hand", "[phase0][tape]") {
  const Tensor w(0.5), b(-0.3);
  Tape tape(Parameters{{"w", w}, {"b", b}}, Tape::Keep::values);
  const Tensor product = w * 2, sum = product + b, y = tanh(sum), e = y - 0.2, loss = e * e;
  tape.label(y, "y");
  (void)tape.backward(loss);
  const TapeSteps steps = tape_steps(tape);
  REQUIRE(steps.records.size() == 7);
  const double out = std::tanh(0.7), d_loss = 2 * (out - 0.2), slope = 1 - out * out;
  CHECK(steps.records[0].operation == "watched");
  CHECK(steps.records[0].label == "w");
  CHECK(steps.records[4].label == "y");
  CHECK(steps.records[4].operation == "tanh");
  CHECK(steps.records[4].inputs == std::vector<std::size_t>{3});
  CHECK(steps.records[4].saved_bytes == sizeof(real));
  CHECK(double{steps.records[4].value.item()} == Approx(out));
  CHECK(double{steps.records[4].gradient.item()} == Approx(d_loss));
  CHECK(steps.records[4].summary == summary(y));
  REQUIRE(steps.backward.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(steps.backward[i].record == 6 - i);
  const std::vector<TapeSteps::Given>& squared = steps.backward[0].gives;  // e is used twice
  REQUIRE(squared.size() == 2);
  CHECK(squared[0].to == 5);
  CHECK(double{squared[0].contribution.item()} == Approx(out - 0.2));
  CHECK(double{squared[0].sum.item()} == Approx(out - 0.2));
  CHECK(squared[1].to == 5);
  CHECK(double{squared[1].contribution.item()} == Approx(out - 0.2));
  CHECK(double{squared[1].sum.item()} == Approx(d_loss));
  REQUIRE(steps.backward[3].gives.size() == 2);
  CHECK(steps.backward[3].gives[1].to == 1);
  CHECK(double{steps.backward[3].gives[1].sum.item()} == Approx(d_loss * slope));
  CHECK(double{steps.backward[4].gives.at(0).sum.item()} == Approx(2 * d_loss * slope));
  CHECK(!steps.non_finite);
}

TEST_CASE("contributions add up to the gradient, also of one that was broadcast",
          "[phase0][tape]") {
  const Tensor x({2}, {1, 2}), row({2, 2}, {1, 2, 3, 4});
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = x * row, z = y + x, loss = sum(z * exp(x));  // x is used three times
  const Gradients gradients = tape.backward(loss);
  std::vector<Tape::Contribution> to_x;
  for (const Tape::Contribution& one : tape.contributions()) {
    if (one.to == 0) to_x.push_back(one);
  }
  REQUIRE(to_x.size() == 3);
  CHECK(to_x[0].from == 3);  // exp, whose record comes last
  CHECK(tape_steps(tape).records[2].shape == Shape{2, 2});
  Tensor total = Tensor::zeros({2});
  for (const Tape::Contribution& one : to_x) {
    CHECK(one.added.shape() == Shape{2});
    total = total + one.added;
    CHECK(largest_difference(one.sum, total) == 0);
  }
  CHECK(largest_difference(gradients[x], total) == 0);
  CHECK(largest_difference(to_x[1].added, to_x[0].added) > 0.1);
}

TEST_CASE("parts of a gradient are contributions of their own", "[phase0][tape]") {
  const Tensor x({4}, {1, 2, 3, 4});
  Tape tape({x}, Tape::Keep::values);
  const Tensor front = slice(x, 0, 0, 2) * 5, back = slice(x, 0, 1, 4) * 7, whole = sum(x);
  const Tensor loss = sum(front) + sum(back) + whole;
  const Gradients gradients = tape.backward(loss);
  CHECK(difference(gradients[x], {4}, {6, 13, 8, 8}) == "");
  std::vector<Tape::Contribution> to_x;
  for (const Tape::Contribution& one : tape.contributions()) {
    if (one.to == 0) to_x.push_back(one);
  }
  REQUIRE(to_x.size() == 3);
  CHECK(difference(to_x[0].added, {4}, {1, 1, 1, 1}) == "");
  CHECK(difference(to_x[1].added, {4}, {0, 7, 7, 7}) == "");
  CHECK(difference(to_x[1].sum, {4}, {1, 8, 8, 8}) == "");
  CHECK(difference(to_x[2].added, {4}, {5, 5, 0, 0}) == "");
  CHECK(difference(to_x[2].sum, {4}, {6, 13, 8, 8}) == "");
}

TEST_CASE("one backward function may ask twice for one buffer", "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = Tape::record("twice", {x}, x.clone(), [](const Tensor& dy, GradientSink& to) {
    to.accumulate(0, dy);
    for (const Index i : {Index{0}, Index{1}}) {
      to.gradient_buffer(0).data()[i] += static_cast<real>(i + 2);
    }
  });
  CHECK(difference(tape.backward(sum(y))[x], {2}, {3, 4}) == "");
  REQUIRE(tape.contributions().size() == 3);
  CHECK(difference(tape.contributions()[2].added, {2}, {2, 3}) == "");
}

TEST_CASE("what a checkpoint gives is counted as its record's", "[phase0][tape]") {
  const Tensor x(3);
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = checkpoint([](const std::vector<Tensor>& in) { return in[0] * in[0]; }, {x});
  CHECK(tape.backward(y + x)[x].item() == 7);
  const std::vector<Tape::Contribution> all = tape.contributions();
  REQUIRE(all.size() == 4);
  CHECK(all[1].from == 2);
  CHECK(all[1].to == 0);
  CHECK(all[1].sum.item() == 1);
  for (const std::size_t i : {2, 3}) {
    CHECK(all[i].from == 1);
    CHECK(all[i].to == 0);
    CHECK(all[i].added.item() == 3);
  }
  CHECK(all[3].sum.item() == 7);
}

TEST_CASE("what stays inside a checkpoint is no contribution", "[phase0][tape]") {
  const Tensor x(3), w(2);
  Tape tape({x, w}, Tape::Keep::values);
  const Tensor y =
      checkpoint([&](const std::vector<Tensor>& in) { return exp(in[0] * w) * 5; }, {x});
  (void)tape.backward(y);
  REQUIRE(tape.contributions().size() == 2);  // none to the product, nor to its exp
  for (const std::size_t i : {0, 1}) {
    const Tape::Contribution one = tape.contributions()[i];
    CHECK(one.from == 2);
    CHECK(double{one.added.item()} == Approx((one.to == 0 ? 2 : 3) * 5 * std::exp(6.0)));
  }
  CHECK(tape.contributions()[0].to != tape.contributions()[1].to);
}

TEST_CASE("contributions are kept with Keep::values only, and of one tape", "[phase0][tape]") {
  const Tensor x(3);
  for (const Tape::Keep keep : {Tape::Keep::values, Tape::Keep::only_what_is_needed}) {
    Tape tape({x}, keep);
    const Tensor y = x * 2;
    CHECK(tape.contributions().empty());
    (void)tape.backward(y);
    CHECK(tape.contributions().size() == (keep == Tape::Keep::values ? 1 : 0));
  }
}

TEST_CASE("a tape has forward steps before its backward pass", "[phase0][tape]") {
  const Tensor x(3);
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = x * 2, aside = y + 1;
  CHECK(tape_steps(tape).records.size() == 3);
  CHECK(tape_steps(tape).backward.empty());
  CHECK(!tape_steps(tape).records[1].gradient.defined());
  (void)tape.backward(y);
  const TapeSteps steps = tape_steps(tape);
  REQUIRE(steps.backward.size() == 1);  // the pass does not come to what y does not depend on
  CHECK(steps.backward[0].record == 1);
  CHECK(!steps.records[2].gradient.defined());
}

TEST_CASE("a record that gives nothing is a step, too", "[phase0][tape]") {
  const Tensor x(0.4);
  Tape tape({x}, Tape::Keep::values);
  (void)tape.backward(floor(x));
  REQUIRE(tape_steps(tape).backward.size() == 1);
  CHECK(tape_steps(tape).backward[0].gives.empty());
}

TEST_CASE("a tape of a watched tensor alone has its record", "[phase0][tape]") {
  for (const Parameters& watched : {Parameters{}, Parameters{{"x", Tensor(1)}}}) {
    const Tape tape(watched, Tape::Keep::values);
    CHECK(tape_steps(tape).records.size() == watched.size());
  }
}

TEST_CASE("steps need the values", "[phase0][tape]") {
  const Tape tape({Tensor(1)});
  CHECK(complaint([&] { (void)tape_steps(tape); }, {"tape_steps", "Keep::values"}) == "");
}

TEST_CASE("lines of a program are bound by label, each to all that it recorded", "[phase0][tape]") {
  const Tensor x(2);
  Tape tape(Parameters{{"x", x}}, Tape::Keep::values);
  const Tensor y = x * 3 + 1, again = exp(y) * 2, rest = -again;
  tape.label(y, "y");
  tape.label(again, "y");
  const TapeSteps steps = tape_steps(tape, {{"double x = 2", "x"},
                                            {"// y", ""},
                                            {"y = x * 3 + 1", "y"},
                                            {"y = exp(y) * 2", "y"},
                                            {"z = 0", "z"}});
  REQUIRE(steps.lines.size() == 5);
  CHECK(steps.lines[0].record == 0U);
  CHECK(!steps.lines[1].record);
  CHECK(steps.lines[2].record == 2U);
  CHECK(steps.lines[2].text == "y = x * 3 + 1");
  CHECK(steps.lines[3].record == 4U);
  CHECK(!steps.lines[4].record);
  CHECK(steps.records[0].line == 0U);
  CHECK(steps.records[1].line == 2U);
  CHECK(steps.records[2].line == 2U);
  CHECK(steps.records[3].line == 3U);
  CHECK(steps.records[4].line == 3U);
  CHECK(!steps.records[5].line);  // of no line that is shown
}

TEST_CASE("a watched tensor without a line belongs to none", "[phase0][tape]") {
  const Tensor x(2);
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = x * 3;
  tape.label(y, "y");
  const TapeSteps steps = tape_steps(tape, {{"y = x * 3", "y"}});
  CHECK(!steps.records[0].line);
  CHECK(steps.records[1].line == 0U);
}
