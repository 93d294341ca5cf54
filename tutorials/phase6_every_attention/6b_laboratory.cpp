// Step 6b. Every attention of this phase, on the same queries, keys and values: who computes what,
// how fast, in how much memory?
//
// New here: the laboratory of the course (course/laboratory.hpp), and growth as a slope: on
// logarithmic axes "as the square of the length" is a straight line that rises by 2. `tapestry lab`
// prints such tables for other sizes.
// Writes out/plots/phase6_lab.png; takes about 25 seconds, on one thread.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#include "course/laboratory.hpp"
#include "course/laboratory_pictures.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

const std::vector<Index> lengths = {64, 128, 256, 512, 1024, 2048, 4096};
constexpr Index steep_from = 512;  // shorter ones cost what every call costs, whatever its length
// No row is skipped because the machine is busy: two minutes are far more than any takes.
const LaboratoryOptions options{.seconds = 120, .repeats = 3, .compared_pairs = 1 << 22};
const char* const kinds[] = {"exact", "pattern", "other"};  // as VariantKind

struct Row {
  Variant variant;
  // By length: time and memory, NaN where that pass was skipped, ...
  std::map<Index, double> forward_ms = {}, forward_mib = {}, both_ms = {}, both_mib = {};
  std::map<Index, double> error_vs_full = {};  // ... and the difference from attention of all pairs
  double error = 0, gradient_error = 0;        // of all lengths, beside every weight written out
};

using Value = std::map<Index, double> Row::*;

double power(const std::map<Index, double>& values) {
  std::vector<double> x, y;
  for (const auto& [length, value] : values) {
    if (length < steep_from || std::isnan(value)) continue;
    x.push_back(static_cast<double>(length));
    y.push_back(value);
  }
  return growth(x, y);
}

const Row& named(const std::vector<Row>& rows, const char* name) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const Row& row) { return row.variant.name == name; });
}

double root_mean_square(const Tensor& x) { return std::sqrt(double{mean(x * x).item()}); }

void add(Row& row, Index length, const Measurement& m) {
  const auto number = [](const Timing& passage, double value) {
    return passage.skipped.empty() ? value : NAN;
  };
  const Timing &forward = m.forward, &both = m.forward_backward;
  row.forward_ms[length] = number(forward, 1e3 * forward.seconds);
  row.forward_mib[length] = number(forward, forward.bytes / (1 << 20));
  row.both_ms[length] = number(both, 1e3 * both.seconds);
  row.both_mib[length] = number(both, both.bytes / (1 << 20));
  row.error_vs_full[length] = m.error_vs_full;
  row.error = std::max(row.error, forward.error);
  row.gradient_error = std::max(row.gradient_error, both.error);
}

std::vector<Row> measure_all() {
  std::vector<Row> rows;
  for (const Variant& variant : attention_variants({})) rows.push_back({variant});
  Progress progress("measuring", static_cast<Index>(rows.size() * lengths.size()), "variants");
  std::printf("1. Softmax attention of all pairs: size of its outputs (root mean square)\n");
  for (const Index length : lengths) {
    const LaboratoryInput input = laboratory_input({.length = length}, options);
    if (length <= 1024) {
      std::printf("%6lld  %.3f\n", static_cast<long long>(length), root_mean_square(input.full));
    }
    for (Row& row : rows) {
      add(row, length, measure(row.variant, input, options));
      progress.step();
    }
  }
  return rows;
}

void print_errors(const std::vector<Row>& rows) {
  double worst = 0, worst_gradient = 0;
  std::printf("\n2. Largest difference from softmax attention of all pairs\n%-17s%-8s", "", "");
  for (const Index length : {64, 256, 1024}) std::printf("%9lld", static_cast<long long>(length));
  for (const Row& row : rows) {
    std::printf("\n%-17s%-8s", row.variant.name.c_str(), kinds[int(row.variant.kind)]);
    for (const Index length : {64, 256, 1024}) {
      const double difference = row.error_vs_full.at(length);
      std::printf("%9s", difference < 1e-5 ? "rounding" : formatted("%.3f", difference).c_str());
    }
    worst = std::max(worst, row.error);
    worst_gradient = std::max(worst_gradient, row.gradient_error);
  }
  std::printf(
      "\nANSWER each beside the same function with every weight written out, all lengths:\n"
      "  outputs differ by less than 1e-5: %s, gradients by less than 1e-4: %s\n",
      worst < 1e-5 ? "yes" : "no", worst_gradient < 1e-4 ? "yes" : "no");
}

