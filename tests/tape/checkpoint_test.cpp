// Gradient checkpointing: the same gradients, less memory, one more forward pass.
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/nn/transformer_block.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

using Layer = std::function<Tensor(const std::vector<Tensor>&)>;

std::size_t saved_bytes(const Tape& tape) {
  std::size_t sum = 0;
  for (const Tape::Entry& entry : tape.entries()) sum += entry.saved_bytes;
  return sum;
}

struct Outcome {
  Tensor output;
  std::vector<Tensor> gradients;
  std::size_t saved, peak, records;
};

// sum(f(x) * noise), its gradients and the memory that they took
Outcome differentiated(const std::vector<Tensor>& watched, const std::function<Tensor()>& f) {
  reset_peak_memory();
  const std::size_t before = memory_stats().live_bytes;
  Tape tape(watched);
  const Tensor y = f();
  const std::size_t saved = saved_bytes(tape), records = tape.size();
  const Gradients gradients = tape.backward(y, random_tensor(y.shape(), 77));
  Outcome result{y, {}, saved, memory_stats().peak_bytes - before, records};
  for (std::size_t i = 0; i < gradients.size(); ++i) result.gradients.push_back(gradients.at(i));
  return result;
}

std::string not_the_same(const Outcome& ours, const Outcome& expected) {
  std::string wrong;
  if (largest_difference(ours.output, expected.output) != 0) wrong += "output ";
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    if (largest_difference(ours.gradients[i], expected.gradients[i]) != 0) {
      wrong += "gradient " + std::to_string(i) + " ";
    }
  }
  return wrong;
}

Tensor direct(const Layer& f, const std::vector<Tensor>& inputs) { return f(inputs); }

}  // namespace

TEST_CASE("checkpoint: one record, the same numbers, f computed twice", "[phase6][tape]") {
  const Tensor x({3}, {1, 2, 3}), w({3}, {2, -1, 4});
  int calls = 0;
  const Layer f = [&](const std::vector<Tensor>& in) {
    ++calls;
    return exp(in[0] * in[1]) * in[0];
  };
  Tape tape({x, w});
  const Tensor y = checkpoint(f, {x, w});
  CHECK(calls == 1);
  REQUIRE(tape.size() == 3);
  const Tape::Entry entry = tape.entries()[2];
  CHECK(entry.operation == "checkpoint");
  CHECK(entry.inputs == std::vector<std::size_t>{0, 1});
  CHECK(entry.saved_bytes == x.buffer().bytes() + w.buffer().bytes());
  const Gradients gradients = tape.backward(sum(y));
  CHECK(calls == 2);
  std::vector<double> by_x, by_w;
  for (const auto& [a, b] : {std::pair{1.0, 2.0}, {2.0, -1.0}, {3.0, 4.0}}) {
    by_x.push_back(std::exp(a * b) * (1 + a * b));
    by_w.push_back(std::exp(a * b) * a * a);
  }
  CHECK(difference(gradients[x], {3}, by_x, 1e-6) == "");
  CHECK(difference(gradients[w], {3}, by_w, 1e-6) == "");
}

TEST_CASE("checkpoint: a transformer's gradients are the same bits, with far less kept",
          "[phase6][tape]") {
  Random random(1);
  std::vector<TransformerBlock> blocks;
  std::vector<Tensor> watched = {random_tensor({2, 40, 16}, 5)};
  for (int i = 0; i < 4; ++i) {
    blocks.emplace_back(16, 2, random);
    for (const Parameter& p : blocks.back().parameters()) watched.push_back(p.value);
  }
  const auto model = [&](const auto& call) {
    Tensor x = watched[0];
    for (const TransformerBlock& block : blocks) {
      x = call([&](const std::vector<Tensor>& in) { return block(in[0], Mask::causal()); }, {x});
    }
    return x * watched[0];  // read again outside, after the parts
  };
  const Outcome plain = differentiated(watched, [&] { return model(direct); });
  const Outcome ours = differentiated(watched, [&] { return model(checkpoint); });
  CHECK(not_the_same(ours, plain) == "");
  CHECK(ours.records == watched.size() + 4 + 1);
  CHECK(ours.saved * 8 < plain.saved);
  CHECK(ours.peak * 2 < plain.peak);
}

