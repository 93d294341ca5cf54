// Fused attention against the explicit path, which attention_test.cpp holds to plain loops.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "kernels/parallel_all.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

constexpr double forward_tolerance = 1e-5, gradient_tolerance = 1e-4;

struct Outcome {
  Tensor output;
  std::vector<Tensor> gradients;  // of q, k, v
};

Outcome run(bool fused, const std::vector<Tensor>& in, const Mask& mask) {
  Tape tape(in);
  const Tensor y = fused ? fused_attention(in[0], in[1], in[2], mask)
                         : attention(in[0], in[1], in[2], mask).output;
  const Gradients gradients = tape.backward(y, random_tensor(y.shape(), 9));
  return {y, {gradients[in[0]], gradients[in[1]], gradients[in[2]]}};
}

std::string wrong_gradients(const std::vector<Tensor>& ours, const std::vector<Tensor>& expected) {
  std::string wrong;
  for (std::size_t i = 0; i < 3; ++i) {  // over many keys gradients become small, and errors too
    double largest = 0;
    for (const double g : doubles(expected[i])) largest = std::max(largest, std::abs(g));
    const double share = largest > 0 ? 1 / largest : 1;
    wrong += difference_to(ours[i] * share, expected[i] * share, gradient_tolerance);
  }
  return wrong;
}

std::string wrong_fused(const std::vector<Tensor>& in, const Mask& mask) {
  const Outcome ours = run(true, in, mask), expected = run(false, in, mask);
  return difference_to(ours.output, expected.output, forward_tolerance) +
         wrong_gradients(ours.gradients, expected.gradients);
}

// The gradients of q, k and v (..., rows, heads, width), whose heads are slices of rows. `axis` is
// that of the rows.
std::string wrong_gradients_of_rows(const std::vector<Tensor>& in, int axis, const Mask& mask) {
  const auto gradients_of = [&](bool fused) {
    Tape tape(in);
    const auto heads = [&](std::size_t i) { return transpose(in[i], axis, axis + 1); };
    const Tensor y = fused ? fused_attention(heads(0), heads(1), heads(2), mask)
                           : attention(heads(0), heads(1), heads(2), mask).output;
    const Gradients gradients = tape.backward(y, random_tensor(y.shape(), 9));
    return std::vector<Tensor>{gradients[in[0]], gradients[in[1]], gradients[in[2]]};
  };
  return wrong_gradients(gradients_of(true), gradients_of(false));
}

std::vector<Tensor> operands(Index queries, Index keys, Index width, Index value_width) {
  return {random_tensor({2, queries, width}, 1), random_tensor({2, keys, width}, 2),
          random_tensor({2, keys, value_width}, 3)};
}

}  // namespace

TEST_CASE("fused attention equals the explicit path by every mask", "[phase1][attention]") {
  Tensor some = Tensor::zeros({70, 130});
  for (Index i = 0; i < 70; ++i) some.set({i, (i * i) % 130}, 1);
  const std::vector<Mask> masks = {Mask(),
                                   Mask::causal(),
                                   Mask::causal(60),
                                   Mask::local(5),
                                   Mask::strided(7),
                                   Mask::blocked(48),
                                   Mask::padding({130, 71}),
                                   Mask::padding({0, 1}) & Mask::causal(),
                                   Mask::local(2) | Mask::strided(30),
                                   Mask::from(MaskEncoding::keep, some)};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    CAPTURE(i);
    CHECK(wrong_fused(operands(70, 130, 20, 9), masks[i]) == "");
  }
}

TEST_CASE("fused attention at all kinds of sizes", "[phase1][attention]") {
  for (const Index queries : {0, 1, 2, 31, 33, 65}) {
    for (const Index keys : {0, 1, 2, 31, 33, 65, 129}) {
      CAPTURE(queries, keys);
      CHECK(wrong_fused(operands(queries, keys, 16, 16), Mask()) == "");
      CHECK(wrong_fused(operands(queries, keys, 5, 3), Mask::causal(2)) == "");
    }
  }
  for (const Index width : {1, 15, 17, 64, 96, 256}) {
    CAPTURE(width);
    CHECK(wrong_fused(operands(34, 70, width, width), Mask::causal(36)) == "");
    CHECK(wrong_fused(operands(3, 66, width, 1), Mask()) == "");
  }
}

