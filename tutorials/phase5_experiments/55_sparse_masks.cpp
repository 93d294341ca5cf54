// Step 55. Must every word see every other? Local and strided masks: quality and time.
//
// New here: sparse attention (Child et al. 2019). What a mask hides in one layer may still arrive
// through two: how far is worked out from the masks alone, and then compared with what models learn
// (course/masked_runs.hpp; ten seeds are in experiments/55_seeds.cpp). And time: does fused
// attention get faster by what a mask hides?
// Writes out/plots/phase5_sparse_masks.png; takes about 9 seconds.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/masked_runs.hpp"
#include "course/operands.hpp"
#include "course/sparse_mask_pictures.hpp"
#include "course/timing.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;
using namespace tapestry::masked_runs;

namespace {

constexpr Index near = 4, stride = 4;
constexpr Index far = 64;  // window and stride where time is measured
const std::vector<Index> distances = {1, 4, 6, 8, 9, 15, 20};
const std::vector<NamedMask> choices = {
    {"all before", Mask::causal()},
    {"local", Mask::causal() & Mask::local(near)},
    {"strided", Mask::causal() & Mask::strided(stride)},
    {"local or strided", Mask::causal() & (Mask::local(near) | Mask::strided(stride))}};

// The shares of each mask, by distance: of two seeds the one that is worst for the prediction.
std::vector<double> measure_reach() {
  std::printf("1. Say the letter so many places back: share right; guessing: 1/%td = %.2f\n",
              letters, 1.0 / letters);
  std::printf("   +: two layers can reach it, the worse of two seeds; else the better\n%-17s", "");
  for (const Index distance : distances) std::printf("%6td", distance);
  Progress progress("training", std::ssize(choices) * std::ssize(distances), "cells");
  std::vector<double> shares;
  double worst_inside = 1, best_outside = 0;
  for (const auto& [name, mask] : choices) {
    std::printf("\n%-17s", name.c_str());
    for (const Index distance : distances) {
      const double one = share_right(mask, distance, 1), other = share_right(mask, distance, 2);
      const bool reach = in_reach(mask, distance);
      shares.push_back(reach ? std::min(one, other) : std::max(one, other));
      if (reach) worst_inside = std::min(worst_inside, shares.back());
      if (!reach) best_outside = std::max(best_outside, shares.back());
      std::printf("  %.2f%s", shares.back(), reach ? "+" : " ");
      progress.step();
    }
  }
  std::printf("\nANSWER worst share within reach %.2f, best share out of reach %.2f\n",
              worst_inside, best_outside);
  return shares;
}

void measure_grammar() {
  std::printf("\n2. The next word of sentences (knowing the rules: %.2f): loss, and what is seen\n",
              Grammar().entropy() / 7);
  const std::vector<NamedMask> masks = {{"all before", Mask::causal()},
                                        {"local 2", Mask::causal() & Mask::local(2)},
                                        {"local 1", Mask::causal() & Mask::local(1)},
                                        {"strided 2", Mask::causal() & Mask::strided(2)},
                                        {"itself only", Mask::local(0)}};
  for (const auto& [name, mask] : masks) {
    std::printf("%-12s %.2f  %2td of 28 pairs\n", name.c_str(), loss_on_sentences(mask, 1),
                mask.density(7, 7).allowed);
  }
}

// Places that stride `far` apart are brought together: x (places, d) -> (far, places / far, d).
// Strided attention is then causal attention in each of `far` short sequences.
Tensor brought_together(const Tensor& x) {
  return transpose(reshape(x, {x.size(0) / far, far, x.size(1)}), 0, 1);  // (far, places / far, d)
}
Tensor put_back(const Tensor& x) {
  return reshape(transpose(x, 0, 1), {x.size(0) * x.size(1), x.size(2)});  // (places, d)
}

struct Timed {
  std::string name;
  Mask mask;
  bool together = false;

  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) const {
    if (!together) return fused_attention(q, k, v, mask);  // (places, d)
    return put_back(fused_attention(brought_together(q), brought_together(k), brought_together(v),
                                    Mask::causal()));  // (places, d)
  }
};
const std::vector<Timed> timed = {{"all before", Mask::causal()},
                                  {"local", Mask::causal() & Mask::local(far)},
                                  {"strided", Mask::causal() & Mask::strided(far)},
                                  {"strided, together", Mask::causal() & Mask::strided(far), true}};

void print_seen() {
  constexpr Index places = 2048;
  std::printf("\n3. Of %td x %td pairs: seen, and in blocks of 64 x 64 of which a pair is seen\n",
              places, places);
  for (const Timed& t : timed) {
    if (t.together) continue;
    const Mask::Density seen = t.mask.density(places, places);
    std::printf("%-18s %5.1f %% %5.1f %%\n", t.name.c_str(),
                100 * double(seen.allowed) / double(seen.pairs),
                100 * double(seen.blocks - seen.skipped) / double(seen.blocks));
  }
  Random random(4);
  const Tensor x = random.normal({places, 64});  // (places, 64)
  const double difference = largest_difference(timed[2].attend(x, x, x), timed[3].attend(x, x, x));
  std::printf("strided and strided, together: largest difference below 1e-5: %s\n",
              difference < 1e-5 ? "yes" : "no");
}

// Processor time of each mask, forward and backward, on one head of width 64.
std::vector<double> seconds_of_masks(Index places) {
  const Operands x = draw_operands(places, 64, 3);  // (places, 64) each
  return processor_seconds_in_turns(timed.size(), 4, [&](std::size_t i) {
    Tape tape({x.q, x.k, x.v});
    tape.backward(sum(timed[i].attend(x.q, x.k, x.v)));
  });
}

// Of each mask, by places: its time as a share of that of all before.
std::vector<plot::Series> measure_time() {
  std::vector<plot::Series> shares;
  std::printf("\n4. Milliseconds, forward and backward (they depend on the machine)\nplaces");
  for (const Timed& t : timed) {
    std::printf("%20s", t.name.c_str());
    shares.push_back({t.name});
  }
  for (const Index places : {512, 1024, 2048, 4096}) {
    const std::vector<double> times = seconds_of_masks(places);
    std::printf("\n%6td", places);
    for (std::size_t i = 0; i < times.size(); ++i) {
      std::printf("%20.2f", 1e3 * times[i]);
      shares[i].x.push_back(double(places));
      shares[i].y.push_back(times[i] / times[0]);
    }
  }
  std::printf("\n\nANSWER at 4096 places, time as a share of that of all before:\n");
  for (const plot::Series& one : shares) {
    std::printf("  %-18s %5.2f\n", one.name.c_str(), one.y.back());
  }
  return shares;
}

}  // namespace

int main() try {
  std::printf("Step 55: local and strided masks (takes about 9 seconds)\n\n");
  const std::vector<double> shares = measure_reach();
  measure_grammar();
  print_seen();
  plot::write_png(sparse_masks(choices, distances, shares, 2, measure_time()),
                  "out/plots/phase5_sparse_masks.png");
  std::printf("\nwrote out/plots/phase5_sparse_masks.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
