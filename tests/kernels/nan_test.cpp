// NaN of every kind in every usable set: what depends on one is NaN, and nothing else is. Loops
// that work on the bits of numbers could lose some. Elementary functions: accuracy_test.cpp.
#include <bit>
#include <type_traits>

#include "kernels/kernel_test.hpp"
#include "kernels/parallel_all.hpp"

namespace tapestry::kernels {
namespace {

using Reals = std::vector<real>;

// Signalling and quiet, each with the smallest and the largest payload, of both signs.
std::vector<real> nans() {
  using Word = std::conditional_t<sizeof(real) == 8, std::uint64_t, std::uint32_t>;
  constexpr int digits = std::numeric_limits<real>::digits - 1;
  constexpr Word sign = Word(1) << (8 * sizeof(real) - 1), quiet = Word(1) << (digits - 1);
  constexpr Word infinite = sign - 2 * quiet;
  std::vector<real> all;
  for (const Word payload : {Word(1), quiet - 1, quiet, 2 * quiet - 1}) {
    for (const Word with : {infinite, infinite | sign}) {
      all.push_back(std::bit_cast<real>(with | payload));
    }
  }
  return all;
}

const std::vector<Index> row_lengths = {1, 3, 5, 16, 19, 67, 133};

// Of a row: its ends, and those of its batches of 4, 8 and 16.
std::vector<Index> places(Index n) {
  std::vector<Index> all;
  for (const Index i : {Index(0), Index(3), Index(7), Index(15), Index(16), Index(64), n - 2}) {
    if (i >= 0 && i < n - 1) all.push_back(i);
  }
  all.push_back(n - 1);
  return all;
}

// Calls check(set, NaN, n, place) for each.
template <class Check>
void for_each_nan(const std::vector<Index>& sizes, Check check) {
  for (const Table* set : usable_sets()) {
    for (const real poison : nans()) {
      for (const Index n : sizes) {
        for (const Index at : places(n)) {
          CAPTURE(set->name, n, at, std::signbit(poison));
          check(*set, poison, n, at);
        }
      }
    }
  }
}

Reals with(Reals x, Index at, real value) {
  x[std::size_t(at)] = value;
  return x;
}

Reals room(Index n) { return Reals(std::size_t(n)); }

// The numbers that are NaN, as places: {} for none.
std::vector<Index> lost(const Reals& x) {
  std::vector<Index> all;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) all.push_back(Index(i));
  }
  return all;
}

std::vector<Index> range(Index from, Index to, Index step = 1) {
  std::vector<Index> all;
  for (; from < to; from += step) all.push_back(from);
  return all;
}

using Places = std::vector<Index>;

}  // namespace

TEST_CASE("a NaN of any kind makes its reduction NaN, and no other", "[phase0][kernels]") {
  for_each_nan({1, 3, 5, 16, 19, 67, 2115}, [](const Table& set, real poison, Index n, Index at) {
    for (const Reduce reduce : {set.sum, set.max, set.min, set.prod}) {
      const Reals x = with(Numbers(1).some(3 * n), n + at, poison);
      Reals y = room(3);
      reduce(x.data(), 3, n, 1, y.data());
      REQUIRE(lost(y) == Places{1});
      for (const Index length : {3, 70, 300}) {  // columns; with 300 narrow ones are taken together
        if (n > 67) continue;
        const Reals rows = with(Numbers(2).some(length * n), (length - 1) * n + at, poison);
        Reals of_columns = room(n);
        reduce(rows.data(), 1, length, n, of_columns.data());
        REQUIRE(lost(of_columns) == Places{at});
      }
    }
    const Reals x = with(Numbers(1).some(n), at, poison);
    REQUIRE(std::isnan(set.sum_squares(x.data(), n)));
  });
}

