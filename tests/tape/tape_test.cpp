// The tape: what it records, its backward pass, what it keeps, and how it explains misuse.
#include "tapestry/tape.hpp"

#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// x, passed on by a record of our own that runs `look` in the backward pass.
Tensor probe(const Tensor& x, const std::function<void()>& look) {
  const Tensor y = x.clone();
  return Tape::record("probe", {x}, y, [look](const Tensor& dy, GradientSink& to) {
    look();
    to.accumulate(0, dy);
  });
}

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
  CHECK(broken.count() == 3);
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
  const Tensor y = x * x.detached() + expand(transpose(x.detached()), {2, 2}) * 5;
  const Tensor constant = (x * 2).detached() * x.detached();
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

// ---------------------------------------------------------------- misuse

TEST_CASE("a second tape on one thread is refused until the first is done", "[phase0][tape]") {
  const Tensor x(1);
  {
    Tape first({x});
    CHECK(complaint([&] { Tape second({x}); },
                    {"another tape is recording on this thread", "backward"}) == "");
    const Tensor y = x * 2;  // the first one still records
    CHECK(first.size() == 2);
    CHECK(first.backward(y)[x].item() == 2);
    Tape second({x});  // the first has stopped recording
    CHECK(second.backward(x * 3)[x].item() == 3);
  }
  Tape third({x});
  CHECK(third.backward(x * 4)[x].item() == 4);
}

TEST_CASE("a tape that ends after its backward pass does not stop the next one", "[phase0][tape]") {
  const Tensor x(1);
  auto first = std::make_unique<Tape>(std::vector<Tensor>{x});
  first->backward(x * 2);
  Tape second({x});
  first.reset();
  CHECK(second.backward(x * 3)[x].item() == 3);
}