TEST_CASE("gradients of fused attention where keys are cut into parts", "[phase1][attention]") {
  struct Size {
    Index heads, keys, parts;
  };
  for (const auto& [heads, keys, parts] :
       {Size{1, 2047, 1}, Size{1, 2048, 2}, Size{1, 2111, 2}, Size{1, 3100, 3}, Size{1, 4100, 4},
        Size{1, 5200, 4}, Size{5, 4096, 3}, Size{8, 4096, 2}, Size{9, 4096, 1}}) {
    kernels::AttentionShape shape;
    shape.batch.rank = 1;
    shape.batch.size[0] = heads;
    shape.keys = keys;
    CAPTURE(heads, keys);
    CHECK(kernels::attention_parts(shape) == parts);
    const std::vector<Tensor> in = {random_tensor({heads, 3, 4}, 1),
                                    random_tensor({heads, keys, 4}, 2),
                                    random_tensor({heads, keys, 2}, 3)};
    CHECK(wrong_fused(in, Mask()) == "");
    CHECK(wrong_fused(in, Mask::causal(keys - 3)) == "");
  }
  const std::vector<Tensor> rows = {random_tensor({3, 2, 4}, 1), random_tensor({2111, 2, 4}, 2),
                                    random_tensor({2111, 2, 2}, 3)};
  CHECK(wrong_gradients_of_rows(rows, 0, Mask()) == "");
}

TEST_CASE("fused attention where scores rise over many blocks of keys", "[phase1][attention]") {
  for (const double step : {0.03, 0.12}) {  // of every second query; the others' scores fall
    std::vector<Tensor> in = operands(70, 330, 4, 5);
    for (Index i = 0; i < 70; ++i) in[0].set({0, i, 0}, i % 2 == 0 ? 2 : -2);
    for (Index j = 0; j < 330; ++j) in[1].set({0, j, 0}, step * double(j));
    for (const Mask& mask : {Mask(), Mask::causal(260), Mask::strided(3), Mask::blocked(70)}) {
      CAPTURE(step);
      CHECK(wrong_fused(in, mask) == "");
    }
  }
}

TEST_CASE("gradients of fused attention", "[phase1][attention]") {
  for (const Mask& mask : {Mask(), Mask::causal(), Mask::padding({5, 0}), Mask::local(1)}) {
    const Function f = [&](const std::vector<Tensor>& in) {
      return fused_attention(in[0], in[1], in[2], mask);
    };
    CHECK(wrong_gradient(f, operands(4, 5, 3, 2)) == "");
  }
  const Function one = [](const std::vector<Tensor>& in) {
    return fused_attention(in[0], in[0], in[0], Mask::causal());
  };
  CHECK(wrong_gradient(one, {random_tensor({2, 5, 3}, 4)}) == "");
}

TEST_CASE("fused attention over heads: strided operands, broadcasting, any layout",
          "[phase1][attention]") {
  const auto heads = [](std::uint64_t seed) {  // (2, 3, 37, 4), slices of rows of 12
    return transpose(reshape(random_tensor({2, 37, 12}, seed), {2, 37, 3, 4}), 1, 2);
  };
  const Mask mask = Mask::padding({37, 20}) & Mask::causal();
  const Tensor q = heads(1), k = heads(2), v = heads(3);
  const Tensor joined = transpose(fused_attention(q, k, v, mask), 1, 2);
  CHECK(joined.is_contiguous());  // so that joining the heads again is free
  CHECK(fused_attention(q.clone(), k, v, mask).is_contiguous());          // as its queries are
  CHECK(fused_attention(slice(q, 1, 0, 1), k, v, mask).is_contiguous());  // one for all heads
  const Tensor one = squeeze(slice(q, 0, 0, 1), 0);  // (3, 37, 4), one sequence
  CHECK(transpose(fused_attention(one, one, one), 0, 1).is_contiguous());
  CHECK(difference_to(joined, transpose(attention(q, k, v, mask).output, 1, 2), 1e-5) == "");
  const std::vector<Tensor> rows = {random_tensor({2, 37, 3, 4}, 1),
                                    random_tensor({2, 37, 3, 4}, 2),
                                    random_tensor({2, 37, 3, 4}, 3)};
  CHECK(wrong_gradients_of_rows(rows, 1, mask) == "");
  const Tensor turned = transpose(random_tensor({2, 3, 4, 37}, 4));  // rows are not contiguous
  CHECK(wrong_fused({q.clone(), turned.clone(), v.clone()}, mask) == "");
  CHECK(difference_to(fused_attention(q, turned, turned, mask),
                      attention(q, turned, turned, mask).output, 1e-5) == "");
  CHECK(wrong_fused(
            {random_tensor({1, 4, 3}, 1), random_tensor({3, 5, 3}, 2), random_tensor({5, 2}, 3)},
            Mask::causal()) == "");
}

