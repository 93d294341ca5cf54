// Step 62. Must every word look at every other?
//
// New here: patterns. A window, every s-th word, blocks, a few words that see all, any matrix of 0
// and 1; alone, and combined by & and |. Blocks of 64 queries by 64 keys that are hidden altogether
// are skipped, so blocks are counted, and time is measured.
// Writes out/plots/phase6_patterns.png and phase6_density.png; takes about a second. Times are
// yours, so the lesson quotes none of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <vector>

#include "course/if_small.hpp"
#include "course/operands.hpp"
#include "course/pattern_pictures.hpp"
#include "course/timing.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

// The pattern of any rule that tells whether a query may look at a key.
template <class Rule>
Mask by_rule(Index length, const Rule& allows) {
  Tensor matrix = Tensor::zeros({length, length});  // (length, length)
  for (Index query = 0; query < length; ++query) {
    for (Index key = 0; key < length; ++key) {
      if (allows(query, key)) matrix.set({query, key}, 1);
    }
  }
  return Mask::from(MaskEncoding::keep, matrix);
}

// Each word sees itself and `links` others, drawn at random: a pattern that has no rule.
Mask random_links(Index length, Index links) {
  Random random(3);
  Tensor matrix = Tensor::eye(length);  // (length, length)
  for (Index i = 0; i < length; ++i) {
    for (Index link = 0; link < links; ++link) matrix.set({i, random.randint(length)}, 1);
  }
  return Mask::from(MaskEncoding::keep, matrix);
}

std::vector<NamedMask> small_patterns(Index length) {
  const Mask links = random_links(length, 2);
  return {{"local(2)", Mask::local(2)},
          {"strided(3)", Mask::strided(3)},
          {"blocked(4)", Mask::blocked(4)},
          {"from a matrix", links},
          {"local(1) | global(1)", Mask::local(1) | Mask::global(1)},
          {"(local|global) & causal", (Mask::local(1) | Mask::global(1)) & Mask::causal()},
          {"(local|strided) & causal", (Mask::local(1) | Mask::strided(3)) & Mask::causal()},
          {"matrix | local(1)", links | Mask::local(1)}};
}

// q, k, v and the output are (length, d); scores and weights (length, length).
Tensor written_out(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor allowed = mask.tensor(scores.shape());  // (length, length)
  const Tensor visible = where(allowed, scores, -std::numeric_limits<double>::infinity());
  return matmul(softmax(visible), v);  // (length, d)
}

void compare() {
  const Index length = 100;
  const Operands x = draw_operands(length, 16, 1);  // (length, 16) each
  const auto fused = [&](const Mask& mask) { return fused_attention(x.q, x.k, x.v, mask); };
  double worst = 0;
  for (const auto& [name, mask] : small_patterns(length)) {
    worst = std::max(worst, largest_difference(fused(mask), written_out(x.q, x.k, x.v, mask)));
  }
  std::printf("2. All eight, fused against written out, %d words: differ by %s\n",
              static_cast<int>(length), if_small(worst).c_str());
  std::printf("   window  10   50   90   98   99  100\n   error ");
  for (const Index w : {10, 50, 90, 98, 99, 100}) {
    std::printf(" %4.2g", largest_difference(fused(Mask::local(w)), fused({})));
  }
  std::printf("  (0: every bit is that of full attention)\n");
}

// The window of a guide's local_attention(): [i - w/2, i + w/2), scores not divided by sqrt(d).
void printed_code() {
  const Index n = 16, w = 4;
  const Operands x = draw_operands(n, n, 2);  // (n, n) each
  const auto in_range = [](Index i, Index j) { return i - w / 2 <= j && j < i + w / 2; };
  const Mask printed = by_rule(n, in_range), right = Mask::local(w / 2);
  std::printf("\n3. A guide's local_attention(q, k, v, window_size=4)\n");
  for (const auto& [name, mask] :
       {NamedMask{"its window", printed}, NamedMask{"local(2)", right}}) {
    std::printf("   query 8 sees, %-12s", name.c_str());
    for (Index j = 0; j < n; ++j) {
      if (mask.allows(0, 8, j)) std::printf(" %d", static_cast<int>(j));
    }
    std::printf("\n");
  }
  const auto sharpness = [&](double scale, const Mask& mask) {
    return double{mean(max(attention(x.q * scale, x.k, x.v, mask).weights, -1)).item()};
  };
  std::printf("   largest weight of a row, mean: %.2f as printed, %.2f when divided by sqrt(d)\n",
              sharpness(std::sqrt(double{n}), printed), sharpness(1, printed));
  std::printf("   It keeps its weights in a matrix of the shape of q. With 16 words of width 8:\n");
  try {
    (void)matmul(Tensor::zeros({n, 8}), Tensor::zeros({n, 8}));
  } catch (const Error& error) {
    std::printf("   %s\n", error.what());
  }
}

