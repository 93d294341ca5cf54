#include "kernels/axis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/parallel.hpp"

namespace tapestry::kernels {
namespace {

// Calls body(first, at) for each run along the axis: its first element, in x and its likes, and
// its number in (outer, inner). Runs side by side belong to one thread, which so reads whole lines.
template <class Body>
void each_run(Index outer, Index length, Index inner, Body body) {
  parallel_parts(outer, row_grain(length * inner), [=](Index begin, Index end) {
    for (Index o = begin; o < end; ++o) {
      for (Index i = 0; i < inner; ++i) body(o * length * inner + i, o * inner + i);
    }
  });
}

void sum_run(const real* x, Index length, bool from_the_end, real* y) {
  double total = 0;
  for (Index j = 0; j < length; ++j) {
    const Index at = from_the_end ? length - 1 - j : j;
    total += static_cast<double>(x[at]);
    y[at] = static_cast<real>(total);
  }
}

// Runs whose sums stay in the first cache. With 256, so half a row at a time, one thread took 1.4
// to 3.7 times as long for 4096 x 512 (Zen 5, in turn).
constexpr Index side_by_side = 1024;

// Neighbouring runs, `count` of them, go along together, so that whole cache lines are read.
void sum_runs(const real* x, Index length, Index inner, Index count, bool from_the_end, real* y) {
  double total[side_by_side] = {};
  for (Index j = 0; j < length; ++j) {
    const Index row = (from_the_end ? length - 1 - j : j) * inner;
    for (Index i = 0; i < count; ++i) {
      total[i] += static_cast<double>(x[row + i]);
      y[row + i] = static_cast<real>(total[i]);
    }
  }
}

}  // namespace

void cumsum(const real* x, Index outer, Index length, Index inner, bool from_the_end, real* y) {
  const Index blocks = (inner + side_by_side - 1) / side_by_side;
  const Index width = std::min(side_by_side, inner);
  parallel_parts(outer * blocks, row_grain(length * width), [=](Index begin, Index end) {
    for (Index block = begin; block < end; ++block) {
      const Index first = block % blocks * side_by_side;
      const Index at = block / blocks * length * inner + first;
      if (inner == 1) {
        sum_run(x + at, length, from_the_end, y + at);
      } else {
        sum_runs(x + at, length, inner, std::min(side_by_side, inner - first), from_the_end,
                 y + at);
      }
    }
  });
}

void prod_backward(const real* dy, const real* x, Index outer, Index length, Index inner,
                   real* dx) {
  parallel_parts(outer, row_grain(length * inner), [=](Index begin, Index end) {
    std::vector<double> before(static_cast<std::size_t>(length));  // the product of all before j
    for (Index run = begin * inner; run < end * inner; ++run) {
      const Index first = run / inner * length * inner + run % inner;
      double product = 1;
      for (Index j = 0; j < length; ++j) {
        before[static_cast<std::size_t>(j)] = product;
        product *= static_cast<double>(x[first + j * inner]);
      }
      double after = static_cast<double>(dy[run]);
      for (Index j = length - 1; j >= 0; --j) {
        dx[first + j * inner] = static_cast<real>(before[static_cast<std::size_t>(j)] * after);
        after *= static_cast<double>(x[first + j * inner]);
      }
    }
  });
}

void arg_extreme(const real* x, Index outer, Index length, Index inner, bool largest,
                 std::int32_t* place) {
  each_run(outer, length, inner, [=](Index first, Index at) {
    Index best = 0;
    for (Index j = 1; j < length && !std::isnan(x[first + best * inner]); ++j) {
      const real value = x[first + j * inner], before = x[first + best * inner];
      const bool better = largest ? value > before : value < before;
      if (better || std::isnan(value)) best = j;
    }
    place[at] = static_cast<std::int32_t>(best);
  });
}

void topk(const real* x, Index outer, Index length, Index inner, Index k, bool largest,
          std::int32_t* place) {
  parallel_parts(outer, row_grain(length * inner), [=](Index begin, Index end) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(length));
    for (Index run = begin * inner; run < end * inner; ++run) {
      const real* const values = x + run / inner * length * inner + run % inner;
      const auto above = [=](real a, real b) { return a > b || (std::isnan(a) && !std::isnan(b)); };
      const auto sooner = [=](std::int32_t one, std::int32_t other) {
        const real a = values[one * inner], b = values[other * inner];
        if (above(a, b)) return largest;
        if (above(b, a)) return !largest;
        return one < other;
      };
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), sooner);
      std::int32_t* const to = place + run / inner * k * inner + run % inner;
      for (Index j = 0; j < k; ++j) to[j * inner] = order[static_cast<std::size_t>(j)];
    }
  });
}

}  // namespace tapestry::kernels
