#include "tapestry/attention.hpp"

#include <cmath>
#include <limits>

#include "attention/hidden.hpp"
#include "attention/operands.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

double scale_of(const ScoreOptions& how, Index width) {
  check_scores("attention", how);
  return how.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
}

// Without a generator nothing would be dropped, and nobody would notice.
void check_dropout(double p, const Random* random) {
  if (random != nullptr || p == 0) return;
  throw Error("attention: dropout is " + exact_text(p) +
              ", but there is no generator to draw from: give one to train, or leave dropout out "
              "to evaluate.");
}

// Scores within -cap and cap, or as they are for a cap of 0.
Tensor capped(const Tensor& scores, double cap) {
  return cap > 0 ? tanh(scores / cap) * cap : scores;
}

// The bias must broadcast to the shape of the scores.
Tensor biased(const Tensor& scores, const Tensor& bias) {
  if (!bias.defined()) return scores;
  if (bias.ndim() > scores.ndim() ||
      broadcast_shapes("attention, bias", scores.shape(), bias.shape()) != scores.shape()) {
    throw Error("attention: the bias is " + to_string(bias.shape()) + ", but scores are " +
                to_string(scores.shape()) + ": it must broadcast to them.");
  }
  return scores + bias;
}

}  // namespace

Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask, double p,
                    Random* random, const Tensor& bias, const ScoreOptions& how) {
  const AttentionOperands of("attention", q, k, v);
  check_dropout(p, random);
  const Tensor scaled =
      product_of_pairs(q, k, mask) * scale_of(how, of.width);  // (..., queries, keys)
  const Tensor scores =
      Capture::record("scores", biased(capped(scaled, how.softcap), bias));  // (..., queries, keys)
  Tensor visible = scores;                                                   // (..., queries, keys)
  if (!mask.allows_everything()) {
    visible = where(mask.tensor(scores.shape()), scores, -std::numeric_limits<double>::infinity());
  }
  const Tensor weights = Capture::record("weights", softmax(visible));  // (..., queries, keys)
  return {mix_of_values(dropout(weights, p, random), v, mask), weights, scores};
}

Tensor split_heads(const Tensor& x, Index heads) {
  if (x.ndim() < 2 || heads < 1 || x.size(-1) % heads != 0) {
    throw Error("split_heads: x is " + to_string(x.shape()) + " and heads is " +
                std::to_string(heads) +
                ": x must be (..., length, width), and heads must divide its width.");
  }
  const Shape parts = x.shape().with(-1, heads).inserted(x.ndim(), x.size(-1) / heads);
  return transpose(reshape(x, parts), -3, -2);  // (..., heads, length, width / heads)
}

Tensor concat_heads(const Tensor& x) {
  if (x.ndim() < 3) {
    throw Error("concat_heads: x is " + to_string(x.shape()) +
                ": it must be (..., heads, length, width).");
  }
  const Tensor rows = transpose(x, -3, -2);  // (..., length, heads, width)
  const Shape joined = x.shape().removed(-3).with(-1, x.size(-3) * x.size(-1));
  return reshape(rows, joined);  // (..., length, heads * width)
}

namespace {

using kernels::MatrixView;

// The stride of an axis counted from behind.
Index stride(const Tensor& x, int axis) {
  return x.strides()[static_cast<std::size_t>(x.ndim() + axis)];
}

// The sizes of one call of the fused kernels, and its operands with all leading axes explicit.
struct Operands {
  Shape batch;  // leading axes of all three
  Tensor q, k, v;

  Operands(const Shape& leading, const Tensor& a, const Tensor& b, const Tensor& c)
      : batch(leading), q(with_rows(a)), k(with_rows(b)), v(with_rows(c)) {}

  // The numbers of a row must be contiguous; else a copy.
  Tensor with_rows(const Tensor& x) const {
    const Tensor rows = stride(x, -1) == 1 ? x : x.contiguous();
    return broadcast_view(rows, with_matrix(batch, x.size(-2), x.size(-1)));  // (..., rows, width)
  }

