// The variants of attention, each with the explicit attention that it must agree with.
#include "course/laboratory.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tapestry/attention.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {
namespace {

Tensor by_softmax(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  return attention(q, k, v, mask).output;  // (batch, heads, queries, width)
}

Tensor by_products(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  return explicit_linear_attention(q, k, v, mask).output;  // (batch, heads, queries, width)
}

// A layer of several heads whose maps let q, k and v through as they are: queries are x, keys and
// values are the halves of its context.
Variant multi_head_layer(const LaboratorySizes& s, const Mask& mask) {
  const Index width = s.num_heads * s.width;
  Random unused(0);
  MultiHeadAttention layer(width, s.num_heads, unused, {.d_context = 2 * width});
  const Tensor same = Tensor::eye(width), nothing = Tensor::zeros({width, width});
  layer.query.weight = layer.output.weight = same;  // (width, width)
  layer.key.weight = concat({same, nothing}, 0);    // (2 * width, width)
  layer.value.weight = concat({nothing, same}, 0);  // (2 * width, width)
  const auto run = [layer, mask](const Tensor& q, const Tensor& k, const Tensor& v) {
    // (batch, length, 2 * width)
    const Tensor context = concat({concat_heads(k), concat_heads(v)}, -1);
    return split_heads(layer.cross_attend(concat_heads(q), context, mask), layer.num_heads);
  };
  return {
      "multi-head layer", "fused, between four linear maps", VariantKind::exact, 2, 1, mask, run,
      by_softmax};
}

// The weights of one head exist at a time, in the backward pass, too.
Tensor head_by_head(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  const auto attend = [mask](const std::vector<Tensor>& in) {
    return attention(in[0], in[1], in[2], mask).output;  // (batch, 1, length, width)
  };
  std::vector<Tensor> heads;
  for (Index h = 0; h < q.size(-3); ++h) {
    const auto one = [h](const Tensor& x) { return slice(x, -3, h, h + 1); };  // (batch, 1, ...)
    heads.push_back(checkpoint(attend, {one(q), one(k), one(v)}));
  }
  return concat(heads, -3);  // (batch, heads, length, width)
}

// As in generation: each position appends its key and value to the cache and attends to all of it.
Tensor token_by_token(const Tensor& q, const Tensor& k, const Tensor& v) {
  KeyValueCache cache;
  std::vector<Tensor> outputs;
  for (Index i = 0; i < q.size(-2); ++i) {
    const auto row = [i](const Tensor& x) { return slice(x, -2, i, i + 1); };  // (..., 1, width)
    cache = i == 0 ? KeyValueCache{row(k), row(v)}
                   : KeyValueCache{concat({cache.keys, row(k)}, -2),
                                   concat({cache.values, row(v)}, -2)};    // (..., i + 1, width)
    outputs.push_back(fused_attention(row(q), cache.keys, cache.values));  // (..., 1, width)
  }
  return concat(outputs, -2);  // (batch, heads, length, width)
}

Variant cached(const LaboratorySizes& s) {
  const VariantKind kind = s.is_causal ? VariantKind::exact : VariantKind::pattern;
  Variant made{
      "cached",  "one position at a time, causal", kind, 2, 1, Mask::causal(), token_by_token,
      by_softmax};
  made.forward_only = "a tape would keep the cache of every position";
  return made;
}

// Softmax attention under a mask, by the fused kernel.
Variant fused(const char* name, const std::string& about, VariantKind kind, double time_growth,
              const Mask& mask) {
  const auto run = [mask](const Tensor& q, const Tensor& k, const Tensor& v) {
    return fused_attention(q, k, v, mask);  // (batch, heads, length, width)
  };
  return {name, about, kind, time_growth, 1, mask, run, by_softmax};
}

// x (batch, groups, length, width) with each group as often as there are heads that read it.
Tensor repeated(const Tensor& x, Index heads) {
  std::vector<Tensor> list;
  for (Index h = 0; h < heads; ++h) {
    const Index group = h * x.size(-3) / heads;
    list.push_back(slice(x, -3, group, group + 1));  // (batch, 1, length, width)
  }
  return concat(list, -3);  // (batch, heads, length, width)
}

Variant grouped(const char* name, Index heads, Index groups, const Mask& mask) {
  // (batch, groups, length, width)
  const auto first = [groups](const Tensor& x) { return slice(x, -3, 0, groups); };
  const auto run = [first, mask](const Tensor& q, const Tensor& k, const Tensor& v) {
    return grouped_attention(q, first(k), first(v), mask);  // (batch, heads, length, width)
  };
  const auto reference = [first, heads](const Tensor& q, const Tensor& k, const Tensor& v,
                                        const Mask& seen) {
    // (batch, heads, queries, width)
    return attention(q, repeated(first(k), heads), repeated(first(v), heads), seen).output;
  };
  const std::string about = std::to_string(groups) + (groups == 1 ? " head" : " heads") +
                            " of keys and values for " + std::to_string(heads) + " of queries";
  return {name, about, VariantKind::other, 2, 1, mask, run, reference};
}

void add_exact(std::vector<Variant>& list, const LaboratorySizes& s, const Mask& all) {
  const auto in_chunks = [all, chunk = s.chunk](const Tensor& q, const Tensor& k, const Tensor& v) {
    return chunked_attention(q, k, v, all, chunk);  // (batch, heads, length, width)
  };
  const auto plain = [all](const Tensor& q, const Tensor& k, const Tensor& v) {
    return by_softmax(q, k, v, all);  // (batch, heads, length, width)
  };
  const auto by_heads = [all](const Tensor& q, const Tensor& k, const Tensor& v) {
    return head_by_head(q, k, v, all);  // (batch, heads, length, width)
  };
  constexpr VariantKind exact = VariantKind::exact;
  list.push_back({"explicit", "every weight is kept", exact, 2, 2, all, plain, by_softmax});
  list.push_back(multi_head_layer(s, all));
  list.push_back({"checkpointed", "explicit, head by head, computed twice", exact, 2, 2, all,
                  by_heads, by_softmax});
  list.push_back({"chunked", "explicit, " + std::to_string(s.chunk) + " queries at a time", exact,
                  2, 1, all, in_chunks, by_softmax});
  list.push_back(fused("fused", "weights are made block by block", exact, 2, all));
  list.push_back(cached(s));
}

void add_patterns(std::vector<Variant>& list, const LaboratorySizes& s, const Mask& all) {
  constexpr VariantKind kind = VariantKind::pattern;
  const Mask near = Mask::local(s.window);
  const std::string away = "at most " + std::to_string(s.window) + " positions away";
  const auto slide = [all, window = s.window](const Tensor& q, const Tensor& k, const Tensor& v) {
    return sliding_window_attention(q, k, v, window, all);  // (..., length, width)
  };
  list.push_back(fused("local", away + ", fused", kind, 1, near & all));
  list.push_back(
      {"sliding window", away + ", explicit", kind, 1, 1, near & all, slide, by_softmax});
  list.push_back(fused("strided", "multiples of " + std::to_string(s.stride) + " away", kind, 2,
                       Mask::strided(s.stride) & all));
  list.push_back(fused("blocked", "in its block of " + std::to_string(s.block), kind, 1,
                       Mask::blocked(s.block) & all));
  list.push_back(fused("global + local",
                       "the first " + std::to_string(s.global) + " see and are seen, and local",
                       kind, 1, (near | Mask::global(s.global)) & all));
}

void add_others(std::vector<Variant>& list, const LaboratorySizes& s, const Mask& all) {
  constexpr VariantKind kind = VariantKind::other;
  const auto linear = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return linear_attention(q, k, v);  // (batch, heads, length, width)
  };
  const auto causal_linear = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return causal_linear_attention(q, k, v);  // (batch, heads, length, width)
  };
  list.push_back({"linear", "elu + 1 in place of exp", kind, 1, 1, {}, linear, by_products});
  if (s.is_causal) list.back().skipped = "it sees what comes later; causal linear does not";
  list.push_back({"causal linear", "elu + 1, by prefix sums", kind, 1, 1, Mask::causal(),
                  causal_linear, by_products});
  Index groups = s.num_heads - 1;
  while (groups > 1 && s.num_heads % groups != 0) --groups;
  list.push_back(grouped("grouped-query", s.num_heads, std::max<Index>(groups, 1), all));
  if (groups <= 1) {
    list.back().skipped =
        "no number between 1 and " + std::to_string(s.num_heads) + " divides heads";
  }
  list.push_back(grouped("multi-query", s.num_heads, 1, all));
}

}  // namespace

std::vector<Variant> attention_variants(const LaboratorySizes& sizes) {
  check_fits(sizes, {.bytes = std::numeric_limits<double>::infinity()});
  const Mask all = sizes.is_causal ? Mask::causal() : Mask();
  std::vector<Variant> list;
  add_exact(list, sizes, all);
  add_patterns(list, sizes, all);
  add_others(list, sizes, all);
  return list;
}

}  // namespace tapestry