TEST_CASE("a NaN of any kind makes its row of softmax NaN, and no other", "[phase0][kernels]") {
  for_each_nan(row_lengths, [](const Table& set, real poison, Index n, Index at) {
    for (const real others : {real(0.5), -inf}) {  // -inf: masked
      Reals x = Numbers(1).some(3 * n);
      std::fill_n(x.begin() + n, n, others);
      x = with(x, n + at, poison);
      Reals y = room(3 * n), sums = room(3);
      for (const Rows rows : {set.softmax, set.log_softmax}) {
        rows(x.data(), y.data(), 3, n);
        REQUIRE(lost(y) == range(n, 2 * n));
      }
      set.logsumexp(x.data(), sums.data(), 3, n);
      REQUIRE(lost(sums) == Places{1});
      const std::int32_t all[] = {0, 0, 0}, ignored[] = {0, -1, 0};
      for (const auto& target : {all, ignored}) {
        set.cross_entropy_backward(x.data(), sums.data(), target, 1, y.data(), 3, n);
        REQUIRE(lost(y) == (target == all ? range(n, 2 * n) : Places{}));
      }
    }
  });
}

TEST_CASE("a NaN of any kind in the gradient of softmax or in what it saved", "[phase0][kernels]") {
  for_each_nan(row_lengths, [](const Table& set, real poison, Index n, Index at) {
    const Reals y = Numbers(1).some(3 * n, -3, 0), dy = Numbers(2).some(3 * n);
    const Reals bad_y = with(y, n + at, poison), bad_dy = with(dy, n + at, poison);
    Reals dx = room(3 * n);
    for (const RowsBackward back : {set.softmax_backward, set.log_softmax_backward}) {
      back(bad_dy.data(), y.data(), dx.data(), 3, n);
      REQUIRE(lost(dx) == range(n, 2 * n));
    }
    set.softmax_backward(dy.data(), bad_y.data(), dx.data(), 3, n);
    REQUIRE(lost(dx) == range(n, 2 * n));
    set.log_softmax_backward(dy.data(), bad_y.data(), dx.data(), 3, n);
    REQUIRE(lost(dx) == Places{n + at});
    const Reals nothing(std::size_t(3 * n), -inf);  // rows that saw nothing
    set.log_softmax_backward(bad_dy.data(), nothing.data(), dx.data(), 3, n);
    REQUIRE(dx == Reals(std::size_t(3 * n), real(0)));
  });
}

// Normalisation of three rows, forward and backward. Returns which are NaN of the output, of dx,
// and of the gain's and then the bias's gradient.
struct Norm {
  std::vector<Index> y, dx, sums;

  Norm(const Table& set, bool layer, const Reals& x, const Reals& gain, const Reals& bias,
       const Reals& dy) {
    const Index n = Index(gain.size()), rows = 3;
    Reals out = room(rows * n), back = out, mean = room(2 * rows), inverse = room(rows),
          shares = room(layer ? 2 * n : n);
    const real epsilon = real(1e-5);
    if (layer) {
      set.layer_norm(x.data(), gain.data(), bias.data(), epsilon, out.data(), mean.data(),
                     inverse.data(), rows, n);
      set.layer_norm_backward(dy.data(), x.data(), gain.data(), mean.data(), inverse.data(),
                              back.data(), shares.data(), rows, n, rows);
    } else {
      set.rms_norm(x.data(), gain.data(), epsilon, out.data(), inverse.data(), rows, n);
      set.rms_norm_backward(dy.data(), x.data(), gain.data(), inverse.data(), back.data(),
                            shares.data(), rows, n, rows);
    }
    y = lost(out);
    dx = lost(back);
    sums = lost(shares);
  }
};

TEST_CASE("a NaN of any kind in what is normalised, its gain, bias or gradient",
          "[phase0][kernels]") {
  for_each_nan(row_lengths, [](const Table& set, real poison, Index n, Index at) {
    const Reals x = Numbers(1).some(3 * n), gain = Numbers(2).some(n, 0.5, 2);
    const Reals bias = Numbers(3).some(n), dy = Numbers(4).some(3 * n);
    const std::vector<Index> row = range(n, 2 * n), column = range(at, 3 * n, n);
    for (const bool layer : {true, false}) {
      CAPTURE(layer);
      const Norm in_x(set, layer, with(x, n + at, poison), gain, bias, dy);
      REQUIRE(in_x.y == row);
      REQUIRE(in_x.dx == row);
      REQUIRE(in_x.sums == range(0, n));  // of the gain; the bias's is a sum of dy
      const Norm in_gain(set, layer, x, with(gain, at, poison), bias, dy);
      REQUIRE(in_gain.y == column);
      REQUIRE(in_gain.dx == range(0, 3 * n));
      REQUIRE(in_gain.sums == Places{});
      const Norm in_dy(set, layer, x, gain, bias, with(dy, n + at, poison));
      REQUIRE(in_dy.y == Places{});
      REQUIRE(in_dy.dx == row);
      REQUIRE(in_dy.sums == (layer ? Places{at, n + at} : Places{at}));
      if (!layer) continue;
      const Norm in_bias(set, layer, x, gain, with(bias, at, poison), dy);
      REQUIRE(in_bias.y == column);
      REQUIRE((in_bias.dx == Places{} && in_bias.sums == Places{}));
    }
  });
}

