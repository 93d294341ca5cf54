// `tapestry lab`: every variant of attention on the same queries, keys and values, as a table of
// differences, times and bytes.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "commands.hpp"
#include "course/laboratory.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/progress.hpp"

namespace tapestry::command {
namespace {

constexpr int name_columns = 17;

LaboratorySizes sizes_of(const LabOptions& o, Index length) {
  if (o.width % o.heads != 0) {
    throw Error("--heads " + std::to_string(o.heads) + " must divide --width " +
                std::to_string(o.width) + ": each head gets an equal part.");
  }
  return {.batch = o.batch,
          .num_heads = o.heads,
          .length = length,
          .width = o.width / o.heads,
          .is_causal = o.causal,
          .window = o.window};
}

const char* meaning(VariantKind kind, bool causal) {
  switch (kind) {
    case VariantKind::exact:
      return causal ? "Softmax attention to all positions up to the query's own:"
                    : "Softmax attention to all positions:";
    case VariantKind::pattern:
      return "Softmax attention to fewer positions:";
    case VariantKind::other:
      break;
  }
  return "Other functions:";
}

void introduce(const std::vector<Variant>& variants, const LabOptions& o) {
  for (const VariantKind kind : {VariantKind::exact, VariantKind::pattern, VariantKind::other}) {
    print("%s\n", meaning(kind, o.causal));
    for (const Variant& variant : variants) {
      if (variant.kind != kind) continue;
      std::string about = variant.about;
      if (!variant.skipped.empty()) about += "; not run: " + variant.skipped;
      if (!variant.forward_only.empty()) about += "; forward only: " + variant.forward_only;
      print("  %s%s\n", left(variant.name, name_columns).c_str(),
            folded(about, name_columns + 2).c_str());
    }
  }
  print("\n%s\n\n",
        folded("error: largest difference from the same function with all weights written out, of "
               "outputs and of gradients; from all: of outputs, from softmax attention to all. "
               "MiB: most bytes of tensors at one time, beyond the input.",
               0)
            .c_str());
}

std::string shown(double difference) {
  if (difference == 0) return "0";
  return formatted(difference < 1e-3 ? "%.0e" : "%.3f", difference);
}

std::string cost(const Timing& passage) {
  if (!passage.skipped.empty()) return right("-", 9) + right("-", 9);
  return formatted("%9.3f%9.3f", 1e3 * passage.seconds, passage.bytes / (1 << 20));
}

void print_row(const Variant& variant, const Measurement& found) {
  const bool ran = found.forward.skipped.empty(), back = found.forward_backward.skipped.empty();
  print("%s%s%s%s%s%s\n", left(variant.name, name_columns).c_str(),
        right(ran ? shown(found.forward.error) : "-", 8).c_str(),
        right(back ? shown(found.forward_backward.error) : "-", 10).c_str(),
        right(ran ? shown(found.error_vs_full) : "-", 8).c_str(), cost(found.forward).c_str(),
        cost(found.forward_backward).c_str());
}

// Why there is no number in this row; reasons for all lengths were printed at the beginning.
void print_reason(const Variant& variant, const char* way, const std::string& reason) {
  if (reason.empty() || reason == variant.skipped || reason == variant.forward_only) return;
  print("%s\n", folded(variant.name + ", " + way + ": " + reason, 2).c_str());
}

using Measurements = std::vector<Measurement>;

void print_table(const LaboratoryInput& in, const std::vector<Variant>& variants,
                 const Measurements& found) {
  const LaboratorySizes& s = in.sizes;
  print("length %lld\n", static_cast<long long>(s.length));
  const std::string margin = left("", name_columns);
  print("%s   error  error of    from  forward           both ways\n", margin.c_str());
  print("%s          gradient     all       ms      MiB       ms      MiB\n", margin.c_str());
  for (std::size_t i = 0; i < variants.size(); ++i) print_row(variants[i], found[i]);
  if (in.first > 0) {
    print("(compared: the last %lld queries)\n", static_cast<long long>(s.length - in.first));
  }
  for (std::size_t i = 0; i < variants.size(); ++i) {
    print_reason(variants[i], "forward", found[i].forward.skipped);
    print_reason(variants[i], "both ways", found[i].forward_backward.skipped);
  }
  print("\n");
  flush();
}

Measurements measure_all(const LaboratoryInput& in, const std::vector<Variant>& variants,
                         const LaboratoryOptions& options) {
  std::optional<Progress> progress;
  if (isatty(2) == 1) {
    progress.emplace("length " + std::to_string(in.sizes.length),
                     static_cast<Index>(variants.size()), "variants");
  }
  Measurements found;
  for (const Variant& variant : variants) {
    found.push_back(measure(variant, in, options));
    if (progress) progress->step(variant.name);
  }
  return found;
}

// One variant, by length.
struct Curve {
  std::vector<double> lengths, seconds, bytes;

  void add(Index length, const Timing& passage) {
    if (!passage.skipped.empty()) return;
    lengths.push_back(static_cast<double>(length));
    seconds.push_back(passage.seconds);
    bytes.push_back(passage.bytes);
  }
  std::string power(const std::vector<double>& values) const {
    const double found = growth(lengths, values);
    return std::isnan(found) ? right("-", 10) : formatted("%10.2f", found);
  }
};

void print_growth(const std::vector<Variant>& variants, const std::vector<Index>& lengths,
                  const std::vector<Measurements>& found) {
  print("Growth: time and bytes as the length to the power of ...\n");
  print("%s  time: theory   forward both ways  bytes: theory   forward both ways\n",
        left("", name_columns - 8).c_str());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Curve forward, both;
    for (std::size_t j = 0; j < lengths.size(); ++j) {
      forward.add(lengths[j], found[j][i].forward);
      both.add(lengths[j], found[j][i].forward_backward);
    }
    print("%s%6.0f%s%s%15.0f%s%s\n", left(variants[i].name, name_columns).c_str(),
          variants[i].time_growth, forward.power(forward.seconds).c_str(),
          both.power(both.seconds).c_str(), variants[i].memory_growth,
          forward.power(forward.bytes).c_str(), both.power(both.bytes).c_str());
  }
}

}  // namespace

void lab(const LabOptions& o) {
  if (!(o.seconds >= 0)) throw Error("--seconds is nan: give the most seconds of a run.");
  const LaboratoryOptions options{.seconds = o.seconds, .repeats = static_cast<int>(o.repeats)};
  for (const Index length : o.lengths) check_fits(sizes_of(o, length), options);
  if (o.threads > 0) use_threads(static_cast<int>(o.threads));
  print("%lld x %lld heads of width %lld; %s kernels\n\n", static_cast<long long>(o.batch),
        static_cast<long long>(o.heads), static_cast<long long>(o.width / o.heads),
        kernel_set().c_str());
  introduce(attention_variants(sizes_of(o, o.lengths.front())), o);
  std::vector<Measurements> found;
  std::vector<Variant> variants;
  for (const Index length : o.lengths) {
    const LaboratoryInput in = laboratory_input(sizes_of(o, length), options);
    variants = attention_variants(in.sizes);
    found.push_back(measure_all(in, variants, options));
    print_table(in, variants, found.back());
  }
  const auto [least, most] = std::minmax_element(o.lengths.begin(), o.lengths.end());
  if (*most >= 4 * *least) print_growth(variants, o.lengths, found);
}

}  // namespace tapestry::command
