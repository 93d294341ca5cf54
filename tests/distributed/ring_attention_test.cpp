// Ring attention: the same bits on any number of ranks, and the numbers of attention in one piece.
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "catch.hpp"
#include "distributed/ring.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/memory_account.hpp"
#include "tapestry/ops.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

constexpr double tolerance = in_double ? 1e-12 : 2e-5;

struct Case {
  const char* name;
  Shape leading;
  Index length;
  RingOptions options;
};

// Tiles of one and two blocks of the kernels, of less, and of a number that is odd.
std::vector<Case> cases() {
  RingOptions capped{.tile = 32};
  capped.scores = {.scale = 0.5, .softcap = 3};
  return {{"plain", {}, 512, {.tile = 64}},
          {"causal", {}, 512, {.is_causal = true, .tile = 32}},
          {"causal, heads", {2, 3}, 200, {.is_causal = true, .tile = 24}},
          {"padding", {3}, 150, {.lengths = {150, 1, 70}, .tile = 16}},
          {"causal, padding", {2, 2}, 131, {.is_causal = true, .lengths = {131, 40}, .tile = 9}},
          {"fewer tiles than ranks", {2}, 70, {.is_causal = true, .tile = 40}},
          {"one tile", {}, 5, {.is_causal = true, .tile = 8}},
          {"one position", {}, 1, {.tile = 8}},
          {"no position", {2}, 0, {.tile = 8}},
          {"scale and cap", {}, 100, capped},
          {"three leading axes", {2, 3, 4}, 19, {.lengths = {19, 7}, .tile = 4}},
          {"no sequence", {0}, 20, {.lengths = {}, .tile = 8}},
          {"tiles of 130", {}, 700, {.is_causal = true, .tile = 130}}};
}

// The kernel set for a while.
struct UsingKernels {
  std::string before = kernel_set();
  explicit UsingKernels(const std::string& name) { use_kernel_set(name); }
  ~UsingKernels() { use_kernel_set(before); }
};

// Causal attention, query by query, and its gradients; all are (length, width).
struct PlainCausal {
  std::vector<double> q, k, v, d_y;
  Index width;
  std::vector<double> y = zeros(), d_q = zeros(), d_k = zeros(), d_v = zeros();

  std::vector<double> zeros() const { return std::vector<double>(q.size()); }
  double dot(const double* a, const double* b) const {
    return std::inner_product(a, a + width, b, 0.0);
  }
  void add(double factor, const double* x, double* to) const {
    for (Index e = 0; e < width; ++e) to[e] += factor * x[e];
  }

  void attend(Index i) {
    const double scale = 1 / std::sqrt(double(width));
    const double *query = &q[at(i)], *gradient = &d_y[at(i)];
    std::vector<double> weights;
    for (Index j = 0; j <= i; ++j) weights.push_back(std::exp(scale * dot(query, &k[at(j)])));
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= total;
    for (Index j = 0; j <= i; ++j) add(weights[std::size_t(j)], &v[at(j)], &y[at(i)]);
    const double delta = dot(gradient, &y[at(i)]);
    for (Index j = 0; j <= i; ++j) {
      const double weight = weights[std::size_t(j)];
      const double d_score = scale * weight * (dot(gradient, &v[at(j)]) - delta);
      add(d_score, &k[at(j)], &d_q[at(i)]);
      add(d_score, query, &d_k[at(j)]);
      add(weight, gradient, &d_v[at(j)]);
    }
  }
  std::size_t at(Index row) const { return std::size_t(row * width); }
};

}  // namespace

TEST_CASE("ring attention has the same bits on any number of ranks", "[distributed][phase8]") {
  for (const std::string& set : kernel_sets()) {
    const UsingKernels kernels(set);
    for (const Case& each : cases()) {
      CAPTURE(set, each.name);
      const std::vector<Tensor> of = ring_operands(each.leading, each.length, 12, 20);
      const RingResult expected = on_ranks(1, of, each.options);
      for (const int count : {2, 3, 4, 8}) {
        CAPTURE(count);
        CHECK(bits_differ(on_ranks(count, of, each.options), expected) == "");
      }
    }
  }
}

TEST_CASE("ring attention has the same bits on any number of threads", "[distributed][phase8]") {
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const std::vector<Tensor> of = ring_operands(each.leading, each.length, 16, 16);
    const SmallWorkShared sharing;
    use_threads(1);
    const RingResult expected = on_ranks(3, of, each.options);
    use_threads(2);
    for (const int count : {1, 2}) {
      CAPTURE(count);
      CHECK(bits_differ(on_ranks(count, of, each.options), expected) == "");
    }
  }
}

