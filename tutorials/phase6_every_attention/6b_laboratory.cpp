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
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "course/laboratory.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

const std::vector<Index> lengths = {64, 128, 256, 512, 1024, 2048, 4096};
constexpr Index steep_from = 512;  // shorter ones cost what every call costs, whatever its length
// No row is skipped because the machine is busy: two minutes are far more than any takes.
const LaboratoryOptions options{.seconds = 120, .repeats = 3, .compared_pairs = 1 << 22};

struct Row {
  Variant variant;
  std::vector<Measurement> found;  // by length; missing at lengths that were skipped
};

// What is drawn and fitted: one number of a measurement, or NaN.
using Value = std::function<double(const Measurement&)>;
double number(const Timing& passage, double value) {
  return passage.skipped.empty() ? value : std::nan("");
}
double forward_ms(const Measurement& m) { return number(m.forward, 1e3 * m.forward.seconds); }
double both_ms(const Measurement& m) {
  return number(m.forward_backward, 1e3 * m.forward_backward.seconds);
}
double forward_mib(const Measurement& m) { return number(m.forward, m.forward.bytes / (1 << 20)); }
double both_mib(const Measurement& m) {
  return number(m.forward_backward, m.forward_backward.bytes / (1 << 20));
}

double slope(const Row& row, const Value& value) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < steep_from || std::isnan(value(row.found[i]))) continue;
    x.push_back(static_cast<double>(lengths[i]));
    y.push_back(value(row.found[i]));
  }
  return growth(x, y);
}

std::size_t place_of(Index length) {
  return static_cast<std::size_t>(std::find(lengths.begin(), lengths.end(), length) -
                                  lengths.begin());
}
double at(const Row& row, Index length, const Value& value) {
  return value(row.found[place_of(length)]);
}
const Row& named(const std::vector<Row>& rows, std::string_view name) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const Row& row) { return row.variant.name == name; });
}

double root_mean_square(const Tensor& x) { return std::sqrt(double{mean(x * x).item()}); }

std::vector<Row> measure_all() {
  std::vector<Row> rows;
  for (const Variant& variant : attention_variants({})) rows.push_back({variant, {}});
  Progress progress("measuring", static_cast<Index>(rows.size() * lengths.size()), "variants");
  std::printf("1. Softmax attention of all pairs: size of its outputs (root mean square)\n");
  for (const Index length : lengths) {
    const LaboratoryInput input = laboratory_input({.length = length}, options);
    if (length <= 1024) {
      std::printf("%6lld  %.3f\n", static_cast<long long>(length), root_mean_square(input.full));
    }
    for (Row& row : rows) {
      row.found.push_back(measure(row.variant, input, options));
      progress.step();
    }
  }
  return rows;
}

const char* kind_name(VariantKind kind) {
  return kind == VariantKind::exact ? "exact" : kind == VariantKind::pattern ? "pattern" : "other";
}

void print_errors(const std::vector<Row>& rows) {
  double worst = 0, worst_gradient = 0;
  std::printf("\n2. Largest difference from softmax attention of all pairs\n%-17s%-8s", "", "");
  for (const Index length : {64, 256, 1024}) std::printf("%9lld", static_cast<long long>(length));
  for (const Row& row : rows) {
    std::printf("\n%-17s%-8s", row.variant.name.c_str(), kind_name(row.variant.kind));
    for (const Index length : {64, 256, 1024}) {
      const double difference =
          at(row, length, [](const Measurement& m) { return m.error_vs_full; });
      if (difference < 1e-5) {
        std::printf(" rounding");
      } else {
        std::printf("%9.3f", difference);
      }
    }
    for (const Measurement& m : row.found) {
      worst = std::max(worst, m.forward.error);
      worst_gradient = std::max(worst_gradient, m.forward_backward.error);
    }
  }
  std::printf(
      "\nANSWER each beside the same function with every weight written out, all lengths:\n"
      "  outputs differ by less than 1e-5: %s, gradients by less than 1e-4: %s\n",
      worst < 1e-5 ? "yes" : "no", worst_gradient < 1e-4 ? "yes" : "no");
}

