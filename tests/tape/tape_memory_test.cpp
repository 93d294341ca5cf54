// What a tape keeps in memory, and for how long.
#include <functional>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

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

}  // namespace

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
      for (Index j = 0; j < weights[i].numel(); ++j) {
        weights[i].data()[j] -= real(0.01) * gradients.at(i).data()[j];
      }
    }
  };
  step();
  const MemoryStats after_first = memory_stats();
  for (int i = 0; i < 3; ++i) step();
  CHECK(memory_stats().num_allocs == after_first.num_allocs);
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
  for (const Tape::Keep keep : {Tape::Keep::only_what_is_needed, Tape::Keep::values}) {
    Tape tape({x}, keep);
    const Tensor y =
        Tape::record("probe", {x}, exp(x.detach()), [](const Tensor&, GradientSink& to) {
          (void)to.gradient_buffer(0);
          throw Error("stop here");
        });
    CHECK(complaint([&] { tape.backward(sum(y * x)); }, {"stop here"}) == "");  // x has a part
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
  CHECK(gradients[x].numel() == 64 * 64);
}