TEST_CASE("a NaN of any kind reaches its row or column of a product, and no other",
          "[phase0][kernels]") {
  const Index k = 21;
  for (const Index m : {1, 19}) {
    for_each_nan({1, 5, 37, 67}, [=](const Table& set, real poison, Index n, Index at) {
      const Index i = at % m, p = at % k;
      const Reals zeros_a = room(m * k), zeros_b = room(k * n), none = room(n);
      const Reals a = with(zeros_a, i * k + p, poison), b = with(zeros_b, p * n + at, poison),
                  b_turned = with(zeros_b, at * k + p, poison), bias = with(none, at, poison);
      Reals c = room(m * n), y = c;
      const auto multiply = [&](const Reals& left, const Reals& right, bool turned) {
        set.matmul(m, n, k, left.data(), k, 1, right.data(), turned ? 1 : n, turned ? k : 1,
                   c.data(), n);
        return lost(c);
      };
      const std::vector<Index> row = range(i * n, (i + 1) * n), column = range(at, m * n, n);
      for (const bool turned : {false, true}) {
        REQUIRE(multiply(a, zeros_b, turned) == row);
        REQUIRE(multiply(zeros_a, turned ? b_turned : b, turned) == column);
      }
      const auto linear = [&](const Reals& left, const Reals& added) {
        set.linear(m, n, k, left.data(), k, 1, zeros_b.data(), n, 1,
                   {added.data(), set.of<Relu>(), y.data()}, c.data(), n);
        REQUIRE(lost(c) == lost(y));
        return lost(y);
      };
      REQUIRE(linear(a, none) == row);
      REQUIRE(linear(zeros_a, bias) == column);
    });
  }
}

TEST_CASE("a NaN of any kind in a choice, a dropout or an update", "[phase0][kernels]") {
  for_each_nan(row_lengths, [](const Table& set, real poison, Index n, Index at) {
    const Reals zeros = room(n), ones(std::size_t(n), real(1)), bad = with(ones, at, poison);
    Reals y = room(n);
    const auto choose = [&](const Reals& condition, const Reals& a, const Reals& b) {
      set.select(condition.data(), 1, a.data(), 1, b.data(), 1, y.data(), n);
      return y;
    };
    REQUIRE(choose(with(zeros, at, poison), ones, zeros) == with(zeros, at, 1));  // it counts as 1
    REQUIRE(lost(choose(ones, bad, zeros)) == Places{at});
    REQUIRE(lost(choose(ones, zeros, bad)) == Places{});
    set.dropout(bad.data(), y.data(), n, {1, 2, 0}, 1u << 15, 2);
    REQUIRE(lost(y) == Places{at});
    Reals weight = ones, velocity = ones, mean = ones, square = ones;
    set.sgd(weight.data(), bad.data(), velocity.data(), {real(0.1), real(0.9), 0, false}, n);
    REQUIRE((lost(weight) == Places{at} && lost(velocity) == Places{at}));
    weight = ones;
    set.adam(weight.data(), bad.data(), mean.data(), square.data(),
             {real(0.1), real(0.9), real(0.9), real(1e-8), 0, 1, 1}, n);
    REQUIRE((lost(weight) == Places{at} && lost(mean) == Places{at}));
    REQUIRE(lost(square) == Places{at});
  });
}

// ---- Attention, with its driver, which computes again what a masked NaN may have changed

// Query i sees the keys up to i + 3, but none that is a multiple of 5.
bool sees(Index query, Index key) { return key <= query + 3 && key % 5 != 0; }

