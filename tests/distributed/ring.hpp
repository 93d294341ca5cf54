// Ring attention on some ranks, put together to the whole sequence again.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "ops/expect.hpp"
#include "tapestry/distributed/ring_attention.hpp"
#include "tensor/raw.hpp"

namespace tapestry {

// The output and the gradients of q, k and v, over the whole sequence.
struct RingResult {
  Tensor y, d_q, d_k, d_v;
};

// to and from (..., length, width): the rows at these positions
inline void copy_rows(const Tensor& whole, const Tensor& part, const std::vector<Index>& positions,
                      bool to_part) {
  const Index length = whole.size(-2), width = whole.size(-1);
  const Index rows = static_cast<Index>(positions.size());
  for (Index i = 0; i < part.numel(); ++i) {
    const Index head = i / (rows * width);
    const Index position = positions[static_cast<std::size_t>(i / width % rows)];
    real& theirs = raw(whole)[(head * length + position) * width + i % width];
    (to_part ? raw(part)[i] : theirs) = to_part ? theirs : raw(part)[i];
  }
}

inline Tensor rows_at(const Tensor& whole, const std::vector<Index>& positions) {
  const Tensor part = Tensor::empty(whole.shape().with(-2, static_cast<Index>(positions.size())));
  copy_rows(whole, part, positions, true);
  return part;
}

// `of` is q, k, v and the gradient of the output, each contiguous (..., length, width). The rows of
// this rank.
inline RingResult on_rank(Ranks& ranks, const std::vector<Tensor>& of, const RingOptions& options) {
  const Index length = of[0].size(-2);
  const auto at = RingLayout(length, options.tile, ranks.size()).positions(ranks.rank());
  const Tensor q = rows_at(of[0], at), k = rows_at(of[1], at), v = rows_at(of[2], at);
  Tape tape({q, k, v});
  const Tensor y = ring_attention(ranks, q, k, v, length, options);
  const Gradients gradients = tape.backward(y, rows_at(of[3], at));
  return {y, gradients[q], gradients[k], gradients[v]};
}

// The whole sequence, by ranks that are threads.
inline RingResult on_ranks(int count, const std::vector<Tensor>& of, const RingOptions& options) {
  const RingResult whole{Tensor::full(of[3].shape(), 7), Tensor::full(of[0].shape(), 7),
                         Tensor::full(of[1].shape(), 7), Tensor::full(of[2].shape(), 7)};
  run_as_threads(count, [&](Ranks& ranks) {
    const RingLayout layout(of[0].size(-2), options.tile, count);
    const auto at = layout.positions(ranks.rank());
    const RingResult mine = on_rank(ranks, of, options);
    copy_rows(whole.y, mine.y, at, false);
    copy_rows(whole.d_q, mine.d_q, at, false);
    copy_rows(whole.d_k, mine.d_k, at, false);
    copy_rows(whole.d_v, mine.d_v, at, false);
  });
  return whole;
}

inline std::string bits_differ(const Tensor& a, const Tensor& b) {
  const std::vector<real> x = a.values(), y = b.values();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::memcmp(&x[i], &y[i], sizeof(real)) == 0) continue;
    return " element " + std::to_string(i) + ": " + std::to_string(x[i]) + " and " +
           std::to_string(y[i]);
  }
  return x.size() == y.size() ? "" : " sizes";
}

inline std::string bits_differ(const RingResult& a, const RingResult& b) {
  std::string all;
  if (const auto d = bits_differ(a.y, b.y); !d.empty()) all += " y" + d;
  if (const auto d = bits_differ(a.d_q, b.d_q); !d.empty()) all += " d_q" + d;
  if (const auto d = bits_differ(a.d_k, b.d_k); !d.empty()) all += " d_k" + d;
  if (const auto d = bits_differ(a.d_v, b.d_v); !d.empty()) all += " d_v" + d;
  return all;
}

// Over the whole sequence in one piece.
inline RingResult fused(const std::vector<Tensor>& of, const RingOptions& options) {
  Mask mask = options.is_causal ? Mask::causal() : Mask();
  if (!options.lengths.empty()) mask = mask & Mask::padding(options.lengths);
  Tape tape({of[0], of[1], of[2]});
  const Tensor y = fused_attention(of[0], of[1], of[2], mask, options.scores);
  const Gradients gradients = tape.backward(y, of[3]);
  return {y, gradients[of[0]], gradients[of[1]], gradients[of[2]]};
}

inline std::string difference_of(const RingResult& a, const RingResult& b, double tolerance) {
  const std::string y = difference_to(a.y, b.y, tolerance);
  const std::string d_q = difference_to(a.d_q, b.d_q, tolerance);
  const std::string d_k = difference_to(a.d_k, b.d_k, tolerance);
  const std::string d_v = difference_to(a.d_v, b.d_v, tolerance);
  const auto told = [](const char* name, const std::string& d) {
    return d.empty() ? "" : std::string(name) + d + "; ";
  };
  return told("y: ", y) + told("d_q: ", d_q) + told("d_k: ", d_k) + told("d_v: ", d_v);
}

inline std::vector<Tensor> ring_operands(const Shape& leading, Index length, Index width,
                                         Index value_width) {
  const auto shape = [&](Index columns) {
    return leading.inserted(leading.ndim(), length).inserted(leading.ndim() + 1, columns);
  };
  return {random_tensor(shape(width), 1), random_tensor(shape(width), 2),
          random_tensor(shape(value_width), 3), random_tensor(shape(value_width), 4)};
}

}  // namespace tapestry