TEST_CASE("checkpoint: what f computes is freed in the forward pass, and kept in the backward pass",
          "[phase6][tape]") {
  const Tensor x = random_tensor({1000}, 1);
  std::vector<std::size_t> live;  // at the end of each run of f
  const auto f = [&](const std::vector<Tensor>& in) {
    const std::size_t before = memory_stats().live_bytes;
    Tensor y = in[0];
    for (int i = 0; i < 8; ++i) y = tanh(y);
    live.push_back(memory_stats().live_bytes - before);
    return y;
  };
  Tape tape({x});
  tape.backward(sum(checkpoint(f, {x})));
  REQUIRE(live.size() == 2);
  CHECK(live[0] < 2 * x.buffer().bytes());
  CHECK(live[1] > 7 * x.buffer().bytes());
}

TEST_CASE("checkpoint: weights, views and values that f only refers to get their gradients",
          "[phase6][tape]") {
  const std::vector<Tensor> watched = {random_tensor({4, 6}, 1), random_tensor({6, 4}, 2),
                                       random_tensor({4, 4}, 3)};
  const auto run = [&](const auto& call) {
    return differentiated(watched, [&] {
      const Tensor early = tanh(watched[1]), turned = transpose(early);  // on the tape, outside
      const Tensor y = call(
          [&, early, turned](const std::vector<Tensor>& in) {
            const Tensor mixed = matmul(slice(in[0], 1, 0, 6), early) + in[1] * watched[2];
            return sigmoid(mixed) * sum(turned) + matmul(in[0], early);
          },
          {watched[0], transpose(watched[2])});
      return y + matmul(watched[0], early) * watched[2];
    });
  };
  CHECK(not_the_same(run(checkpoint), run(direct)) == "");
}

TEST_CASE("checkpoint: parts in parts, and shared weights, give the same bits", "[phase6][tape]") {
  const std::vector<Tensor> watched = {random_tensor({5, 8}, 1), random_tensor({8, 8}, 2)};
  int calls = 0;
  const Layer inner = [&](const std::vector<Tensor>& in) {
    ++calls;
    return tanh(matmul(in[0], watched[1]));
  };
  const auto run = [&](const auto& call) {
    const Layer outer = [&](const std::vector<Tensor>& in) {
      const Tensor h = call(inner, {in[0]});
      return call(inner, {h * 1.5}) + h + in[0];
    };
    return differentiated(watched, [&] { return call(outer, {call(outer, {watched[0] * 2})}); });
  };
  const Outcome ours = run(checkpoint);
  CHECK(calls == 12);  // four uses: once forward, then once more by either level
  CHECK(not_the_same(ours, run(direct)) == "");
  CHECK(ours.records == 5);
}

TEST_CASE("checkpoint: dropout from a generator made inside f", "[phase6][tape]") {
  const std::vector<Tensor> watched = {random_tensor({30, 8}, 1)};
  const auto run = [&](const auto& call) {
    return differentiated(watched, [&] {
      return call(
          [](const std::vector<Tensor>& in) {
            Random random(7, 3);
            return dropout(tanh(dropout(in[0], 0.5, random)), 0.2, random);
          },
          {watched[0]});
    });
  };
  CHECK(not_the_same(run(checkpoint), run(direct)) == "");
}

