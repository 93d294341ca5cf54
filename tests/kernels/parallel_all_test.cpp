// The drivers: broadcasting and odd strides, and the same bits for any number of threads.
#include "kernels/parallel_all.hpp"

#include <atomic>

#include "kernels/kernel_test.hpp"
#include "kernels/walk.hpp"
#include "threads.hpp"

namespace tapestry::kernels {
namespace {

// Offset of position i of a block with these strides.
Index offset(const Sizes& sizes, const std::vector<Index>& strides, Index i) {
  Index at = 0;
  for (int d = sizes.rank - 1; d >= 0; --d) {
    at += i % sizes.size[d] * strides[std::size_t(d)];
    i /= sizes.size[d];
  }
  return at;
}

void check_binary(const std::vector<Index>& size, const std::vector<Index>& a_strides,
                  const std::vector<Index>& b_strides, Index a_size, Index b_size) {
  const std::vector<real> a = Numbers(1).some(a_size), b = Numbers(2).some(b_size);
  std::vector<real> flags(b.size(), real(1));
  for (std::size_t i = 0; i < flags.size(); i += 3) flags[i] = 0;
  Sizes sizes;
  for (Index n : size) sizes.size[sizes.rank++] = n;
  Guarded y(sizes.numel(), 1), z(sizes.numel(), 2);
  binary(active().of<Subtract>(), sizes, a.data(), a_strides.data(), b.data(), b_strides.data(),
         y.data());
  select(sizes, flags.data(), b_strides.data(), a.data(), a_strides.data(), b.data(),
         b_strides.data(), z.data());
  REQUIRE((y.intact() && z.intact()));
  bool right = true;
  for (Index i = 0; i < sizes.numel(); ++i) {
    const real left = a[std::size_t(offset(sizes, a_strides, i))];
    const auto at = std::size_t(offset(sizes, b_strides, i));
    right = right && y.data()[i] == left - b[at];
    right = right && z.data()[i] == (flags[at] != 0 ? left : b[at]);
  }
  CAPTURE(sizes.rank, sizes.size[0], sizes.size[1]);
  REQUIRE(right);
}

// Runs `work` on 1, 2, 3, 5 and 8 threads; each time it fills an array of n numbers.
template <class Work>
void same_bits(Index n, Work work) {
  const SmallWorkShared shared;
  std::vector<std::vector<real>> results;
  for (int threads : {1, 2, 3, 5, 8}) {
    use_threads(threads);
    results.emplace_back(std::size_t(n), real(0));
    work(results.back().data());
  }
  for (std::size_t i = 1; i < results.size(); ++i) CHECK(results[0] == results[i]);
  CHECK(results[0] != std::vector<real>(std::size_t(n), real(0)));
}

}  // namespace

TEST_CASE("binary and select broadcast like NumPy", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    check_binary({}, {}, {}, 1, 1);
    check_binary({5}, {1}, {0}, 5, 1);
    check_binary({0}, {1}, {1}, 1, 1);
    check_binary({4, 0}, {0, 1}, {0, 1}, 1, 1);
    check_binary({0, 4}, {8, 1}, {1, 0}, 1, 1);
    check_binary({3, 0, 4}, {0, 8, 1}, {1, 0, 1}, 1, 1);
    check_binary({3, 4}, {4, 1}, {0, 1}, 12, 4);  // a row to every row
    check_binary({3, 4}, {4, 1}, {1, 0}, 12, 3);  // a column to every column
    check_binary({3, 4}, {1, 0}, {0, 1}, 3, 4);   // outer difference
    check_binary({3, 4}, {0, 0}, {0, 0}, 1, 1);   // numbers
    check_binary({2, 3, 4}, {0, 4, 1}, {12, 0, 1}, 12, 24);
    check_binary({2, 1, 4}, {4, 99, 1}, {4, 0, 1}, 8, 8);
    check_binary({3, 4}, {1, 3}, {4, 1}, 12, 12);  // a transposed operand
    check_binary({3, 4}, {8, 2}, {4, 1}, 24, 12);  // every second number
    check_binary({2, 2, 2, 2, 2, 3}, {0, 1, 2, 0, 4, 8}, {48, 24, 12, 6, 3, 1}, 24, 96);
    check_binary({2, 5000}, {1, 2}, {0, 3}, 10000, 15000);  // longer than a gathered chunk
    check_binary({70, 600}, {600, 1}, {1, 0}, 42000, 70);   // shared among threads
    check_binary({50000}, {1}, {1}, 50000, 50000);
    check_binary({50000}, {2}, {1}, 100000, 50000);
  }
}

