// Looking at a tape: its table, its entries, its first number that is not finite.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

Tape::Entry last_entry(const Tape& tape) { return tape.entries().back(); }

}  // namespace

TEST_CASE("a record counts what it saves for the backward pass", "[phase0][tape]") {
  const std::size_t six = 6 * sizeof(real);
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  Tape tape({x});
  const auto saved = [&](const Tensor& y) {
    return y.defined() ? last_entry(tape).saved_bytes : 1;
  };
  CHECK(saved(x + x) == 0);
  CHECK(saved(x - 1) == 0);
  CHECK(saved(-x) == 0);
  CHECK(saved(x * x.detach()) == 2 * six);  // both operands
  CHECK(saved(exp(x)) == six);              // the output
  CHECK(saved(log(x)) == six);              // the input
  CHECK(saved(relu(x)) == six);
  CHECK(saved(sum(x)) == 0);
  CHECK(saved(mean(x, 0)) == 0);
  CHECK(saved(reshape(x, {3, 2})) == 0);
  CHECK(saved(transpose(x)) == 0);
  CHECK(saved(slice(x, 1, 0, 2)) == 0);
  CHECK(saved(concat({x, x}, 0)) == 0);
  CHECK(saved(matmul(x, transpose(x))) == 2 * six);
  CHECK(saved(softmax(x)) == six);
  CHECK(saved(where(Tensor({3}, {1, 0, 1}), x, 0)) == 3 * sizeof(real));  // the condition
}

TEST_CASE("what a record saved is counted whatever was computed in between", "[phase0][tape]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  Tape tape({x});
  const auto backward = [x = Tape::save(x)](const Tensor& dy, GradientSink& to) {
    to.accumulate(0, 2 * x * dy);
  };
  (void)exp(x);  // takes nothing of it
  CHECK(last_entry(tape).saved_bytes == 6 * sizeof(real));
  (void)exp(x.detach());  // drops nothing of it
  const Tensor y = Tape::record("square", {x}, x.detach() * x.detach() + exp(x) * 0, backward);
  CHECK(last_entry(tape).operation == "square");
  CHECK(last_entry(tape).saved_bytes == 6 * sizeof(real));
  (void)Tape::save(x);
  (void)(x + x);
  CHECK(last_entry(tape).saved_bytes == 0);
  CHECK(difference(tape.backward(sum(y))[x], {2, 3}, {2, 4, 6, 8, 10, 12}) == "");
}

TEST_CASE("an operation that throws leaves no saved bytes to the next", "[phase0][tape]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6}), wrong({4}, {1, 2, 3, 4});
  Tape tape({x});
  const std::vector<std::function<void()>> failing = {
      [&] { x* wrong; },          [&] { matmul(x, x); },  [&] { where(x, x, wrong); },
      [&] { maximum(x, wrong); }, [&] { pow(x, wrong); }, [&] { x / wrong; },
  };
  for (const auto& f : failing) {
    CHECK_THROWS_AS(f(), Error);
    const Tensor y = x + x;
    CHECK(last_entry(tape).saved_bytes == 0);
  }
}

TEST_CASE("a tape prints as a table", "[phase0][tape]") {
  const Tensor w({2, 2}, {1, 2, 3, 4}), b({2}, {0, 1});
  Tape tape(Parameters{{"weight", w}, {"", b}});
  const Tensor y = matmul(w, w) + b;
  tape.label(y, "y");
  tape.label(Tensor(1), "not on the tape");
  const Tensor loss = sum(y * y);
  const std::string two = in_double ? " 64 B" : " 32 B", all = in_double ? "128 B" : "64 B";
  CHECK(tape.table() ==
        "    #  operation        inputs    shape                   saved  label\n"
        "    0  watched                    (2, 2)                    0 B  weight\n"
        "    1  watched                    (2)                       0 B\n"
        "    2  matmul           0 0       (2, 2)                  " +
            two +
            "\n"
            "    3  add              2 1       (2, 2)                    0 B  y\n"
            "    4  multiply         3 3       (2, 2)                  " +
            two +
            "\n"
            "    5  sum              4         ()                        0 B\n"
            "saved for the backward pass: " +
            all + "\n");
  CHECK(loss.ndim() == 0);
}

