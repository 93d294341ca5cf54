// Step 64. How can attention be computed without its matrix of weights?
//
// New here: the scores are computed tile by tile and not kept. A query carries from tile to tile
// its largest score so far, the sum of its exponentials, and its mixture of values so far
// (Milakov & Gimelshein 2018). First in plain numbers, then for whole tiles, in the order of
// FlashAttention-2 (Dao 2023), compared with attention() and fused_attention().
// Writes out/plots/phase6_flash_tiles.gif; takes about a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <vector>

#include "course/if_small.hpp"
#include "course/operands.hpp"
#include "course/tile_pictures.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/gif.hpp"
#include "tapestry/plot/numbers.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// One query, six keys, two at a time; a value is a single number.
void in_numbers() {
  const std::vector<double> scores = {1, 3, 6, 2, 5, 7}, values = {10, 20, 30, 40, 50, 60};
  std::printf("1. One query meets six keys, two at a time\n");
  std::printf("scores      maximum   correction      sum   output so far\n");
  double top = -infinity, total = 0, mixed = 0;
  for (std::size_t i = 0; i < scores.size(); i += 2) {
    const double before = top;
    top = std::max({top, scores[i], scores[i + 1]});
    const double correction = std::exp(before - top);
    total *= correction, mixed *= correction;
    for (const std::size_t key : {i, i + 1}) {
      total += std::exp(scores[key] - top);
      mixed += std::exp(scores[key] - top) * values[key];
    }
    std::printf("%.0f, %.0f %12.0f %12.4f %8.4f %15.4f\n", scores[i], scores[i + 1], top,
                correction, total, mixed / total);
  }
  double whole = 0, output = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    whole += std::exp(scores[i]), output += std::exp(scores[i]) * values[i];
  }
  std::printf("all at once, by the book %27.4f\n", output / whole);
  const Tensor powers = exp(Tensor({2}, {100, 90})), bare = powers / sum(powers);  // (2) each
  std::printf("Without the maximum, scores of 100 and 90 in 32 bits: weights %s and %s\n\n",
              plot::number_text(double{bare.at({0})}, 2).c_str(),
              plot::number_text(double{bare.at({1})}, 2).c_str());
}

// What a block of queries carries along.
struct Running {
  Tensor top;    // (rows, 1): largest score so far
  Tensor total;  // (rows, 1): sum of exp(score - top)
  Tensor mixed;  // (rows, d_v): sum of exp(score - top) value

  Tensor output() const { return mixed / total; }  // (rows, d_v)
};

// Adds one tile's scores (rows, keys) to what is carried along; returns exp(score - top).
// (Every row must have seen something by the end of its first tile, as under a causal mask.)
Tensor meet(Running& now, const Tensor& scores, const Tensor& v) {
  const Tensor top = maximum(now.top, max(scores, -1, true));  // (rows, 1)
  const Tensor correction = exp(now.top - top);  // (rows, 1): 1 where the maximum stays
  const Tensor terms = exp(scores - top);        // (rows, keys)
  now.total = now.total * correction + sum(terms, -1, true);  // (rows, 1)
  now.mixed = now.mixed * correction + matmul(terms, v);      // (rows, d_v)
  now.top = top;
  return terms;
}

struct Visit {
  Index query, key;  // where the tile begins
  bool skipped;      // the mask hides all of it
  Tensor terms;      // (rows, keys): exp(score - top), unless skipped
  Running now;
};

// softmax(q k^T / sqrt(d_k), where the mask allows) v, by tiles of size x size.
Tensor attention_by_tiles(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask,
                          Index size, const std::function<void(const Visit&)>& watch = {}) {
  const auto rows = [size](const Tensor& x, Index from) {  // (size, d), fewer at the end
    return slice(x, 0, from, std::min(from + size, x.size(0)));
  };
  std::vector<Tensor> outputs;
  for (Index i = 0; i < q.size(0); i += size) {
    const Tensor queries = rows(q, i) / std::sqrt(static_cast<double>(q.size(1)));  // (count, d_k)
    const Index count = queries.size(0);
    Running now{Tensor::full({count, 1}, -infinity), Tensor::zeros({count, 1}),
                Tensor::zeros({count, v.size(1)})};  // (count, 1) twice, (count, d_v)
    for (Index j = 0; j < k.size(0); j += size) {
      const Tensor keys = rows(k, j);  // (keys, d_k)
      const Mask part = mask.part(i, count, j, keys.size(0));
      const bool skipped = part.density(count, keys.size(0)).allowed == 0;
      Tensor terms;  // (count, keys)
      if (!skipped) {
        const Tensor scores = matmul(queries, transpose(keys));  // (count, keys): no others exist
        terms = meet(now, where(part.tensor(scores.shape()), scores, -infinity), rows(v, j));
      }
      if (watch) watch({i, j, skipped, terms, now});
    }
    outputs.push_back(now.output());  // (count, d_v)
  }
  return concat(outputs, 0);  // (queries, d_v)
}

