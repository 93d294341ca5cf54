// Attention in chunks, in windows and with shared heads: the numbers of attention().
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr double alike = in_double ? 1e-11 : 1e-5;

std::vector<Tensor> operands(Index queries, Index keys, Index width = 5, Index value_width = 3) {
  return {random_tensor({2, queries, width}, 1), random_tensor({2, keys, width}, 2),
          random_tensor({2, keys, value_width}, 3)};
}

// Outputs and gradients of f and g that differ, or "".
std::string differ(const Function& f, const Function& g, const std::vector<Tensor>& in) {
  const auto run = [&](const Function& h) {
    Tape tape(in);
    const Tensor y = h(in);
    const Gradients gradients = tape.backward(y, random_tensor(y.shape(), 9));
    return std::vector<Tensor>{y, gradients.at(0), gradients.at(1), gradients.at(2)};
  };
  const std::vector<Tensor> ours = run(f), expected = run(g);
  std::string difference;
  for (std::size_t i = 0; i < 4; ++i) difference += difference_to(ours[i], expected[i], alike);
  return difference;
}

std::string wrong(const Function& f, const std::vector<Tensor>& in, const Mask& mask) {
  const Function plain = [&](const std::vector<Tensor>& x) {
    return attention(x[0], x[1], x[2], mask).output;
  };
  return differ(f, plain, in);
}

// x (batch, groups, ...) with each group as often as there are heads in it
Tensor repeated(const Tensor& x, Index heads) {
  std::vector<Tensor> list;
  for (Index head = 0; head < heads; ++head) {
    const Index group = head * x.size(1) / heads;
    list.push_back(slice(x, 1, group, group + 1));
  }
  return concat(list, 1);
}

Tensor scattered(Index queries, Index keys) {
  Tensor some = Tensor::zeros({queries, keys});
  for (Index i = 0; i < queries; ++i) some.set({i, (i * 7) % keys}, 1);
  return some;
}

std::size_t peak_of(const std::function<void()>& f) {
  f();  // fills the pool
  return peak_memory_of(f);
}

}  // namespace

TEST_CASE("chunked attention is attention, for any mask and chunk", "[phase6][attention]") {
  for (const Index length : {1, 2, 31, 33}) {
    const std::vector<Mask> masks = {Mask(), Mask::causal(), Mask::padding({length, 0}),
                                     Mask::local(3) | Mask::global(1),
                                     Mask::from(MaskEncoding::keep, scattered(length, length))};
    for (std::size_t m = 0; m < masks.size(); ++m) {
      for (const Index chunk : {1, 7, 32, 1000}) {
        CAPTURE(length, m, chunk);
        CHECK(wrong(
                  [&](const std::vector<Tensor>& in) {
                    return chunked_attention(in[0], in[1], in[2], masks[m], chunk);
                  },
                  operands(length, length), masks[m]) == "");
      }
    }
  }
  const Function across = [](const std::vector<Tensor>& in) {
    return chunked_attention(in[0], in[1], in[2], {}, 4);
  };
  CHECK(wrong(across, operands(9, 5), {}) == "");
  CHECK(wrong_gradient(across, operands(9, 5)) == "");
  const std::vector<Tensor> none = operands(0, 3);
  CHECK(chunked_attention(none[0], none[1], none[2]).shape() == Shape{2, 0, 3});
}

TEST_CASE("chunked attention needs less memory, also in the backward pass", "[phase6][attention]") {
  const std::vector<Tensor> in = {random_tensor({512, 8}, 1), random_tensor({512, 8}, 2),
                                  random_tensor({512, 8}, 3)};
  const auto step = [&](const Function& f) {
    return peak_of([&] {
      Tape tape(in);
      tape.backward(sum(f(in)));
    });
  };
  const std::size_t whole =
      step([](const std::vector<Tensor>& x) { return attention(x[0], x[1], x[2]).output; });
  const std::size_t chunked = step(
      [](const std::vector<Tensor>& x) { return chunked_attention(x[0], x[1], x[2], {}, 32); });
  CHECK(chunked * 5 < whole);
}

