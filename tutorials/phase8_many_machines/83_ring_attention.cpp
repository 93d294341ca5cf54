// Step 83. How is attention computed over a text that no rank holds?
//
// New here: ring attention (Liu et al. 2023). Queries stay, keys and values travel round the ranks;
// what a query knows of two sets of keys is merged. Written out, with tiles merged in the order in
// which they come and in the order of the text; zig-zag order, which gives all ranks as much work;
// compared with fused_attention and the library's ring_attention.
// Writes out/plots/phase8_zigzag.png; takes less than a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/distributed/ring_attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

// What queries know of some keys: step 64.
struct Known {
  Tensor top, total, mixed;  // (rows, 1), (rows, 1), (rows, d_v)
  Tensor output() const { return mixed / total; }
};

Known of_keys(const Tensor& scores, const Tensor& v) {
  const Tensor top = max(scores, -1, true);              // (rows, 1)
  const Tensor terms = exp(scores - top);                // (rows, keys)
  return {top, sum(terms, -1, true), matmul(terms, v)};  // (rows, 1) twice, (rows, d_v)
}

// Of two sets of keys that have none in common.
Known merge(const Known& a, const Known& b) {
  const Tensor top = maximum(a.top, b.top);                       // (rows, 1)
  const Tensor of_a = exp(a.top - top), of_b = exp(b.top - top);  // (rows, 1) each
  return {top, a.total * of_a + b.total * of_b, a.mixed * of_a + b.mixed * of_b};
}

// One query, two tiles of three keys each.
void in_numbers() {
  const auto print = [](const char* name, const Known& x) {
    std::printf("%-24s %7.0f %8.4f %8.4f %8.4f\n", name, double(x.top.item()),
                double(x.total.item()), double(x.mixed.item()), double(x.output().item()));
  };
  const Tensor scores({1, 6}, {1, 3, 6, 2, 5, 7}), v({6, 1}, {10, 20, 30, 40, 50, 60});
  const Known a = of_keys(slice(scores, 1, 0, 3), slice(v, 0, 0, 3));
  const Known b = of_keys(slice(scores, 1, 3, 6), slice(v, 0, 3, 6));
  std::printf("1. One query, two tiles of three keys\n");
  std::printf("scores                   maximum      sum    mixed   output\n");
  print("1, 3, 6", a), print("2, 5, 7", b);
  print("merged", merge(a, b)), print("all six at once", of_keys(scores, v));
  std::printf("the mean of both outputs %34.4f\n\n", double((a.output() + b.output()).item()) / 2);
}

// Which rank holds tile t.
using Deal = std::function<int(Index t, Index tiles, int ranks)>;
int in_pieces(Index t, Index tiles, int ranks) { return int(t * ranks / tiles); }
int zig_zag(Index t, Index, int ranks) {
  const int place = int(t % (2 * ranks));
  return std::min(place, 2 * ranks - 1 - place);
}
std::vector<Index> tiles_of(int rank, const Deal& deal, Index tiles, int ranks) {
  std::vector<Index> own;
  for (Index t = 0; t < tiles; ++t) {
    if (deal(t, tiles, ranks) == rank) own.push_back(t);
  }
  return own;
}

constexpr Index length = 256, tile = 16, tiles = length / tile, width = 32;

Tensor rows_of(const Tensor& x, const std::vector<Index>& which) {
  std::vector<Tensor> rows;
  for (const Index t : which) rows.push_back(slice(x, 0, t * tile, (t + 1) * tile));
  return concat(rows, 0);  // (tiles of `which` x tile, ...)
}

// Causal attention of tile t of the queries over tile j of the keys.
Known meet(const Tensor& q, Index t, const Tensor& k, const Tensor& v, Index j) {
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(double(width));  // (tile, tile)
  const Mask mask = t == j ? Mask::causal() : Mask();
  return of_keys(where(mask.tensor(scores.shape()), scores, -INFINITY), v);
}