BlockVisibility look(const AttentionHead&, Index query, Index queries, Index key, Index keys,
                     std::uint64_t* keep) {
  for (Index j = 0; j < keys; ++j) {
    keep[j] = 0;
    for (Index i = 0; i < queries; ++i) {
      keep[j] |= std::uint64_t{sees(query + i, key + j)} << i;
    }
  }
  return {keys, 0};
}

enum class In { q, k, v, d_out };

// One head with a NaN in it.
struct PoisonedHead {
  static constexpr Index queries = 67, keys = 70;
  In in;
  Index row, column, width, value_width;  // where the NaN is

  // Whether what query i computes depends on it.
  bool reaches(Index i) const { return in == In::q || in == In::d_out ? i == row : sees(i, row); }
  bool reaches_key(Index j) const {
    for (Index i = 0; i < queries; ++i) {
      if (reaches(i) && sees(i, j)) return true;
    }
    return false;
  }
  bool in_scores() const { return in == In::q || in == In::k; }

  // Whether NaN stand exactly where expected(i, e) says, in rows of n numbers.
  template <class Expected>
  static void check(const char* what, const Reals& x, Index n, Expected expected) {
    bool right = true;
    for (Index i = 0; i < Index(x.size()); ++i) {
      right = right && std::isnan(x[std::size_t(i)]) == expected(i / n, i % n);
    }
    CAPTURE(what);
    REQUIRE(right);
  }

  void run(real poison, real softcap) const {
    Reals q = Numbers(1).some(queries * width), k = Numbers(2).some(keys * width),
          v = Numbers(3).some(keys * value_width), d_out = Numbers(4).some(queries * value_width);
    Reals& bad = in == In::q ? q : in == In::k ? k : in == In::v ? v : d_out;
    bad = with(bad, row * (in_scores() ? width : value_width) + column, poison);
    AttentionShape shape{};
    shape.queries = queries, shape.keys = keys;
    shape.width = width, shape.value_width = value_width;
    shape.scale = real(0.3), shape.softcap = softcap, shape.visible_in_block = look;
    const auto view = [](const Reals& x, Index n) { return MatrixView{x.data(), nullptr, n, 1}; };
    const MatrixView to_q = view(q, width), to_k = view(k, width), to_v = view(v, value_width);
    Reals out = room(queries * value_width), log_sum = room(queries), d_q = room(queries * width),
          d_k = room(keys * width), d_v = room(keys * value_width);
    attention(shape, to_q, to_k, to_v, {out.data(), nullptr, value_width}, log_sum.data());
    attention_backward(shape, to_q, to_k, to_v, view(out, value_width), view(d_out, value_width),
                       log_sum.data(),
                       {{d_q.data(), nullptr, width},
                        {d_k.data(), nullptr, width},
                        {d_v.data(), nullptr, value_width}});
    check("out", out, value_width, [&](Index i, Index e) {
      return reaches(i) && (in_scores() || (in == In::v && e == column));
    });
    check("log_sum", log_sum, 1, [&](Index i, Index) { return reaches(i) && in_scores(); });
    check("d_q", d_q, width, [&](Index i, Index) { return reaches(i); });
    check("d_k", d_k, width, [&](Index j, Index) { return reaches_key(j); });
    check("d_v", d_v, value_width, [&](Index j, Index e) {
      return reaches_key(j) && (in_scores() || (in == In::d_out && e == column));
    });
  }
};

TEST_CASE("attention: a NaN of any kind stays with those that see it", "[phase1][kernels]") {
  struct Size {
    Index width, value_width;
    real softcap;
  };
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    for (const real poison : nans()) {
      for (const In in : {In::q, In::k, In::v, In::d_out}) {
        for (const Index row : {0, 31, 40, 66}) {  // no query sees the keys 0 and 40
          for (const auto& [width, value_width, softcap] : {Size{16, 16, 0}, {5, 19, 20}}) {
            const Index n = in == In::q || in == In::k ? width : value_width;
            for (const Index column : {Index(0), n - 1}) {
              CAPTURE(set->name, int(in), row, column, width, std::signbit(poison));
              PoisonedHead{in, row, column, width, value_width}.run(poison, softcap);
            }
          }
        }
      }
    }
  }
}

}  // namespace tapestry::kernels
