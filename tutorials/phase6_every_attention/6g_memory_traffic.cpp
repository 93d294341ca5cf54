// Step 6g. What moves between slow and fast memory, with tiles and without?
//
// New here: how many numbers attention loads from slow memory and stores there in both passes,
// counted while they run. Three orders are compared: the whole matrix, keys outside
// (FlashAttention, Dao et al. 2022) and queries outside (FlashAttention-2, Dao 2023).
// Writes no picture; takes about a second.
#include <cstdio>
#include <vector>

#include "course/tiled_attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 64;

// What a pass costs: numbers that come from slow memory and go there, and multiplications.
struct Cost {
  double loaded = 0, stored = 0, products = 0;

  Tensor load(const Tensor& x) { return loaded += double(x.numel()), x; }   // x itself
  Tensor store(const Tensor& x) { return stored += double(x.numel()), x; }  // x itself
  // a b, both in fast memory.
  Tensor multiply(const Tensor& a, const Tensor& b) {
    const Tensor y = matmul(a, b);  // (rows of a, columns of b)
    products += double(y.numel() * a.size(-1));
    return y;
  }
  // a b of matrices in slow memory, by tiles: a is read once, b once for each tile of a's rows.
  Tensor multiply_large(const Tensor& a, const Tensor& b, Index tile) {
    load(a);
    for (Index i = 0; i < a.size(0); i += tile) load(b);
    return store(multiply(a, b));  // (rows of a, columns of b)
  }
  // Queries meet keys, all in fast memory: a product of (tile, keys) with v (keys, width).
  void meet(RunningSoftmax& now, const Tensor& scores, const Tensor& v) {
    tapestry::meet(now, scores, v);
    products += double(scores.numel() * v.size(-1));
  }
};

struct Kept {           // for the backward pass
  Tensor output;        // (length, width)
  Tensor log_sums;      // (length, 1): log of the sum of exp(scores) of each query; of tiles only
  Tensor weights = {};  // (length, length); of the whole matrix only
};

// The weights as a whole: a product, softmax, a product.
Kept forward_whole(const TiledOperands& x, Cost& cost) {
  const Tensor scores = cost.multiply_large(x.q, transpose(x.k), x.tile);  // (length, length)
  const Tensor weights = cost.store(softmax(cost.load(scores)));           // (length, length)
  return {cost.multiply_large(weights, x.v, x.tile), {}, weights};
}

// FlashAttention: each tile of keys meets all queries, whose state is loaded and stored each time.
Kept forward_keys_outside(const TiledOperands& x, Cost& cost) {
  const RunningSoftmax nothing = nothing_met(x.tile, width);
  std::vector<RunningSoftmax> state(static_cast<std::size_t>(x.tiles()), nothing);
  for (Index j = 0; j < x.tiles(); ++j) {
    const Tensor k = cost.load(x.rows(x.k, j)), v = cost.load(x.rows(x.v, j));  // (tile, width)
    for (std::size_t i = 0; i < state.size(); ++i) {
      RunningSoftmax& now = state[i];
      for (const Tensor* part : {&now.top, &now.total, &now.mixed}) cost.load(*part);
      const Tensor q = cost.load(x.rows(x.q, Index(i)));  // (tile, width)
      cost.meet(now, cost.multiply(q, transpose(k)), v);
      for (const Tensor* part : {&now.top, &now.total, &now.mixed}) cost.store(*part);
    }
  }
  std::vector<Tensor> outputs, logs;
  for (const RunningSoftmax& now : state) {
    outputs.push_back(now.mixed / now.total);  // (tile, width)
    logs.push_back(now.top + log(now.total));  // (tile, 1)
  }
  return {concat(outputs, 0), concat(logs, 0)};
}

// FlashAttention-2: each tile of queries meets all keys, and is written once.
Kept forward_queries_outside(const TiledOperands& x, Cost& cost) {
  std::vector<Tensor> outputs, logs;
  for (Index i = 0; i < x.tiles(); ++i) {
    const Tensor q = cost.load(x.rows(x.q, i));  // (tile, width)
    RunningSoftmax now = nothing_met(x.tile, width);
    for (Index j = 0; j < x.tiles(); ++j) {
      const Tensor scores = cost.multiply(q, transpose(cost.load(x.rows(x.k, j))));  // (tile, tile)
      cost.meet(now, scores, cost.load(x.rows(x.v, j)));
    }
    outputs.push_back(cost.store(now.mixed / now.total));  // (tile, width)
    logs.push_back(cost.store(now.top + log(now.total)));  // (tile, 1)
  }
  return {concat(outputs, 0), concat(logs, 0)};
}

