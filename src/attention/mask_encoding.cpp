// Conversion of masks from and to the conventions of other libraries.
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "attention/mask_rule.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

const char* name_of(MaskEncoding encoding) {
  switch (encoding) {
    case MaskEncoding::keep:
      return "keep";
    case MaskEncoding::drop:
      return "drop";
    case MaskEncoding::additive:
      return "additive";
    case MaskEncoding::zero_one:
      return "zero_one";
    case MaskEncoding::upper_triangle:
      return "upper_triangle";
  }
  return "";
}

// What a value says in an encoding with one number for true and one for false.
std::optional<bool> said(real value, real yes, real no) {
  if (value == yes) return true;
  if (value == no) return false;
  return std::nullopt;
}

// Whether this entry allows attention; nothing if the encoding has no such value.
std::optional<bool> decode(MaskEncoding encoding, real value, Index query, Index key) {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  switch (encoding) {
    case MaskEncoding::keep:
    case MaskEncoding::zero_one:
      return said(value, 1, 0);
    case MaskEncoding::drop:
      return said(value, 0, 1);
    case MaskEncoding::additive:
      return said(value < -1e4 ? -infinity : value, 0, -infinity);
    case MaskEncoding::upper_triangle:  // anything on or below the diagonal is another mask
      if (value == (key > query ? 1 : 0)) return key <= query;
  }
  return std::nullopt;
}

const char* rule_of(MaskEncoding encoding) {
  switch (encoding) {
    case MaskEncoding::additive:
      return "0 or -inf. A finite bias is no mask: add it to the scores";
    case MaskEncoding::upper_triangle:
      return "1 strictly above the diagonal and 0 elsewhere, as triu(ones, 1) gives. A 1 on the "
             "diagonal would forbid a query itself";
    default:
      return "0 or 1";
  }
}

}  // namespace

Mask Mask::from(MaskEncoding encoding, const Tensor& matrix) {
  const int rank = matrix.ndim();
  if (rank < 2 || rank > 4 || (rank == 4 && matrix.size(1) == 0)) {
    throw Error("mask: the matrix is " + to_string(matrix.shape()) +
                ", but must be (queries, keys), (batch, queries, keys) or (batch, heads, queries, "
                "keys).");
  }
  if (rank == 4 && matrix.size(1) > 1) {
    std::vector<Mask> masks;
    for (Index head = 0; head < matrix.size(1); ++head) {
      masks.push_back(from(encoding, squeeze(slice(matrix.detach(), 1, head, head + 1), 1)));
    }
    return per_head(masks);
  }
  Rule rule{Rule::Kind::matrix};
  rule.matrix = MaskBits(leading(matrix).numel(), matrix.size(-2), matrix.size(-1));
  const std::vector<real> values = matrix.values();
  const Index queries = rule.matrix.queries, keys = rule.matrix.keys;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Index key = static_cast<Index>(i) % keys, query = static_cast<Index>(i) / keys % queries;
    const std::optional<bool> allowed = decode(encoding, values[i], query, key);
    if (!allowed) {
      throw Error("mask: " + exact_text(values[i]) + " at query " + std::to_string(query) +
                  ", key " + std::to_string(key) + " is not of the encoding " + name_of(encoding) +
                  ", which has " + rule_of(encoding) + ".");
    }
    if (*allowed) rule.matrix.allow(static_cast<Index>(i) / keys / queries, query, key);
  }
  return Mask(std::move(rule));
}

Tensor Mask::to(MaskEncoding encoding, const Shape& scores) const {
  const Tensor keep = tensor(scores);  // (queries, keys), or with the leading axes of scores
  if (encoding == MaskEncoding::additive) {
    return where(keep, 0, -std::numeric_limits<double>::infinity());  // as keep
  }
  if (encoding == MaskEncoding::upper_triangle) {
    const Tensor one = causal().tensor({scores[-2], scores[-1]});  // (queries, keys)
    if (keep.values() != expand(one, keep.shape()).values()) {
      throw Error(
          "mask: upper_triangle can only write a causal mask without offset; this one is "
          "different. Use keep, drop or additive.");
    }
    return 1 - keep;  // as keep
  }
  return encoding == MaskEncoding::drop ? 1 - keep : keep;
}

}  // namespace tapestry
