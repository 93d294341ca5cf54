#include "tapestry/nn/positions.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/parallel.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

void check_base(const char* what, double base) {
  if (base > 0 && std::isfinite(base)) return;
  throw Error(std::string(what) + ": base is " + exact_text(base) +
              ", but must be a number above 0.");
}

void check_distances(const char* what, Index queries, Index keys, Index first) {
  if (queries >= 0 && keys >= 0 && first >= 0) return;
  throw Error(std::string(what) + ": queries is " + std::to_string(queries) + ", keys " +
              std::to_string(keys) + ", first " + std::to_string(first) +
              ": none may be negative.");
}

// The index of the other number of its pair.
Index partner(Index i, Index width, RotaryLayout layout) {
  if (layout == RotaryLayout::interleaved) return i % 2 == 0 ? i + 1 : i - 1;
  return i < width / 2 ? i + width / 2 : i - width / 2;
}

// The factors of a rotation: y = row * cosine + (row * swap) * sine, where the matrix swap
// exchanges the numbers of each pair and the first of them has a negative sine.
struct Turn {
  Tensor cosine, sine, swap;  // (length, width), (length, width), (width, width)

  Turn(Index length, Index width, RotaryLayout layout, Index first, double base)
      : cosine(Tensor::empty({length, width})),
        sine(Tensor::empty({length, width})),
        swap(Tensor::zeros({width, width})) {
    const Tensor angles = sinusoidal_positions(length, width, first, base);  // (length, width)
    for (Index i = 0; i < width; ++i) raw(swap)[partner(i, width, layout) * width + i] = 1;
    const real* const of_pairs = raw(angles);
    real *const cosines = raw(cosine), *const sines = raw(sine);
    kernels::parallel_parts(length, kernels::row_grain(width), [=](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        for (Index i = 0; i < width; ++i) {
          const Index pair = layout == RotaryLayout::interleaved ? i / 2 : i % (width / 2);
          const real* const of_pair = of_pairs + row * width + 2 * pair;  // sine and cosine
          sines[row * width + i] = i < partner(i, width, layout) ? -of_pair[0] : of_pair[0];
          cosines[row * width + i] = of_pair[1];
        }
      }
    });
  }
};

}  // namespace

Tensor sinusoidal_positions(Index length, Index width, Index first, double base) {
  if (length < 0 || width < 1 || first < 0) {
    throw Error("sinusoidal positions: length is " + std::to_string(length) + ", width " +
                std::to_string(width) + ", first " + std::to_string(first) +
                ": width must be at least 1, the others at least 0.");
  }
  check_base("sinusoidal positions", base);
  const Tensor result = Tensor::empty({length, width});
  std::vector<double> slowness;  // of each number's wave: positions for one radian
  for (Index i = 0; i < width; ++i) {
    slowness.push_back(std::pow(base, static_cast<double>(i - i % 2) / static_cast<double>(width)));
  }
  real* const numbers = raw(result);
  // A sine takes as long as a hundred sums.
  kernels::parallel_parts(length, kernels::row_grain(100 * width), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const double position = static_cast<double>(first) + static_cast<double>(row);
      for (Index i = 0; i < width; ++i) {
        const double angle = position / slowness[static_cast<std::size_t>(i)];
        numbers[row * width + i] =
            static_cast<real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
  });
  return result;
}

Tensor rotary(const Tensor& x, RotaryLayout layout, Index first, double base) {
  if (x.ndim() < 2 || x.size(-1) % 2 != 0 || x.size(-1) == 0 || first < 0) {
    throw Error("rotary: x is " + to_string(x.shape()) + " and first " + std::to_string(first) +
                ": x must be (..., length, width) with an even width, and first at least 0.");
  }
  check_base("rotary", base);
  const Turn turn(x.size(-2), x.size(-1), layout, first, base);
  return x * turn.cosine + matmul(x, turn.swap) * turn.sine;  // (..., length, width)
}