// The weights were kept.
OperandGradients backward_whole(const TiledOperands& x, const Kept& kept, Cost& cost) {
  const Tensor dv =
      cost.multiply_large(transpose(kept.weights), x.d_output, x.tile);       // (length, width)
  const Tensor dp = cost.multiply_large(x.d_output, transpose(x.v), x.tile);  // (length, length)
  const Tensor p = cost.load(kept.weights), d = cost.load(dp);                // as dp
  const Tensor ds = cost.store(p * (d - sum(p * d, -1, true)));               // as dp
  return {cost.multiply_large(ds, x.k, x.tile), cost.multiply_large(transpose(ds), x.q, x.tile),
          dv};
}

// Step 6d, counted. Keys outside: the gradient of the queries is loaded and stored each time.
OperandGradients backward_by_tiles(const TiledOperands& x, const Kept& kept, Cost& cost) {
  const Tensor d =  // (length, 1): D, one number per query
      cost.store(sum(cost.load(x.d_output) * cost.load(kept.output), -1, true));
  const Tensor nothing = Tensor::zeros({x.tile, width});  // (tile, width)
  std::vector<Tensor> dq(static_cast<std::size_t>(x.tiles()), nothing);
  std::vector<Tensor> dk, dv;
  for (Index j = 0; j < x.tiles(); ++j) {
    const Tensor k = cost.load(x.rows(x.k, j)), v = cost.load(x.rows(x.v, j));  // (tile, width)
    Tensor dk_j = nothing, dv_j = nothing;                                      // (tile, width)
    for (Index i = 0; i < x.tiles(); ++i) {
      const Tensor q = cost.load(x.rows(x.q, i)), d_out = cost.load(x.rows(x.d_output, i));  // as k
      const Tensor log_sum = cost.load(x.rows(kept.log_sums, i)), d_i = cost.load(x.rows(d, i));
      const Tensor p = exp(cost.multiply(q, transpose(k)) - log_sum);    // (tile, tile)
      const Tensor ds = p * (cost.multiply(d_out, transpose(v)) - d_i);  // (tile, tile)
      dv_j = dv_j + cost.multiply(transpose(p), d_out);                  // (tile, width)
      dk_j = dk_j + cost.multiply(transpose(ds), q);                     // (tile, width)
      Tensor& dq_i = dq[static_cast<std::size_t>(i)];
      dq_i = cost.store(cost.load(dq_i) + cost.multiply(ds, k));  // (tile, width)
    }
    dk.push_back(cost.store(dk_j)), dv.push_back(cost.store(dv_j));
  }
  return {concat(dq, 0), concat(dk, 0), concat(dv, 0)};
}

void check() {
  const TiledOperands x = draw_tiled(512, width, 64);  // (512, width) each
  Cost cost;
  const Tensor output = by_book(x);  // (512, width)
  const OperandGradients gradients = gradients_by_tape(by_book, x);
  const Kept whole = forward_whole(x, cost), tiled = forward_queries_outside(x, cost);
  std::printf("1. 512 queries and keys, one head: differ from attention() and the tape by\n");
  const auto tell = [](const char* what, double error) {
    std::printf("%-28s %s\n", what, error < 1e-5 ? "less than 1e-5" : "TOO MUCH");
  };
  tell("outputs, whole matrix", largest_difference(whole.output, output));
  tell("outputs, keys outside", largest_difference(forward_keys_outside(x, cost).output, output));
  tell("outputs, queries outside", largest_difference(tiled.output, output));
  tell("gradients, whole matrix", largest_difference(backward_whole(x, whole, cost), gradients));
  tell("gradients, tiles", largest_difference(backward_by_tiles(x, tiled, cost), gradients));
}

void print_cost(const char* name, const TiledOperands& x, const Cost& cost) {
  const double pairs = double(x.q.size(0)) * double(x.k.size(0));
  std::printf("%-36s %7.2f %8.2f %10.2f\n", name, cost.loaded / pairs, cost.stored / pairs,
              cost.products / pairs / width);
}

void count(Index tile) {
  const TiledOperands x = draw_tiled(2048, width, tile);  // (2048, width) each
  Cost whole, keys, queries, back, tiles;
  forward_keys_outside(x, keys);
  backward_whole(x, forward_whole(x, whole), back);
  backward_by_tiles(x, forward_queries_outside(x, queries), tiles);
  std::printf("tiles of %3d by %-3d                    loaded   stored  multiplied\n", int(tile),
              int(tile));
  print_cost("forward   the whole matrix", x, whole);
  print_cost("forward   keys outside (2022)", x, keys);
  print_cost("forward   queries outside (2023)", x, queries);
  print_cost("backward  weights kept", x, back);
  print_cost("backward  weights made again", x, tiles);
}

}  // namespace

int main() try {
  std::printf("Step 6g: what moves between slow and fast memory (takes about a second)\n\n");
  check();
  std::printf("\n2. 2048 queries and keys, width 64. Numbers loaded from slow memory and stored\n");
  std::printf(
      "   there, for each pair of query and key; multiplications, for each pair and column\n");
  for (const Index tile : {64, 128}) count(tile);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
