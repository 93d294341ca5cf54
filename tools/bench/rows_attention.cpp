// Fused causal attention. Only visible pairs of a query and a key are counted: each takes two
// products forward, and seven in all with the backward pass (Dao et al. 2022).
#include "ours.hpp"
#include "tapestry/attention.hpp"

namespace tapestry::bench {
namespace {

struct AttentionShape {
  Index batch, heads, length, depth;
};

Row attention_row(const AttentionShape& s, bool forward_backward) {
  const double pairs = double(s.batch * s.heads) * double(s.length) * double(s.length + 1) / 2;
  const double elements = double(s.batch * s.heads * s.length * s.depth);
  Row row{"attention",
          forward_backward ? "both ways" : "forward",
          (forward_backward ? 14 : 4) * double(s.depth) * pairs,
          bytes_of((forward_backward ? 8 : 4) * elements),
          {}};
  row.name += " B" + std::to_string(s.batch) + " H" + std::to_string(s.heads) + " L" +
              std::to_string(s.length) + " D" + std::to_string(s.depth);
  row.curve = !forward_backward && s.length == 1024;
  row.prepare = [s, forward_backward] {
    const Shape shape{s.batch, s.heads, s.length, s.depth};
    const Tensor q = numbers(shape), k = numbers(shape), v = numbers(shape), dy = numbers(shape);
    const auto attend = [=] { return fused_attention(q, k, v, Mask::causal()); };
    return std::vector<Contestant>{forward_backward ? ours_both_ways({q, k, v}, attend, dy)
                                                    : ours(attend)};
  };
  return row;
}

}  // namespace

void add_attention_rows(std::vector<Row>& rows) {
  for (const AttentionShape& shape :
       {AttentionShape{32, 8, 128, 64}, {1, 12, 1024, 64}, {1, 8, 4096, 64}}) {
    for (const bool forward_backward : {false, true})
      rows.push_back(attention_row(shape, forward_backward));
  }
}

}  // namespace tapestry::bench
