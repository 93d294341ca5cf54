// What the variants of attention are measured by: difference, time, bytes, and how they grow.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "course/laboratory.hpp"
#include "course/machine.hpp"
#include "course/timing.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {
namespace {

// Pairs of a query and a key: written out at a time, and in a run that only tells what a longer one
// would need.
constexpr double block_pairs = 1 << 22, probe_pairs = 1 << 18;

struct Outcome {
  Tensor output;                  // (batch, heads, length, width)
  std::vector<Tensor> gradients;  // by q, k, v, each of its shape
};

using Work = std::function<Outcome(const Tensor& q, const Tensor& k, const Tensor& v)>;

Index parallel(const LaboratorySizes& s) { return s.batch * s.num_heads; }

// How many queries have so many pairs.
Index queries(const LaboratorySizes& s, double pairs) {
  const double count = pairs / (static_cast<double>(parallel(s)) * static_cast<double>(s.length));
  return static_cast<Index>(std::clamp(count, 1.0, static_cast<double>(s.length)));
}

Tensor rows(const Tensor& x, Index begin, Index end) {
  return slice(x, -2, begin, end).contiguous();  // (batch, heads, end - begin, width)
}

// Calls each(begin, end) for parts of the compared queries, few enough to write out their weights.
template <class Each>
void for_blocks(const LaboratoryInput& in, Each each) {
  const Index size = queries(in.sizes, block_pairs);
  for (Index begin = in.first; begin < in.sizes.length; begin += size) {
    each(begin, std::min(begin + size, in.sizes.length));
  }
}

Tensor expected_output(const Variant& variant, const LaboratoryInput& in) {
  std::vector<Tensor> parts;
  for_blocks(in, [&](Index begin, Index end) {
    const Mask mask = variant.mask.part(begin, end - begin, 0, in.sizes.length);
    parts.push_back(variant.reference(rows(in.q, begin, end), in.k, in.v, mask));
  });
  return concat(parts, -2);  // (batch, heads, compared, width)
}

// By q (compared rows only), k and v: of these the parts add up.
std::vector<Tensor> expected_gradients(const Variant& variant, const LaboratoryInput& in) {
  std::vector<Tensor> by_q;  // (batch, heads, end - begin, width) each
  Tensor by_k = Tensor::zeros(in.k.shape()), by_v = Tensor::zeros(in.v.shape());
  for_blocks(in, [&](Index begin, Index end) {
    const Mask mask = variant.mask.part(begin, end - begin, 0, in.sizes.length);
    const Tensor q = rows(in.q, begin, end);  // (batch, heads, end - begin, width)
    Tape tape({q, in.k, in.v});
    const Tensor y = variant.reference(q, in.k, in.v, mask);  // (batch, heads, end - begin, width)
    const Gradients gradients = tape.backward(y, rows(in.d_output, begin, end));
    by_q.push_back(gradients[q]);
    by_k = by_k + gradients[in.k];
    by_v = by_v + gradients[in.v];
  });
  return {concat(by_q, -2), by_k, by_v};
}

double largest(const std::vector<double>& differences) {
  double most = 0;
  for (const double one : differences) {
    if (!(one <= most) && !std::isnan(most)) most = one;  // a NaN stays
  }
  return most;
}

struct Cost {
  double seconds, bytes;
};

// The first run, whose outcome is kept, asks the system for memory; the time is that of a second.
Cost first_cost(const Work& work, const Tensor& q, const Tensor& k, const Tensor& v,
                Outcome& outcome) {
  const std::size_t bytes = peak_memory_of([&] { outcome = work(q, k, v); });
  return {seconds_of([&] { work(q, k, v); }), static_cast<double>(bytes)};
}

double median_seconds(const Work& work, const LaboratoryInput& in, double first,
                      const LaboratoryOptions& options) {
  constexpr double long_time = 0.3;  // seconds, of all repeats together
  const int inner = static_cast<int>(std::clamp(options.least_time / first, 1.0, 1e4));
  const int most = static_cast<int>(std::clamp(long_time / first, 1.0, 1e4));
  std::vector<double> times = {first};
  for (int i = 1; i < std::min(options.repeats, most); ++i) {
    const double sum = seconds_of([&] {
      for (int j = 0; j < inner; ++j) work(in.q, in.k, in.v);
    });
    times.push_back(sum / inner);
  }
  return median(std::move(times));
}

// What all positions would need, judged by a run of fewer; nothing where there are few.
Cost estimate(const Variant& variant, const Work& work, const LaboratoryInput& in) {
  const double one = static_cast<double>(parallel(in.sizes));
  const Index few =
      std::clamp(static_cast<Index>(std::sqrt(probe_pairs / one)), Index{1}, in.sizes.length);
  if (few == in.sizes.length) return {0, 0};
  // (batch, heads, few, width) each
  const Tensor q = rows(in.q, 0, few), k = rows(in.k, 0, few), v = rows(in.v, 0, few);
  Outcome unused;
  Cost cost = first_cost(work, q, k, v, unused);
  cost.seconds = std::min(cost.seconds, best_seconds([&] { work(q, k, v); }, 4, 0));
  const double times = static_cast<double>(in.sizes.length) / static_cast<double>(few);
  return {cost.seconds * std::pow(times, variant.time_growth),
          cost.bytes * std::pow(times, variant.memory_growth)};
}

double allowed_bytes(const LaboratoryOptions& options) {
  return options.bytes ? *options.bytes : 0.8 * static_cast<double>(available_memory());
}

std::string too_much(const Cost& cost, const LaboratoryOptions& options) {
  constexpr double mib = 1 << 20;
  const double allowed = allowed_bytes(options);
  if (cost.bytes > allowed) {
    return formatted("it would need about %.0f MiB, of %.0f that may be used", cost.bytes / mib,
                     allowed / mib);
  }
  if (cost.seconds <= options.seconds) return "";
  return formatted("it would take about %.2g seconds a run", cost.seconds);
}

// Fills all but the error; the outcome is empty if it was skipped.
Timing pass(const Variant& variant, const Work& work, const LaboratoryInput& in,
            const LaboratoryOptions& options, Outcome& outcome) {
  Timing passage;
  passage.skipped = variant.skipped;
  if (passage.skipped.empty()) passage.skipped = too_much(estimate(variant, work, in), options);
  if (!passage.skipped.empty()) return passage;
  const Cost cost = first_cost(work, in.q, in.k, in.v, outcome);
  passage.bytes = cost.bytes;
  passage.seconds = median_seconds(work, in, std::max(cost.seconds, 1e-9), options);
  return passage;
}

Timing forward_backward(const Variant& variant, const LaboratoryInput& in,
                        const LaboratoryOptions& options) {
  Timing passage;
  passage.skipped = variant.skipped.empty() ? variant.forward_only : variant.skipped;
  if (!passage.skipped.empty()) return passage;
  const auto work = [&](const Tensor& q, const Tensor& k, const Tensor& v) -> Outcome {
    Tape tape({q, k, v});
    const Tensor y = variant.run(q, k, v);  // (batch, heads, length, width)
    const Gradients gradients = tape.backward(y, rows(in.d_output, 0, q.size(-2)));
    return {y, {gradients[q], gradients[k], gradients[v]}};
  };
  Outcome made;
  passage = pass(variant, work, in, options, made);
  if (!passage.skipped.empty()) return passage;
  const std::vector<Tensor> expected = expected_gradients(variant, in);
  passage.error =
      largest({largest_difference(rows(made.gradients[0], in.first, in.sizes.length), expected[0]),
               largest_difference(made.gradients[1], expected[1]),
               largest_difference(made.gradients[2], expected[2])});
  return passage;
}

}  // namespace

