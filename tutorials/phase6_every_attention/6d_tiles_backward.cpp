// Step 6d. How does the backward pass work where no weights were kept, and what do tiles save?
//
// New here: the gradients of attention, tile by tile, from the output and one number per query; how
// many numbers move between slow and fast memory in both passes, counted while they run; and how
// much memory it all takes. Three orders are compared: the whole matrix, keys outside
// (FlashAttention, Dao et al. 2022) and queries outside (FlashAttention-2, Dao 2023).
// Writes no picture; takes about two seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

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
};

struct Operands {
  Index tile;       // so many queries and so many keys
  Tensor q, k, v;   // (length, width) each, q already divided by sqrt(width)
  Tensor d_output;  // (length, width): the gradient that arrives

  Index tiles() const { return q.size(0) / tile; }
  // Its rows of tile i: (tile, ...)
  Tensor rows(const Tensor& x, Index i) const { return slice(x, 0, i * tile, (i + 1) * tile); }
};

struct Kept {           // for the backward pass
  Tensor output;        // (length, width)
  Tensor log_sums;      // (length, 1): log of the sum of exp(scores) of each query; of tiles only
  Tensor weights = {};  // (length, length); of the whole matrix only
};

struct Parts {  // gradients, (length, width) each
  Tensor q, k, v;
};

// The weights as a whole: a product, softmax, a product.
Kept forward_whole(const Operands& x, Cost& cost) {
  const Tensor scores = cost.multiply_large(x.q, transpose(x.k), x.tile);  // (length, length)
  const Tensor weights = cost.store(softmax(cost.load(scores)));           // (length, length)
  return {cost.multiply_large(weights, x.v, x.tile), {}, weights};
}

// What is known of a tile of queries after some keys: step 64.
struct Running {
  Tensor top, total, mixed;  // (tile, 1) twice, (tile, width)
};

void meet(Running& now, const Tensor& scores, const Tensor& v, Cost& cost) {
  const Tensor top = maximum(now.top, max(scores, -1, true));    // (tile, 1)
  const Tensor correction = exp(now.top - top);                  // (tile, 1)
  const Tensor terms = exp(scores - top);                        // (tile, keys)
  now.total = now.total * correction + sum(terms, -1, true);     // (tile, 1)
  now.mixed = now.mixed * correction + cost.multiply(terms, v);  // (tile, width)
  now.top = top;
}

Running nothing_met(Index tile) {
  return {Tensor::full({tile, 1}, -INFINITY), Tensor::zeros({tile, 1}),
          Tensor::zeros({tile, width})};  // (tile, 1) twice, (tile, width)
}

// FlashAttention: each tile of keys meets all queries, whose state is loaded and stored each time.
Kept forward_keys_outside(const Operands& x, Cost& cost) {
  std::vector<Running> state(static_cast<std::size_t>(x.tiles()), nothing_met(x.tile));
  for (Index j = 0; j < x.tiles(); ++j) {
    const Tensor k = cost.load(x.rows(x.k, j)),
                 v = cost.load(x.rows(x.v, j));  // (tile, width) each
    for (std::size_t i = 0; i < state.size(); ++i) {
      Running& now = state[i];
      for (const Tensor* part : {&now.top, &now.total, &now.mixed}) cost.load(*part);
      const Tensor q = cost.load(x.rows(x.q, Index(i)));  // (tile, width)
      meet(now, cost.multiply(q, transpose(k)), v, cost);
      for (const Tensor* part : {&now.top, &now.total, &now.mixed}) cost.store(*part);
    }
  }
  std::vector<Tensor> outputs, logs;
  for (const Running& now : state) {
    outputs.push_back(now.mixed / now.total);  // (tile, width)
    logs.push_back(now.top + log(now.total));  // (tile, 1)
  }
  return {concat(outputs, 0), concat(logs, 0)};
}

// FlashAttention-2: each tile of queries meets all keys, and is written once.
Kept forward_queries_outside(const Operands& x, Cost& cost) {
  std::vector<Tensor> outputs, logs;
  for (Index i = 0; i < x.tiles(); ++i) {
    const Tensor q = cost.load(x.rows(x.q, i));  // (tile, width)
    Running now = nothing_met(x.tile);
    for (Index j = 0; j < x.tiles(); ++j) {
      const Tensor scores = cost.multiply(q, transpose(cost.load(x.rows(x.k, j))));  // (tile, tile)
      meet(now, scores, cost.load(x.rows(x.v, j)), cost);
    }
    outputs.push_back(cost.store(now.mixed / now.total));  // (tile, width)
    logs.push_back(cost.store(now.top + log(now.total)));  // (tile, 1)
  }
  return {concat(outputs, 0), concat(logs, 0)};
}

// The weights were kept.
Parts backward_whole(const Operands& x, const Kept& kept, Cost& cost) {
  const Tensor dv =
      cost.multiply_large(transpose(kept.weights), x.d_output, x.tile);       // (length, width)
  const Tensor dp = cost.multiply_large(x.d_output, transpose(x.v), x.tile);  // (length, length)
  const Tensor p = cost.load(kept.weights), d = cost.load(dp);                // as dp
  const Tensor ds = cost.store(p * (d - sum(p * d, -1, true)));               // as dp
  return {cost.multiply_large(ds, x.k, x.tile), cost.multiply_large(transpose(ds), x.q, x.tile),
          dv};
}

