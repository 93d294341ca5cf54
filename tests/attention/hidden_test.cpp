// What a mask hides has no influence, even where it is NaN or infinite: on every path, both ways.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "kernels/kernel_test.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

struct Path {
  const char* name;
  std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask)> attend;
};

const std::vector<Path>& paths() {
  static const std::vector<Path> all = {
      {"explicit", [](const auto& q, const auto& k, const auto& v,
                      const Mask& m) { return attention(q, k, v, m).output; }},
      {"fused", [](const auto& q, const auto& k, const auto& v,
                   const Mask& m) { return fused_attention(q, k, v, m); }},
      {"chunked", [](const auto& q, const auto& k, const auto& v,
                     const Mask& m) { return chunked_attention(q, k, v, m, 7); }},
      {"sliding", [](const auto& q, const auto& k, const auto& v, const Mask& m) {
         return sliding_window_attention(q, k, v, 1000, m);
       }}};
  return all;
}

// x, with numbers of row `row` that no sum survives
Tensor spoiled(const Tensor& x, Index row, double bad) {
  const Tensor y = x.clone();
  const Index width = y.size(-1), rows = y.size(-2);
  for (Index head = 0; head < y.numel() / (width * rows); ++head) {
    y.data()[(head * rows + row) * width + head % width] = static_cast<real>(bad);
  }
  return y;
}

// The output's first `seen` rows, and the gradients of q, k and v by their sum.
std::vector<Tensor> run(const Path& path, const std::vector<Tensor>& in, const Mask& mask,
                        Index seen) {
  Tape tape(in);
  const Tensor y = slice(path.attend(in[0], in[1], in[2], mask), -2, 0, seen);
  const Gradients d = tape.backward(y, Tensor::ones(y.shape()));
  return {y, d[in[0]], d[in[1]], d[in[2]]};
}

constexpr double near = in_double ? 1e-11 : 2e-5;

}  // namespace

TEST_CASE("linear attention: padded keys may hold anything", "[phase6][attention]") {
  const std::vector<Index> lengths = {5, 3};
  const std::vector<Tensor> clean = {random_tensor({2, 6, 5}, 1), random_tensor({2, 6, 5}, 2),
                                     random_tensor({2, 6, 4}, 3)};
  const std::vector<Path> linear = {
      {"explicit", [](const auto& q, const auto& k, const auto& v,
                      const Mask& m) { return explicit_linear_attention(q, k, v, m).output; }},
      {"by sums", [&](const auto& q, const auto& k, const auto& v, const Mask&) {
         return linear_attention(q, k, v, lengths);
       }}};
  for (const kernels::Table* set : kernels::usable_sets()) {
    const kernels::Using scope(*set);
    for (const Path& path : linear) {
      const auto want = run(path, clean, Mask::padding(lengths), 6);
      for (const double bad : {double{NAN}, infinity, -infinity}) {
        const auto got = run(path, {clean[0], spoiled(clean[1], 5, bad), spoiled(clean[2], 5, bad)},
                             Mask::padding(lengths), 6);
        CAPTURE(set->name, path.name, bad);
        for (std::size_t i = 0; i < 4; ++i) CHECK(difference_to(got[i], want[i], near) == "");
      }
    }
  }
}

TEST_CASE("keys that nobody sees may hold anything", "[phase2][attention]") {
  const Index length = 70, real_keys = 66;
  const std::vector<Tensor> clean = {random_tensor({2, length, 5}, 1),
                                     random_tensor({2, length, 5}, 2),
                                     random_tensor({2, length, 6}, 3)};
  const Mask mask = Mask::padding({real_keys, real_keys});
  for (const kernels::Table* set : kernels::usable_sets()) {
    const kernels::Using scope(*set);
    for (const Path& path : paths()) {
      const auto want = run(path, clean, mask, length);
      for (const double bad : {double{NAN}, infinity, -infinity}) {
        for (const Index row : {real_keys, length - 1}) {
          const auto got =
              run(path, {clean[0], spoiled(clean[1], row, bad), spoiled(clean[2], row, bad)}, mask,
                  length);
          CAPTURE(set->name, path.name, bad, row);
          for (std::size_t i = 0; i < 4; ++i) CHECK(difference_to(got[i], want[i], near) == "");
        }
      }
    }
  }
}

TEST_CASE("a value reaches the queries that see its key, and no other", "[phase2][attention]") {
  const Index length = 70, width = 5;
  const std::vector<Tensor> clean = {random_tensor({2, length, width}, 1),
                                     random_tensor({2, length, width}, 2),
                                     random_tensor({2, length, width}, 3)};
  for (const kernels::Table* set : kernels::usable_sets()) {
    const kernels::Using scope(*set);
    for (const Path& path : paths()) {
      for (const double bad : {double{NAN}, infinity, -infinity}) {
        for (const Index row : {Index(1), Index(40), length - 1}) {
          const Tensor v = spoiled(clean[2], row, bad);
          const auto want = run(path, clean, Mask::causal(), row);
          const auto got = run(path, {clean[0], clean[1], v}, Mask::causal(), row);
          CAPTURE(set->name, path.name, bad, row);
          CHECK(difference_to(got[0], want[0], near) == "");
          CHECK(difference_to(slice(got[1], -2, 0, row), slice(want[1], -2, 0, row), near) == "");
          CHECK(difference_to(got[3], want[3], near) == "");
          const Tensor y = path.attend(clean[0], clean[1], v, Mask::causal());
          for (Index head = 0; head < 2; ++head) {  // column `head` holds the bad number
            for (Index i = row; i < length; ++i) {
              REQUIRE(same_number(y.at({head, i, head}), bad, 0));
              REQUIRE(std::isfinite(y.at({head, i, 4})));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("what a mask hides leaves each operand its gradient, also if no other needs one",
          "[phase2][attention]") {
  const std::vector<Tensor> in = {random_tensor({2, 9, 5}, 1),
                                  spoiled(random_tensor({2, 9, 5}, 2), 8, NAN),
                                  spoiled(random_tensor({2, 9, 6}, 3), 8, infinity)};
  const Mask mask = Mask::padding({8, 8});
  for (const Path& path : paths()) {
    const auto want = run(path, in, mask, 9);
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(path.name, i);
      Tape tape(std::vector<Tensor>{in[i]});
      const Tensor y = path.attend(in[0], in[1], in[2], mask);
      CHECK(difference_to(tape.backward(y, Tensor::ones(y.shape()))[in[i]], want[i + 1], near) ==
            "");
    }
  }
}

TEST_CASE("what a mask hides counts again where it is seen", "[phase2][attention]") {
  Tensor q({1, 2}, {1, 2}), k({2, 2}, {1, 2, 3, 4}), v({2, 1}, {5, NAN});
  const Mask first = Mask::from(MaskEncoding::keep, Tensor({1, 2}, {1, 0}));
  for (const Path& path : paths()) {
    if (std::string(path.name) == "sliding") continue;  // as many queries as keys
    CAPTURE(path.name);
    CHECK(path.attend(q, k, v, first).item() == 5);
    CHECK(std::isnan(path.attend(q, k, v, Mask()).item()));
  }
}