TEST_CASE("sliding windows see each key of the window once: attention by a local mask",
          "[phase6][attention]") {
  for (const Index length : {1, 2, 31, 33, 64, 65, 150}) {
    for (const Index window : {0, 1, 30, 64, 70, 1000}) {
      for (const Mask& mask : {Mask(), Mask::causal(), Mask::padding({length, length / 3})}) {
        CAPTURE(length, window);
        CHECK(wrong(
                  [&](const std::vector<Tensor>& in) {
                    return sliding_window_attention(in[0], in[1], in[2], window, mask);
                  },
                  operands(length, length), Mask::local(window) & mask) == "");
      }
    }
  }
  const Tensor x = random_tensor({70, 2}, 1);
  CHECK(difference_to(sliding_window_attention(x, x, x, 100), attention(x, x, x).output) == "");
  CHECK(sliding_window_attention(slice(x, 0, 0, 0), slice(x, 0, 0, 0), slice(x, 0, 0, 0), 3)
            .shape() == Shape{0, 2});
}

TEST_CASE("in a sliding window of equal scores each key counts the same", "[phase6][attention]") {
  const Index length = 200, window = 9;
  const Tensor zeros = Tensor::zeros({length, 4});
  const Tensor y = sliding_window_attention(zeros, zeros, Tensor::eye(length), window);
  CHECK(difference(y, {length, length}, tabulate({length, length}, [&](const Place& p) {
                     const Index low = std::max<Index>(0, p[0] - window);
                     const Index high = std::min(length - 1, p[0] + window);
                     const bool seen = low <= p[1] && p[1] <= high;
                     return seen ? 1.0 / double(high - low + 1) : 0.0;
                   })) == "");
}

TEST_CASE("the gradients of sliding windows are right", "[phase6][attention]") {
  const Function f = [](const std::vector<Tensor>& in) {
    return sliding_window_attention(in[0], in[1], in[2], 2, Mask::padding({70, 9}));
  };
  CHECK(wrong_gradient(f, operands(70, 70, 3, 2)) == "");
}

TEST_CASE("sliding windows need memory by length times window", "[phase6][attention]") {
  const std::vector<Tensor> in = {random_tensor({1024, 4}, 1), random_tensor({1024, 4}, 2),
                                  random_tensor({1024, 4}, 3)};
  const auto peak = [&](const Function& f) {
    return peak_of([&] {
      Tape tape(in);
      tape.backward(sum(f(in)));
    });
  };
  const std::size_t masked = peak([](const std::vector<Tensor>& x) {
    return attention(x[0], x[1], x[2], Mask::local(16)).output;
  });
  const std::size_t sliding = peak(
      [](const std::vector<Tensor>& x) { return sliding_window_attention(x[0], x[1], x[2], 16); });
  CHECK(sliding * 4 < masked);
}

TEST_CASE("grouped heads read the keys and values of their group", "[phase6][attention]") {
  const std::vector<Mask> masks = {Mask(), Mask::causal(), Mask::padding({33, 0})};
  for (const Index length : {1, 2, 31, 33}) {
    for (const Index groups : {1, 2, 6}) {
      const std::vector<Tensor> in = {random_tensor({2, 6, length, 5}, 1),
                                      random_tensor({2, groups, 33, 5}, 2),
                                      random_tensor({2, groups, 33, 3}, 3)};
      for (const Mask& mask : masks) {
        const Function plain = [&](const std::vector<Tensor>& x) {
          return attention(x[0], repeated(x[1], 6), repeated(x[2], 6), mask).output;
        };
        const Function ours = [&](const std::vector<Tensor>& x) {
          return grouped_attention(x[0], x[1], x[2], mask);
        };
        CAPTURE(length, groups);
        CHECK(differ(ours, plain, in) == "");
      }
    }
  }
}

TEST_CASE("grouped attention: views, one sequence, gradients, and no copy of keys",
          "[phase6][attention]") {
  const Tensor q = split_heads(random_tensor({2, 7, 12}, 1), 4);
  const Tensor k = split_heads(random_tensor({2, 7, 6}, 2), 2), v = k * 2;
  const Tensor y = grouped_attention(q, k, v, Mask::causal());
  const auto first = [](const Tensor& x) { return squeeze(slice(x, 0, 0, 1), 0); };
  CHECK(difference_to(grouped_attention(first(q), first(k), first(v), Mask::causal()), first(y),
                      alike) == "");
  CHECK(difference_to(grouped_attention(first(q), first(k), first(v), Mask::padding({7})),
                      first(grouped_attention(q, k, v)), alike) == "");
  const Function f = [](const std::vector<Tensor>& in) {
    return grouped_attention(in[0], in[1], in[2], Mask::padding({3, 0}));
  };
  CHECK(wrong_gradient(f, {random_tensor({2, 4, 2, 3}, 1), random_tensor({2, 2, 3, 3}, 2),
                           random_tensor({2, 2, 3, 2}, 3)}) == "");
  const Tensor one = random_tensor({1, 32, 2, 8}, 1), long_keys = random_tensor({1, 1, 999, 8}, 2);
  CHECK(peak_of([&] { grouped_attention(one, long_keys, long_keys); }) < 999 * 8 * sizeof(real));
}

