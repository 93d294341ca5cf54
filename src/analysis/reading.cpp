#include "analysis/reading.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "analysis/one_text.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

constexpr Index logits_at_once = 64;  // rows; of 50,000 words they take 13 megabytes

constexpr Where in_block[] = {Where::weights, Where::heads, Where::attention, Where::feed_forward};

const char* name_of(Where where) {
  switch (where) {
    case Where::weights:
      return "attention.weights";
    case Where::heads:
      return "attention.heads";
    case Where::attention:
      return "attention.output";
    case Where::feed_forward:
      return "feed_forward";
    case Where::input:
      break;
  }
  return "input";
}

bool changes(const TextVariant& variant, Index block, Where where) {
  return std::any_of(variant.changes.begin(), variant.changes.end(), [&](const Change& change) {
    return change.block == block && change.where == where;
  });
}

// A copy of x (variants, ...) with the changes of each variant at this place.
Tensor changed(const Tensor& x, const std::vector<const TextVariant*>& chunk, Index block,
               Where where, Index first) {
  const Tensor copy = x.clone();  // (variants, ...)
  for (Index i = 0; i < x.size(0); ++i) {
    for (const Change& change : chunk[static_cast<std::size_t>(i)]->changes) {
      if (change.block != block || change.where != where) continue;
      change.overwrite(squeeze(slice(copy, 0, i, i + 1), 0), first);
    }
  }
  return copy;
}

// The same for each of so many variants.
Tensor repeated(const Tensor& x, Index times) { return expand(x, x.shape().with(0, times)); }

}  // namespace

Index TextVariant::block() const {
  if (!hidden.empty() || changes.empty()) return 0;
  const auto earlier = [](const Change& a, const Change& b) { return a.block < b.block; };
  return std::min_element(changes.begin(), changes.end(), earlier)->block;
}

Reading::Reading(const char* caller, const Transformer& m, const Indices& text,
                 const Question& question, bool need_weights)
    : model(m),
      ids(one_text(caller, m, text)),
      length(ids.shape[1]),
      position(position_in(caller, question, length)),
      end(m.options.is_causal ? position + 1 : length),
      question_(question) {
  const Capture seen;
  answer =
      double{tapestry::answer(model(ids, {}, {.need_weights = need_weights}), question).item()};
  Tensor input = seen["embedding"];  // (1, length, d_model)
  for (Index i = 0; i < model.options.num_layers; ++i) {
    const std::string name = "blocks." + std::to_string(i) + ".", attention = name + "attention.";
    Block block;
    block.input = input;
    block.cache = {.keys = seen[attention + "key"], .values = seen[attention + "value"]};
    block.heads = seen[attention + "heads"];  // (1, heads, length, d_v)
    if (need_weights) block.weights = seen[attention + "weights"];
    blocks.push_back(block);
    input = seen[name + "output"];  // (1, length, d_model)
  }
  blocks.emplace_back();
  blocks.back().input = input;
  question_.position = 0;  // of the one row that is read out
}

