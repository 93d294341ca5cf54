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
#include <string>
#include <vector>

#include "course/timing.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

struct Pattern {
  std::string name;
  Mask mask;
};

// Each word sees itself and `links` others, drawn at random: a pattern that has no rule.
Mask random_links(Index length, Index links) {
  Random random(3);
  Tensor matrix = Tensor::eye(length);  // (length, length)
  for (Index i = 0; i < length; ++i) {
    for (Index link = 0; link < links; ++link) matrix.set({i, random.randint(length)}, 1);
  }
  return Mask::from(MaskEncoding::keep, matrix);
}

// All see the words 0, n, 2n, ... and no others.
Mask every_nth_key(Index length, Index n) {
  Tensor matrix = Tensor::zeros({length, length});  // (length, length)
  for (Index i = 0; i < length; ++i) {
    for (Index j = 0; j < length; j += n) matrix.set({i, j}, 1);
  }
  return Mask::from(MaskEncoding::keep, matrix);
}

std::vector<Pattern> small_patterns(Index length) {
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

void show(Index length) {
  std::printf("1. Who sees whom among %d words (rows ask)\n", static_cast<int>(length));
  const std::vector<Pattern> patterns = small_patterns(length);
  for (std::size_t first = 0; first < patterns.size(); first += 4) {
    for (std::size_t p = first; p < first + 4; ++p) {
      std::printf(p + 1 < first + 4 ? "%-26s" : "%s\n", patterns[p].name.c_str());
    }
    for (Index i = 0; i < length; ++i) {
      for (std::size_t p = first; p < first + 4; ++p) {
        for (Index j = 0; j < length; ++j) {
          std::printf("%s", patterns[p].mask.allows(0, i, j) ? "✓ " : "· ");
        }
        std::printf(p + 1 < first + 4 ? "%*s" : "\n", static_cast<int>(26 - 2 * length), "");
      }
    }
    std::printf("\n");
  }
}

// q, k, v and the output are (length, d); scores and weights (length, length).
Tensor written_out(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor allowed = mask.tensor(scores.shape());  // (length, length)
  const Tensor visible = where(allowed, scores, -std::numeric_limits<double>::infinity());
  return matmul(softmax(visible), v);  // (length, d)
}

const char* if_small(double error) { return error < 1e-5 ? "less than 1e-5" : "TOO MUCH"; }

void compare() {
  const Index length = 100;
  Random random(1);
  const Tensor q = random.normal({length, 16}), k = random.normal({length, 16});
  const Tensor v = random.normal({length, 16});  // (length, 16), as q and k
  double worst = 0;
  for (const auto& [name, mask] : small_patterns(length)) {
    worst = std::max(
        worst, largest_difference(fused_attention(q, k, v, mask), written_out(q, k, v, mask)));
  }
  std::printf("2. All eight, fused against written out, %d words: differ by %s\n",
              static_cast<int>(length), if_small(worst));
  const auto window = [&](Index w) {
    return largest_difference(fused_attention(q, k, v, Mask::local(w)), fused_attention(q, k, v));
  };
  std::printf("   window  10   50   90   98   99  100\n   error ");
  for (const Index w : {10, 50, 90, 98, 99, 100}) std::printf(" %4.2g", window(w));
  std::printf("  (0: every bit is that of full attention)\n");
}

// The window of a guide's local_attention(): [i - w/2, i + w/2), scores not divided by sqrt(d).
void printed_code() {
  const Index n = 16, w = 4;
  Random random(2);
  const Tensor q = random.normal({n, n}), k = random.normal({n, n}), v = random.normal({n, n});
  Tensor seen = Tensor::zeros({n, n});  // (n, n)
  for (Index i = 0; i < n; ++i) {
    const Index start = std::max<Index>(0, i - w / 2), end = std::min(n, i + w / 2);
    for (Index j = start; j < end; ++j) seen.set({i, j}, 1);
  }
  const Mask printed = Mask::from(MaskEncoding::keep, seen), right = Mask::local(w / 2);
  std::printf("\n3. A guide's local_attention(q, k, v, window_size=4)\n");
  for (const auto& [name, mask] : {Pattern{"its window", printed}, Pattern{"local(2)", right}}) {
    std::printf("   query 8 sees, %-12s", name.c_str());
    for (Index j = 0; j < n; ++j) {
      if (mask.allows(0, 8, j)) std::printf(" %d", static_cast<int>(j));
    }
    std::printf("\n");
  }
  const auto sharpness = [&](double scale, const Mask& mask) {
    return double{mean(max(attention(q * scale, k, v, mask).weights, -1)).item()};
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

// One pattern, counted and timed; shares of what there is without one.
struct Cost {
  std::string name;
  double pairs = 1, blocks = 1;  // to be computed
  double forward = 0, both = 0;  // seconds
};

Cost cost_of(const Pattern& pattern, const std::vector<Tensor>& in,
             const std::function<Tensor()>& f) {
  const Index length = in[0].size(0);
  const Mask::Density d = pattern.mask.density(length, length);
  Cost cost{pattern.name, static_cast<double>(d.allowed) / static_cast<double>(d.pairs),
            static_cast<double>(d.blocks - d.skipped) / static_cast<double>(d.blocks)};
  cost.forward = processor_seconds([&] { f(); });
  cost.both = processor_seconds([&] {
    Tape tape(in);
    const Tensor y = f();  // (length, 64)
    tape.backward(y, y);
  });
  return cost;
}

std::vector<Cost> measure(Index length) {
  Random random(4);
  const std::vector<Tensor> in = {random.normal({length, 64}), random.normal({length, 64}),
                                  random.normal({length, 64})};  // (length, 64) each
  const std::vector<Pattern> patterns = {
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
      {"every 64th key", every_nth_key(length, 64)}};
  std::vector<Cost> costs;
  for (const Pattern& p : patterns) {
    costs.push_back(cost_of(p, in, [&] { return fused_attention(in[0], in[1], in[2], p.mask); }));
  }
  Cost sorted = cost_of({"strided(64), sorted", Mask::blocked(length / 64)}, in,
                        [&] { return sorted_by_rest(in[0], in[1], in[2], 64); });
  sorted.blocks = 1.0 / 64;  // of what its 64 sequences of 32 words would fill
  costs.push_back(sorted);
  const Tensor masked = fused_attention(in[0], in[1], in[2], Mask::strided(64));  // (2048, 64)
  std::printf("   strided(64) and strided(64), sorted, differ by %s\n",
              if_small(largest_difference(masked, sorted_by_rest(in[0], in[1], in[2], 64))));
  return costs;
}

void print(const std::vector<Cost>& costs) {
  std::printf("   to be computed           pairs    blocks\n");
  for (const Cost& c : costs) {
    std::printf("   %-22s %5.1f %%   %5.1f %%\n", c.name.c_str(), 100 * c.pairs, 100 * c.blocks);
  }
  std::printf(
      "\n5. Milliseconds here, forward, and with the backward pass (share of the first line)\n");
  for (const Cost& c : costs) {
    std::printf("   %-22s %7.2f (%3.0f %%)  %7.2f (%3.0f %%)\n", c.name.c_str(), 1e3 * c.forward,
                100 * c.forward / costs[0].forward, 1e3 * c.both, 100 * c.both / costs[0].both);
  }
  double by_pairs = 0, by_blocks = 0;  // how far the share of time is from those, mean
  for (const Cost& c : costs) {
    const double time = c.both / costs[0].both, count = static_cast<double>(costs.size());
    by_pairs += std::abs(time - c.pairs) / count;
    by_blocks += std::abs(time - c.blocks) / count;
  }
  std::printf("   Share of time, mean distance from that of pairs: %.0f %%, of blocks: %.0f %%\n",
              100 * by_pairs, 100 * by_blocks);
}

// For each pattern its share of pairs, of blocks, and of the time forward and backward.
plot::BarChart chart_of(const std::vector<Cost>& costs) {
  plot::BarChart chart;
  chart.title = "Share of full attention, 2048 words";
  chart.subtitle = "time: forward and backward, fused, one thread of one machine";
  chart.y_axis = {.name = "share", .low = 0};
  chart.series = {{"pairs", {}}, {"blocks", {}}, {"time", {}}};
  for (const Cost& c : costs) {
    chart.labels.push_back(c.name);
    chart.series[0].values.push_back(c.pairs);
    chart.series[1].values.push_back(c.blocks);
    chart.series[2].values.push_back(c.both / costs[0].both);
  }
  return chart;
}

void draw(const std::vector<Cost>& costs) {
  std::vector<std::string> places;
  for (Index i = 0; i < 24; ++i) places.push_back(std::to_string(i));
  plot::HeatmapGrid grid;
  grid.columns = 4;
  grid.title = "Patterns: white may look, black may not";
  for (const auto& [name, mask] : small_patterns(24)) {
    grid.maps.push_back(mask_heatmap(mask, places, places, name));
  }
  plot::write_png(plot::render(grid, 160), "out/plots/phase6_patterns.png");
  plot::Canvas canvas(1500, 480);
  plot::draw(canvas, canvas.area().inset(16), chart_of(costs));
  plot::write_png(canvas, "out/plots/phase6_density.png");
  std::printf("\nwrote out/plots/phase6_patterns.png and out/plots/phase6_density.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 62: patterns (takes about a second)\n\n");
  use_threads(1);  // so that processor time is time
  show(8);
  compare();
  printed_code();
  std::printf("\n4. Fused attention over 2048 words of width 64\n");
  const std::vector<Cost> costs = measure(2048);
  print(costs);
  draw(costs);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