TEST_CASE("large sizes are printed in KiB and MiB", "[phase0][tape]") {
  const auto text_of = [](Index bytes) {  // of that many saved in one record
    const Tensor x(1);
    Tape tape({x});
    const Tensor large = Tensor::empty({bytes / Index(sizeof(real))});
    (void)Tape::record("own", {x}, x.clone(),
                       [kept = Tape::save(large)](const Tensor&, GradientSink&) {});
    const std::string text = tape.table();
    return text.substr(text.rfind(": ") + 2);
  };
  CHECK(text_of(9'992) == "9992 B\n");
  CHECK(text_of(10'000) == "9.8 KiB\n");
  CHECK(text_of(25'600) == "25.0 KiB\n");
  CHECK(text_of(9'000'000) == "8789.1 KiB\n");
  CHECK(text_of(10'000'000) == "9.5 MiB\n");
  CHECK(text_of(16'000'000) == "15.3 MiB\n");
  CHECK(text_of(16'084'000) == "15.3 MiB\n");  // just below 15.35
}

TEST_CASE("a table has room for the longest name of an operation", "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tape tape({x});
  const Tensor y = binary_cross_entropy_with_logits(x, Tensor::ones({2}));
  const std::string text = tape.table();
  const std::size_t second = text.find('\n') + 1, third = text.find('\n', second) + 1;
  CHECK(text.find("inputs") == text.find(" 0 ", third) + 1 - third);
}

TEST_CASE("entries carry names, shapes, labels and inputs", "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tape tape(Parameters{{"x", x}});
  const Tensor y = exp(x);
  tape.label(y, "growth");
  const std::vector<Tape::Entry> entries = tape.entries();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].operation == "watched");
  CHECK(entries[0].label == "x");
  CHECK(entries[0].inputs.empty());
  CHECK(entries[1].operation == "exp");
  CHECK(entries[1].label == "growth");
  CHECK(!entries[1].value.defined());
  CHECK(!entries[1].gradient.defined());
}

TEST_CASE("a label of what is not on the tape is ignored", "[phase0][tape]") {
  const Tensor x({2, 2}, {1, 2, 3, 4});
  const Tensor early = transpose(x), row = slice(x, 0, 0, 1);
  Tape tape(Parameters{{"x", x}});
  for (const Tensor& other : {early, row, x.detach(), Tensor(), Tensor(1)}) {
    tape.label(other, "other");
  }
  int runs = 0;
  const auto f = [&](const std::vector<Tensor>& in) {
    const Tensor hidden = exp(in[0]);
    tape.label(hidden, "hidden");
    tape.label(reshape(in[0], {2, 2}), "a view made inside");
    ++runs;
    return hidden * in[0];
  };
  const auto nested = [&](const std::vector<Tensor>& in) { return checkpoint(f, in) * 2; };
  const Tensor y = checkpoint(nested, {x}), loss = sum(y);
  tape.label(loss, "loss");
  (void)tape.backward(loss);
  CHECK(runs == 3);
  std::vector<std::string> labels;
  for (const Tape::Entry& entry : tape.entries()) labels.push_back(entry.label);
  CHECK(labels == std::vector<std::string>{"x", "", "loss"});
  tape.label(x, "the watched one");
  CHECK(tape.entries()[0].label == "the watched one");
}

TEST_CASE("with Keep::values every value and gradient can be looked at", "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = x * x, loss = sum(3 * y);
  tape.backward(loss);
  const std::vector<Tape::Entry> entries = tape.entries();
  REQUIRE(entries.size() == 4);
  CHECK(difference(entries[0].value, {2}, {1, 2}) == "");
  CHECK(difference(entries[0].gradient, {2}, {6, 12}) == "");
  CHECK(difference(entries[1].value, {2}, {1, 4}) == "");
  CHECK(difference(entries[1].gradient, {2}, {3, 3}) == "");
  CHECK(difference(entries[3].gradient, Shape{}, {1}) == "");
}

TEST_CASE("a tape knows nothing of the one before it", "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  Tensor inside;
  const auto f = [&](const std::vector<Tensor>& in) { return inside = in[0] * 2, inside * 3; };
  {
    Tape tape(Parameters{{"x", x}}, Tape::Keep::values);
    const Tensor y = checkpoint(f, {x});
    tape.label(y, "y");
    (void)tape.backward(sum(y));
  }
  Tape tape({x});
  const Tensor y = x * x, loss = sum(y);
  for (const Tape::Entry& entry : tape.entries()) {
    CAPTURE(entry.operation);
    CHECK(entry.label == "");
    CHECK_FALSE(entry.value.defined());
    CHECK_FALSE(entry.gradient.defined());
  }
  CHECK(tape.contributions().empty());
  CHECK(difference(tape.backward(sum(y * inside))[x], {2}, {4, 16}) == "");
}

TEST_CASE("the first operation that produced a bad number is named", "[phase0][tape]") {
  const Tensor x({3}, {1, 0, 4});
  {
    Tape tape({x}, Tape::Keep::values);
    const Tensor y = x + 1, z = log(x - 1), sum_of_both = y + z;
    tape.label(z, "logits");
    const std::string text = tape.first_non_finite();
    CHECK(missing_word(text, {"record 3, log 'logits'",
                              ": 1 of its 3 numbers is NaN, 1 is infinite"}) == "");
    CHECK(sum_of_both.defined());
  }
  {
    Tape tape({x}, Tape::Keep::values);
    const Tensor y = exp(x) * 2;
    CHECK(tape.first_non_finite() == "");
  }
  const Tensor bad({2}, {1, NAN});
  Tape tape({bad}, Tape::Keep::values);
  const Tensor y = bad * 2;
  CHECK(missing_word(tape.first_non_finite(),
                     {"record 0, watched", ": 1 of its 2 numbers is NaN"}) == "");
}

TEST_CASE("bad numbers are counted in words", "[phase0][tape]") {
  const auto told = [](
                        const Tensor& x, const std::function<void()>& compute = [] {}) {
    Tape tape({x}, Tape::Keep::values);
    compute();
    return tape.first_non_finite();
  };
  const std::string first = "record 0, watched, is the first with a number that is not finite: ";
  CHECK(told(Tensor(NAN)) == first + "it is NaN");
  CHECK(told(Tensor(-INFINITY)) == first + "it is infinite");
  CHECK(told(Tensor({2}, {1, NAN})) == first + "1 of its 2 numbers is NaN");
  CHECK(told(Tensor({3}, {INFINITY, 1, -INFINITY})) == first + "2 of its 3 numbers are infinite");
  CHECK(told(Tensor({5}, {NAN, INFINITY, NAN, 1, INFINITY})) ==
        first + "2 of its 5 numbers are NaN, 2 are infinite");
  const Tensor x({2}, {-1, 2}), nans({2}, {1, NAN});
  const std::string second =
      " is the first with a number that is not finite: 1 of its 2 numbers"
      " is NaN";
  CHECK(told(x, [&] { (void)log(x); }) == "record 1, log," + second);
  CHECK(told(x,
             [&] {
               const Tensor y = x * nans;
               (void)(y * y);
             }) ==
        "record 1, multiply," + second +
            "; it came with the other operand, which is not on the tape (0 * inf, in a mask?)");
}

TEST_CASE("a bad gradient is found between records without one", "[phase2][tape]") {
  const Tensor x({2}, {0, 4});
  Tape tape({x}, Tape::Keep::values);
  const Tensor before = x + 1, y = x * 1, after = x + 2;
  const Tensor loss = sum(where(y, sqrt(y), 0)), last = loss * 2;
  (void)tape.backward(loss);
  CHECK(missing_word(tape.first_non_finite(),
                     {"the gradient of record 2, multiply", "1 of its 2 numbers is NaN"}) == "");
}

TEST_CASE("where all values are finite, the first bad gradient is named", "[phase2][tape]") {
  const Tensor x({2}, {0, 4});
  Tape tape({x}, Tape::Keep::values);
  const Tensor y = x * 1, loss = sum(where(y, sqrt(y), 0));  // 0 times the infinite slope at 0
  CHECK(tape.first_non_finite() == "");                      // no backward pass yet
  (void)tape.backward(loss);
  CHECK(missing_word(tape.first_non_finite(),
                     {"the gradient of record 1, multiply", "1 of its 2 numbers is NaN",
                      "by way of record 2, sqrt"}) == "");
}

TEST_CASE("without kept values the search for bad numbers says so", "[phase0][tape]") {
  const Tensor x(1);
  const Tape tape({x});
  CHECK(complaint([&] { (void)tape.first_non_finite(); }, {"first_non_finite", "Keep::values"}) ==
        "");
}
