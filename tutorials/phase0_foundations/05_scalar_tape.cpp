// Step 05. What is inside a tape?
//
// New here: a tape written out, for single numbers: what it records, its backward pass, and why it
// adds. Then the library's tape beside it, and what a record of tensors keeps instead of slopes.
// Writes no picture; takes less than a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

// ---- The whole tape

struct Input {
  std::size_t record;  // which earlier record
  double slope;        // the derivative of this record's value by that one's
};

struct Record {
  double value;
  std::vector<Input> inputs;
  double gradient = 0;  // of the loss by this value; known after backward
};

struct ScalarTape {
  std::vector<Record> records = {};

  std::size_t record(double value, const std::vector<Input>& inputs) {
    records.push_back({value, inputs});
    return records.size() - 1;
  }

  void backward(std::size_t loss) {
    records[loss].gradient = 1;
    for (std::size_t i = loss + 1; i-- > 0;) {
      for (const Input& input : records[i].inputs) {
        records[input.record].gradient += records[i].gradient * input.slope;
      }
    }
  }
};

// A number on a tape.
struct Number {
  ScalarTape* tape;
  std::size_t at;

  double value() const { return tape->records[at].value; }
  double gradient() const { return tape->records[at].gradient; }
};

Number watch(ScalarTape& tape, double value) { return {&tape, tape.record(value, {})}; }

Number operator+(Number a, Number b) {
  return {a.tape, a.tape->record(a.value() + b.value(), {{a.at, 1}, {b.at, 1}})};
}

Number operator*(Number a, Number b) {
  return {a.tape, a.tape->record(a.value() * b.value(), {{a.at, b.value()}, {b.at, a.value()}})};
}

Number tanh(Number x) {
  const double y = std::tanh(x.value());
  return {x.tape, x.tape->record(y, {{x.at, 1 - y * y}})};
}

// ---- What it does

void print(const ScalarTape& tape, const std::vector<std::string>& names) {
  std::printf(" #  name         value  gradient   from, with slope\n");
  for (std::size_t i = 0; i < tape.records.size(); ++i) {
    const Record& record = tape.records[i];
    std::printf("%2zu  %-10s %7.4f   %7.4f", i, names[i].c_str(), record.value, record.gradient);
    for (const Input& input : record.inputs) std::printf("   %zu: %.4f", input.record, input.slope);
    std::printf("\n");
  }
}

// The neuron of step 02, by this tape and by the library's.
void neuron() {
  ScalarTape tape;
  const Number w = watch(tape, 0.5), x = watch(tape, 2), b = watch(tape, -0.3);
  const Number minus_target = watch(tape, -0.2);
  const Number difference = tanh(w * x + b) + minus_target;
  const Number loss = difference * difference;
  tape.backward(loss.at);
  std::printf("1. The neuron of step 02 on a tape of our own\n");
  print(tape, {"w", "x", "b", "-target", "w x", "s", "y", "y - target", "loss"});

  const Tensor lw(0.5), lb(-0.3);  // () each
  Tape library({lw, lb});
  const Tensor error = tanh(lw * 2 + lb) - 0.2;              // ()
  const Gradients slopes = library.backward(error * error);  // of w and b, () each
  const double worst = std::max(std::abs(slopes[lw].item() - w.gradient()),
                                std::abs(slopes[lb].item() - b.gradient()));
  std::printf("the library's tape gives the same to six digits: %s\n\n",
              worst < 1e-6 ? "yes" : "NO");
}

// What if a second gradient replaced the first instead of being added?
double overwriting(ScalarTape tape, std::size_t loss, std::size_t wanted) {
  tape.records[loss].gradient = 1;
  for (std::size_t i = loss + 1; i-- > 0;) {
    for (const Input& input : tape.records[i].inputs) {
      tape.records[input.record].gradient = tape.records[i].gradient * input.slope;
    }
  }
  return tape.records[wanted].gradient;
}

void used_three_times() {
  ScalarTape tape;
  const Number a = watch(tape, 3);
  const Number z = (a + a) * a;  // 2 a^2
  const double wrong = overwriting(tape, z.at, a.at);
  tape.backward(z.at);
  std::printf("2. z = (a + a) * a at a = 3; the true slope is 4 a = 12\n");
  std::printf("gradients added up:    dz/da = %.0f\n", a.gradient());
  std::printf("gradients overwritten: dz/da = %.0f\n\n", wrong);
}

// The same tanh as a record of the library's tape. x (...) -> (...)
Tensor own_tanh(const Tensor& x) {
  const Tensor y = tanh(x.detach());  // (...): not recorded
  return Tape::record("own_tanh", {x}, y, [y = Tape::save(y)](const Tensor& dy, GradientSink& to) {
    to.accumulate(0, dy * (1 - y * y));
  });
}

void opened() {
  Random random(42);
  const Tensor x = random.normal({64, 64});     // (64, 64)
  const Tensor seed = random.normal({64, 64});  // (64, 64): a gradient that arrives at the output
  Tape one({x});
  const Tensor own_dx = one.backward(own_tanh(x), seed)[x];  // (64, 64)
  Tape other({x});
  const Tensor dx = other.backward(tanh(x), seed)[x];  // (64, 64)
  std::printf("3. tanh of (64, 64), as a record of the library's tape\n");
  std::printf("its gradient and the library's differ by %s\n",
              largest_difference(own_dx, dx) < 1e-5 ? "less than 1e-5" : "MORE THAN 1e-5");
  const Tensor a = random.normal({64, 64}), b = random.normal({64, 64});  // (64, 64) each
  Tape tape({a, b});
  const Tensor product = matmul(a, b);  // (64, 64)
  const std::size_t saved = tape.entries().back().saved_bytes / sizeof(real);
  std::printf("a product of two (64, 64) has %lld slopes; its record saves %zu numbers\n",
              static_cast<long long>(product.numel() * (a.numel() + b.numel())), saved);
}

}  // namespace

int main() try {
  std::printf("Step 05: a tape of our own (takes less than a second)\n\n");
  neuron();
  used_three_times();
  opened();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