// This rank's rows of the output. `by_index`: what each tile of keys gives is kept, and merged in
// the order of the text at the end; otherwise it is merged as it comes.
Tensor ring_by_hand(Ranks& ranks, const Tensor& q, Tensor k, Tensor v, const Deal& deal,
                    bool by_index) {
  const std::vector<Index> own = tiles_of(ranks.rank(), deal, tiles, ranks.size());
  const auto part = [](const Tensor& x, std::size_t i) {
    return slice(x, 0, Index(i) * tile, Index(i + 1) * tile);  // (tile, width)
  };
  std::vector<std::vector<std::pair<Index, Known>>> known(own.size());
  for (int step = 0; step < ranks.size(); ++step) {
    const int from = (ranks.rank() + ranks.size() - step) % ranks.size();  // whose keys these are
    const std::vector<Index> keys = tiles_of(from, deal, tiles, ranks.size());
    const std::vector<real> out = concat({k, v}, 0).values();  // (2 rows, width)
    std::vector<real> in(out.size());
    Message sent = ranks.send(ranks.next(), 1, std::as_bytes(std::span(out)));
    Message got = ranks.receive(ranks.previous(), 1, std::as_writable_bytes(std::span(in)));
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (std::size_t j = 0; j < keys.size() && keys[j] <= own[i]; ++j) {
        known[i].emplace_back(keys[j], meet(part(q, i), own[i], part(k, j), part(v, j), keys[j]));
      }
    }
    ranks.wait(sent), ranks.wait(got);
    const Tensor both({2 * k.size(0), width}, in);  // (2 rows, width)
    k = slice(both, 0, 0, k.size(0)), v = slice(both, 0, k.size(0), 2 * k.size(0));
  }
  std::vector<Tensor> outputs;
  for (auto& parts : known) {
    if (by_index) {
      std::sort(parts.begin(), parts.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    Known all = parts[0].second;
    for (std::size_t p = 1; p < parts.size(); ++p) all = merge(all, parts[p].second);
    outputs.push_back(all.output());
  }
  return concat(outputs, 0);  // (rows, width)
}

struct Operands {
  Tensor q, k, v;  // (length, width) each
};

using Ring = std::function<Tensor(Ranks&, const Tensor& q, const Tensor& k, const Tensor& v)>;

// The output of all ranks, in the order of the text.
Tensor together(int count, const Operands& x, const Deal& deal, const Ring& ring) {
  std::vector<Tensor> by_rank(std::size_t(count), Tensor{});
  run_as_threads(count, [&](Ranks& ranks) {
    const std::vector<Index> own = tiles_of(ranks.rank(), deal, tiles, count);
    by_rank[std::size_t(ranks.rank())] =
        ring(ranks, rows_of(x.q, own), rows_of(x.k, own), rows_of(x.v, own));
  });
  std::vector<Index> next(std::size_t(count), 0);
  std::vector<Tensor> rows;
  for (Index t = 0; t < tiles; ++t) {
    const auto rank = std::size_t(deal(t, tiles, count));
    const Index first = tile * next[rank]++;
    rows.push_back(slice(by_rank[rank], 0, first, first + tile));
  }
  return concat(rows, 0);  // (length, width)
}

Index different(const Tensor& a, const Tensor& b) {
  Index count = 0;
  const std::vector<real> x = a.values(), y = b.values();
  for (std::size_t i = 0; i < x.size(); ++i) count += x[i] != y[i];
  return count;
}

const Ring as_they_come = [](Ranks& ranks, const Tensor& q, const Tensor& k, const Tensor& v) {
  return ring_by_hand(ranks, q, k, v, zig_zag, false);
};
const Ring by_tile_index = [](Ranks& ranks, const Tensor& q, const Tensor& k, const Tensor& v) {
  return ring_by_hand(ranks, q, k, v, zig_zag, true);
};
const Ring of_library = [](Ranks& ranks, const Tensor& q, const Tensor& k, const Tensor& v) {
  return ring_attention(ranks, q, k, v, length, {.is_causal = true, .tile = tile});
};

void compare() {
  Random random(21);
  const Operands x{random.normal({length, width}), random.normal({length, width}),
                   random.normal({length, width})};                     // (length, width) each
  const Tensor truth = fused_attention(x.q, x.k, x.v, Mask::causal());  // (length, width)
  std::printf("2. %d positions, causal: numbers unlike 1 rank's, of %d\n", int(length),
              int(length * width));
  std::printf("ranks                        2       4       8   differs from fused_attention by\n");
  for (const auto& [name, ring] : {std::pair{"merged as they come", as_they_come},
                                   {"merged by tile index", by_tile_index},
                                   {"ring_attention()", of_library}}) {
    std::printf("%-22s", name);
    const Tensor alone = together(1, x, zig_zag, ring);  // (length, width)
    double most = largest_difference(alone, truth);
    for (const int ranks : {2, 4, 8}) {
      const Tensor y = together(ranks, x, zig_zag, ring);  // (length, width)
      most = std::max(most, largest_difference(y, truth));
      std::printf(" %7d", int(different(y, alone)));
    }
    std::printf("   %s\n", most < 1e-5 ? "less than 1e-5" : "TOO MUCH");
  }
}

// Pairs of tiles that rank `rank` computes in each step of the ring.
std::vector<int> work(int rank, int ranks, const Deal& deal) {
  std::vector<int> steps;
  for (int step = 0; step < ranks; ++step) {
    int count = 0;
    for (const Index i : tiles_of(rank, deal, tiles, ranks)) {
      for (const Index j : tiles_of((rank + ranks - step) % ranks, deal, tiles, ranks)) {
        count += j <= i;
      }
    }
    steps.push_back(count);
  }
  return steps;
}

// In each step all wait for the slowest.
int slowest(int ranks, const Deal& deal) {
  int sum = 0;
  for (int step = 0; step < ranks; ++step) {
    int most = 0;
    for (int r = 0; r < ranks; ++r) most = std::max(most, work(r, ranks, deal)[std::size_t(step)]);
    sum += most;
  }
  return sum;
}

void print_work() {
  std::printf("\n3. %d tiles: pairs of tiles that the slowest rank computes, summed over steps\n",
              int(tiles));
  std::printf("ranks          1       2       4       8\n");
  const Index pairs = tiles * (tiles + 1) / 2;
  for (const auto& [name, deal] : {std::pair{"in pieces", Deal(in_pieces)}, {"zig-zag", zig_zag}}) {
    std::printf("%-10s", name);
    for (const int ranks : {1, 2, 4, 8}) std::printf(" %5d  ", slowest(ranks, deal));
    std::printf("\n");
  }
  std::printf("fair share");
  for (const int ranks : {1, 2, 4, 8}) std::printf(" %7.1f", double(pairs) / ranks);
  std::printf("\n");
}

constexpr int ranks_drawn = 4;
constexpr double cell = 19;

void draw_tiles(plot::Canvas& canvas, plot::Point corner, const Deal& deal) {
  for (Index i = 0; i < tiles; ++i) {
    const auto rank = std::size_t(deal(i, tiles, ranks_drawn));
    for (Index j = 0; j < tiles; ++j) {
      const plot::Rect box{corner.x + double(j) * cell, corner.y + double(i) * cell, cell, cell};
      canvas.fill_rect(box, j <= i ? plot::series_colour(rank) : plot::theme::masked);
      canvas.stroke_rect(box, {plot::white});
    }
  }
  canvas.text({corner.x, corner.y + cell * tiles + 20}, "tiles of keys",
              {.colour = plot::theme::faded});
  canvas.text({corner.x - 10, corner.y + cell * tiles}, "tiles of queries",
              {.colour = plot::theme::faded, .angle = 90});
}

void draw_work(plot::Canvas& canvas, plot::Point corner, const Deal& deal) {
  for (int r = 0; r < ranks_drawn; ++r) {
    const std::vector<int> steps = work(r, ranks_drawn, deal);
    const double y = corner.y + r * 34;
    canvas.text({corner.x - 8, y + 18}, "rank " + std::to_string(r), {.align = plot::Align::right});
    double x = corner.x;
    for (const int count : steps) {
      const plot::Rect bar{x, y, 5.2 * count, 26};
      canvas.fill_rect(bar, plot::series_colour(std::size_t(r)));
      if (count > 0) {
        canvas.text({bar.centre().x, y + 18}, std::to_string(count),
                    {.colour = plot::readable_on(plot::series_colour(std::size_t(r))),
                     .align = plot::Align::centre});
      }
      x += 5.2 * 16 + 4;
    }
  }
}

void draw() {
  plot::Canvas canvas(920, 600);
  const struct {
    const char* title;
    Deal deal;
  } panels[] = {{"In pieces", in_pieces}, {"Zig-zag", zig_zag}};
  for (std::size_t p = 0; p < 2; ++p) {
    const double x = 80 + 440 * double(p);
    canvas.text({x, 34}, panels[p].title, {.size = 18, .bold = true});
    draw_tiles(canvas, {x, 50}, panels[p].deal);
    canvas.text({x, 424}, "pairs of tiles in the steps 0, 1, 2, 3 of the ring",
                {.colour = plot::theme::faded});
    draw_work(canvas, {x, 440}, panels[p].deal);
  }
  plot::write_png(canvas, "out/plots/phase8_zigzag.png");
  std::printf("\nwrote out/plots/phase8_zigzag.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 83: ring attention (takes less than a second)\n\n");
  in_numbers();
  compare();
  print_work();
  draw();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