TEST_CASE("a long run is divided within, and plain operands are not gathered",
          "[phase0][kernels]") {
  static std::atomic<Index> calls, numbers;
  const Binary counting = [](const real*, Index, const real*, Index, real*, Index n) {
    ++calls, numbers += n;
  };
  const SmallWorkShared shared;
  const std::vector<real> x(50000);
  std::vector<real> y(50000);
  const auto calls_of = [&](std::vector<Index> size, std::vector<Index> a, std::vector<Index> b) {
    Sizes sizes;
    for (const Index n : size) sizes.size[sizes.rank++] = n;
    calls = numbers = 0;
    binary(counting, sizes, x.data(), a.data(), x.data(), b.data(), y.data());
    CHECK(numbers == sizes.numel());
    return calls.load();
  };
  use_threads(3);
  CHECK(calls_of({5000}, {1}, {0}) == 12);
  use_threads(1);
  CHECK(calls_of({5000}, {1}, {0}) == 1);
  CHECK(calls_of({5000}, {2}, {0}) == 5);
  CHECK(calls_of({4096}, {2}, {0}) == 4);
  CHECK(calls_of({7, 30}, {30, 1}, {0, 1}) == 7);
  CHECK(calls_of({7, 0}, {3, 1}, {0, 1}) == 0);

  Table counting_too = reference_set();
  counting_too.select = [](const real*, Index, const real*, Index, const real*, Index, real*,
                           Index n) { ++calls, numbers += n; };
  const Using scope(counting_too);
  Sizes sizes;
  sizes.rank = 1;
  sizes.size[0] = 4096;
  const Index two = 2;
  calls = numbers = 0;
  select(sizes, x.data(), &two, x.data(), &two, x.data(), &two, y.data());
  CHECK((calls == 4 && numbers == 4096));
}

TEST_CASE("long reductions are divided into blocks by their shape alone", "[phase0][kernels]") {
  struct Call {
    Index at, outer, length, inner;
    bool operator==(const Call&) const = default;
  };
  static const std::vector<real> x(40);  // never read
  static std::vector<Call> calls;
  const SmallWorkShared shared;
  use_threads(1);
  const auto calls_of = [](Index outer, Index length, Index inner) {
    std::vector<real> y(std::size_t(outer * inner));
    calls.clear();
    reduce([](const real* from, Index o, Index l, Index i,
              real*) { calls.push_back({o > 1 || l < 100 ? 0 : from - x.data(), o, l, i}); },
           x.data(), outer, length, inner, y.data());
    return calls;
  };
  constexpr Index block = 32768;
  CHECK(calls_of(1, 2 * block, 1) == std::vector<Call>{{0, 1, 2 * block, 1}});
  CHECK(calls_of(1, 2 * block + 1, 1) ==
        std::vector<Call>{{0, 1, block, 1}, {block, 1, block, 1}, {0, 1, 1, 1}, {0, 1, 3, 1}});
  CHECK(calls_of(1, 3 * block, 1).size() == 4);
  CHECK(calls_of(1, 32, 5000) == std::vector<Call>{{0, 1, 32, 5000}});
  CHECK(calls_of(1, 33, 5000).size() == 4);  // 16, 16, 1 and these three
  CHECK(calls_of(2, 7, 0) == std::vector<Call>{{0, 2, 7, 0}});
}