std::vector<double> Reading::answers(const std::vector<TextVariant>& variants) const {
  std::vector<std::size_t> order(variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // In a decoder what stands before the first change stays, and what stands behind the position
  // that is asked about cannot matter.
  const auto first = [&](std::size_t i) { return model.options.is_causal ? variants[i].first : 0; };
  const auto place = [&](std::size_t i) { return std::pair(first(i), variants[i].block()); };
  std::erase_if(order, [&](std::size_t i) { return first(i) >= end; });
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  std::vector<double> result(variants.size(), answer);
  for (std::size_t begin = 0; begin < order.size();) {
    const Index most = std::max<Index>(1, rows_at_once / (end - first(order[begin])));
    std::size_t next = begin;
    Chunk chunk;
    while (next < order.size() && static_cast<Index>(chunk.size()) < most) {
      chunk.push_back(&variants[order[next++]]);
    }
    const std::vector<double> some = answers_of(chunk);
    for (std::size_t i = 0; i < some.size(); ++i) result[order[begin + i]] = some[i];
    begin = next;
    if (question_.progress) {
      question_.progress(static_cast<Index>(next), static_cast<Index>(order.size()));
    }
  }
  return result;
}

std::vector<double> Reading::answers_of(const Chunk& chunk) const {
  const Index first = model.options.is_causal ? chunk.front()->first : 0;
  const Index layers = model.options.num_layers, count = static_cast<Index>(chunk.size());
  std::vector<std::size_t> order(chunk.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return chunk[a]->block() < chunk[b]->block();
  });
  Chunk sorted;
  for (const std::size_t i : order) sorted.push_back(chunk[i]);
  Tensor x;           // (variants, positions, d_model): of those that differ by now
  Index entered = 0;  // their number
  for (Index i = 0; i <= layers; ++i) {
    const Index before = entered;
    while (entered < count && sorted[static_cast<std::size_t>(entered)]->block() == i) ++entered;
    if (entered > before) {
      // (1, positions, d_model)
      const Tensor input = slice(blocks[static_cast<std::size_t>(i)].input, 1, first, end);
      const Tensor joining = repeated(input, entered - before);  // (joining, positions, d_model)
      x = before == 0 ? joining : concat({x, joining}, 0);       // (entered, positions, d_model)
    }
    if (entered > 0) x = through(i, x, sorted, first);
  }
  const std::vector<double> said = answers_at(x, position - first);
  std::vector<double> result(said.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = said[i];
  return result;
}

// x (variants, positions, d_model), the input of the block, after what is changed there, to its
// output; behind the last block nothing is left to do.
Tensor Reading::through(Index number, const Tensor& input, const Chunk& chunk, Index first) const {
  const Index count = input.size(0);
  const auto changed_at = [&](Where where) {
    return std::any_of(chunk.begin(), chunk.begin() + count, [&](const TextVariant* variant) {
      return changes(*variant, number, where);
    });
  };
  Tensor x = input;  // (variants, positions, d_model)
  if (changed_at(Where::input)) x = changed(x, chunk, number, Where::input, first);
  if (number == model.options.num_layers) return x;
  const KeyValueCache& all = blocks[static_cast<std::size_t>(number)].cache;
  KeyValueCache before;
  if (first > 0) {
    before.keys = repeated(slice(all.keys, -2, 0, first), count);      // (variants, heads, ...)
    before.values = repeated(slice(all.values, -2, 0, first), count);  // (variants, heads, ...)
  }
  std::optional<Capture> seen;  // only where it is needed: it keeps all that it records
  for (const Where where : in_block) {
    if (!changed_at(where)) continue;
    if (!seen) seen.emplace();
    seen->replace(name_of(where),
                  [&, where](const Tensor& y) { return changed(y, chunk, number, where, first); });
  }
  return model.blocks[static_cast<std::size_t>(number)](
      x, mask(chunk, count, first),
      {.cache = first > 0 ? &before : nullptr, .need_weights = changed_at(Where::weights)});
}

// Of the first `count` variants; the others have not been reached.
Mask Reading::mask(const Chunk& chunk, Index count, Index first) const {
  const auto some = chunk.begin() + count;
  if (std::all_of(chunk.begin(), some, [](const TextVariant* v) { return v->hidden.empty(); })) {
    return {};
  }
  Tensor keep = Tensor::ones({count, end - first, end});  // (variants, queries, keys)
  for (Index i = 0; i < count; ++i) {
    for (const Index key : chunk[static_cast<std::size_t>(i)]->hidden) {
      for (Index query = first; query < end && key < end; ++query) {
        if (query != key) keep.set({i, query - first, key}, 0);
      }
    }
  }
  return Mask::from(MaskEncoding::keep, keep);
}

// x (variants, positions, d_model) behind the last block.
std::vector<double> Reading::answers_at(const Tensor& x, Index row) const {
  const Tensor said = slice(x, 1, row, row + 1);  // (variants, 1, d_model)
  std::vector<double> result;
  for (Index i = 0; i < x.size(0); i += logits_at_once) {
    const Tensor some =
        slice(said, 0, i, std::min(x.size(0), i + logits_at_once));  // (some, 1, d_model)
    const Tensor logits = model.read_out(some);                      // (variants, 1, vocab_size)
    const std::vector<real> values = tapestry::answer(logits, question_).values();
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

}  // namespace tapestry