TEST_CASE("every thread can have its tape", "[phase0][tape]") {
  const Tensor shared({3}, {1, 2, 3});
  std::vector<int> wrong(4, 0);
  Tape outer({shared});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&wrong, &shared, t] {
      for (int i = 0; i < 50; ++i) {
        const Tensor own = Tensor::full({3}, static_cast<double>(t + 1));
        Tape tape({own, shared});
        const Gradients gradients = tape.backward(sum(own * shared * own));
        const double n = static_cast<double>(t + 1);
        wrong[t] += difference(gradients[own], {3}, {2 * n, 4 * n, 6 * n}) != "";
        wrong[t] += difference(gradients[shared], {3}, {n * n, n * n, n * n}) != "";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
  CHECK(outer.size() == 1);
  CHECK(difference(outer.backward(sum(shared * shared))[shared], {3}, {2, 4, 6}) == "");
}

TEST_CASE("a tape that ends on another thread is refused on its own", "[phase0][tape]") {
  const Tensor x(3);
  auto tape = std::make_unique<Tape>(std::vector<Tensor>{x});
  const Tensor y = x * x;
  std::thread([&] { tape.reset(); }).join();
  CHECK(complaint([&] { (void)(y * x); },
                  {"tape", "ended on another", "Let a Tape end on the thread that made it"}) == "");
  CHECK((y * x).item() == 27);  // from then on plain inference; nothing dangles
  CHECK_FALSE(Tape::needs_gradient(x));
  Tape next({x});
  CHECK(next.backward(x * 4)[x].item() == 4);
}

TEST_CASE("a tape that ends on another thread is refused by the next tape, too", "[phase0][tape]") {
  const Tensor x(3);
  auto tape = std::make_unique<Tape>(std::vector<Tensor>{x});
  std::thread([&] { tape.reset(); }).join();
  CHECK(complaint([&] { const Tape next({x}); }, {"ended on another"}) == "");
  Tape next({x});
  CHECK(next.backward(x * 4)[x].item() == 4);
}

TEST_CASE("a tape outlives the thread that made it", "[phase0][tape]") {
  const Tensor x(3);
  std::unique_ptr<Tape> tape;
  Tensor y;
  std::thread([&] {
    tape = std::make_unique<Tape>(std::vector<Tensor>{x});
    y = x * x;
  }).join();
  CHECK(tape->size() == 2);
  CHECK(complaint([&] { tape->backward(y); }, {"does not record here", "thread"}) == "");
  tape.reset();
  Tape next({x});
  CHECK(next.backward(x * 4)[x].item() == 4);
}

TEST_CASE("backward on another thread is refused and disturbs no tape", "[phase0][tape]") {
  const Tensor x(3);
  Tape tape({x});
  const Tensor y = x * x;
  std::string said;
  double gradient = 0;
  std::thread([&] {
    Tape other({x});
    const Tensor z = x * 5;
    said = complaint([&] { tape.backward(y); }, {"backward", "Call backward on the thread"});
    gradient = double{other.backward(z)[x].item()};
  }).join();
  CHECK(said == "");
  CHECK(gradient == 5);
  CHECK(tape.backward(y)[x].item() == 6);
}

TEST_CASE("a second backward is refused", "[phase0][tape]") {
  const Tensor x(1);
  Tape tape({x});
  const Tensor y = x * 2;
  tape.backward(y);
  CHECK(complaint([&] { tape.backward(y); }, {"backward", "already called", "new Tape"}) == "");
}

TEST_CASE("a loss without a backward pass is refused in words", "[phase0][tape]") {
  const Tensor x({2}, {1, 2}), other(7);
  Tape tape({x});
  CHECK(complaint([&] { tape.backward(x * 2); },
                  {"backward: the loss is (2)", "one number", "mean(loss)"}) == "");
  CHECK(complaint([&] { tape.backward(Tensor()); }, {"the loss is undefined"}) == "");
  CHECK(complaint([&] { tape.backward(other * 2); }, {"does not depend on any watched"}) == "");
  CHECK(complaint([&] { tape.backward(sum(x).detached()); }, {"does not depend"}) == "");
  CHECK(complaint([&] { tape.backward(x * 2, Tensor(1)); },
                  {"y is (2), seed is ()", "same shape"}) == "");
  CHECK(complaint([&] { tape.backward(sum(x), Tensor()); }, {"seed is undefined"}) == "");
  CHECK(difference(tape.backward(sum(x))[x], {2}, {1, 1}) == "");  // none of that broke the tape
}

TEST_CASE("a loss from before the tape does not depend on it", "[phase0][tape]") {
  const Tensor x(2);
  const Tensor early = x * x;
  Tape tape({x});
  CHECK(complaint([&] { tape.backward(early); }, {"does not depend", "while the tape"}) == "");
}

TEST_CASE("a value of an earlier tape is a constant for the next", "[phase0][tape]") {
  const Tensor x(3);
  Tensor old;
  {
    Tape tape({x});
    old = x * x;
  }
  Tape tape({x});
  CHECK(complaint([&] { tape.backward(old); }, {"backward", "another tape", "a constant"}) == "");
  CHECK(tape.backward(old * x)[x].item() == 9);
}

TEST_CASE("tensors that cannot be watched are refused, by number", "[phase0][tape]") {
  const Tensor x({2, 2}, {1, 2, 3, 4}), y(1);
  CHECK(complaint([&] { Tape({y, x, x}); },
                  {"watched tensor 2 (2, 2)", "shares its numbers", "once"}) == "");
  CHECK(complaint([&] { Tape({x, reshape(x, {4})}); }, {"watched tensor 1 (4)", "shares"}) == "");
  CHECK(complaint([&] { Tape({x, Tensor()}); }, {"watched tensor 1 is undefined"}) == "");
  CHECK(complaint([&] { Tape({transpose(x)}); }, {"strided view", "clone()"}) == "");
  Tape tape({x, y});  // a refused tape leaves nothing behind
  CHECK(tape.backward(sum(x) * y)[y].item() == 10);
}

TEST_CASE("a view made before the tape is refused, for its gradient would be lost",
          "[phase0][tape]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor early = transpose(x), row = slice(x, 0, 0, 1);
  Tape tape({x});
  CHECK(complaint([&] { early * 2; }, {"view (3, 2)", "before the tape", "(2, 3)", "detached()"}) ==
        "");
  CHECK(complaint([&] { sum(row); }, {"view (1, 3)", "before the tape"}) == "");
  CHECK(difference(early.detached() * 2, {3, 2}, {2, 8, 4, 10, 6, 12}) == "");
  CHECK(tape.size() == 1);
}

TEST_CASE("a neighbour in the same buffer is not taken for the watched tensor", "[phase0][tape]") {
  const Tensor both({4}, {1, 2, 3, 4});
  const Tensor first = slice(both, 0, 0, 2), second = slice(both, 0, 2, 4);
  Tape tape({first});
  CHECK(complaint([&] { first* second; }, {"view (2)", "before the tape"}) == "");
  const Gradients gradients = tape.backward(sum(first * second.detached()));
  CHECK(difference(gradients[first], {2}, {3, 4}) == "");
  CHECK(complaint([&] { (void)gradients[second]; }, {"(2)", "not given to the tape"}) == "");
}

TEST_CASE("asking for a gradient that was not computed is refused", "[phase0][tape]") {
  const Tensor x(1), other({2, 3}, {1, 2, 3, 4, 5, 6});
  Tape tape({x});
  const Gradients gradients = tape.backward(x * 2);
  CHECK(complaint([&] { (void)gradients[other]; },
                  {"gradients", "(2, 3)", "not given to the tape", "Tape({...})"}) == "");
  CHECK(complaint([&] { (void)gradients[Tensor()]; }, {"not given"}) == "");
}

// ---------------------------------------------------------------- memory

TEST_CASE("from the second identical training step on, no memory is asked of the system",
          "[phase0][tape]") {
  Random random(1);
  const Tensor table = random.normal({11, 8}), w = random.normal({8, 8}), gain = Tensor::ones({8});
  const Tensor bias = Tensor::zeros({8}), out = random.normal({8, 11});
  const Indices ids({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const std::vector<Tensor> weights = {table, w, gain, bias, out};
  const auto step = [&] {
    Tape tape(weights);
    const Tensor x = layer_norm(embedding(table, ids), gain, bias);
    const Tensor q = matmul(x, w);
    const Tensor heads = transpose(reshape(q, {2, 5, 2, 4}), 1, 2);
    const Tensor mixed = attention(heads, heads, heads, Mask::causal()).output;
    const Tensor y = gelu(reshape(transpose(mixed, 1, 2), {2, 5, 8})) + dropout(x, 0.1, random);
    const Gradients gradients = tape.backward(cross_entropy(matmul(y, out), ids));
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      for (Index j = 0; j < weights[i].count(); ++j) {
        weights[i].data()[j] -= real(0.01) * gradients.at(i).data()[j];
      }
    }
  };
  step();
  const MemoryStats after_first = memory_stats();
  for (int i = 0; i < 3; ++i) step();
  CHECK(memory_stats().fresh == after_first.fresh);
  CHECK(memory_stats().live_bytes == after_first.live_bytes);
}

TEST_CASE("nothing leaks: with a backward pass, without, or left by an exception",
          "[phase0][tape]") {
  const Tensor x = random_tensor({40, 40});
  const std::size_t before = memory_stats().live_bytes;
  {
    Tape tape({x}, Tape::Keep::values);
    tape.backward(sum(softmax(matmul(x, exp(x)))));
  }
  CHECK(memory_stats().live_bytes == before);
  {
    Tape tape({x});
    const Tensor unused = softmax(matmul(x, exp(x)));
  }
  CHECK(memory_stats().live_bytes == before);
  try {
    Tape tape({x});
    const Tensor y = exp(x) * x;
    matmul(y, Tensor::zeros({3, 3}));
  } catch (const Error&) {
  }
  CHECK(memory_stats().live_bytes == before);
  Tape again({x});
  CHECK(again.size() == 1);
}

TEST_CASE("what a backward function throws comes out, and leaves nothing behind",
          "[phase0][tape]") {
  const Tensor x({2}, {1, 2});
  const std::size_t before = memory_stats().live_bytes;
  {
    Tape tape({x});
    const Tensor y = probe(exp(x), [] { throw Error("stop here"); });
    CHECK(complaint([&] { tape.backward(sum(y * y)); }, {"stop here"}) == "");
  }
  CHECK(memory_stats().live_bytes == before);
  Tape next({x});
  CHECK(difference(next.backward(sum(x))[x], {2}, {1, 1}) == "");
}

TEST_CASE("without a tape an operation allocates its output and nothing else", "[phase0][tape]") {
  const Tensor a = random_tensor({30, 30}, 1), b = random_tensor({30, 30}, 2);
  const std::size_t start = memory_stats().live_bytes;
  Tensor same_size = Tensor::empty({30, 30});
  const std::size_t block = memory_stats().live_bytes - start;
  same_size = Tensor();
  const std::vector<std::pair<const char*, std::function<Tensor()>>> operations = {
      {"add", [&] { return a + b; }},
      {"multiply", [&] { return a * b; }},
      {"exp", [&] { return exp(a); }},
      {"gelu", [&] { return gelu(a); }},
      {"matmul", [&] { return matmul(a, transpose(b)); }},
      {"softmax", [&] { return softmax(a); }},
      {"maximum", [&] { return maximum(a, b); }},
      {"concat", [&] { return concat({slice(a, 0, 0, 15), slice(b, 0, 0, 15)}, 0); }},
  };
  for (const auto& [name, operation] : operations) {
    CAPTURE(name);
    operation();  // packing buffers and the like are there from now on
    const std::size_t before = memory_stats().live_bytes;
    reset_peak_memory();
    const Tensor y = operation();
    CHECK(memory_stats().live_bytes == before + block);
    CHECK(memory_stats().peak_bytes == before + block);
  }
  const std::size_t before = memory_stats().live_bytes;
  const Tensor view = transpose(reshape(slice(a, 0, 0, 20), {2, 10, 30}));
  CHECK(memory_stats().live_bytes == before);
}

TEST_CASE("what a record saved is freed as the backward pass goes on", "[phase0][tape]") {
  const Tensor x = random_tensor({100, 100});
  const std::size_t one = 100 * 100 * sizeof(real);
  std::vector<std::size_t> live;
  Tape tape({x});
  Tensor y = x;
  for (int i = 0; i < 10; ++i)
    y = sin(probe(y, [&] { live.push_back(memory_stats().live_bytes); }));
  y = sum(y);
  const std::size_t after_forward = memory_stats().live_bytes;
  tape.backward(y);
  REQUIRE(live.size() == 10);
  for (std::size_t i = 1; i < live.size(); ++i) CHECK(live[i] + one <= live[i - 1]);
  CHECK(live.back() + 8 * one < after_forward);
}

TEST_CASE("after the backward pass only the gradients remain", "[phase0][tape]") {
  const Tensor x = random_tensor({64, 64});
  const std::size_t before = memory_stats().live_bytes;
  Tape tape({x});
  const Gradients gradients = tape.backward(sum(exp(sin(x)) * x));
  CHECK(memory_stats().live_bytes < before + 2 * 64 * 64 * sizeof(real));
  CHECK(gradients[x].count() == 64 * 64);
}

// ---------------------------------------------------------------- looking at the tape

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
  CHECK(saved(x * x.detached()) == 2 * six);  // both operands
  CHECK(saved(exp(x)) == six);                // the output
  CHECK(saved(log(x)) == six);                // the input
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
  (void)exp(x.detached());  // drops nothing of it
  const Tensor y = Tape::record("square", {x}, x.detached() * x.detached() + exp(x) * 0, backward);
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
  const Tensor x = Tensor::ones({100, 64}), big = Tensor::ones({2000, 2000});
  Tape tape({x, big});
  const Tensor y = exp(x), z = exp(big);
  const std::string text = tape.table();
  CHECK(text.find(in_double ? "50.0 KiB" : "25.0 KiB") != std::string::npos);
  CHECK(text.find(in_double ? "30.5 MiB" : "15.3 MiB") != std::string::npos);
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

// ---------------------------------------------------------------- operations of one's own

namespace {

// x^3, as a user would add it; the factor 3 is right.
Tensor cube(const Tensor& x, double factor) {
  const Tensor inside = x.detached();  // no records for what happens inside
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
      "own", {constant, x, x.detached()}, Tensor(1), [&wanted](const Tensor& dy, GradientSink& to) {
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