TEST_CASE("gradients of gains add up 64 rows at a time, squares 32768 at a time",
          "[phase0][kernels]") {
  static std::atomic<Index> adds, blocks, rows_in_all;
  static std::vector<Index> lengths_of_squares;
  Table counting = reference_set();
  counting.layer_norm_backward = [](const real*, const real*, const real*, const real*, const real*,
                                    real*, real*, Index rows, Index,
                                    Index block) { blocks += block == 64, rows_in_all += rows; };
  counting.rms_norm_backward = [](const real*, const real*, const real*, const real*, real*, real*,
                                  Index rows, Index,
                                  Index block) { blocks += block == 64, rows_in_all += rows; };
  counting.binary[BinaryFunctions::place<Add>()] = [](const real*, Index, const real*, Index, real*,
                                                      Index) { ++adds; };
  counting.sum_squares = [](const real*, Index n) {
    lengths_of_squares.push_back(n);
    return 1.0;
  };
  const Using scope(counting);
  const SmallWorkShared shared;
  use_threads(1);
  std::vector<real> x(66000), gain(3);
  for (const Index row_count : {128, 129}) {
    adds = blocks = rows_in_all = 0;
    layer_norm_backward(x.data(), x.data(), gain.data(), x.data(), x.data(), x.data(), gain.data(),
                        gain.data(), row_count, 3);
    CHECK((adds == (row_count == 128 ? 4 : 6) && blocks == 1 && rows_in_all == row_count));
    rms_norm_backward(x.data(), x.data(), gain.data(), x.data(), x.data(), gain.data(), row_count,
                      3);
    CHECK((adds == (row_count == 128 ? 6 : 9) && blocks == 2 && rows_in_all == 2 * row_count));
  }
  CHECK(sum_squares(x.data(), 65536) == 2);
  CHECK(sum_squares(x.data(), 65537) == 3);
  CHECK(lengths_of_squares == std::vector<Index>{32768, 32768, 32768, 32768, 1});
}

TEST_CASE("every driver gives the same bits for any number of threads", "[phase0][kernels]") {
  const Index rows_count = 300, n = 257, all = rows_count * n;
  Numbers numbers(3);
  const auto x = numbers.some(all), dy = numbers.some(all), gain = numbers.some(n);
  const auto mean = numbers.some(2 * rows_count), inverse = numbers.some(rows_count, 0.5, 2);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < rows_count; ++i) ids.push_back(std::int32_t(i * 7 % 10));
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    CAPTURE(set->name);
    same_bits(all, [&](real* y) { unary(set->of<Tanh>(), x.data(), y, all); });
    same_bits(all, [&](real* y) {
      unary_backward(set->backward_of<Gelu>(), dy.data(), x.data(), y, all);
    });
    const Index one = 1;
    Sizes whole;
    whole.rank = 1;
    whole.size[0] = all;
    same_bits(all, [&](real* y) {
      binary(set->of<Subtract>(), whole, x.data(), &one, dy.data(), &one, y);
    });
    same_bits(all, [&](real* y) {  // minus a row
      Sizes sizes;
      sizes.rank = 2;
      sizes.size[0] = rows_count;
      sizes.size[1] = n;
      const Index strides[] = {n, 1}, same[] = {0, 1};
      binary(set->of<Subtract>(), sizes, x.data(), strides, gain.data(), same, y);
    });
    same_bits(all,
              [&](real* y) { select(whole, dy.data(), &one, x.data(), &one, dy.data(), &one, y); });
    same_bits(all, [&](real* y) { rows(set->softmax, x.data(), y, rows_count, n); });
    same_bits(all, [&](real* y) {
      rows_backward(set->softmax_backward, dy.data(), x.data(), y, rows_count, n);
    });
    same_bits(rows_count, [&](real* y) { logsumexp(x.data(), y, rows_count, n); });
    same_bits(all, [&](real* y) {
      cross_entropy_backward(x.data(), mean.data(), ids.data(), real(1), y, rows_count, n);
    });
    same_bits(all + 3 * rows_count, [&](real* y) {
      layer_norm(x.data(), gain.data(), gain.data(), real(1e-5), y, y + all,
                 y + all + 2 * rows_count, rows_count, n);
    });
    same_bits(all + 2 * n, [&](real* y) {
      layer_norm_backward(dy.data(), x.data(), gain.data(), mean.data(), inverse.data(), y, y + all,
                          y + all + n, rows_count, n);
    });
    same_bits(all + rows_count, [&](real* y) {
      rms_norm(x.data(), gain.data(), real(1e-5), y, y + all, rows_count, n);
    });
    same_bits(all + n, [&](real* y) {
      rms_norm_backward(dy.data(), x.data(), gain.data(), inverse.data(), y, y + all, rows_count,
                        n);
    });
    same_bits(all, [&](real* y) { rows(set->log_softmax, x.data(), y, rows_count, n); });
  }
}