Tensor convert_rotary(const Tensor& map, Index heads, RotaryLayout from, RotaryLayout to) {
  if (map.ndim() < 1 || heads < 1 || map.size(-1) % heads != 0 || map.size(-1) / heads % 2 != 0) {
    throw Error("convert_rotary: the map is " + to_string(map.shape()) + " and heads is " +
                std::to_string(heads) +
                ": its last axis must be heads times an even number of columns.");
  }
  if (from == to) return map;
  const Index half = map.size(-1) / heads / 2, rows = map.shape().removed(-1).numel();
  const bool apart = to == RotaryLayout::half_split;  // else: pairs together
  const Shape cut{rows, heads, apart ? half : 2, apart ? 2 : half};
  return reshape(transpose(reshape(map, cut)), map.shape());  // map's shape
}

Index relative_position_bucket(Index offset, bool is_causal, Index buckets, Index max_distance) {
  const Index side = is_causal ? buckets : buckets / 2, exact = side / 2;
  if (exact < 1 || (!is_causal && buckets % 2 != 0) || max_distance <= exact) {
    throw Error("relative bucket: buckets is " + std::to_string(buckets) + " and max_distance " +
                std::to_string(max_distance) + (is_causal ? "" : ", not causal") +
                ": there must be at least two on each side, equally many on both, and max_distance "
                "must be above half of a side.");
  }
  const Index begin = !is_causal && offset > 0 ? side : 0;   // later keys have the second half
  offset = std::clamp(offset, -max_distance, max_distance);  // all larger distances share it
  const Index distance = is_causal ? std::max<Index>(-offset, 0) : std::abs(offset);
  if (distance < exact) return begin + distance;
  const double part = std::log2(static_cast<double>(distance) / static_cast<double>(exact)) /
                      std::log2(static_cast<double>(max_distance) / static_cast<double>(exact));
  const Index more = static_cast<Index>(part * static_cast<double>(side - exact));
  return begin + std::min(exact + more, side - 1);
}

RelativeBias::RelativeBias(Index heads, bool is_causal_, Random& random, Initializer initializer)
    : table(32, heads, random, initializer), is_causal(is_causal_) {}

Tensor RelativeBias::operator()(Index queries, Index keys, Index first) const {
  check_distances("relative bias", queries, keys, first);
  std::vector<std::int32_t> by_offset;  // from the last query to the first key upwards
  for (Index offset = 1 - queries - first; offset < keys - first; ++offset) {
    by_offset.push_back(static_cast<std::int32_t>(relative_position_bucket(offset, is_causal)));
  }
  Indices buckets;
  buckets.shape = {queries, keys};
  for (Index i = 0; i < queries; ++i) {
    const auto row = by_offset.begin() + (queries - 1 - i);
    buckets.values.insert(buckets.values.end(), row, row + keys);
  }
  return permute(table(buckets), {2, 0, 1});  // (heads, queries, keys)
}

Tensor alibi_slopes(Index heads) {
  if (heads < 1) {
    throw Error("alibi slopes: heads is " + std::to_string(heads) + ", but must be at least 1.");
  }
  Index power = 1;
  while (power <= heads / 2) power *= 2;
  std::vector<real> slopes;
  for (Index h = 0; h < heads; ++h) {
    const double step =
        h < power ? static_cast<double>(h + 1) : static_cast<double>(h - power) + 0.5;
    slopes.push_back(static_cast<real>(std::exp2(-8 * step / static_cast<double>(power))));
  }
  return Tensor({heads}, slopes);
}

Tensor alibi_bias(Index heads, Index queries, Index keys, Index first) {
  check_distances("alibi bias", queries, keys, first);
  const Tensor rows = Tensor::arange(queries) + static_cast<double>(first);  // (queries)
  const Tensor offset = unsqueeze(rows, 1) - Tensor::arange(keys);           // (queries, keys)
  const Tensor slopes = reshape(alibi_slopes(heads), {heads, 1, 1});         // (heads, 1, 1)
  return -slopes * maximum(offset, -offset);  // (heads, queries, keys)
}

Members RelativeBias::members() const { return {{"table", table}}; }

}  // namespace tapestry
