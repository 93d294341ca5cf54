#include "tapestry/distributed/ring_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "attention/operands.hpp"
#include "distributed/ring_call.hpp"
#include "distributed/tags.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

constexpr const char* name = "ring_attention";

void check_operands(const Ranks& ranks, const RingLayout& layout, const Tensor& q, const Tensor& k,
                    const Tensor& v) {
  const AttentionOperands of(name, q, k, v);
  const auto refuse = [&](const std::string& rule) {
    throw Error(error_prefix(name, q, k, v) + rule);
  };
  if (leading(q) != leading(k) || leading(q) != leading(v)) {
    refuse("leading axes must be equal: repeat those that several heads share.");
  }
  constexpr int most = 5;
  if (q.ndim() > most) refuse("at most " + std::to_string(most) + " axes; reshape to fewer.");
  const Index rows = layout.rows_of(ranks.rank());
  if (of.queries != rows || of.keys != rows) {
    refuse("rank " + std::to_string(ranks.rank()) + " of " + std::to_string(ranks.size()) +
           " holds " + std::to_string(rows) + " of " + std::to_string(layout.length()) +
           " positions in tiles of " + std::to_string(layout.tile()) +
           ", so each must have as many rows (RingLayout tells which).");
  }
}

Index sequences_in(const Shape& batch) { return batch.ndim() == 0 ? 1 : batch[0]; }

void check_lengths(const std::vector<Index>& lengths, const Shape& batch) {
  const Index sequences = sequences_in(batch);
  if (!lengths.empty() && static_cast<Index>(lengths.size()) != sequences) {
    throw Error(std::string(name) + ": there are " + std::to_string(lengths.size()) +
                " lengths for " + std::to_string(sequences) +
                " sequences, the first axis of q: " + "give one for each, or none.");
  }
  for (const Index length : lengths) {
    if (length >= 0) continue;
    throw Error(std::string(name) + ": a length is " + std::to_string(length) +
                ", but none may be negative.");
  }
}

// What all ranks must have in common.
struct Agreement {
  static constexpr std::array names{
      "length",     "tile",        "causal (1: yes)", "scale",
      "softcap",    "axes of q",   "heads in all",    "sequences",
      "width",      "value width", "hash of lengths", "hash of the kernel set",
      "q recorded", "k recorded",  "v recorded",      "bytes of a number"};
  std::array<double, names.size()> numbers;
};

double hash_of(std::span<const std::byte> bytes) {
  return static_cast<double>(fingerprint(bytes));  // rounds alike on all ranks
}

Agreement agreement(const RingCall& call, const Tensor& q, const Tensor& k, const Tensor& v) {
  const RingOptions& options = call.options;
  const std::string set = kernel_set();
  const auto number = [](Index n) { return static_cast<double>(n); };
  return {{number(call.layout.length()), number(options.tile), number(options.is_causal),
           options.scores.scale.value_or(0), options.scores.softcap, number(q.ndim()),
           number(call.heads()), number(sequences_in(call.batch)), number(call.width),
           number(call.value_width), hash_of(std::as_bytes(std::span(options.lengths))),
           hash_of(std::as_bytes(std::span(set))), number(Tape::needs_gradient(q)),
           number(Tape::needs_gradient(k)), number(Tape::needs_gradient(v)), number(sizeof(real))}};
}

// Each rank looks at the one before it: where any two differ, two neighbours do.
void check_agreement(Ranks& ranks, const Agreement& mine) {
  if (ranks.size() == 1) return;
  ranks.enter(0, "ring attention, comparing options");
  Agreement theirs{};
  Message got = ranks.receive(ranks.previous(), tags::ring_agreement, bytes_of(theirs));
  Message sent = ranks.send(ranks.next(), tags::ring_agreement, bytes_of(mine));
  ranks.wait(got), ranks.wait(sent);
  const auto [here, there] =
      std::mismatch(mine.numbers.begin(), mine.numbers.end(), theirs.numbers.begin());
  if (here == mine.numbers.end()) return;
  const auto place = static_cast<std::size_t>(here - mine.numbers.begin());
  throw Error(std::string(name) + ": " + Agreement::names[place] + ": " + exact_text(*there) +
              " on rank " + std::to_string(ranks.previous()) + ", " + exact_text(*here) +
              " on rank " + std::to_string(ranks.rank()) +
              ": all ranks must call it with the same shapes and options.");
}

// The numbers of a row must be side by side; else a copy.
Tensor with_rows(const Tensor& x) {
  const Index step = x.strides()[static_cast<std::size_t>(x.ndim()) - 1];
  return step == 1 ? x : x.contiguous();
}

}  // namespace

Tensor ring_attention(Ranks& ranks, const Tensor& q, const Tensor& k, const Tensor& v, Index length,
                      const RingOptions& options) {
  const RingLayout layout(length, options.tile, ranks.size());
  check_operands(ranks, layout, q, k, v);
  check_lengths(options.lengths, leading(q));
  check_scores(name, options.scores);
  const auto call = std::make_shared<const RingCall>(
      RingCall{layout, options, leading(q), q.size(-1), v.size(-1), layout.tiles_of(ranks.rank()),
               layout.rows_of(ranks.rank())});
  check_agreement(ranks, agreement(*call, q, k, v));
  const Tensor own_q = with_rows(q), own_k = with_rows(k), own_v = with_rows(v);
  Tensor log_sum;
  const Tensor out = ring_forward(ranks, *call, own_q, own_k, own_v, log_sum);
  return Tape::record(name, {q, k, v}, out,
                      [&ranks, call, q = Tape::save(own_q), k = Tape::save(own_k),
                       v = Tape::save(own_v), out = Tape::save(out),
                       log_sum = Tape::save(log_sum)](const Tensor& d_out, GradientSink& to) {
                        const bool for_q = to.needs_gradient(0);
                        const bool for_kv = to.needs_gradient(1) || to.needs_gradient(2);
                        const Tensor seed = d_out.contiguous();
                        const RingSaved saved{q, k, v, out, log_sum, seed};
                        const RingGradients gradients =
                            ring_backward(ranks, *call, saved, for_q, for_kv);
                        if (for_q) to.accumulate(0, gradients.d_q);
                        if (to.needs_gradient(1)) to.accumulate(1, gradients.d_k);
                        if (to.needs_gradient(2)) to.accumulate(2, gradients.d_v);
                      });
}

}  // namespace tapestry