// Outputs become smaller with the length; divided by their size, differences can be compared. The
// smallest and the largest of ten drawings of q, k and v.
void print_relative(const std::vector<Row>& rows) {
  std::vector<std::vector<LaboratoryInput>> drawings(3);  // by length
  std::printf("\nRoot mean square of differences, divided by that of outputs: ten drawings\n%-17s",
              "");
  for (std::size_t i = 0; i < drawings.size(); ++i) {
    const Index length = Index{64} << (2 * i);  // 64, 256, 1024
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      drawings[i].push_back(laboratory_input({.length = length}, options, seed));
    }
    std::printf("%14lld", static_cast<long long>(length));
  }
  for (const char* name : {"linear", "grouped-query", "multi-query"}) {
    std::printf("\n%-17s", name);
    for (const std::vector<LaboratoryInput>& inputs : drawings) {
      std::vector<double> shares;
      for (const LaboratoryInput& in : inputs) {
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
void print_numbers(const char* title, const std::vector<Row>& rows, const Value& value,
                   double Variant::* theory) {
  std::printf("\n%s\n%-17s%10d%10d%10d   power  theory\n", title, "", 64, 512, 4096);
  for (const Row& row : rows) {
    if (std::isnan(at(row, 64, value))) continue;
    std::printf("%-17s", row.variant.name.c_str());
    for (const Index length : {64, 512, 4096}) std::printf("%10.3f", at(row, length, value));
    std::printf("%8.2f%8.0f\n", slope(row, value), row.variant.*theory);
  }
}

// By what factor explicit attention needs more, at the largest length.
void print_savings(const std::vector<Row>& rows) {
  const auto both = [&](const char* name) { return at(named(rows, name), 4096, both_mib); };
  const double all = both("explicit");
  std::printf(
      "\nANSWER at 4096, forward and backward, explicit attention takes so many times the bytes "
      "of\n ");
  for (const char* name : {"checkpointed", "chunked", "fused", "linear"}) {
    std::printf(" %s: %.0f%s", name, all / both(name), name[0] == 'l' ? "\n" : ", ");
  }
}

// The first length from which on `row` takes less time than `other`; 0: none.
Index faster_from(const Row& row, const Row& other, const Value& value) {
  Index from = 0;
  for (const Index length : lengths) {
    const bool faster = at(row, length, value) < at(other, length, value);
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
    const Index from = faster_from(row, fused, both_ms);
    if (from == 0) continue;
    std::printf("  %-17s%6lld%8.1f\n", row.variant.name.c_str(), static_cast<long long>(from),
                at(fused, 4096, both_ms) / at(row, 4096, both_ms));
  }
}

// A dashed line of that slope between the lengths that slopes are fitted to, through (4096, y).
plot::Series guide(double y, int power) {
  const char* name = power == 2 ? "L²" : "L";
  plot::Series line{name, {}, {}, true, false, true, plot::theme::faded};
  for (const double length : {double{steep_from}, 4096.0}) {
    line.x.push_back(length);
    line.y.push_back(y * std::pow(length / 4096, power));
  }
  return line;
}

// A colour means the same variant in every panel.
plot::Colour colour_of(const std::string& name) {
  const std::vector<std::string> order = {"explicit", "fused",  "cached",  "local",
                                          "strided",  "linear", "chunked", "checkpointed"};
  return plot::series_colour(
      static_cast<std::size_t>(std::find(order.begin(), order.end(), name) - order.begin()));
}

// A line for each variant.
plot::LineChart chart_of(const std::vector<Row>& rows, const std::vector<std::string>& names,
                         const std::string& title, const std::string& unit, const Value& value) {
  plot::LineChart chart;
  chart.title = title;
  chart.x_axis = {.name = "length", .log = true, .low = 50, .high = 4096};
  chart.end_labels = true;
  const bool time = unit == "ms";  // the same range in both columns, and on every machine
  chart.y_axis = {.name = unit, .log = true, .low = time ? 0.01 : 0.1, .high = time ? 1e5 : 2e4};
  double low = INFINITY, high = 0;
  for (const std::string& name : names) {
    const Row& row = named(rows, name);
    plot::Series series{name, {}, {}, true, true, false, colour_of(name)};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      series.x.push_back(static_cast<double>(lengths[i]));
      series.y.push_back(value(row.found[i]));
    }
    low = std::min(low, series.y.back());  // NaN: not less
    high = std::max(high, series.y.back());
    chart.series.push_back(series);
  }
  for (const auto& [y, power] : {std::pair{6 * high, 2}, std::pair{low / 3, 1}}) {
    chart.series.push_back(guide(y, power));
  }
  return chart;
}

void draw(const std::vector<Row>& rows) {
  plot::Canvas canvas(1200, 900);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 2, 2);
  const std::vector<std::string> fewer = {"fused", "strided", "local", "linear"};
  plot::draw(canvas, areas[0],
             chart_of(rows, {"explicit", "fused", "cached"}, "All pairs: time, forward (one core)",
                      "ms", forward_ms));
  plot::draw(
      canvas, areas[1],
      chart_of(rows, fewer, "Fewer pairs, or linear: time, forward (one core)", "ms", forward_ms));
  plot::draw(canvas, areas[2],
             chart_of(rows, {"explicit", "checkpointed", "chunked", "fused"},
                      "All pairs: most bytes, forward and backward", "MiB", both_mib));
  plot::draw(canvas, areas[3],
             chart_of(rows, {"fused", "linear"},
                      "Linear beside fused: most bytes, forward and backward", "MiB", both_mib));
  plot::write_png(canvas, "out/plots/phase6_lab.png");
}

}  // namespace

int main() try {
  std::printf("Step 6b: the laboratory (takes about 25 seconds)\n\n");
  use_threads(1);
  const std::vector<Row> rows = measure_all();
  print_errors(rows);
  print_relative(rows);
  print_numbers("3. MiB forward, by length", rows, forward_mib, &Variant::memory_growth);
  print_numbers("4. MiB forward and backward", rows, both_mib, &Variant::memory_growth);
  print_savings(rows);
  print_numbers("5. Milliseconds forward (they depend on the machine)", rows, forward_ms,
                &Variant::time_growth);
  print_numbers("6. Milliseconds forward and backward", rows, both_ms, &Variant::time_growth);
  print_times(rows);
  draw(rows);
  std::printf("\nwrote out/plots/phase6_lab.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