TEST_CASE("drivers of lists, copies and steps give the same bits for any number of threads",
          "[phase0][kernels]") {
  const Index rows_count = 300, n = 257, all = rows_count * n;
  Numbers numbers(3);
  const auto x = numbers.some(all), dy = numbers.some(all);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < rows_count; ++i) ids.push_back(std::int32_t(i * 7 % 10));
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    CAPTURE(set->name);
    same_bits(all, [&](real* y) { dropout(x.data(), y, all, {1, 2, 3}, 0x8000, real(2)); });
    same_bits(1, [&](real* y) { *y = real(sum_squares(x.data(), all)); });
    same_bits(10 * n,
              [&](real* y) { scatter_sum_rows(x.data(), ids.data(), rows_count, n, y, 10); });
    same_bits(all, [&](real* y) { gather_rows(x.data(), ids.data(), rows_count, n, y); });
    same_bits(rows_count, [&](real* y) { gather(x.data(), rows_count, n, 1, ids.data(), 1, y); });
    same_bits(all, [&](real* y) { scatter_add(x.data(), rows_count, n, 1, ids.data(), 1, y); });
    same_bits(all, [&](real* y) {
      const Index from[] = {1, n}, to[] = {rows_count, 1};
      Sizes turned;
      turned.rank = 2;
      turned.size[0] = n;
      turned.size[1] = rows_count;
      copy(turned, x.data(), from, y, to);
    });
    same_bits(1, [&](real* y) { reduce(set->sum, x.data(), 1, all, 1, y); });
    same_bits(n, [&](real* y) { reduce(set->sum, x.data(), 1, rows_count, n, y); });
    same_bits(rows_count, [&](real* y) { reduce(set->sum, x.data(), rows_count, n, 1, y); });
    same_bits(3 * all, [&](real* y) {
      std::copy(x.begin(), x.end(), y);
      adam(y, dy.data(), y + all, y + 2 * all, {1, 0, 0, 1, 0, 1, 1}, all);
      sgd(y, dy.data(), y + all, {real(0.1), real(0.9), 0, false}, all);
    });
  }
}

