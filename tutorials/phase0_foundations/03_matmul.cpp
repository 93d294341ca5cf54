// Step 03. Why is the same product fast in one program and slow in another?
//
// New here: the matrix product, from the plain triple loop to SIMD and blocks, and the two limits
// of a machine: how fast it multiplies and how fast it reads (the roofline).
// Writes out/plots/phase0_roofline.png; takes about 3 seconds, all of it on one thread. Timings
// depend on the machine and on what else it does, so the lesson quotes only ranges.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>
#include <xsimd/xsimd.hpp>

#include "course/machine.hpp"
#include "course/roofline.hpp"
#include "course/timing.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

using Product = void (*)(const real* a, const real* b, real* c, Index n);  // c = a b

// The definition: c(i, j) = sum over k of a(i, k) b(k, j). The inner loop jumps down a column of b.
void plain(const real* a, const real* b, real* c, Index n) {
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      real sum = 0;
      for (Index k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}

// The same products with the last two loops swapped: the inner loop walks along rows of b and c,
// and takes a batch of numbers at a time: as many as one instruction can, of those instructions
// that every processor of this kind has (on x86-64 that is SSE2, with 4 floats).
void rows_simd(const real* a, const real* b, real* c, Index n) {
  using Batch = xsimd::batch<real>;
  constexpr Index lanes = Batch::size;
  std::fill_n(c, n * n, real{0});
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < n; ++k) {
      const Batch factor(a[i * n + k]);
      Index j = 0;
      for (; j + lanes <= n; j += lanes) {
        const Batch row = Batch::load_unaligned(b + k * n + j);
        const Batch sum = Batch::load_unaligned(c + i * n + j);
        (sum + factor * row).store_unaligned(c + i * n + j);
      }
      for (; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];  // the rest of the row
    }
  }
}

Workload measure(const std::string& name, double operations, double bytes,
                 const std::function<void()>& work) {
  const double seconds = best_seconds(work, 4, 0.1);
  const Workload point{name, operations / bytes, operations / seconds / 1e9};
  std::printf("%-28s %10.1f %12.2f\n", name.c_str(), point.flops_per_byte, point.gflops);
  return point;
}

// Calls `work` with the library's kernels for the instructions of the second way, unless it has
// none for these.
void by_instructions_of_second_way(const std::function<void()>& work) {
  const std::string before = kernel_set(), name = xsimd::default_arch::name();
  const std::vector<std::string> usable = kernel_sets();
  if (std::find(usable.begin(), usable.end(), name) == usable.end()) return;
  use_kernel_set(name);
  work();
  use_kernel_set(before);
}

std::vector<Workload> ladder(Index n) {
  Random random(42);
  const Tensor a = random.normal({n, n}), b = random.normal({n, n});  // (n, n) each
  Tensor c = Tensor::zeros({n, n});                                   // (n, n)
  const double operations = 2.0 * static_cast<double>(n * n * n);
  const double bytes = 3.0 * sizeof(real) * static_cast<double>(n * n);  // each matrix once
  std::vector<Workload> points;
  auto run = [&](const std::string& name, Product product) {
    points.push_back(
        measure(name, operations, bytes, [&] { product(a.data(), b.data(), c.data(), n); }));
  };
  std::printf("1. (%lld, %lld) times (%lld, %lld)\n", static_cast<long long>(n),
              static_cast<long long>(n), static_cast<long long>(n), static_cast<long long>(n));
  std::printf("%-28s %10s %12s\n", "", "flop/byte", "GFLOP/s");
  run("plain loop", plain);
  run("rows and SIMD (" + std::string(xsimd::default_arch::name()) + ")", rows_simd);
  const Tensor by_hand = c.clone();  // (n, n)
  const auto blocked = [&] {
    return measure("blocked (" + kernel_set() + ")", operations, bytes, [&] { c = matmul(a, b); });
  };
  if (kernel_set() != xsimd::default_arch::name()) {  // blocks without the wider instructions
    by_instructions_of_second_way([&] { points.push_back(blocked()); });
  }
  points.push_back(blocked());
  const double scale = std::sqrt(static_cast<double>(n));  // size of a typical element
  std::printf("largest difference between the second and the last, over sqrt(n): %s\n\n",
              largest_difference(by_hand, c) / scale < 1e-5 ? "below 1e-5" : "LARGE");
  return points;
}

// Work that reads much and computes little cannot be faster than memory, whatever the kernel.
std::vector<Workload> bound_by_memory() {
  std::printf("2. Work that mostly moves numbers\n%-28s %10s %12s\n", "", "flop/byte", "GFLOP/s");
  const Index n = 1 << 25;             // 128 MB, as much as the limit was measured with
  const Tensor x = Tensor::ones({n});  // (n)
  const double count = static_cast<double>(n);
  std::vector<Workload> points;
  points.push_back(measure("sum of 32 M numbers", count, sizeof(real) * count,
                           [&] { const Tensor y = sum(x); }));  // ()
  const Tensor matrix = reshape(x, {8192, 4096}), column = Tensor::ones({4096, 1});
  points.push_back(measure("matrix times column", 2 * count, sizeof(real) * count,
                           [&] { const Tensor y = matmul(matrix, column); }));  // (8192, 1)
  return points;
}

// How fast this core multiplies by the instructions of the second way; 0 if the library has no
// kernels for these.
double peak_of_second_way() {
  double peak = 0;
  by_instructions_of_second_way([&] { peak = peak_gflops(1, 0.1); });
  return peak;
}

void draw(const Machine& machine, const std::vector<Workload>& points) {
  plot::LineChart chart = roofline(machine, points);
  const std::string name = xsimd::default_arch::name();
  if (const double peak = peak_of_second_way(); peak > 0 && name != machine.kernels) {
    chart.reference_lines.push_back({peak, "limit of arithmetic by " + name + " instructions"});
    std::printf("\nlimit of arithmetic by %s instructions: %.0f GFLOP/s\n", name.c_str(), peak);
  }
  chart.title = "What limits a product on this machine";
  chart.subtitle = "one core, " + machine.kernels + " kernels";
  plot::write_png(plot::render(chart, 860, 520), "out/plots/phase0_roofline.png");
}

}  // namespace

int main() try {
  std::printf("Step 03: the matrix product (takes about 3 seconds)\n\n");
  use_threads(1);  // a fair comparison: the limits are measured on one core too
  const Machine machine = measure_machine();
  std::printf("kernel sets here: ");
  for (const std::string& name : kernel_sets()) std::printf("%s ", name.c_str());
  std::printf("\none core of this machine, %s: %.0f GFLOP/s at most, reads %.0f GB/s\n\n",
              machine.kernels.c_str(), machine.peak_gflops, machine.read_gb_per_second);
  std::vector<Workload> points = ladder(512);
  for (const Workload& point : bound_by_memory()) points.push_back(point);
  draw(machine, points);
  std::printf("\nwrote out/plots/phase0_roofline.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
