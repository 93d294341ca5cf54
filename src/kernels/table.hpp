// The kernel table: every hot loop of the library behind one function pointer each.
//
// The plain loops in reference.hpp fill the whole table; an instruction set overrides the entries
// that it does faster. The set is chosen once, at the first call of `active()` (select.cpp).
//
// Contract of every kernel: arrays are row-major and contiguous unless a stride is passed; all
// sizes may be 0; kernels never throw, never allocate and never check: operations check first.
// An output may be exactly the same array as an input where both have the same shape and the kernel
// goes element by element or row by row (so not in products and attention); it must never overlap
// an input partly.
// Kernels are serial; parallel_all.hpp splits the work among threads so that the bits do not depend
// on how many there are. That holds because no element's arithmetic depends on how many rows
// (or, elementwise, how many elements) its call was given.
#pragma once

#include <cstdint>

#include "kernels/functions.hpp"
#include "kernels/functions_of_two.hpp"
#include "kernels/rows_ahead.hpp"
#include "tapestry/real.hpp"
#include "tapestry/visibility.hpp"

namespace tapestry::kernels {

// y[i] = f(x[i])
using Unary = void (*)(const real* x, real* y, Index n);
// dx[i] = dy[i] * f'(...), where `saved` is the input x or the output y: each entry says which
using UnaryBackward = void (*)(const real* dy, const real* saved, real* dx, Index n);
// y[i] = f(a[i * a_step], b[i * b_step]); a step is 1, or 0 for one number repeated
using Binary = void (*)(const real* a, Index a_step, const real* b, Index b_step, real* y, Index n);
// y[o, i] = reduction over j of x[o, j, i]; x is (outer, length, inner), y is (outer, inner)
using Reduce = void (*)(const real* x, Index outer, Index length, Index inner, real* y);
// y (rows, n) from x (rows, n)
using Rows = void (*)(const real* x, real* y, Index rows, Index n);
// dx (rows, n) from the output y and its gradient dy, both (rows, n)
using RowsBackward = void (*)(const real* dy, const real* y, real* dx, Index rows, Index n);

struct SgdStep {      // one update with momentum, as Sgd in optim.hpp says it
  real rate;          // learning rate
  real momentum;      // velocity = momentum * velocity + gradient
  real weight_decay;  // weight -= rate * weight_decay * weight, before the update
  bool nesterov;      // the weight moves by gradient + momentum * velocity, not by the velocity
};

struct AdamStep {     // one update of Kingma & Ba 2015, with the decoupled decay of AdamW
  real rate;          // learning rate
  real beta1, beta2;  // decay of the two running means
  real epsilon;       // keeps the division finite
  real weight_decay;  // weight -= rate * weight_decay * weight, before the update
  real correction1;   // 1 - beta1^t
  real correction2;   // 1 - beta2^t
};

struct Epilogue {    // what follows a product
  const real* bias;  // (n), added to every row of C; null: none
  Unary activation;  // null: none, and y is not touched
  real* y;           // rows as far apart as those of C; may be C
};

// One head of attention: its arrays, whose rows are contiguous and lie at distances of their own,
// and who may attend to whom.
struct AttentionHead {
  Index queries, keys, width, value_width;
  const real* q;  // (queries, width)
  const real* k;  // (keys, width)
  const real* v;  // (keys, value_width)
  Index q_row, k_row, v_row;
  real scale;  // scores = scale * q k^T

  // Looks at queries [query, query + queries) and keys [key, key + keys) of this head. For each of
  // the keys j in [clear, keys) that the answer names, bit i of keep[j] becomes 1 where query i of
  // the block may attend to key j of it, else 0; bits beyond the queries may be anything. Null: all
  // see all.
  BlockVisibility (*visible_in_block)(const AttentionHead& head, Index query, Index queries,
                                      Index key, Index keys, std::uint64_t* keep);
  const void* mask;            // for `visible_in_block`
  Index batch;                 // for `visible_in_block`: which sequence this is
  Index number = 0;            // for `visible_in_block`: which of its heads
  real softcap = 0;            // above 0: scores = softcap * tanh(scale * q k^T / softcap)
  RowsAhead* ahead = nullptr;  // of the next task; null: not known. Changes no result
};

// Where the gradients of a head go, with rows of contiguous numbers; null: it is not asked for.
struct AttentionGradients {
  real* q;      // (queries, width)
  real *k, *v;  // (count, width), (count, value_width) of `count` keys: both or neither
  Index q_row, k_row, v_row;
};

// Blocks of four random words (philox.hpp): each is a function of its number, a stream and a seed.
struct RandomBlocks {
  std::uint64_t seed, stream;
  std::uint64_t first;
};

// What dropout draws at once: the four words of each block give eight numbers 16 bits each.
struct DropoutGroup {
  static constexpr Index numbers = 64, blocks = numbers / 8;
};

struct Table {
  const char* name;  // "reference", "sse2", "avx2", "avx512" or "neon64"