TEST_CASE("ring attention equals fused attention", "[distributed][phase8]") {
  for (const std::string& set : kernel_sets()) {
    const UsingKernels kernels(set);
    for (const Case& each : cases()) {
      CAPTURE(set, each.name);
      const std::vector<Tensor> of = ring_operands(each.leading, each.length, 12, 20);
      CHECK(difference_of(on_ranks(2, of, each.options), fused(of, each.options), tolerance) == "");
    }
  }
}

TEST_CASE("ring attention at 4,096 positions equals plain sums in double",
          "[distributed][phase8]") {
  constexpr Index length = 4096, width = 8;
  const std::vector<Tensor> of = ring_operands({}, length, width, width);
  const RingResult ours = on_ranks(4, of, {.is_causal = true});
  PlainCausal plain{doubles(of[0]), doubles(of[1]), doubles(of[2]), doubles(of[3]), width};
  for (Index i = 0; i < length; ++i) plain.attend(i);
  CHECK(difference(ours.y, {length, width}, plain.y, tolerance) == "");
  CHECK(difference(ours.d_q, {length, width}, plain.d_q, tolerance) == "");
  CHECK(difference(ours.d_k, {length, width}, plain.d_k, tolerance) == "");
  CHECK(difference(ours.d_v, {length, width}, plain.d_v, tolerance) == "");
}

TEST_CASE("queries of ring attention that see no key get zeros", "[distributed][phase8]") {
  const std::vector<Tensor> of = ring_operands({2}, 50, 4, 4);
  const RingResult ours = on_ranks(3, of, {.lengths = {0, 20}, .tile = 8});
  for (const Tensor& x : {ours.y, ours.d_q, ours.d_k, ours.d_v}) {
    const std::vector<real> numbers = x.values();
    for (std::size_t i = 0; i < 50 * 4; ++i) CHECK(numbers[i] == 0);  // the first sequence
    for (const real number : numbers) CHECK(std::isfinite(number));
  }
  for (Index i = 0; i < 50; ++i)
    CHECK(ours.d_v.at({1, i, 0}) * (i < 20 ? 1 : 0) == ours.d_v.at({1, i, 0}));
  CHECK(ours.y.at({1, 49, 0}) != 0);
}

// Scores rise, or fall, from -1e4 to 1e4 over the tiles: each tile's weights dwarf all before.
TEST_CASE("ring attention merges tiles whose scores are far apart", "[distributed][phase8]") {
  constexpr Index length = 80;
  for (const double sign : {1.0, -1.0}) {
    std::vector<Tensor> of = ring_operands({}, length, 2, 3);
    for (Index i = 0; i < length; ++i) {
      of[0].set({i, 0}, 1), of[0].set({i, 1}, 0);
      of[1].set({i, 0}, sign * (-1e4 + 2e4 / length * double(i)));
    }
    RingOptions options{.is_causal = true, .tile = 8};
    options.scores.scale = 1;
    const RingResult expected = on_ranks(1, of, options);
    CHECK(bits_differ(on_ranks(4, of, options), expected) == "");
    for (Index i = 0; i < length; ++i) {  // all the weight is with one key
      for (Index e = 0; e < 3; ++e) {
        CHECK(expected.y.at({i, e}) == of[2].at({sign > 0 ? i : 0, e}));
      }
    }
    const RingResult whole = fused(of, options);
    CHECK(difference_to(expected.d_k, whole.d_k, tolerance) == "");
    CHECK(difference_to(expected.d_v, whole.d_v, tolerance) == "");
    const double rounding = 1e4 * (in_double ? 1e-15 : 1e-6);  // of numbers times keys of 1e4
    CHECK(difference_to(expected.d_q, Tensor::zeros({length, 2}), rounding) == "");
  }
}

TEST_CASE("what ring attention masks has no influence, NaN or infinite", "[distributed][phase8]") {
  constexpr Index length = 96, real_length = 61;
  for (const std::string& set : kernel_sets()) {
    const UsingKernels kernels(set);
    for (const double poison : {std::nan(""), infinity, -infinity}) {
      CAPTURE(set, poison);
      const RingOptions options{.is_causal = true, .lengths = {real_length}, .tile = 16};
      std::vector<Tensor> of = ring_operands({1}, length, 8, 8);
      for (Index i = real_length; i < length; ++i) {  // nobody is to read these rows' output
        for (Index e = 0; e < 8; ++e) of[3].set({0, i, e}, 0);
      }
      const RingResult clean = on_ranks(2, of, options);
      for (Index i = real_length; i < length; ++i) {
        for (Index e = 0; e < 8; ++e) of[1].set({0, i, e}, poison), of[2].set({0, i, e}, poison);
      }
      const RingResult ours = on_ranks(2, of, options);
      CHECK(difference_of(ours, clean, tolerance) == "");
      for (const int count : {1, 3}) {
        CHECK(bits_differ(on_ranks(count, of, options), ours) == "");
      }
    }
  }
}

