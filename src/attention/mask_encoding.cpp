// Conversion of masks from and to the conventions of other libraries.
#include <cmath>
#include <limits>
#include <utility>

#include "attention/mask_rule.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw.hpp"

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

// 1 if this entry allows attention, 0 if not, -1 if the encoding has no such value.
int decode(MaskEncoding encoding, real value, Index query, Index key) {
  switch (encoding) {
    case MaskEncoding::keep:
    case MaskEncoding::zero_one:
      return value == 1 ? 1 : value == 0 ? 0 : -1;
    case MaskEncoding::drop:
      return value == 1 ? 0 : value == 0 ? 1 : -1;
    case MaskEncoding::additive:
      return value == 0 ? 1 : value < -1e4 ? 0 : -1;
    case MaskEncoding::upper_triangle:  // anything on or below the diagonal is another mask
      return value == (key > query ? 1 : 0) ? (key > query ? 0 : 1) : -1;
  }
  return -1;
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
      masks.push_back(from(encoding, squeeze(slice(matrix.detached(), 1, head, head + 1), 1)));
    }
    return per_head(masks);
  }
  Rule rule{Rule::Kind::matrix};
  rule.matrix = MaskBits(rank == 2 ? 1 : matrix.size(0), matrix.size(-2), matrix.size(-1));
  const std::vector<real> values = matrix.values();
  const Index queries = rule.matrix.queries, keys = rule.matrix.keys;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Index key = static_cast<Index>(i) % keys, query = static_cast<Index>(i) / keys % queries;
    const int allowed = decode(encoding, values[i], query, key);
    if (allowed < 0) {
      throw Error("mask: " + exact_text(values[i]) + " at query " + std::to_string(query) +
                  ", key " + std::to_string(key) + " is not of the encoding " + name_of(encoding) +
                  ", which has " + rule_of(encoding) + ".");
    }
    if (allowed == 1) rule.matrix.allow(static_cast<Index>(i) / keys / queries, query, key);
  }
  return Mask(std::move(rule));
}

Tensor Mask::to(MaskEncoding encoding, const Shape& scores) const {
  Tensor result = tensor(scores);  // (queries, keys), or with the leading axes of scores
  const Index queries = scores[-2], keys = scores[-1];
  for (Index i = 0; i < result.count(); ++i) {
    real& value = raw(result)[i];
    const bool allowed = value != 0;
    const bool above = i % keys > i / keys % queries;
    if (encoding == MaskEncoding::additive) {
      value = allowed ? 0 : -std::numeric_limits<real>::infinity();
    } else if (encoding == MaskEncoding::drop || encoding == MaskEncoding::upper_triangle) {
      value = allowed ? 0 : 1;
    }
    if (encoding == MaskEncoding::upper_triangle && allowed == above) {
      throw Error(
          "mask: upper_triangle can only write a causal mask without offset; this one is "
          "different. Use keep, drop or additive.");
    }
  }
  return result;
}

}  // namespace tapestry
