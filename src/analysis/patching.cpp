#include "tapestry/analysis/patching.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/reading.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

// Both texts, and the places that are tried.
class Patching {
 public:
  const Reading clean, corrupted;

  Patching(const char* caller, const Transformer& model, const Indices& clean_ids,
           const Indices& corrupted_ids, const Question& question, bool need_weights = false)
      : clean(caller, model, clean_ids, question, need_weights),
        corrupted(caller, model, checked(caller, clean_ids, corrupted_ids), question,
                  need_weights) {
    if (have_gap(clean.answer, corrupted.answer)) return;
    throw Error(std::string(caller) + ": the clean text's answer is " +
                formatted("%.5g", clean.answer) + ", the corrupted one's " +
                formatted("%.5g", corrupted.answer) +
                ": without a difference there is nothing to bring back. Ask for another token, or "
                "give another text.");
  }

  // The first position at which anything can differ.
  Index first() const {
    if (!clean.model.options.is_causal) return 0;
    const std::vector<std::int32_t>&a = clean.ids.values, &b = corrupted.ids.values;
    return std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
  }

  // Whether what attention of this layer gives this position can change the answer.
  bool may_matter(Index layer, Index at) const {
    const bool last = layer == clean.model.options.num_layers - 1;
    return at >= first() && at < clean.end && (!last || at == clean.position);
  }

  // The effect of each change at its place, 0 elsewhere.
  struct Tried {
    Index place;  // a number of the result
    TextVariant variant;
  };
  Tensor effects(const std::vector<Tried>& all, const Shape& shape) const {
    std::vector<TextVariant> variants;
    for (const Tried& one : all) variants.push_back(one.variant);
    std::vector<real> effects(static_cast<std::size_t>(shape.numel()));
    const std::vector<double> answers = corrupted.answers(variants);
    for (std::size_t i = 0; i < all.size(); ++i) {
      effects[static_cast<std::size_t>(all[i].place)] =
          static_cast<real>((answers[i] - corrupted.answer) / (clean.answer - corrupted.answer));
    }
    return Tensor(shape, effects);
  }

 private:
  static const Indices& checked(const char* caller, const Indices& a, const Indices& b) {
    if (a.shape.numel() == b.shape.numel()) return b;
    throw Error(std::string(caller) + ": the clean text has " + std::to_string(a.shape.numel()) +
                " tokens, the corrupted one " + std::to_string(b.shape.numel()) +
                ": places are compared by position. Give texts of one length.");
  }
};

const Reading::Block& block_of(const Reading& reading, Index layer) {
  return reading.blocks[static_cast<std::size_t>(layer)];
}

// Rows [begin, begin + count) of one table (length, width) of `from`, to the same positions of
// `to`, whose rows are the positions from `first` on.
void copy_rows(const Tensor& from, const Tensor& to, Index table, Index begin, Index count,
               Index first) {
  const Index width = from.size(-1), length = from.size(-2), rows = to.size(-2);
  const Index end = std::min(begin + count, first + rows);
  const real* const source = raw(from) + table * length * width;
  real* const target = raw(to) + (table * rows - first) * width;
  std::copy(source + begin * width, source + end * width, target + begin * width);
}

TextVariant residual_as_in(const Reading& clean, Index layer, Index position) {
  const Tensor from = block_of(clean, layer).input.contiguous();  // (1, length, d_model)
  return {position, {{layer, Where::input, [=](const Tensor& to, Index first) {
                        copy_rows(from, to, 0, position, 1, first);
                      }}}};
}

// So many positions from `begin` on.
TextVariant head_as_in(const Reading& clean, Index layer, Index head, Index begin, Index count) {
  const Tensor from = block_of(clean, layer).heads.contiguous();  // (1, heads, length, d_v)
  return {begin, {{layer, Where::heads, [=](const Tensor& to, Index first) {
                     copy_rows(from, to, head, begin, count, first);
                   }}}};
}

TextVariant link_as_in(Index layer, Index head, Index query, Index key, real weight) {
  return {query, {{layer, Where::weights, [=](const Tensor& to, Index first) {
                     raw(to)[(head * to.size(1) + query - first) * to.size(2) + key] = weight;
                   }}}};
}

void check_layer(const char* caller, const Transformer& model, Index layer) {
  const Index layers = model.options.num_layers;
  if (layer >= 0 && layer < layers) return;
  throw Error(std::string(caller) + ": there is no layer " + std::to_string(layer) +
              (layers == 0 ? ": the model has none."
                           : ": the model's are 0 to " + std::to_string(layers - 1) + "."));
}

}  // namespace

bool have_gap(double clean, double corrupted) {
  return std::abs(clean - corrupted) >= 1e-4 * std::max(1.0, std::abs(clean));
}

Patches patch(const Transformer& model, const Indices& clean, const Indices& corrupted,
              const Question& question) {
  const Patching texts("patch", model, clean, corrupted, question);
  const Index layers = model.options.num_layers, heads = model.options.num_heads;
  const Index length = texts.clean.length, first = texts.first();
  std::vector<Patching::Tried> places, outputs;
  for (Index layer = 0; layer <= layers; ++layer) {
    for (Index at = first; at < texts.clean.end; ++at) {
      if (layer == layers && at != texts.clean.position) continue;
      places.push_back({layer * length + at, residual_as_in(texts.clean, layer, at)});
    }
    for (Index head = 0; head < heads && layer < layers; ++head) {
      outputs.push_back(
          {layer * heads + head, head_as_in(texts.clean, layer, head, first, length - first)});
    }
  }
  return {.clean = texts.clean.answer,
          .corrupted = texts.corrupted.answer,
          .residual = texts.effects(places, {layers + 1, length}),
          .heads = texts.effects(outputs, {layers, heads})};
}

Tensor patch_heads(const Transformer& model, const Indices& clean, const Indices& corrupted,
                   const Question& question, Index layer) {
  const Patching texts("patch_heads", model, clean, corrupted, question);
  check_layer("patch_heads", model, layer);
  const Index heads = model.options.num_heads, length = texts.clean.length;
  std::vector<Patching::Tried> places;
  for (Index i = 0; i < heads * length; ++i) {
    const Index head = i / length, at = i % length;
    if (!texts.may_matter(layer, at)) continue;
    places.push_back({i, head_as_in(texts.clean, layer, head, at, 1)});
  }
  return texts.effects(places, {heads, length});
}

Tensor patch_links(const Transformer& model, const Indices& clean, const Indices& corrupted,
                   const Question& question, Index layer) {
  const Patching texts("patch_links", model, clean, corrupted, question, true);
  check_layer("patch_links", model, layer);
  const Index heads = model.options.num_heads, length = texts.clean.length;
  // (1, heads, queries, keys) each
  const std::vector<real> weights = block_of(texts.clean, layer).weights.values();
  const std::vector<real> before = block_of(texts.corrupted, layer).weights.values();
  std::vector<Patching::Tried> places;
  for (std::size_t number = 0; number < weights.size(); ++number) {
    const Index i = static_cast<Index>(number);
    const Index head = i / (length * length), query = i / length % length;
    const real weight = weights[number];
    if (!texts.may_matter(layer, query) || weight == before[number]) continue;
    places.push_back({i, link_as_in(layer, head, query, i % length, weight)});
  }
  return texts.effects(places, {heads, length, length});
}

}  // namespace tapestry
