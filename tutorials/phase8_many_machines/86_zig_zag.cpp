// Step 86. Which rank should hold which part of a text?
//
// New here: zig-zag order. Under a causal mask late tiles of queries meet more keys than early
// ones. Tiles are dealt in pieces and in zig-zag order, and the pairs of tiles are counted that
// each rank computes in each step of the ring of step 83.
// Writes out/plots/phase8_zigzag.png; takes less than a second.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "course/rank_pictures.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/real.hpp"

using namespace tapestry;

namespace {

constexpr Index tiles = 16;

// Which rank holds tile t.
using Deal = std::function<int(Index t, int ranks)>;
int in_pieces(Index t, int ranks) { return int(t * ranks / tiles); }
int zig_zag(Index t, int ranks) {
  const int place = int(t % (2 * ranks));
  return std::min(place, 2 * ranks - 1 - place);
}
const std::pair<const char*, Deal> deals[] = {{"in pieces", in_pieces}, {"zig-zag", zig_zag}};

std::vector<Index> tiles_of(int rank, const Deal& deal, int ranks) {
  std::vector<Index> own;
  for (Index t = 0; t < tiles; ++t) {
    if (deal(t, ranks) == rank) own.push_back(t);
  }
  return own;
}

// Pairs of tiles that each rank computes in each step of the ring: [step][rank]. In a step a rank
// has the keys of the rank so many places before it.
std::vector<std::vector<int>> work(int ranks, const Deal& deal) {
  std::vector<std::vector<int>> steps;
  for (int step = 0; step < ranks; ++step) {
    std::vector<int>& pairs = steps.emplace_back(ranks, 0);
    for (int rank = 0; rank < ranks; ++rank) {
      for (const Index i : tiles_of(rank, deal, ranks)) {
        for (const Index j : tiles_of((rank + ranks - step) % ranks, deal, ranks)) {
          pairs[std::size_t(rank)] += j <= i;
        }
      }
    }
  }
  return steps;
}

// In each step all wait for the slowest.
int slowest(int ranks, const Deal& deal) {
  int sum = 0;
  for (const auto& step : work(ranks, deal)) sum += *std::max_element(step.begin(), step.end());
  return sum;
}

void print_work() {
  std::printf("%d tiles: pairs of tiles that the slowest rank computes, summed over steps\n",
              int(tiles));
  std::printf("ranks          1       2       4       8\n");
  const Index pairs = tiles * (tiles + 1) / 2;
  for (const auto& [name, deal] : deals) {
    std::printf("%-10s", name);
    for (const int ranks : {1, 2, 4, 8}) std::printf(" %5d  ", slowest(ranks, deal));
    std::printf("\n");
  }
  std::printf("fair share");
  for (const int ranks : {1, 2, 4, 8}) std::printf(" %7.1f", double(pairs) / ranks);
  std::printf("\n");
}

void draw() {
  constexpr int ranks = 4;
  plot::Canvas canvas(920, 600);
  double x = 80;
  for (const auto& [title, deal] :
       {std::pair{"In pieces", Deal(in_pieces)}, {"Zig-zag", zig_zag}}) {
    std::vector<int> owners;
    for (Index t = 0; t < tiles; ++t) owners.push_back(deal(t, ranks));
    canvas.text({x, 34}, title, {.size = 18, .bold = true});
    draw_tiles(canvas, {x, 50}, owners);
    canvas.text({x, 424}, "pairs of tiles in the steps 0, 1, 2, 3 of the ring",
                {.colour = plot::theme::faded});
    draw_work(canvas, {x, 440}, work(ranks, deal), 16);
    x += 440;
  }
  plot::write_png(canvas, "out/plots/phase8_zigzag.png");
  std::printf("\nwrote out/plots/phase8_zigzag.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 86: who has how much to do (takes less than a second)\n\n");
  print_work();
  draw();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