// Keys outside: the gradients of a tile of keys and values are complete when all queries were met;
// that of the queries is loaded and stored each time.
Parts backward_by_tiles(const Operands& x, const Kept& kept, Cost& cost, bool with_d = true) {
  const Tensor d =  // (length, 1): D, one number per query
      cost.store(sum(cost.load(x.d_output) * cost.load(kept.output), -1, true));
  std::vector<Tensor> dq(static_cast<std::size_t>(x.tiles()), Tensor::zeros({x.tile, width}));
  std::vector<Tensor> dk, dv;
  for (Index j = 0; j < x.tiles(); ++j) {
    const Tensor k = cost.load(x.rows(x.k, j)),
                 v = cost.load(x.rows(x.v, j));                 // (tile, width) each
    Tensor dk_j = Tensor::zeros({x.tile, width}), dv_j = dk_j;  // (tile, width) each
    for (Index i = 0; i < x.tiles(); ++i) {
      const Tensor q = cost.load(x.rows(x.q, i)), d_out = cost.load(x.rows(x.d_output, i));  // as k
      const Tensor log_sum = cost.load(x.rows(kept.log_sums, i)), d_i = cost.load(x.rows(d, i));
      const Tensor p = exp(cost.multiply(q, transpose(k)) - log_sum);  // (tile, tile): made again
      const Tensor dp = cost.multiply(d_out, transpose(v));            // (tile, tile)
      const Tensor ds = with_d ? p * (dp - d_i) : p * dp;              // (tile, tile)
      dv_j = dv_j + cost.multiply(transpose(p), d_out);                // (tile, width)
      dk_j = dk_j + cost.multiply(transpose(ds), q);                   // (tile, width)
      Tensor& dq_i = dq[static_cast<std::size_t>(i)];
      dq_i = cost.store(cost.load(dq_i) + cost.multiply(ds, k));  // (tile, width)
    }
    dk.push_back(cost.store(dk_j)), dv.push_back(cost.store(dv_j));
  }
  return {concat(dq, 0), concat(dk, 0), concat(dv, 0)};
}

Operands operands(Index length, Index tile) {
  Random random(12);
  return {tile, random.normal({length, width}) / std::sqrt(double(width)),
          random.normal({length, width}), random.normal({length, width}),
          random.normal({length, width})};  // (length, width) each
}

// The output, (length, width), in three ways.
Tensor by_book(const Operands& x) {
  return attention(x.q, x.k, x.v, {}, 0, nullptr, {}, {.scale = 1}).output;
}
Tensor by_kernel(const Operands& x) { return fused_attention(x.q, x.k, x.v, {}, {.scale = 1}); }
Tensor by_tiles(const Operands& x) {
  Cost cost;
  return forward_queries_outside(x, cost).output;
}

Parts by_tape(Tensor (*f)(const Operands&), const Operands& x) {
  Tape tape({x.q, x.k, x.v});
  const Gradients g = tape.backward(f(x), x.d_output);
  return {g.at(0), g.at(1), g.at(2)};
}

double largest(const Parts& a, const Parts& b) {
  return std::max(
      {largest_difference(a.q, b.q), largest_difference(a.k, b.k), largest_difference(a.v, b.v)});
}

void check() {
  const Operands x = operands(512, 64);
  Cost cost;
  const Tensor output = by_book(x);  // (length, width)
  const Parts gradients = by_tape(by_book, x);
  const Kept whole = forward_whole(x, cost), tiled = forward_queries_outside(x, cost);
  std::printf("1. 512 queries and keys, one head: differ from attention() and the tape by\n");
  const auto tell = [](const char* what, double error) {
    std::printf("%-28s %s\n", what, error < 1e-5 ? "less than 1e-5" : "TOO MUCH");
  };
  tell("outputs, whole matrix", largest_difference(whole.output, output));
  tell("outputs, keys outside", largest_difference(forward_keys_outside(x, cost).output, output));
  tell("outputs, queries outside", largest_difference(tiled.output, output));
  tell("gradients, whole matrix", largest(backward_whole(x, whole, cost), gradients));
  tell("gradients, tiles", largest(backward_by_tiles(x, tiled, cost), gradients));
  std::printf("%-28s %.2f\n", "gradients, tiles, without D",
              largest(backward_by_tiles(x, tiled, cost, false), gradients));
}

void print_cost(const char* name, const Operands& x, const Cost& cost) {
  const double pairs = double(x.q.size(0)) * double(x.k.size(0));
  std::printf("%-36s %7.2f %8.2f %10.2f\n", name, cost.loaded / pairs, cost.stored / pairs,
              cost.products / pairs / width);
}

void count(Index tile) {
  const Operands x = operands(2048, tile);
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

// At three lengths.
void print_memory(const char* name, const std::function<void(const Operands&)>& both_passes) {
  std::printf("%-25s", name);
  for (const Index length : {512, 1024, 2048}) {
    const Operands x = operands(length, 64);  // (length, width) each
    std::printf(" %8.0f", double(peak_memory_of([&] { both_passes(x); })) / 1024);
  }
  std::printf("\n");
}

}  // namespace

int main() try {
  std::printf("Step 6d: the backward pass by tiles (takes about two seconds)\n\n");
  check();
  std::printf("\n2. 2048 queries and keys, width 64. Numbers loaded from slow memory and stored\n");
  std::printf(
      "   there, for each pair of query and key; multiplications, for each pair and column\n");
  for (const Index tile : {64, 128}) count(tile);
  std::printf("\n3. Most memory in use at once for tensors, forward and backward, KiB\n");
  std::printf("queries and keys               512     1024     2048\n");
  print_memory("attention()", [](const Operands& x) { by_tape(by_book, x); });
  print_memory("tiles, on the tape", [](const Operands& x) { by_tape(by_tiles, x); });
  print_memory("tiles, backward by hand", [](const Operands& x) {
    Cost cost;
    backward_by_tiles(x, forward_queries_outside(x, cost), cost);
  });
  print_memory("fused_attention()", [](const Operands& x) { by_tape(by_kernel, x); });
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
