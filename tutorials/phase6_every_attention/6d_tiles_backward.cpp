// Step 6d. How does the backward pass work where no weights were kept?
//
// New here: the gradients of attention, tile by tile, from the output and one number per query; and
// how much memory both passes take.
// Writes no picture; takes about a second.
#include <cstdio>
#include <functional>
#include <vector>

#include "course/tiled_attention.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 64;

struct Kept {       // for the backward pass
  Tensor output;    // (length, width)
  Tensor log_sums;  // (length, 1): log of the sum of exp(scores) of each query
};

// Each tile of queries meets all keys: step 64.
Kept forward_by_tiles(const TiledOperands& x) {
  std::vector<Tensor> outputs, logs;
  for (Index i = 0; i < x.tiles(); ++i) {
    const Tensor q = x.rows(x.q, i);  // (tile, width)
    RunningSoftmax now = nothing_met(x.tile, width);
    for (Index j = 0; j < x.tiles(); ++j) {
      const Tensor scores = matmul(q, transpose(x.rows(x.k, j)));  // (tile, tile)
      meet(now, scores, x.rows(x.v, j));
    }
    outputs.push_back(now.mixed / now.total);  // (tile, width)
    logs.push_back(now.top + log(now.total));  // (tile, 1)
  }
  return {concat(outputs, 0), concat(logs, 0)};
}

// The gradients of a tile of keys and values are complete when all queries were met; to those of
// the queries each tile of keys adds its part.
OperandGradients backward_by_tiles(const TiledOperands& x, const Kept& kept, bool with_d = true) {
  const Tensor d = sum(x.d_output * kept.output, -1, true);  // (length, 1): D, one number per query
  std::vector<Tensor> dq(static_cast<std::size_t>(x.tiles()), Tensor::zeros({x.tile, width}));
  std::vector<Tensor> dk, dv;
  for (Index j = 0; j < x.tiles(); ++j) {
    const Tensor k = x.rows(x.k, j), v = x.rows(x.v, j);        // (tile, width) each
    Tensor dk_j = Tensor::zeros({x.tile, width}), dv_j = dk_j;  // (tile, width) each
    for (Index i = 0; i < x.tiles(); ++i) {
      const Tensor q = x.rows(x.q, i), d_out = x.rows(x.d_output, i);       // (tile, width) each
      const Tensor log_sum = x.rows(kept.log_sums, i), d_i = x.rows(d, i);  // (tile, 1) each
      const Tensor p = exp(matmul(q, transpose(k)) - log_sum);  // (tile, tile): made again
      const Tensor dp = matmul(d_out, transpose(v));            // (tile, tile)
      const Tensor ds = with_d ? p * (dp - d_i) : p * dp;       // (tile, tile)
      dv_j = dv_j + matmul(transpose(p), d_out);                // (tile, width)
      dk_j = dk_j + matmul(transpose(ds), q);                   // (tile, width)
      Tensor& dq_i = dq[static_cast<std::size_t>(i)];
      dq_i = dq_i + matmul(ds, k);  // (tile, width)
    }
    dk.push_back(dk_j), dv.push_back(dv_j);
  }
  return {concat(dq, 0), concat(dk, 0), concat(dv, 0)};
}

// The output in two more ways: (length, width) each.
Tensor by_kernel(const TiledOperands& x) {
  return fused_attention(x.q, x.k, x.v, {}, {.scale = 1});
}
Tensor by_tiles(const TiledOperands& x) { return forward_by_tiles(x).output; }

void check() {
  const TiledOperands x = draw_tiled(512, width, 64);  // (512, width) each
  const OperandGradients gradients = gradients_by_tape(by_book, x);
  const Kept tiled = forward_by_tiles(x);
  std::printf("1. 512 queries and keys, one head: differ from attention() and the tape by\n");
  const auto tell = [](const char* what, double error) {
    std::printf("%-28s %s\n", what, error < 1e-5 ? "less than 1e-5" : "TOO MUCH");
  };
  tell("outputs, tiles", largest_difference(tiled.output, by_book(x)));
  tell("gradients, tiles", largest_difference(backward_by_tiles(x, tiled), gradients));
  std::printf("%-28s %.2f\n", "gradients, tiles, without D",
              largest_difference(backward_by_tiles(x, tiled, false), gradients));
}

// At three lengths.
void print_memory(const char* name, const std::function<void(const TiledOperands&)>& both_passes) {
  std::printf("%-25s", name);
  for (const Index length : {512, 1024, 2048}) {
    const TiledOperands x = draw_tiled(length, width, 64);  // (length, width) each
    std::printf(" %8.0f", double(peak_memory_of([&] { both_passes(x); })) / 1024);
  }
  std::printf("\n");
}

}  // namespace

int main() try {
  std::printf("Step 6d: the backward pass by tiles (takes about a second)\n\n");
  check();
  std::printf("\n2. Most memory in use at once for tensors, forward and backward, KiB\n");
  std::printf("queries and keys               512     1024     2048\n");
  print_memory("attention()", [](const TiledOperands& x) { gradients_by_tape(by_book, x); });
  print_memory("tiles, on the tape",
               [](const TiledOperands& x) { gradients_by_tape(by_tiles, x); });
  print_memory("tiles, backward by hand",
               [](const TiledOperands& x) { backward_by_tiles(x, forward_by_tiles(x)); });
  print_memory("fused_attention()",
               [](const TiledOperands& x) { gradients_by_tape(by_kernel, x); });
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
