// Fused causal attention. Only what the mask lets see is counted: each visible pair of a query and
// a key takes two products forward, and seven in all with the way back (Dao et al. 2022).
#include "ours.hpp"
#include "tapestry/attention.hpp"

namespace tapestry::bench {
namespace {

struct AttentionShape {
  Index batch, heads, length, depth;
};

Row attention_row(const AttentionShape& s, bool both_ways) {
  const double pairs = double(s.batch * s.heads) * double(s.length) * double(s.length + 1) / 2;
  const double elements = double(s.batch * s.heads * s.length * s.depth);
  Row row{"attention",
          both_ways ? "both ways" : "forward",
          (both_ways ? 14 : 4) * double(s.depth) * pairs,
          bytes_of((both_ways ? 8 : 4) * elements),
          {}};
  row.name += " B" + std::to_string(s.batch) + " H" + std::to_string(s.heads) + " L" +
              std::to_string(s.length) + " D" + std::to_string(s.depth);
  row.curve = !both_ways && s.length == 1024;
  row.prepare = [s, both_ways] {
    const Shape shape{s.batch, s.heads, s.length, s.depth};
    const Tensor q = numbers(shape), k = numbers(shape), v = numbers(shape), dy = numbers(shape);
    const auto attend = [=] { return fused_attention(q, k, v, Mask::causal()); };
    return std::vector<Contestant>{both_ways ? ours_both_ways({q, k, v}, attend, dy)
                                             : ours(attend)};
  };
  return row;
}

}  // namespace

void add_attention_rows(std::vector<Row>& rows) {
  for (const AttentionShape& shape :
       {AttentionShape{32, 8, 128, 64}, {1, 12, 1024, 64}, {1, 8, 4096, 64}}) {
    for (const bool both_ways : {false, true}) rows.push_back(attention_row(shape, both_ways));
  }
}

}  // namespace tapestry::bench