// Strided attention without masked work: words whose places leave the same rest see each other and
// nobody else, so they are brought together, as sequences of their own.
Tensor sorted_by_rest(const Tensor& q, const Tensor& k, const Tensor& v, Index stride) {
  const auto sorted = [stride](const Tensor& x) {
    return transpose(reshape(x, {-1, stride, x.size(-1)}), 0, 1);  // (stride, length / stride, d)
  };
  const Tensor mixed = fused_attention(sorted(q), sorted(k), sorted(v));  // as sorted(q)
  return reshape(transpose(mixed, 0, 1), q.shape());                      // (length, d)
}

PatternCost cost_of(const NamedMask& pattern, const Operands& x, const std::function<Tensor()>& f) {
  const Index length = x.q.size(0);
  const Mask::Density d = pattern.mask.density(length, length);
  PatternCost cost{pattern.name, static_cast<double>(d.allowed) / static_cast<double>(d.pairs),
                   static_cast<double>(d.blocks - d.skipped) / static_cast<double>(d.blocks)};
  cost.forward = processor_seconds([&] { f(); });
  cost.both = processor_seconds([&] {
    Tape tape({x.q, x.k, x.v});
    const Tensor y = f();  // (length, 64)
    tape.backward(y, y);
  });
  return cost;
}

std::vector<PatternCost> measure(Index length) {
  const Operands x = draw_operands(length, 64, 4);  // (length, 64) each
  const std::vector<NamedMask> patterns = {
      {"nothing hidden", {}},
      {"causal", Mask::causal()},
      {"local(512)", Mask::local(512)},
      {"local(64)", Mask::local(64)},
      {"local(8)", Mask::local(8)},
      {"blocked(256)", Mask::blocked(256)},
      {"blocked(64)", Mask::blocked(64)},
      {"local(64) | global(16)", Mask::local(64) | Mask::global(16)},
      {"strided(64)", Mask::strided(64)},
      {"31 links at random", random_links(length, 31)},
      {"every 64th key", by_rule(length, [](Index, Index key) { return key % 64 == 0; })}};
  std::vector<PatternCost> costs;
  for (const NamedMask& p : patterns) {
    costs.push_back(cost_of(p, x, [&] { return fused_attention(x.q, x.k, x.v, p.mask); }));
  }
  const auto sorted = [&] { return sorted_by_rest(x.q, x.k, x.v, 64); };
  costs.push_back(cost_of({"strided(64), sorted", Mask::blocked(length / 64)}, x, sorted));
  costs.back().blocks = 1.0 / 64;  // of what its 64 sequences of 32 words would fill
  const Tensor masked = fused_attention(x.q, x.k, x.v, Mask::strided(64));  // (2048, 64)
  std::printf("   strided(64) and strided(64), sorted, differ by %s\n",
              if_small(largest_difference(masked, sorted())).c_str());
  return costs;
}

void draw(const std::vector<PatternCost>& costs) {
  const plot::HeatmapGrid maps = pattern_maps(small_patterns(24), 24);
  plot::write_png(plot::render(maps, 160), "out/plots/phase6_patterns.png");
  plot::Canvas canvas(1500, 480);
  plot::draw(canvas, canvas.area().inset(16), shares_of_patterns(costs));
  plot::write_png(canvas, "out/plots/phase6_density.png");
  std::printf("\nwrote out/plots/phase6_patterns.png and out/plots/phase6_density.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 62: patterns (takes about a second)\n\n");
  use_threads(1);  // so that processor time is time
  std::printf("1. Who sees whom among 8 words (rows ask)\n%s",
              patterns_side_by_side(small_patterns(8), 8).c_str());
  compare();
  printed_code();
  std::printf("\n4. Fused attention over 2048 words of width 64\n");
  const std::vector<PatternCost> costs = measure(2048);
  std::printf("%s\n", counts_of_patterns(costs).c_str());
  std::printf(
      "5. Milliseconds here, forward, and with the backward pass (share of the first line)\n");
  std::printf("%s", times_of_patterns(costs).c_str());
  draw(costs);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