using Function = std::function<Tensor(const Operands&)>;
const Mask causal = Mask::causal();
const struct {
  const char* name;
  Function f;
} ways[] = {
    {"attention()", [](const Operands& x) { return attention(x.q, x.k, x.v, causal).output; }},
    {"by tiles of 64",
     [](const Operands& x) { return attention_by_tiles(x.q, x.k, x.v, causal, 64); }},
    {"fused_attention()",
     [](const Operands& x) { return fused_attention(x.q, x.k, x.v, causal); }}};

std::vector<Tensor> with_gradients(const Function& f, const Operands& x) {
  Tape tape({x.q, x.k, x.v});
  const Tensor y = f(x);  // (length, width)
  const Gradients gradients = tape.backward(y, cos(x.v));
  return {y, gradients.at(0), gradients.at(1), gradients.at(2)};  // (length, width) each
}

void compare() {
  const Operands x = draw_operands(200, 16, 11);  // (200, 16) each
  const std::vector<Tensor> expected = with_gradients(ways[0].f, x);
  std::printf("2. 200 words, causal: differ from attention() by\n");
  std::printf("%-20s %-18s %s\n", "", "output", "gradients");
  for (const auto& way : {ways[1], ways[2]}) {
    const std::vector<Tensor> got = with_gradients(way.f, x);
    double worst = 0;
    for (std::size_t i = 1; i < 4; ++i) {
      worst = std::max(worst, largest_difference(got[i], expected[i]));
    }
    std::printf("%-20s %-18s %s\n", way.name,
                if_small(largest_difference(got[0], expected[0])).c_str(), if_small(worst).c_str());
  }
}

constexpr Index length = 32, size = 8;  // of the film

std::vector<TileMoment> watch_tiles() {
  Operands x = draw_operands(length, 8, 11);                     // (length, 8) each
  x.q = x.q * 1.5;                                               // (length, 8)
  const Tensor truth = attention(x.q, x.k, x.v, causal).output;  // (length, 8)
  std::vector<TileMoment> moments;
  attention_by_tiles(x.q, x.k, x.v, causal, size, [&](const Visit& visit) {
    // The next tile of the same queries, or the first of others.
    TileMoment now = visit.key > 0 ? moments.back() : TileMoment();
    now.query = visit.query, now.key = visit.key;
    now.skipped = visit.skipped, now.terms = visit.terms;
    if (!visit.skipped) {
      const Tensor goal = slice(truth, 0, visit.query, visit.query + size);  // (size, 8)
      const Tensor off = visit.now.output() - goal;                          // (size, 8)
      now.tops.push_back(visit.now.top);
      now.totals.push_back(visit.now.total);
      now.distances.push_back(sqrt(sum(off * off, -1, true)));  // (size, 1)
    }
    moments.push_back(now);
  });
  return moments;
}

void film() {
  const std::vector<TileMoment> moments = watch_tiles();
  int skipped = 0;
  for (const TileMoment& now : moments) skipped += now.skipped;
  std::printf("\n3. The film: %d words, tiles of %d: %d tiles met, %d skipped\n", int(length),
              int(size), int(moments.size()) - skipped, skipped);
  plot::write_gif(film_of_tiles(moments, length, size), "out/plots/phase6_flash_tiles.gif", 0.5);
  std::printf("\nwrote out/plots/phase6_flash_tiles.gif\n");
}

}  // namespace

int main() try {
  std::printf("Step 64: tile by tile (takes about a second)\n\n");
  in_numbers();
  compare();
  film();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