  kernels::AttentionShape shape(const Mask& mask, const ScoreOptions& how) const {
    const double scale = scale_of(how, q.size(-1));
    kernels::AttentionShape s{sizes(batch), q.size(-2), k.size(-2),
                              q.size(-1),   v.size(-1), static_cast<real>(scale)};
    s.softcap = static_cast<real>(how.softcap);
    if (mask.allows_everything()) return s;
    s.mask = &mask;
    s.visible_in_block = [](const kernels::AttentionHead& h, Index query, Index queries, Index key,
                            Index keys, std::uint64_t* keep) {
      const Mask& seen = *static_cast<const Mask*>(h.mask);
      return seen.visible_in_block(h.batch, query, queries, key, keys, keep, h.number);
    };
    return s;
  }
};

MatrixView rows_of(const Tensor& x) { return {raw(x), x.strides().data(), stride(x, -2), 1}; }

kernels::MatrixRoom room_of(const Tensor& x) { return {raw(x), x.strides().data(), stride(x, -2)}; }

// Room for an output or a gradient, with its last axes in memory in the order of x's. So where x's
// heads are one axis, and slices of wide rows, those of the result are too, and joining the heads
// again copies nothing.
Tensor room_like(const Tensor& x, const Shape& shape) {
  if (x.ndim() < 3 || stride(x, -3) >= stride(x, -2) || stride(x, -3) == 0) {
    return Tensor::empty(shape);
  }
  const Shape swapped = shape.with(-3, shape[-2]).with(-2, shape[-3]);
  return transpose(Tensor::empty(swapped), -3, -2);
}

void give_gradients(const Operands& x, const Mask& mask, const ScoreOptions& how, const Tensor& out,
                    const Tensor& log_sum, const Tensor& d_out, GradientSink& to) {
  const kernels::AttentionShape shape = x.shape(mask, how);
  const Index parts = kernels::attention_parts(shape);
  const Tensor d_k = room_like(x.k, x.k.shape());  // (..., keys, d_k)
  const Tensor d_v = room_like(x.v, x.v.shape());  // (..., keys, d_v)
  // Of several ranges of keys each has its share: (parts, numbers of q).
  Tensor d_q = parts == 1 ? room_like(x.q, x.q.shape())  // (..., queries, d_k)
                          : Tensor::empty({parts, x.q.numel()});
  const Strides strides = parts == 1 ? d_q.strides() : row_major(x.q.shape());
  const kernels::MatrixRoom to_q{raw(d_q), strides.data(),
                                 strides[static_cast<std::size_t>(x.q.ndim() - 2)]};
  const Tensor d_out_rows = x.with_rows(d_out);  // (..., queries, d_v)
  kernels::attention_backward(shape, rows_of(x.q), rows_of(x.k), rows_of(x.v), rows_of(out),
                              rows_of(d_out_rows), raw(log_sum),
                              {to_q, room_of(d_k), room_of(d_v)});
  if (parts > 1) {
    const Tensor shares = d_q;
    d_q = Tensor::empty(x.q.shape());  // (..., queries, d_k)
    kernels::reduce(kernels::active().sum, raw(shares), 1, parts, x.q.numel(), raw(d_q));
  }
  to.accumulate(0, d_q);
  to.accumulate(1, d_k);
  to.accumulate(2, d_v);
}

}  // namespace

Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask,
                       const ScoreOptions& how) {
  const AttentionOperands of("attention", q, k, v);
  mask.check_fits(of.sequences(), of.queries, of.keys, of.heads());
  const Operands x(of.batch, q, k, v);
  const Tensor out =
      room_like(x.q, with_matrix(x.batch, of.queries, of.value_width));  // (..., queries, d_v)
  const Tensor log_sum =
      Tensor::empty(x.batch.inserted(x.batch.ndim(), of.queries));  // (..., queries)
  kernels::attention(x.shape(mask, how), rows_of(x.q), rows_of(x.k), rows_of(x.v), room_of(out),
                     raw(log_sum));
  return Tape::record("fused_attention", {q, k, v}, out,
                      [batch = x.batch, q = Tape::save(x.q), k = Tape::save(x.k),
                       v = Tape::save(x.v), mask, how, out = Tape::save(out),
                       log_sum = Tape::save(log_sum)](const Tensor& d_out, GradientSink& to) {
                        give_gradients({batch, q, k, v}, mask, how, out, log_sum, d_out, to);
                      });
}

}  // namespace tapestry