// Outputs become smaller with the length; divided by their size, differences can be compared. The
// smallest and the largest of ten drawings of q, k and v.
void print_relative(const std::vector<Row>& rows) {
  std::printf("\nRoot mean square of differences, divided by that of outputs: ten drawings\n");
  std::printf("%-17s%14d%14d%14d", "", 64, 256, 1024);
  for (const char* name : {"linear", "grouped-query", "multi-query"}) {
    std::printf("\n%-17s", name);
    for (const Index length : {64, 256, 1024}) {
      std::vector<double> shares;
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const LaboratoryInput in = laboratory_input({.length = length}, options, seed);
        const Tensor output = named(rows, name).variant.run(in.q, in.k, in.v);  // as in.full
        shares.push_back(root_mean_square(output - in.full) / root_mean_square(in.full));
      }
      const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
      std::printf("  %.2f to %.2f", *low, *high);
    }
  }
  std::printf("\n");
}

// The numbers at three lengths, and how they grow beyond steep_from: measured, in theory.
void print_numbers(const char* title, const std::vector<Row>& rows, Value value,
                   double Variant::* theory) {
  std::printf("\n%s\n%-17s%10d%10d%10d   power  theory\n", title, "", 64, 512, 4096);
  for (const Row& row : rows) {
    if (std::isnan((row.*value).at(64))) continue;
    std::printf("%-17s", row.variant.name.c_str());
    for (const Index length : {64, 512, 4096}) std::printf("%10.3f", (row.*value).at(length));
    std::printf("%8.2f%8.0f\n", power(row.*value), row.variant.*theory);
  }
}

// By what factor explicit attention needs more, at the largest length.
void print_savings(const std::vector<Row>& rows) {
  const auto both = [&](const char* name) { return named(rows, name).both_mib.at(4096); };
  const double all = both("explicit");
  std::printf(
      "\nANSWER at 4096, forward and backward, explicit attention takes so many times the bytes "
      "of\n ");
  for (const char* name : {"checkpointed", "chunked", "fused", "linear"}) {
    std::printf(" %s: %.0f%s", name, all / both(name), name[0] == 'l' ? "\n" : ", ");
  }
}

// The first length from which on a row takes less time, forward and backward; 0: none.
Index faster_from(const Row& row, const Row& other) {
  Index from = 0;
  for (const Index length : lengths) {
    const bool faster = row.both_ms.at(length) < other.both_ms.at(length);
    from = !faster ? 0 : from == 0 ? length : from;
  }
  return from;
}

void print_times(const std::vector<Row>& rows) {
  const Row& fused = named(rows, "fused");
  std::printf(
      "\nANSWER faster than fused attention, forward and backward: from which length on, and\n"
      "how many times at 4096\n");
  for (const Row& row : rows) {
    const Index from = faster_from(row, fused);
    if (from == 0) continue;
    std::printf("  %-17s%6lld%8.1f\n", row.variant.name.c_str(), static_cast<long long>(from),
                fused.both_ms.at(4096) / row.both_ms.at(4096));
  }
}

}  // namespace

int main() try {
  std::printf("Step 6b: the laboratory (takes about 25 seconds)\n\n");
  use_threads(1);
  const std::vector<Row> rows = measure_all();
  print_errors(rows);
  print_relative(rows);
  print_numbers("3. MiB forward, by length", rows, &Row::forward_mib, &Variant::memory_growth);
  print_numbers("4. MiB forward and backward", rows, &Row::both_mib, &Variant::memory_growth);
  print_savings(rows);
  print_numbers("5. Milliseconds forward (they depend on the machine)", rows, &Row::forward_ms,
                &Variant::time_growth);
  print_numbers("6. Milliseconds forward and backward", rows, &Row::both_ms, &Variant::time_growth);
  print_times(rows);
  std::vector<LaboratoryCurves> curves;
  for (const Row& row : rows) curves.push_back({row.variant.name, row.forward_ms, row.both_mib});
  plot::write_png(laboratory_picture(curves, steep_from), "out/plots/phase6_lab.png");
  std::printf("\nwrote out/plots/phase6_lab.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