void check_fits(const LaboratorySizes& s, const LaboratoryOptions& options) {
  for (const Index size : {s.batch, s.num_heads, s.length, s.width, s.stride, s.block, s.chunk}) {
    if (size >= 1) continue;
    throw Error("laboratory: a size is " + std::to_string(size) + ": all must be at least 1.");
  }
  if (s.window < 0 || s.global < 0) {
    throw Error("laboratory: window is " + std::to_string(s.window) + " and global is " +
                std::to_string(s.global) + ": they must not be negative.");
  }
  double bytes = sizeof(real) * 12;  // q, k, v, their gradients, outputs, and room for copies
  for (const Index size : {s.batch, s.num_heads, s.length, s.width})
    bytes *= static_cast<double>(size);
  if (bytes > allowed_bytes(options)) {
    throw Error("laboratory: " + std::to_string(s.batch) + " x " + std::to_string(s.num_heads) +
                " heads of " + std::to_string(s.length) + " positions of width " +
                std::to_string(s.width) + " are too much for the memory. Use fewer or shorter.");
  }
}

LaboratoryInput laboratory_input(const LaboratorySizes& s, const LaboratoryOptions& options,
                                 std::uint64_t seed) {
  check_fits(s, options);
  const Shape shape{s.batch, s.num_heads, s.length, s.width};
  Random random(seed);
  LaboratoryInput in{s, random.normal(shape), random.normal(shape), random.normal(shape), {}, 0,
                     {}};
  const Index compared = queries(s, options.compared_pairs);
  in.first = s.length - compared;
  in.d_output = concat(  // (batch, heads, length, width)
      {Tensor::zeros(shape.with(-2, in.first)), random.normal(shape.with(-2, compared))}, -2);
  in.full = expected_output(attention_variants(s).front(), in);  // (batch, heads, compared, width)
  return in;
}

Measurement measure(const Variant& variant, const LaboratoryInput& in,
                    const LaboratoryOptions& options) {
  release_pooled_memory();
  Measurement found;
  const auto work = [&](const Tensor& q, const Tensor& k, const Tensor& v) -> Outcome {
    return {variant.run(q, k, v), {}};
  };
  Outcome made;
  found.forward = pass(variant, work, in, options, made);
  if (found.forward.skipped.empty()) {
    const Tensor output = rows(made.output, in.first, in.sizes.length);  // (..., compared, width)
    made = {};
    found.forward.error = largest_difference(output, expected_output(variant, in));
    found.error_vs_full = largest_difference(output, in.full);
  }
  found.forward_backward = forward_backward(variant, in, options);
  return found;
}

double growth(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) {
    throw Error("growth: there are " + std::to_string(x.size()) + " x and " +
                std::to_string(y.size()) + " y: there must be as many.");
  }
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, both = 0, square = 0;
  const bool different = std::adjacent_find(x.begin(), x.end(), std::not_equal_to<>()) != x.end();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0 && y[i] > 0)) throw Error("growth: every number must be above 0.");
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    both += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    square += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return different ? both / square : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tapestry