  // Elementwise: an entry for each function in the lists of functions.hpp and functions_of_two.hpp
  Unary unary[UnaryFunctions::count];
  UnaryBackward unary_backward[UnaryFunctions::count];  // null for a function without
  Binary binary[BinaryFunctions::count];

  // The entry of one of them: of<Exp>(), of<Add>(), backward_of<Tanh>()
  template <class F>
  auto of() const {
    constexpr int place = UnaryFunctions::place<F>();
    if constexpr (place < UnaryFunctions::count) {
      return unary[place];
    } else {
      static_assert(BinaryFunctions::place<F>() < BinaryFunctions::count, "it is in no list");
      return binary[BinaryFunctions::place<F>()];
    }
  }
  template <class F>
  UnaryBackward backward_of() const {
    static_assert(has_backward<F>, "it has no kernel for its gradient");
    return unary_backward[UnaryFunctions::place<F>()];
  }

  // y[i] = condition[i] != 0 ? a[i] : b[i], with steps as in Binary; a NaN condition counts as true
  void (*select)(const real* condition, Index condition_step, const real* a, Index a_step,
                 const real* b, Index b_step, real* y, Index n);

  // Reductions. The order of additions depends on length and inner only. An empty sum is 0, an
  // empty max -inf, an empty min +inf, an empty prod 1. max and min give NaN if any element is NaN.
  Reduce sum, max, min, prod;

  // Rows of length n. A row of softmax that is all -inf (nothing may be seen) becomes zeros, of
  // log_softmax -inf; its logsumexp is -inf. Any NaN or +inf makes the row NaN (logsumexp: +inf
  // stays +inf). Shares of softmax below the least normal float may become 0.
  Rows softmax, log_softmax;
  RowsBackward softmax_backward;                                   // dx = y * (dy - sum(dy * y))
  RowsBackward log_softmax_backward;                               // dx = dy - exp(y) * sum(dy),
                                                                   // 0 where all y are -inf
  void (*logsumexp)(const real* x, real* y, Index rows, Index n);  // y is (rows)

  // Layer normalisation (Ba, Kiros, Hinton 2016): y = (x - mean) * inverse_deviation * gain + bias
  // with inverse_deviation = 1 / sqrt(variance + epsilon), the variance dividing by n.
  // x, y (rows, n); gain, bias (n). For the backward pass, inverse_deviation (rows) is written, and
  // mean (rows, 2), the sum of whose two numbers it is: one float keeps too few digits of a mean
  // that is large beside the deviation.
  void (*layer_norm)(const real* x, const real* gain, const real* bias, real epsilon, real* y,
                     real* mean, real* inverse_deviation, Index rows, Index n);
  // dx (rows, n) for the rows given. Each `block` rows *add* their share of the gain's and the
  // bias's gradient to one of sums (blocks, gain then bias, n): the caller zeroes them.
  void (*layer_norm_backward)(const real* dy, const real* x, const real* gain, const real* mean,
                              const real* inverse_deviation, real* dx, real* sums, Index rows,
                              Index n, Index block);

  // Root mean square normalisation (Zhang & Sennrich 2019): y = x * inverse_rms * gain with
  // inverse_rms = 1 / sqrt(mean of x^2 + epsilon), which is written. x, y (rows, n); gain (n);
  // inverse_rms (rows). Back as layer_norm_backward, with sums (blocks, n).
  void (*rms_norm)(const real* x, const real* gain, real epsilon, real* y, real* inverse_rms,
                   Index rows, Index n);
  void (*rms_norm_backward)(const real* dy, const real* x, const real* gain,
                            const real* inverse_rms, real* dx, real* sums, Index rows, Index n,
                            Index block);