TEST_CASE("the gradients of checkpoint are right, parts in parts", "[phase6][tape]") {
  const Layer attend = [](const std::vector<Tensor>& in) {
    return attention(in[0], in[1], in[2], Mask::causal()).output;
  };
  const Function f = [&](const std::vector<Tensor>& in) {
    const Layer twice = [&](const std::vector<Tensor>& x) {
      return checkpoint(attend, {checkpoint(attend, x), x[1], x[2]});
    };
    return checkpoint(twice, in) * in[0];
  };
  CHECK(wrong_gradient(f, {random_tensor({2, 5, 3}, 1), random_tensor({2, 5, 3}, 2),
                           random_tensor({2, 5, 3}, 3)}) == "");
}

TEST_CASE("checkpoint without a tape, of constants, or of a function that does nothing",
          "[phase6][tape]") {
  const Tensor x({2}, {1, 2}), constant({2}, {3, 4});
  int calls = 0;
  const Layer twice = [&](const std::vector<Tensor>& in) {
    ++calls;
    return in[0] * 2;
  };
  CHECK(difference(checkpoint(twice, {x}), {2}, {2, 4}) == "");
  Tape tape({x});
  CHECK(difference(checkpoint(twice, {constant}), {2}, {6, 8}) == "");
  CHECK(calls == 2);
  const Layer same = [](const std::vector<Tensor>& in) { return in[0]; };
  const Tensor y = checkpoint(same, {x}), z = checkpoint(same, {x * 3});
  CHECK(tape.size() == 2);  // x and x * 3
  CHECK(difference(tape.backward(sum(y * z))[x], {2}, {6, 12}) == "");
}

TEST_CASE("checkpoint with kept values, and a gradient that is not wanted", "[phase6][tape]") {
  const Tensor x({2}, {1, 2}), other({2}, {5, 6});
  Tape tape({x, other}, Tape::Keep::values);
  const Tensor y = checkpoint([](const std::vector<Tensor>& in) { return in[0] * in[0]; }, {x});
  const Tensor unused = checkpoint([](const std::vector<Tensor>& in) { return exp(in[0]); }, {x});
  const Gradients gradients = tape.backward(sum(y));
  CHECK(difference(gradients[x], {2}, {2, 4}) == "");
  CHECK(difference(gradients[other], {2}, {0, 0}) == "");
  CHECK(difference(tape.entries()[2].value, {2}, {1, 4}) == "");
  CHECK(difference(tape.entries()[2].gradient, {2}, {1, 1}) == "");
  CHECK(tape.entries()[3].inputs == std::vector<std::size_t>{0});
}

TEST_CASE("checkpoint refuses a function that is another in the backward pass", "[phase6][tape]") {
  const Tensor x = random_tensor({4, 4}, 1), w = random_tensor({4, 4}, 2);
  const auto told = [&](const Layer& f, std::initializer_list<const char*> words) {
    return complaint(
        [&] {
          Tape tape({x, w});
          tape.backward(sum(checkpoint(f, {x})));
        },
        words);
  };
  Random random(1);
  const Layer forgetful = [&](const std::vector<Tensor>& in) {
    return dropout(in[0], 0.5, random);
  };
  CHECK(told(forgetful, {"checkpoint", "other numbers", "generator inside f"}) == "");
  int calls = 0;
  const Layer shape = [&](const std::vector<Tensor>& in) {
    return slice(in[0] * 2, 0, 0, ++calls);
  };
  CHECK(told(shape, {"checkpoint", "other numbers"}) == "");
  calls = 0;
  const Layer reader = [&](const std::vector<Tensor>& in) {
    return in[0] * 2 + (++calls > 1 ? w - w : Tensor::zeros({4, 4}));
  };
  CHECK(told(reader, {"checkpoint", "other tensors"}) == "");
  CHECK(told([&](const std::vector<Tensor>& in) { return checkpoint(forgetful, in) * 2; },
             {"other numbers"}) == "");
  calls = 0;
  const Layer late = [&](const std::vector<Tensor>& in) {  // only in its backward pass
    return in[0] * 2 + (++calls > 2 ? w - w : Tensor::zeros({4, 4}));
  };
  CHECK(told([&](const std::vector<Tensor>& in) { return checkpoint(late, in) * 2; },
             {"other tensors"}) == "");
  CHECK(calls == 3);
}

