// Rows as long as vocabularies and longer, where one running sum of floats would lose digits.
#include <cmath>

#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {
namespace {

const std::vector<Index> long_lengths = {4095, 4096, 4097, 8191, 30522, 50257, 262144, 1000003};

double sum_of(const std::vector<real>& x) {
  double sum = 0;
  for (real v : x) sum += v;
  return sum;
}

}  // namespace

TEST_CASE("long rows of softmax sum to one, and their logarithms are right", "[phase0][kernels]") {
  for (const Index n : long_lengths) {
    const auto x = Numbers(std::uint64_t(n)).some(n, -10, 10);
    double total = 0;
    for (real v : x) total += std::exp(double(v));
    const double log_total = std::log(total);
    for (const Table* set : usable_sets()) {
      std::vector<real> y(x.size()), log_y(x.size());
      real log_sum = 0;
      set->softmax(x.data(), y.data(), 1, n);
      set->log_softmax(x.data(), log_y.data(), 1, n);
      set->logsumexp(x.data(), &log_sum, 1, n);
      const double off = std::abs(sum_of(y) - 1);
      CAPTURE(set->name, n, off, log_sum, log_total);
      CHECK(off <= 1e-6);
      CHECK(std::abs(log_sum - log_total) <= 2e-6);
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); i += 97) {
        worst = std::max(worst, std::abs(log_y[i] - (x[i] - log_total)));
        worst = std::max(worst, std::abs(y[i] / std::exp(x[i] - log_total) - 1));
      }
      CHECK(worst <= 3e-6);
    }
  }
}

TEST_CASE("a row of softmax has the same bits beside others, and in place", "[phase0][kernels]") {
  // The last four: the longest rows that are held in scratch memory, rows held in y, and many that
  // may bypass the caches.
  const std::pair<Index, Index> sizes[] = {{5, 100},    {5, 512},    {5, 513},   {5, 1024},
                                           {5, 4096},   {5, 4097},   {5, 9000},  {3, 262144},
                                           {3, 262145}, {8193, 128}, {2049, 512}};
  for (const auto& [rows, n] : sizes) {
    Numbers numbers(std::uint64_t(n) + 1);
    const std::vector<real> x = numbers.some(rows * n, -20, 20);
    for (const Table* set : usable_sets()) {
      std::vector<real> alone(x.size()), in_place = x;
      for (Index r = 0; r < rows; ++r) {
        set->softmax(&x[std::size_t(r * n)], &alone[std::size_t(r * n)], 1, n);
      }
      CAPTURE(set->name, rows, n);
      for (Index offset : {0, 1}) {  // only aligned rows bypass the caches
        Guarded y(rows * n, offset);
        set->softmax(x.data(), y.data(), rows, n);
        REQUIRE(y.values() == alone);
        REQUIRE(y.intact());
      }
      set->softmax(in_place.data(), in_place.data(), rows, n);
      REQUIRE(in_place == alone);
    }
  }
}

TEST_CASE("gradients of long rows of softmax", "[phase0][kernels]") {
  for (const Index n : long_lengths) {
    const auto x = Numbers(std::uint64_t(n)).some(n, -2, 2);
    const auto dy = Numbers(std::uint64_t(n + 1)).some(n, 0, 1);  // sums do not cancel
    std::vector<real> y(x.size()), log_y(x.size());
    reference_set().softmax(x.data(), y.data(), 1, n);
    reference_set().log_softmax(x.data(), log_y.data(), 1, n);
    std::vector<real> want(x.size()), log_want(x.size()), got(x.size());
    reference_set().softmax_backward(dy.data(), y.data(), want.data(), 1, n);
    reference_set().log_softmax_backward(dy.data(), log_y.data(), log_want.data(), 1, n);
    for (const Table* set : usable_sets()) {
      CAPTURE(set->name, n);
      set->softmax_backward(dy.data(), y.data(), got.data(), 1, n);
      CHECK(first_apart(got, want, 1e-6, 2e-6 / double(n)) == -1);
      set->log_softmax_backward(dy.data(), log_y.data(), got.data(), 1, n);
      CHECK(first_apart(got, log_want, 2e-6, 2e-6) == -1);
    }
  }
}

}  // namespace tapestry::kernels