TEST_CASE("later positions do not change earlier ones, even if NaN", "[distributed][phase8]") {
  const RingOptions options{.is_causal = true, .tile = 16};
  std::vector<Tensor> of = ring_operands({}, 90, 8, 8);
  const RingResult clean = on_ranks(3, of, options);
  for (Index e = 0; e < 8; ++e) of[1].set({70, e}, std::nan("")), of[2].set({70, e}, std::nan(""));
  const RingResult ours = on_ranks(3, of, options);
  for (Index i = 0; i < 70; ++i) {
    for (Index e = 0; e < 8; ++e) {
      CHECK(std::abs(ours.y.at({i, e}) - clean.y.at({i, e})) <= tolerance);
    }
  }
  for (Index e = 0; e < 8; ++e) CHECK(std::isnan(ours.y.at({70, e})));
  CHECK(bits_differ(on_ranks(1, of, options).y, ours.y) == "");
}

TEST_CASE("gradients of ring attention are the slopes", "[distributed][phase8]") {
  for (const bool is_causal : {false, true}) {
    std::vector<Tensor> of = ring_operands({2}, 7, 3, 2);
    of.pop_back();
    RingOptions options{.is_causal = is_causal, .lengths = {7, 4}, .tile = 3};
    options.scores.softcap = 2;
    const auto f = [&](const std::vector<Tensor>& in) {
      return ring_attention(alone(), in[0], in[1], in[2], 7, options);
    };
    CHECK(wrong_gradient(f, of) == "");
  }
}

TEST_CASE("ring attention takes views, and gives the gradients that are asked for",
          "[distributed][phase8]") {
  constexpr Index length = 40;
  const Tensor wide = random_tensor({length, 24}, 5), seed = random_tensor({3, length, 8}, 6);
  const RingOptions options{.is_causal = true, .tile = 8};
  const Tensor view = split_heads(wide, 3), dense = view.contiguous();
  CHECK(bits_differ(ring_attention(alone(), view, view, view, length, options),
                    ring_attention(alone(), dense, dense, dense, length, options)) == "");
  const auto bytes = [&](const Tensor& x) {
    const MemoryAccount account;
    const Tensor y = ring_attention(alone(), x, x, x, length, options);
    return account.peak_bytes();
  };
  CHECK(bytes(view) == bytes(dense));  // no copy
  // Numbers of a row that are not side by side, in many rows and in few.
  for (const Index rows : {length, Index{2}, Index{1}}) {
    const Tensor columns = transpose(random_tensor({8, rows}, 7));  // (rows, 8)
    CHECK(bits_differ(ring_attention(alone(), columns, columns, columns, rows, options),
                      ring_attention(alone(), columns.contiguous(), columns.contiguous(),
                                     columns.contiguous(), rows, options)) == "");
  }
  const Tensor same = expand(random_tensor({length, 1}, 8), {length, 8});  // one number for a row
  const Tensor copy = same.contiguous();
  CHECK(bits_differ(ring_attention(alone(), same, same, same, length, options),
                    ring_attention(alone(), copy, copy, copy, length, options)) == "");
  const RingResult all = on_ranks(1, {dense, dense, dense, seed}, options);
  for (const int count : {1, 2}) {
    for (int asked = 0; asked < 3; ++asked) {
      const Tensor gathered = Tensor::empty(dense.shape());
      run_as_threads(count, [&](Ranks& ranks) {
        const auto at = RingLayout(length, options.tile, count).positions(ranks.rank());
        std::vector<Tensor> in;
        for (int i = 0; i < 3; ++i) in.push_back(rows_at(dense, at));
        Tape tape({in[std::size_t(asked)]});
        const Tensor y = ring_attention(ranks, in[0], in[1], in[2], length, options);
        const Gradients gradients = tape.backward(y, rows_at(seed, at));
        copy_rows(gathered, gradients[in[std::size_t(asked)]], at, false);
      });
      const Tensor& expected = asked == 0 ? all.d_q : asked == 1 ? all.d_k : all.d_v;
      CAPTURE(count, asked);
      CHECK(bits_differ(gathered, expected) == "");
    }
  }
}