TEST_CASE("attention in parts without leading axes is a batch of one, for masks too",
          "[phase6][attention]") {
  const Tensor q = random_tensor({5, 4}, 1), k = random_tensor({5, 4}, 2),
               v = random_tensor({5, 3}, 3);
  const Mask mask = Mask::padding({3});
  const auto one = [](const Tensor& x) { return unsqueeze(x, 0); };
  const Tensor expected = squeeze(attention(one(q), one(k), one(v), mask).output, 0);
  CHECK(difference_to(chunked_attention(q, k, v, mask, 2), expected, 1e-5) == "");
  CHECK(difference_to(sliding_window_attention(q, k, v, 9, mask), expected, 1e-5) == "");
}

TEST_CASE("attention in parts says what does not fit", "[phase6][attention]") {
  const Tensor x = Tensor::zeros({2, 3, 4}), other = Tensor::zeros({2, 5, 4});
  CHECK(complaint([&] { chunked_attention(x, x, x, {}, 0); }, {"chunked", "0", "at least 1"}) ==
        "");
  CHECK(complaint([&] { chunked_attention(x, x, other); },
                  {"chunked attention: q is (2, 3, 4)", "one value for each key"}) == "");
  CHECK(complaint([&] { chunked_attention(x, Tensor::zeros({2, 3, 5}), x); }, {"same width"}) ==
        "");
  const Tensor row = Tensor::zeros({4});
  CHECK(complaint([&] { chunked_attention(row, x, x); }, {"(..., length, width)"}) == "");
  CHECK(complaint([&] { chunked_attention(x, row, x); }, {"(..., length, width)"}) == "");
  CHECK(complaint([&] { chunked_attention(x, x, row); }, {"(..., length, width)"}) == "");
  CHECK(complaint([&] { chunked_attention(x, x, x, Mask::padding({1}), 2); },
                  {"for 1 sequences", "has 2"}) == "");
  const Mask larger = Mask::from(MaskEncoding::keep, Tensor::ones({4, 3}));
  for (const auto& f :
       std::vector<std::function<void()>>{[&] { chunked_attention(x, x, x, larger, 2); },
                                          [&] { sliding_window_attention(x, x, x, 1, larger); }}) {
    CHECK(complaint(f, {"4 queries and 3 keys", "have 3 and 3"}) == "");
  }
  CHECK(complaint([&] { sliding_window_attention(x, other, other, 1); },
                  {"sliding-window", "as many queries as keys"}) == "");
  CHECK(complaint([&] { sliding_window_attention(x, x, x, -1); }, {"window of -1"}) == "");
  CHECK(complaint([&] { sliding_window_attention(x, x, x, 1, Mask::padding({9, 9})); },
                  {"9 keys", "only 3"}) == "");
}

TEST_CASE("grouped attention says what does not fit", "[phase6][attention]") {
  const Tensor heads = Tensor::zeros({2, 4, 3, 4}), three = Tensor::zeros({2, 3, 3, 4});
  CHECK(complaint([&] { grouped_attention(heads, three, three); },
                  {"grouped attention: q is (2, 4, 3, 4)", "divide the heads of q (4)"}) == "");
  CHECK(complaint([&] { grouped_attention(heads, heads, three); }, {"(4 and 3)"}) == "");
  CHECK(complaint([&] { grouped_attention(heads, heads, Tensor::zeros({2, 5, 3, 4})); },
                  {"(4 and 5)"}) == "");
  CHECK(complaint([&] { grouped_attention(Tensor::zeros({3, 4}), heads, heads); },
                  {"(..., heads, length, width)"}) == "");
  const Tensor none = Tensor::zeros({2, 0, 3, 4}), six = Tensor::zeros({1, 1, 1, 1, 2, 2});
  CHECK(complaint([&] { grouped_attention(heads, none, heads); }, {"grouped attention"}) == "");
  CHECK(complaint([&] { grouped_attention(heads, none, none); }, {"(0 and 0)"}) == "");
  CHECK(complaint([&] { grouped_attention(six, six, six); }, {"at most five axes"}) == "");
}