TEST_CASE("the gradient of fused attention through views and sums", "[phase1][attention]") {
  const auto loss = [](bool fused, const Tensor& x) {
    const Tensor h = transpose(reshape(x, {2, 9, 3, 4}), 1, 2);
    const Tensor y = fused ? fused_attention(h, h, h, Mask::causal())
                           : attention(h, h, h, Mask::causal()).output;
    const Tensor row = reshape(transpose(y, 1, 2), {2, 9, 12});
    return sum(row * row * x);
  };
  const Tensor x = random_tensor({2, 9, 12}, 5);
  const auto slope_of = [&](bool fused) {
    Tape tape(std::vector<Tensor>{x});
    return tape.backward(loss(fused, x))[x];
  };
  CHECK(difference_to(slope_of(true), slope_of(false), gradient_tolerance) == "");
}

TEST_CASE("the gradient of fused attention from a turned one", "[phase1][attention]") {
  const std::vector<Tensor> in = operands(5, 7, 4, 3);
  const Tensor seed = random_tensor({2, 3, 5}, 7);
  const auto gradients_of = [&](bool fused) {
    Tape tape(in);
    const Tensor y =
        fused ? fused_attention(in[0], in[1], in[2]) : attention(in[0], in[1], in[2]).output;
    const Gradients gradients = tape.backward(transpose(y), seed);
    return std::vector<Tensor>{gradients[in[0]], gradients[in[1]], gradients[in[2]]};
  };
  const std::vector<Tensor> ours = gradients_of(true), expected = gradients_of(false);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(difference_to(ours[i], expected[i], gradient_tolerance) == "");
  }
}

TEST_CASE("fused: a query that may see nothing gets zeros, and so do its gradients",
          "[phase1][attention]") {
  const std::vector<Tensor> in = operands(3, 40, 4, 5);
  const Outcome y = run(true, in, Mask::padding({40, 0}));
  CHECK(difference(slice(y.output, 0, 1, 2), {1, 3, 5}, std::vector<double>(15, 0)) == "");
  for (const Tensor& gradient : y.gradients) {
    const Tensor second = slice(gradient, 0, 1, 2);
    CHECK(difference(second, second.shape(),
                     std::vector<double>(static_cast<std::size_t>(second.numel()), 0)) == "");
    CHECK(max(slice(gradient, 0, 0, 1)).item() != 0);
  }
}

TEST_CASE("fused: what is at a key that nobody sees changes no gradient", "[phase1][attention]") {
  std::vector<Tensor> in = {random_tensor({5, 3}, 1), random_tensor({7, 3}, 2),
                            random_tensor({7, 2}, 3)};
  Tensor seen = Tensor::ones({5, 7});
  for (Index i = 0; i < 5; ++i) seen.set({i, 4}, 0);
  const Mask mask = Mask::from(MaskEncoding::keep, seen);
  const Outcome clean = run(true, in, mask);
  for (const double poison : {std::nan(""), infinity, -infinity}) {
    for (const std::size_t poisoned : {1, 2}) {
      std::vector<Tensor> other = in;
      other[poisoned] = in[poisoned].clone();
      other[poisoned].set({4, 1}, poison);
      const Outcome found = run(true, other, mask);
      CAPTURE(poison, poisoned);
      CHECK(difference_to(found.output, clean.output, forward_tolerance) == "");
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(difference_to(found.gradients[i], clean.gradients[i], gradient_tolerance) == "");
      }
    }
  }
}

TEST_CASE("fused: NaN and infinity reach the rows that see them, and no earlier ones",
          "[phase1][attention]") {
  for (const double poison : {std::nan(""), infinity}) {
    std::vector<Tensor> in = operands(100, 100, 8, 8);
    in[1].set({0, 70, 3}, poison);
    const Tensor y = fused_attention(in[0], in[1], in[2], Mask::causal());
    for (Index i = 0; i < 100; ++i) {
      CAPTURE(poison, i);
      const double score = poison * double{in[0].at({0, i, 3})};
      const bool touched = i >= 70 && !(score < 0);  // a score of -inf only leaves a key out
      CHECK(std::isnan(y.at({0, i, 0})) == touched);
      CHECK_FALSE(std::isnan(y.at({1, i, 0})));
    }
  }
  const Tensor large = Tensor::full({1, 4}, 1e18);  // scores of 2e36
  CHECK(difference(fused_attention(large, large, Tensor::ones({1, 2})), {1, 2}, {1, 1}) == "");
}