TEST_CASE("long reductions equal a plain sum, maximum and minimum", "[phase0][kernels]") {
  const std::vector<real> x = Numbers(8).some(2 * 9000 * 17, 0, 1);
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    CAPTURE(set->name);
    struct Shape {
      Index outer, length, inner;
    };
    for (const Shape s : {Shape{1, 2 * 9000 * 17, 1}, Shape{2, 9000, 17}, Shape{2, 9000 * 17, 1}}) {
      std::vector<real> sum(34), high(34), low(34);
      reduce(set->sum, x.data(), s.outer, s.length, s.inner, sum.data());
      reduce(set->max, x.data(), s.outer, s.length, s.inner, high.data());
      reduce(set->min, x.data(), s.outer, s.length, s.inner, low.data());
      for (Index o = 0; o < s.outer * s.inner; ++o) {
        double total = 0;
        real top = 0, bottom = 1;
        for (Index j = 0; j < s.length; ++j) {
          const auto at = std::size_t((o / s.inner * s.length + j) * s.inner + o % s.inner);
          total += double(x[at]);
          top = std::max(top, x[at]);
          bottom = std::min(bottom, x[at]);
        }
        const auto i = std::size_t(o);
        REQUIRE(close(sum[i], real(total), 2e-6, 0));
        REQUIRE((high[i] == top && low[i] == bottom));
      }
    }
    double squares = 0;
    for (const real v : x) squares += double(v) * double(v);
    CHECK(std::abs(sum_squares(x.data(), Index(x.size())) / squares - 1) < 2e-6);
  }
}

TEST_CASE("long sums of equal numbers keep six digits", "[phase0][kernels]") {
  const Index count = 1'000'000;
  const std::vector<real> x(std::size_t(count), real(0.1));
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    for (const Index inner : {1, 5, 64, 1000}) {
      std::vector<real> y(std::size_t(inner), real(0));
      reduce(set->sum, x.data(), 1, count / inner, inner, y.data());
      CAPTURE(set->name, inner, double(y.back()));
      CHECK(close(y.front(), real(double(real(0.1)) * double(count / inner)), 4e-6, 0));
      CHECK(close(y.back(), y.front(), 1e-6, 0));
    }
  }
}

// From about a million numbers on, outputs go past the caches: nothing else may change. Each whole
// is compared with the same work in two parts, on aligned and on other memory.
struct PastCaches {
  const Index width, rows_count = (Index(1) << 20) / width + 2, all = width * rows_count;
  const std::vector<real> some = Numbers(4).some(all, -3, 3);
  const std::vector<real> mean = Numbers(5).some(2 * rows_count);
  const std::vector<real> inverse = Numbers(6).some(rows_count, 1, 2);
  Guarded x{some, 0}, saved{some, 3}, out{all, 1}, aligned{all, 0}, late{all, 15}, want{all, 2};

  explicit PastCaches(Index row_width) : width(row_width) {}

  template <class Work>  // work(begin, end, y): numbers begin to end, written to y
  void same(const Table& set, Index count, const char* what, Work work) {
    for (Guarded* y : {&out, &aligned, &late}) {
      work(Index(0), count, y->data());
      const Index cut = count / 2 / width * width;
      work(Index(0), cut, want.data());
      work(cut, count, want.data() + cut);
      CAPTURE(set.name, what);
      REQUIRE(std::equal(y->data(), y->data() + count, want.data()));
      REQUIRE(y->intact());
    }
  }
};

TEST_CASE("elementwise outputs that go past the caches hold the same bits", "[phase0][kernels]") {
  PastCaches c(37);
  const real *x = c.x.data(), *saved = c.saved.data();
  for (const Table* set : usable_sets()) {
    c.same(*set, c.all, "relu",
           [&](Index a, Index b, real* y) { set->of<Relu>()(x + a, y, b - a); });
    c.same(*set, c.all, "add",
           [&](Index a, Index b, real* y) { set->of<Add>()(x + a, 1, saved + a, 1, y, b - a); });
    c.same(*set, c.all, "relu_backward", [&](Index a, Index b, real* y) {
      set->backward_of<Relu>()(x + a, saved + a, y, b - a);
    });
  }
}

