#include <algorithm>
#include <cstdio>
#include <string_view>
#include <xsimd/xsimd.hpp>

#include "course/machine.hpp"
#include "course/timing.hpp"
#include "forms.hpp"
#include "phase0.hpp"
#include "tapestry/kernels.hpp"

using namespace tapestry;

extern "C" void __asan_init() __attribute__((weak));  // there is one under the address sanitizer

namespace solution {
decltype(learn::matmul_blocked) matmul_blocked;
}

namespace {

using Product = std::function<decltype(learn::matmul_blocked)>;

constexpr Index lanes = xsimd::batch<real>::size;

Attempt multiplied(const Product& product) { return attempt("c", product); }

struct Switches {
  bool rest_rows = true, rest_columns = true;
  bool adds = true;       // else each k overwrites the sums
  bool four_rows = true;  // else the rows of a block all read the first row of a
};

// Number by number, as a block would compute it.
Product by_numbers(const Switches& s) {
  return [=](const Tensor& a, const Tensor& b) {
    const Index m = a.size(0), inner = a.size(1), n = b.size(1);
    const Index rows = m - m % 4, columns = n - n % lanes;
    return filled(m, n, [&](Index i, Index j) {
      if ((!s.rest_rows && i >= rows) || (!s.rest_columns && j >= columns)) return 0.0;
      const bool in_block = i < rows && j < columns;
      const Index row = in_block && !s.four_rows ? i - i % 4 : i;
      const Index from = in_block && !s.adds ? inner - 1 : 0;
      return sum_of(inner - from, [&](Index k) {
        return double{a.at({row, from + k})} * double{b.at({from + k, j})};
      });
    });
  };
}

// By the library: the product of which parts are replaced.
Product by_library(const Switches& s) {
  return [=](const Tensor& a, const Tensor& b) {
    const Index m = a.size(0), inner = a.size(1), n = b.size(1);
    const Index rows = m - m % 4, columns = n - n % lanes;
    Tensor left = slice(a, 0, 0, rows), right = slice(b, 1, 0, columns);  // (rows, k), (k, columns)
    if (!s.four_rows) {
      const Tensor firsts = slice(left, 0, 0, rows, 4);  // (rows / 4, k)
      left = reshape(stack({firsts, firsts, firsts, firsts}, 1), {rows, inner});
    }
    if (!s.adds) left = slice(left, 1, inner - 1, inner), right = slice(right, 0, inner - 1, inner);
    const double keep_rows = s.rest_rows ? 1 : 0, keep_columns = s.rest_columns ? 1 : 0;
    const Tensor c = matmul(a, b);  // (m, n)
    const Tensor beside = slice(slice(c, 0, 0, rows), 1, columns, n) * keep_columns;
    const Tensor below = slice(c, 0, rows, m) * keep_rows *
                         (Tensor::arange(n) < double(s.rest_columns ? n : columns));
    return concat({concat({matmul(left, right), beside}, 1), below}, 0);  // (m, n)
  };
}

KnownMistake mistake(const std::string& name, const std::string& sentence, const Switches& s) {
  return {name, sentence, multiplied(by_numbers(s)), multiplied(by_library(s))};
}

NamedTensors inputs(Random& random, Index size) {
  const Index blocks = 1 + size / 3, k = size + 1;
  const Index rest = size == 4 ? 1 : 0;
  const Index m = 4 * blocks + rest + random.randint(4 - rest);
  const Index n = lanes * blocks + rest + random.randint(lanes - rest);
  return {{"a", random.normal({m, k})}, {"b", random.normal({k, n})}};
}

const std::vector<KnownMistake> mistakes = {
    mistake("columns left over",
            "The columns beyond the last whole batch are 0. If n is no multiple of Batch::size, "
            "they are left over, and have to be computed number by number.",
            {.rest_columns = false}),
    mistake("rows left over",
            "The rows beyond the last whole block are 0. If m is no multiple of 4, they are left "
            "over, and have to be computed number by number.",
            {.rest_rows = false}),
    mistake("rows and columns left over",
            "What does not fill a whole block is 0: the rows beyond a multiple of 4, and the "
            "columns beyond a multiple of Batch::size. Compute these number by number.",
            {.rest_rows = false, .rest_columns = false}),
    mistake("sums overwritten",
            "In the blocks only the product of the last k is left. The sums have to be added to: "
            "+= and not =.",
            {.adds = false}),
    mistake("one row of a for all",
            "All four rows of a block are the same: they read the same row of a. Row i + 1 of c "
            "needs row i + 1 of a, which is a.size(1) numbers further.",
            {.four_rows = false})};

// How fast the learner's product is, as a share of what the same instructions can at most. The
// address sanitizer makes it more than a hundred times slower; then there is nothing to say.
void print_speed() {
  if (__asan_init != nullptr) return;
  const Index n = 256;
  Random random(1);
  const Tensor a = random.normal({n, n}), b = random.normal({n, n});  // (n, n) each
  const double seconds = best_seconds([&] { (void)learn::matmul_blocked(a, b); }, 3, 0.2);
  const double speed = 2.0 * double(n * n * n) / seconds / 1e9;
  const std::string name = xsimd::default_arch::name();
  const std::vector<std::string> usable = kernel_sets();
  if (std::find(usable.begin(), usable.end(), name) == usable.end()) return;
  use_kernel_set(name);
  const double limit = peak_gflops(1, 0.1);
  std::printf("  %.1f GFLOP/s: %.0f %% of what %s instructions can here (%.1f)\n", speed,
              100 * speed / limit, name.c_str(), limit);
}

bool has(int count, char** arguments, std::string_view word) {
  return std::find(arguments, arguments + count, word) != arguments + count;
}

}  // namespace

int main(int count, char** arguments) {
  const int answer = judge(
      {.inputs = inputs,
       .learner = multiplied(learn::matmul_blocked),
       .right = {multiplied(solution::matmul_blocked), multiplied(by_numbers({})),
                 multiplied([](const Tensor& a, const Tensor& b) { return matmul(a, b); })},
       .mistakes = mistakes,
       .hints = {"Two loops over blocks: i in steps of 4, j in steps of Batch::size, as long as a "
                 "whole block fits. Inside, four sums that begin at 0, and a loop over k.",
                 "In the loop over k: load b at (k, j) once; add to each sum its number of a times "
                 "this row. After it store the four sums to c at (i, j), (i + 1, j), ...",
                 "sum0 += Batch(a[i * inner + k]) * row; sum1 += Batch(a[(i + 1) * inner + k]) * "
                 "row; ... Then plain loops over all (i, j) that no block has reached."}},
      count, arguments);
  if (answer == 0 && !has(count, arguments, "--prove") && !has(count, arguments, "--hint")) {
    print_speed();
  }
  return answer;
}
