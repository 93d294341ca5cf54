// Step 83. How is attention computed over a text that no rank holds?
//
// New here: ring attention (Liu et al. 2023). Queries stay, keys and values travel round the ranks;
// what a query knows of two sets of keys is merged. Written out, with tiles merged in the order in
// which they come and in the order of the text; compared with fused_attention and the library's
// ring_attention. Which rank has which tiles is the library's RingLayout; step 86 says why.
// Writes no picture; takes less than a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "course/parameter_rows.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/distributed/ring_attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
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

constexpr Index length = 256, tile = 16, width = 32;

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

struct Operands {
  Tensor q, k, v;  // (rows, width) each
};

// Of a tile of queries, from what it knows of each tile of keys: merged as they came, or in the
// order of the text.
Tensor output_of(std::vector<std::pair<Index, Known>> parts, bool by_index) {
  if (by_index) {
    std::sort(parts.begin(), parts.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  Known all = parts[0].second;
  for (std::size_t p = 1; p < parts.size(); ++p) all = merge(all, parts[p].second);
  return all.output();  // (tile, width)
}

// This rank's rows of the output. `by_index`: what each tile of keys gives is kept, and merged in
// the order of the text at the end; otherwise it is merged as it comes.
Tensor ring_by_hand(Ranks& ranks, const Operands& x, bool by_index) {
  const RingLayout layout(length, tile, ranks.size());
  const std::vector<Index> own = layout.tiles_of(ranks.rank());
  const auto part = [](const Tensor& rows, std::size_t i) {
    return slice(rows, 0, Index(i) * tile, Index(i + 1) * tile);  // (tile, width)
  };
  Tensor k = x.k, v = x.v;  // (rows, width) each: of this rank at first
  std::vector<std::vector<std::pair<Index, Known>>> known(own.size());
  for (int step = 0; step < ranks.size(); ++step) {
    const int from = (ranks.rank() + ranks.size() - step) % ranks.size();  // whose keys these are
    const std::vector<Index> keys = layout.tiles_of(from);
    const std::vector<real> out = concat({k, v}, 0).values();  // (2 rows, width)
    std::vector<real> in(out.size());
    Message sent = ranks.send(ranks.next(), 1, std::as_bytes(std::span(out)));
    Message got = ranks.receive(ranks.previous(), 1, std::as_writable_bytes(std::span(in)));
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (std::size_t j = 0; j < keys.size() && keys[j] <= own[i]; ++j) {
        known[i].emplace_back(keys[j], meet(part(x.q, i), own[i], part(k, j), part(v, j), keys[j]));
      }
    }
    ranks.wait(sent), ranks.wait(got);
    const Tensor both({2 * k.size(0), width}, in);  // (2 rows, width)
    k = slice(both, 0, 0, k.size(0)), v = slice(both, 0, k.size(0), 2 * k.size(0));
  }
  std::vector<Tensor> outputs;
  for (const auto& parts : known) outputs.push_back(output_of(parts, by_index));
  return concat(outputs, 0);  // (rows, width)
}

using Ring = std::function<Tensor(Ranks&, const Operands&)>;

// The output of all ranks, in the order of the text.
Tensor together(int count, const Operands& x, const Ring& ring) {
  const RingLayout layout(length, tile, count);
  std::vector<Tensor> by_rank(std::size_t(count), Tensor{});
  run_as_threads(count, [&](Ranks& ranks) {
    const std::vector<Index> own = layout.tiles_of(ranks.rank());
    by_rank[std::size_t(ranks.rank())] =
        ring(ranks, {rows_of(x.q, own), rows_of(x.k, own), rows_of(x.v, own)});
  });
  std::vector<Index> next(std::size_t(count), 0);
  std::vector<Tensor> rows;
  for (Index t = 0; t < layout.tiles(); ++t) {
    const auto rank = std::size_t(layout.owner(t));
    const Index first = tile * next[rank]++;
    rows.push_back(slice(by_rank[rank], 0, first, first + tile));
  }
  return concat(rows, 0);  // (length, width)
}

const std::pair<const char*, Ring> ways[] = {
    {"merged as they come",
     [](Ranks& ranks, const Operands& x) { return ring_by_hand(ranks, x, false); }},
    {"merged by tile index",
     [](Ranks& ranks, const Operands& x) { return ring_by_hand(ranks, x, true); }},
    {"ring_attention()", [](Ranks& ranks, const Operands& x) {
       return ring_attention(ranks, x.q, x.k, x.v, length, {.is_causal = true, .tile = tile});
     }}};

void compare() {
  Random random(21);
  const Operands x{random.normal({length, width}), random.normal({length, width}),
                   random.normal({length, width})};                     // (length, width) each
  const Tensor truth = fused_attention(x.q, x.k, x.v, Mask::causal());  // (length, width)
  std::printf("2. %d positions, causal: numbers unlike 1 rank's, of %d\n", int(length),
              int(length * width));
  std::printf("ranks                        2       4       8   differs from fused_attention by\n");
  for (const auto& [name, ring] : ways) {
    std::printf("%-22s", name);
    const Tensor alone = together(1, x, ring);  // (length, width)
    double most = largest_difference(alone, truth);
    for (const int ranks : {2, 4, 8}) {
      const Tensor y = together(ranks, x, ring);  // (length, width)
      most = std::max(most, largest_difference(y, truth));
      std::printf(" %7d", int(different(y.values(), alone.values())));
    }
    std::printf("   %s\n", most < 1e-5 ? "less than 1e-5" : "TOO MUCH");
  }
}

}  // namespace

int main() try {
  std::printf("Step 83: ring attention (takes less than a second)\n\n");
  in_numbers();
  compare();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