TEST_CASE("fused: no query sees the future, and cached keys give the whole, to the last bit",
          "[phase1][attention]") {
  const std::vector<Tensor> in = {random_tensor({150, 8}, 1), random_tensor({150, 8}, 2),
                                  random_tensor({150, 8}, 3)};
  const Tensor whole = fused_attention(in[0], in[1], in[2], Mask::causal());
  std::vector<Tensor> other = {in[0], in[1].clone(), in[2].clone()};
  for (Index d = 0; d < 8; ++d) {
    other[1].set({100, d}, 50);
    other[2].set({100, d}, -50);
  }
  const Tensor changed = fused_attention(other[0], other[1], other[2], Mask::causal());
  CHECK(largest_difference(slice(whole, 0, 0, 100), slice(changed, 0, 0, 100)) == 0);
  CHECK(largest_difference(slice(whole, 0, 100, 101), slice(changed, 0, 100, 101)) > 0);
  for (const Index i : {0, 1, 63, 64, 100, 149}) {
    const Tensor step = fused_attention(slice(in[0], 0, i, i + 1), slice(in[1], 0, 0, i + 1),
                                        slice(in[2], 0, 0, i + 1), Mask::causal(i));
    CHECK(largest_difference(step, slice(whole, 0, i, i + 1)) < 1e-6);
  }
}

TEST_CASE("fused attention: the same bits for any number of threads", "[phase1][attention]") {
  const Index length = in_double ? 300 : 2100;  // of one head: enough to cut the keys in two
  const std::vector<std::vector<Tensor>> cases = {
      {random_tensor({length, 8}, 1), random_tensor({length, 8}, 2), random_tensor({length, 8}, 3)},
      operands(200, 200, 32, 32)};
  for (const std::vector<Tensor>& in : cases) {
    const SmallWorkShared shared;
    use_threads(1);
    const Outcome alone = run(true, in, Mask::causal());
    for (const int threads : {2, 3, 7}) {
      use_threads(threads);
      const Outcome together = run(true, in, Mask::causal());
      CHECK(largest_difference(alone.output, together.output) == 0);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(largest_difference(alone.gradients[i], together.gradients[i]) == 0);
      }
    }
  }
}

TEST_CASE("fused attention needs memory for its results, not for its weights",
          "[phase1][attention]") {
  const Index length = 2048;
  const std::vector<Tensor> in = {random_tensor({length, 16}, 1), random_tensor({length, 16}, 2),
                                  random_tensor({length, 16}, 3)};
  const Tensor before = fused_attention(in[0], in[1], in[2]);
  reset_peak_memory();
  const std::size_t start = memory_stats().live_bytes;
  const Tensor y = fused_attention(in[0], in[1], in[2]);
  CHECK(memory_stats().peak_bytes - start < 2 * 16 * 2048 * sizeof(real));
}

TEST_CASE("gradients of fused attention whose heads are slices of rows are not copied",
          "[phase1][attention]") {
  const Index numbers = 600 * 2 * 16;
  const std::vector<Tensor> in = {random_tensor({600, 2, 16}, 1), random_tensor({600, 2, 16}, 2),
                                  random_tensor({600, 2, 16}, 3)};
  const auto heads = [&](std::size_t i) { return transpose(in[i], 0, 1); };
  Tape tape(in);
  const Tensor y = fused_attention(heads(0), heads(1), heads(2));
  const Tensor seed = random_tensor(y.shape(), 9);
  reset_peak_memory();
  const std::size_t start = memory_stats().live_bytes;
  const Gradients gradients = tape.backward(y, seed);
  const std::size_t each = numbers * sizeof(real);
  CHECK(memory_stats().peak_bytes - start >= 3 * each);
  CHECK(memory_stats().peak_bytes - start < 4 * each);
}

TEST_CASE("fused attention says what does not fit", "[phase1][attention]") {
  const Tensor x = Tensor::zeros({2, 3, 4});
  CHECK(complaint([&] { fused_attention(x, Tensor::zeros({2, 3, 5}), x); },
                  {"attention: q is (2, 3, 4)", "same width", "4 and 5"}) == "");
  CHECK(complaint([&] { fused_attention(x, x, Tensor::zeros({2, 2, 4})); },
                  {"one value for each key", "3 keys, 2 values"}) == "");
  CHECK(complaint([&] { fused_attention(x, x, x, Mask::padding({3, 3, 3})); },
                  {"mask", "3 sequences", "first axis has 2"}) == "");
  CHECK(complaint([&] { fused_attention(x, Tensor::zeros({3, 3, 4}), x); },
                  {"attention, leading axes"}) == "");
}