  // Gradient of cross entropy from logits: d_logits[r, c] = scale * (softmax(logits)[r, c] - [c ==
  // target[r]]), and zeros for a row whose target is negative (ignored). log_sum is the logsumexp
  // of each row.
  void (*cross_entropy_backward)(const real* logits, const real* log_sum,
                                 const std::int32_t* target, real scale, real* d_logits, Index rows,
                                 Index n);

  // y[i] = x[i] * (16 random bits < limit ? 0 : scale); limit up to 65535. Each DropoutGroup of
  // numbers draws from its own blocks.
  void (*dropout)(const real* x, real* y, Index n, RandomBlocks random, std::uint32_t limit,
                  real scale);

  // The sum of all squares, which does not overflow where the squares of floats would.
  double (*sum_squares)(const real* x, Index n);

  // Updates in place, n weights each.
  void (*sgd)(real* weight, const real* gradient, real* velocity, SgdStep step, Index n);
  void (*adam)(real* weight, const real* gradient, real* mean, real* square, AdamStep step,
               Index n);

  // C = A B, C (m, n) is overwritten, never read; A (m, k), B (k, n). Every matrix has a row and
  // a column stride in elements (C: a row stride), so that transposed and sliced operands are
  // read in place. k = 0 gives zeros. NaN and infinities propagate: no product is skipped. (A
  // single row with a transposed B may be added up in another order than that row among others.)
  void (*matmul)(Index m, Index n, Index k, const real* a, Index a_row, Index a_column,
                 const real* b, Index b_row, Index b_column, real* c, Index c_row);

  // C = A B + bias, then y = activation(C): the same numbers as matmul, add and the activation give
  // one after the other, but made while the rows of C are in cache.
  void (*linear)(Index m, Index n, Index k, const real* a, Index a_row, Index a_column,
                 const real* b, Index b_row, Index b_column, const Epilogue& then, real* c,
                 Index c_row);

  // softmax(scale * q k^T, where seen) v for the queries [first, first + count) of a head, without
  // the matrix of weights: block by block of keys, with a running maximum and sum for each query
  // (Milakov & Gimelshein 2018; Dao et al. 2022). out (queries, value_width), rows out_row apart;
  // log_sum (queries) receives the logsumexp of each row of scores. A query that sees nothing gets
  // zeros and -inf; NaN and +inf among the scores it sees make its row NaN. Returns false if `out`
  // received a NaN or an infinity: then one in a masked value may have changed rows that do not see
  // it, through a weight of 0. (So may, in the backward pass, one in a masked key, query or
  // gradient. The plain loops skip what is masked, and parallel_attention.cpp uses them in such a
  // case.)
  bool (*attention)(const AttentionHead& head, Index first, Index count, real* out, Index out_row,
                    real* log_sum);

  // Backward for the keys [first, first + count), with weights made again from log_sum (Dao 2023):
  // `to` gets the gradients of these keys and values, and their share of the queries' gradient; all
  // are overwritten. log_sum, and out or (out_row -1) the row sums of d_out * out, are of a forward
  // pass over these keys and maybe more; rows lie out_row and d_out_row apart. Returns false if a
  // NaN or an infinity was written, except by the plain loops.
  bool (*attention_backward)(const AttentionHead& head, const real* out, Index out_row,
                             const real* d_out, Index d_out_row, const real* log_sum, Index first,
                             Index count, const AttentionGradients& to);

  // Keeps the multiply-add units as busy as they can be, for `rounds` rounds; returns how many
  // floating point operations it made and stores a number that depends on all of them in *sink.
  double (*fma_burst)(Index rounds, real* sink);
};

// The table in use: the best set this machine has, or the one TAPESTRY_KERNELS names.
// Throws Error (first call) when TAPESTRY_KERNELS names an unknown set or one that this machine
// cannot run; the message lists those it can. So drivers call it before threads start.
const Table& active();

// Every set this machine can run, the reference first, the best last.
const Table* const* usable(int& count);

// A reusable buffer of this thread for packing and scratch, 64-byte aligned, at least n elements.
// The next call of `workspace` on the same thread may move it. Throws Error when the system has no
// more memory; a loop that threads share throws it, too.
real* workspace(Index n);

// Bytes of a core's L2 cache, as the system reports it; 1 MB if it does not.
Index l2_cache();

}  // namespace tapestry::kernels