TEST_CASE("checkpoint: errors of f come out, and leave a tape that goes on", "[phase6][tape]") {
  const Tensor x = random_tensor({4, 4}, 1);
  CHECK(complaint([&] { checkpoint([](const auto&) { return Tensor(); }, {x}); },
                  {"checkpoint", "undefined"}) == "");
  Tape tape({x});
  CHECK(complaint([&] { checkpoint({}, {x}); }, {"checkpoint", "no function"}) == "");
  CHECK(complaint([&] { checkpoint([](const auto&) { return Tensor(); }, {x}); },
                  {"checkpoint", "undefined"}) == "");
  const Layer wrong = [](const std::vector<Tensor>& in) { return matmul(in[0] * 2, sum(in[0])); };
  CHECK(complaint([&] { checkpoint(wrong, {x}); }, {"matmul"}) == "");
  CHECK(complaint([&] { checkpoint([&](const auto& in) { return Tape({x}), in[0]; }, {x}); },
                  {"another tape is recording"}) == "");
  CHECK(tape.size() == 1);
  CHECK(difference_to(tape.backward(sum(x * 2))[x], Tensor::full({4, 4}, 2)) == "");
}

TEST_CASE("slices of one tensor add up their gradients in place, and in no shared one",
          "[phase6][tape]") {
  const Tensor x = random_tensor({5, 4}, 1), seed = random_tensor({5, 4}, 2);
  Tape tape({x});
  const Tensor y = x * 1;
  Tensor rows = y + 0 * y;  // the seed went to y before the slices add to it
  for (Index i = 0; i < 5; ++i) rows = rows + sum(slice(y, 0, i, i + 1)) * double(i);
  rows = rows + concat({slice(y, 0, 0, 5, 2), slice(y, 0, 1, 5, 2)}, 0);
  const Tensor before = seed.clone();
  const Gradients gradients = tape.backward(rows, seed);
  CHECK(largest_difference(seed, before) == 0);
  const double all = sum(seed).item();
  const std::vector<double> expected = tabulate({5, 4}, [&](const Place& p) {
    const Index moved = p[0] % 2 == 0 ? p[0] / 2 : 3 + p[0] / 2;
    return double{seed.at({p[0], p[1]})} + double(p[0]) * all + double{seed.at({moved, p[1]})};
  });
  CHECK(difference(gradients[x], {5, 4}, expected, 1e-5) == "");
}

TEST_CASE("checkpoint: what gets out of f beside its result cannot lose its gradient unseen",
          "[phase6][tape]") {
  const Tensor x({2}, {1, 2});
  Tensor side;
  const Layer leaks = [&](const std::vector<Tensor>& in) {
    side = in[0] * in[0];
    return side * 3;
  };
  const Layer nested = [&](const std::vector<Tensor>& in) { return checkpoint(leaks, in) + in[0]; };
  for (const bool inner : {false, true}) {
    const Layer& f = inner ? nested : leaks;
    Tape tape({x});
    const Tensor y = checkpoint(f, {x});
    CHECK(side.at({1}) == 4);  // to be looked at
    CHECK(complaint([&] { side + y; }, {"(2)", "inside f", "detach()"}) == "");
    CHECK(tape.backward(sum(y + side.detach()))[x].at({1}) == (inner ? 13 : 12));
  }
}

TEST_CASE("checkpoint: a Capture is refused", "[phase6][tape]") {
  const Tensor x({2}, {1, 2});
  const Layer square = [](const std::vector<Tensor>& in) { return in[0] * in[0]; };
  Tape tape({x});
  const Tensor y = checkpoint(square, {x});
  const Capture seen;
  CHECK(complaint([&] { checkpoint(square, {x}); }, {"a Capture is active", "runs twice"}) == "");
  CHECK(complaint([&] { tape.backward(sum(y)); }, {"a Capture is active"}) == "");
}