TEST_CASE("rows that go past the caches hold the same bits", "[phase0][kernels]") {
  for (const Index width : {4096, 5003, 19}) {  // rows of 19 do not bypass them
    PastCaches c(width);
    const real *x = c.x.data(), *saved = c.saved.data(), *some = c.some.data();
    const real *mean = c.mean.data(), *inverse = c.inverse.data();
    std::vector<real> m(std::size_t(2 * c.rows_count)), v(m), sums(std::size_t(2 * c.all));
    for (const Table* set : usable_sets()) {
      if (set == &reference_set()) continue;  // has one path
      c.same(*set, c.all, "softmax",
             [&](Index a, Index b, real* y) { set->softmax(x + a, y, (b - a) / width, width); });
      c.same(*set, c.all, "softmax_backward", [&](Index a, Index b, real* y) {
        set->softmax_backward(x + a, saved + a, y, (b - a) / width, width);
      });
      c.same(*set, c.all, "log_softmax", [&](Index a, Index b, real* y) {
        set->log_softmax(x + a, y, (b - a) / width, width);
      });
      c.same(*set, c.all, "log_softmax_backward", [&](Index a, Index b, real* y) {
        set->log_softmax_backward(x + a, saved + a, y, (b - a) / width, width);
      });
      c.same(*set, c.all, "layer_norm", [&](Index a, Index b, real* y) {
        set->layer_norm(x + a, some, some, 1, y, m.data(), v.data(), (b - a) / width, width);
      });
      c.same(*set, c.all, "layer_norm_backward", [&](Index a, Index b, real* y) {
        set->layer_norm_backward(x + a, saved + a, some, mean + a / width * 2, inverse + a / width,
                                 y, sums.data(), (b - a) / width, width, 1);
      });
      c.same(*set, c.all, "rms_norm", [&](Index a, Index b, real* y) {
        set->rms_norm(x + a, some, 1, y, v.data(), (b - a) / width, width);
      });
      c.same(*set, c.all, "rms_norm_backward", [&](Index a, Index b, real* y) {
        set->rms_norm_backward(x + a, saved + a, some, inverse + a / width, y, sums.data(),
                               (b - a) / width, width, 1);
      });
    }
  }
  CHECK(true);  // where the reference is the only set
}

TEST_CASE("gradients of gain and bias are added to what these hold, over many rows",
          "[phase0][kernels]") {
  const Index rows_count = 200, n = 3;
  const std::vector<real> dy(std::size_t(rows_count * n), real(0.5)), gain(3, real(1));
  std::vector<real> x(dy.size(), real(2)), dx(dy.size());
  const std::vector<real> mean(400, real(0.5)), inverse(200, real(1));  // normalised: 1 everywhere
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    real d_gain[] = {1, 2, 3}, d_bias[] = {4, 5, 6}, d_rms_gain[] = {7, 8, 9};
    poison_scratch(nan);
    layer_norm_backward(dy.data(), x.data(), gain.data(), mean.data(), inverse.data(), dx.data(),
                        d_gain, d_bias, rows_count, n);
    CHECK(first_apart({d_gain, d_gain + 3}, {101, 102, 103}, 0, 0) == -1);
    CHECK(first_apart({d_bias, d_bias + 3}, {104, 105, 106}, 0, 0) == -1);
    poison_scratch(nan);
    rms_norm_backward(dy.data(), x.data(), gain.data(), inverse.data(), dx.data(), d_rms_gain,
                      rows_count, n);
    CHECK(first_apart({d_rms_gain, d_rms_gain + 3}, {207, 208, 209}, 0, 0) == -1);
  }
}

TEST_CASE("cross_entropy_backward drives rows with ignored targets", "[phase0][kernels]") {
  const real logits[] = {0, 0, 5, 6}, log_sum[] = {real(0.6931471805599453), 7};
  const std::int32_t target[] = {1, -1};
  real d[4];
  cross_entropy_backward(logits, log_sum, target, 2, d, 2, 2);
  CHECK(first_apart({d, d + 4}, {1, -1, 0, 0}, 0, 1e-6) == -1);
}

}  // namespace tapestry::kernels
