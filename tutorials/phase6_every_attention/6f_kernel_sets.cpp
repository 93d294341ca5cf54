// Step 6f. How fast and how exact is the same attention on each set of instructions?
//
// New here: one head of 512 positions, computed by plain loops, and by the library's kernels for
// each set of instructions that this machine has, slowest first. Each is compared with the same
// formula in double, and with what its own instructions could do at most (the roofline of step 03).
// Writes out/plots/phase6_kernel_sets.png; takes about 3 seconds, all of it on one thread. Timings
// depend on the machine, so the lesson quotes none of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/machine.hpp"
#include "course/roofline.hpp"
#include "course/timing.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

constexpr Index length = 512, d_k = 64;

// softmax(q k^T / sqrt(d_k)) v, query by query, in the numbers of type Real.
template <class Real>
std::vector<Real> plain_attention(const real* q, const real* k, const real* v) {
  std::vector<Real> output(length * d_k), weights(length);  // (length, d_k), (length)
  for (Index i = 0; i < length; ++i) {
    for (Index j = 0; j < length; ++j) {
      Real score = 0;
      for (Index c = 0; c < d_k; ++c) score += Real{q[i * d_k + c]} * Real{k[j * d_k + c]};
      weights[j] = score / std::sqrt(Real{d_k});
    }
    const Real largest = *std::max_element(weights.begin(), weights.end());
    Real sum = 0;
    for (Real& weight : weights) sum += weight = std::exp(weight - largest);
    for (Index j = 0; j < length; ++j) {
      for (Index c = 0; c < d_k; ++c) {
        output[i * d_k + c] += weights[j] / sum * Real{v[j * d_k + c]};
      }
    }
  }
  return output;
}

// The largest difference from the exact output, over the largest exact number.
template <class Real>
double error(const Real* output, const std::vector<double>& exact) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    worst = std::max(worst, std::abs(double{output[i]} - exact[i]));
    largest = std::max(largest, std::abs(exact[i]));
  }
  return worst / largest;
}

// Two products, and for each score the scaling, the maximum, e^x, the sum and the division.
constexpr double operations = 4.0 * length * length * d_k + 5.0 * length * length;
constexpr double bytes = 4.0 * sizeof(real) * length * d_k;  // q, k, v and the output, once each

struct Row {
  Workload work;
  double seconds, error;
};

Row measure(const std::string& name, double relative_error, double peak,
            const std::function<void()>& attend) {
  const double seconds = best_seconds(attend, 2, 0.1);
  const double gflops = operations / seconds / 1e9;
  std::printf("%-12s %10.3f %10.1f %12.1f %7.1f %%   %.0e\n", name.c_str(), 1e3 * seconds, gflops,
              peak, 100 * gflops / peak, relative_error);
  return {{name, operations / bytes, gflops}, seconds, relative_error};
}

std::vector<Row> measure_all() {
  Random random(42);
  const Tensor q = random.normal({length, d_k}), k = random.normal({length, d_k}),
               v = random.normal({length, d_k});  // (length, d_k) each
  const auto exact = plain_attention<double>(q.data(), k.data(), v.data());
  std::vector<Row> rows;
  std::vector<real> by_hand = plain_attention<real>(q.data(), k.data(), v.data());
  const std::vector<std::string> sets = kernel_sets();
  use_kernel_set(sets[std::min<std::size_t>(1, sets.size() - 1)]);  // what the compiler may use
  rows.push_back(measure("plain loops", error(by_hand.data(), exact), peak_gflops(1, 0.05),
                         [&] { by_hand = plain_attention<real>(q.data(), k.data(), v.data()); }));
  for (const std::string& set : sets) {
    use_kernel_set(set);
    Tensor output = fused_attention(q, k, v);  // (length, d_k)
    const double off = error(output.contiguous().data(), exact);
    rows.push_back(measure(set, off, peak_gflops(1, 0.05),
                           [&] { output = fused_attention(q, k, v); }));  // (length, d_k)
  }
  return rows;
}

// The set "reference" adds in double; all others add floats.
void print_errors(const std::vector<Row>& rows) {
  double in_double = 0, in_float = 0;
  for (const Row& row : rows) {
    double& worst = row.work.name == "reference" ? in_double : in_float;
    worst = std::max(worst, row.error);
  }
  std::printf("largest error against double: reference %.0e, the others %.0e\n", in_double,
              in_float);
}

}  // namespace

int main() try {
  std::printf("Step 6f: one attention, several sets of instructions (takes about 3 seconds)\n\n");
  use_threads(1);  // the limits are those of one core
  std::printf("one head, %lld positions, d_k %lld: %.1f operations for each byte\n\n",
              static_cast<long long>(length), static_cast<long long>(d_k), operations / bytes);
  std::printf("%-12s %10s %10s %12s %9s   %s\n", "", "ms", "GFLOP/s", "set's limit", "share",
              "error against double");
  const std::vector<Row> rows = measure_all();
  const double gain = rows.front().seconds / rows.back().seconds;
  std::printf("\nthe last is more than 5 times as fast as plain loops: %s\n",
              gain > 5 ? "yes" : "no");
  print_errors(rows);
  std::vector<Workload> points;
  for (const Row& row : rows) points.push_back(row.work);
  const Machine machine = measure_machine();
  plot::LineChart chart = roofline(machine, points);
  chart.title = "The same attention on each set of instructions";
  chart.subtitle = "one core; the limits are those of the " + machine.kernels + " kernels";
  plot::write_png(plot::render(chart, 860, 520), "out/plots/phase6_kernel_sets.png");
  std::printf("\nwrote out/plots/phase6_kernel_sets.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
