// Running sums, products' gradients, extremes and the largest k along an axis: against plain loops,
// with guards, for any number of threads.
#include "kernels/axis.hpp"

#include <cmath>

#include "kernels/kernel_test.hpp"
#include "threads.hpp"

namespace tapestry::kernels {
namespace {

struct Shape {
  Index outer, length, inner;

  Index numel() const { return outer * length * inner; }
  Index runs() const { return outer * inner; }
  // Element j of this run, in x and its likes
  std::size_t at(Index run, Index j, Index width) const {
    return std::size_t((run / inner * width + j) * inner + run % inner);
  }
  std::size_t at(Index run, Index j) const { return at(run, j, length); }
};

const Shape shapes[] = {{3, 5, 2}, {7, 1, 1}, {2, 9, 1}, {1, 4, 3}, {3, 4, 1025}, {2, 3, 2048}};

// Few different numbers, so that many are equal, and some NaN.
std::vector<real> tied(Index n, bool with_nan) {
  std::vector<real> x = Numbers(5).some(n, -3, 3);
  for (real& v : x) v = std::round(v);
  for (std::size_t i = 3; with_nan && i < x.size(); i += 7) x[i] = nan;
  return x;
}

// Room for places, and behind it some that must stay as they are.
struct Chosen {
  std::vector<std::int32_t> all;
  Index count;

  explicit Chosen(Index n) : all(std::size_t(n + 50), -7), count(n) {}
  bool intact() const {
    return std::all_of(all.begin() + count, all.end(), [](std::int32_t p) { return p == -7; });
  }
};

bool above(real a, real b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

template <class Check>
void for_each_shape(Check check) {
  const SmallWorkShared shared;
  for (const int threads : {1, 2, 3}) {
    use_threads(threads);
    for (const Shape& s : shapes) {
      CAPTURE(threads, s.outer, s.length, s.inner);
      check(s);
    }
  }
}

}  // namespace

TEST_CASE("cumsum adds up each run from either end", "[phase0][kernels]") {
  for_each_shape([](const Shape& s) {
    Guarded x(Numbers(1).some(s.numel()), 1);
    for (const bool from_the_end : {false, true}) {
      Guarded y(s.numel(), 2);
      cumsum(x.data(), s.outer, s.length, s.inner, from_the_end, y.data());
      std::vector<real> want(std::size_t(s.numel()));
      for (Index run = 0; run < s.runs(); ++run) {
        double sum = 0;
        for (Index i = 0; i < s.length; ++i) {
          const std::size_t at = s.at(run, from_the_end ? s.length - 1 - i : i);
          want[at] = real(sum += double(x.data()[at]));
        }
      }
      REQUIRE(first_apart(y.values(), want, 0, 0) == -1);
      REQUIRE(y.intact());
    }
  });
}

TEST_CASE("the gradient of a product is that of all others", "[phase0][kernels]") {
  for_each_shape([](const Shape& s) {
    Guarded x(Numbers(1).some(s.numel()), 1), dy(Numbers(2).some(s.runs()), 2), dx(s.numel(), 3);
    x.data()[s.numel() / 2] = 0;
    prod_backward(dy.data(), x.data(), s.outer, s.length, s.inner, dx.data());
    std::vector<real> want(std::size_t(s.numel()));
    for (Index run = 0; run < s.runs(); ++run) {
      for (Index j = 0; j < s.length; ++j) {
        double product = double(dy.data()[run]);
        for (Index i = 0; i < s.length; ++i) {
          if (i != j) product *= double(x.data()[s.at(run, i)]);
        }
        want[s.at(run, j)] = real(product);
      }
    }
    REQUIRE(first_apart(dx.values(), want, 1e-6, 0) == -1);
    REQUIRE(dx.intact());
  });
}

TEST_CASE("the extreme of a run is its first one, or its first NaN", "[phase0][kernels]") {
  for_each_shape([](const Shape& s) {
    for (const bool with_nan : {false, true}) {
      Guarded x(tied(s.numel(), with_nan), 1);
      for (const bool largest : {true, false}) {
        Chosen places(s.runs());
        arg_extreme(x.data(), s.outer, s.length, s.inner, largest, places.all.data());
        for (Index run = 0; run < s.runs(); ++run) {
          Index best = 0;
          for (Index j = 1; j < s.length; ++j) {
            const real value = x.data()[s.at(run, j)], before = x.data()[s.at(run, best)];
            const bool above = largest ? value > before : value < before;
            if (!std::isnan(before) && (std::isnan(value) || above)) best = j;
          }
          REQUIRE(places.all[std::size_t(run)] == best);
        }
        REQUIRE(places.intact());
      }
    }
  });
}

TEST_CASE("topk names the places of a stable sort, NaN above all", "[phase0][kernels]") {
  for_each_shape([](const Shape& s) {
    Guarded x(tied(s.numel(), true), 1);
    for (const bool largest : {true, false}) {
      for (const Index k : {Index(1), (s.length + 1) / 2, s.length}) {
        Chosen places(s.runs() * k);
        topk(x.data(), s.outer, s.length, s.inner, k, largest, places.all.data());
        for (Index run = 0; run < s.runs(); ++run) {
          std::vector<std::int32_t> order;
          for (Index j = 0; j < s.length; ++j) order.push_back(std::int32_t(j));
          std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            const real one = x.data()[s.at(run, a)], other = x.data()[s.at(run, b)];
            return largest ? above(one, other) : above(other, one);
          });
          for (Index j = 0; j < k; ++j) {
            REQUIRE(places.all[s.at(run, j, k)] == order[std::size_t(j)]);
          }
        }
        REQUIRE(places.intact());
      }
    }
  });
}

}  // namespace tapestry::kernels
