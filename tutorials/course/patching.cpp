#include "course/patching.hpp"

#include <algorithm>
#include <map>

#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::patching {
namespace {

const Grammar grammar;
using Options = std::map<std::string, double>;  // what may come next, and how probable it is

bool disjoint(const Options& a, const Options& b) {
  return std::none_of(a.begin(), a.end(), [&](const auto& one) { return b.contains(one.first); });
}

Words five_words(Role role, Random& random) {
  Sentence sentence = grammar.sentence(random);
  while (sentence.links[2].role != role) sentence = grammar.sentence(random);
  sentence.words.pop_back();
  return sentence.words;
}

// Another word in that place after which the sentence ends otherwise; empty if there is none.
Words with_other_word(const Words& clean, std::size_t place, Random& random) {
  std::vector<Words> found;
  const Words before(clean.begin(), clean.begin() + static_cast<std::ptrdiff_t>(place));
  for (const auto& [word, probability] : grammar.next_word(before)) {
    Words other = clean;
    other[place] = word;
    const Options options = grammar.next_word(other);
    if (!options.empty() && disjoint(options, grammar.next_word(clean))) found.push_back(other);
  }
  if (found.empty()) return {};
  return found[static_cast<std::size_t>(random.randint(static_cast<Index>(found.size())))];
}

// The other sentence's word in that place; a verb with its subject.
Words with_third_word(Words clean, const Words& other, Role role, std::size_t place) {
  for (auto i = role == Role::verb_object ? 0 : place; i <= place; ++i) clean[i] = other[i];
  return clean;
}

Indices read(const std::vector<Words>& texts) {
  return next_word_batch(vocabulary(), texts).inputs;
}

// The logit difference of each pair: how far the words that may end the clean sentence are above
// those that may end the corrupted one.
Tensor difference(const Transformer& model, const Indices& ids, const Pairs& list) {
  const Tensor last =
      squeeze(slice(model(ids, {}, {.need_weights = true}), 1, length - 1, length), 1);
  return sum(last * list.direction, -1);  // (pairs)
}

// Where a layer can be patched head by head, and where its weights are filed.
const Words layer_heads = {"blocks.0.attention.heads", "blocks.1.attention.heads"};
const Words layer_weights = {"blocks.0.attention.weights", "blocks.1.attention.weights"};

constexpr Index all_heads = -1;

// 1 for one head, or all of them, at one position.
Tensor cell(Index head, Index position) {
  Tensor result = Tensor::zeros({heads, length, 1});  // (heads, length, 1)
  for (Index h = 0; h < heads; ++h) {
    if (head == all_heads || h == head) result.set({h, position, 0}, 1);
  }
  return result;
}

double mean_of(const Tensor& shares) { return double{mean(shares).item()}; }

}  // namespace

const Vocabulary& vocabulary() {
  static const Vocabulary words(grammar.words());
  return words;
}

Pairs draw_pairs(const std::string& name, Role role, Index changed) {
  Pairs result{name, changed, {}, {}, {}, {}, Tensor::zeros({pairs, vocabulary().size()})};
  Random random(11), more(12);
  const auto place = static_cast<std::size_t>(changed - 1);
  while (result.clean.size() < pairs) {
    const Words clean = five_words(role, random);
    const Words corrupted = with_other_word(clean, place, random);
    if (corrupted.empty()) continue;
    const Options right = grammar.next_word(clean), wrong = grammar.next_word(corrupted);
    Words third;
    const auto related = [&](const Options& to) { return !disjoint(to, grammar.next_word(third)); };
    do {
      third = with_third_word(clean, five_words(role, random), role, place);
    } while (related(right) || related(wrong));
    Words same_word = five_words(role, more);
    while (same_word[place] != corrupted[place]) same_word = five_words(role, more);
    const auto row = static_cast<Index>(result.clean.size());
    for (const auto& [word, p] : right) result.direction.set({row, vocabulary().id(word)}, p);
    for (const auto& [word, p] : wrong) result.direction.set({row, vocabulary().id(word)}, -p);
    result.clean.push_back(clean);
    result.corrupted.push_back(corrupted);
    result.third.push_back(third);
    result.same_word.push_back(same_word);
  }
  return result;
}

Patching::Patching(const Transformer& model, const Pairs& list)
    : model_(model),
      list_(list),
      corrupted_(difference(model, read(list.corrupted), list)),
      gap_(difference(model, read(list.clean), list) - corrupted_) {}

double Patching::gap() const { return mean_of(gap_); }

Tensor Patching::restored(const std::string& name, const Tensor& cells,
                          const std::vector<Words>& source) const {
  Capture seen;
  model_(read(source), {}, {.need_weights = true});
  const Tensor from = seen[name];  // (pairs, ...)
  seen.replace(name, [&](const Tensor& to) { return where(cells, from, to); });
  return (difference(model_, read(list_.corrupted), list_) - corrupted_) / gap_;  // (pairs)
}

double Patching::restored_by_layer(Index layer, const std::vector<Words>& source) const {
  const std::string& name = layer_heads[static_cast<std::size_t>(layer)];
  return mean_of(restored(name, cell(all_heads, length - 1), source));
}

Findings findings(const Transformer& model, const Patching& patching, const Pairs& list) {
  const Index all = 2 * heads, last = length - 1, count = static_cast<Index>(places.size());
  Findings f{Tensor::zeros({count, length}), Tensor::zeros({all, length}), Tensor::zeros({all}),
             Tensor::zeros({all}), Tensor()};
  for (Index at = 0; at < length; ++at) {
    for (Index place = 0; place < count; ++place) {
      const Tensor one = squeeze(slice(cell(0, at), 0, 0, 1), 0);  // (length, 1)
      const std::string& name = places[static_cast<std::size_t>(place)];
      f.by_place.set({place, at}, mean_of(patching.restored(name, one, list.clean)));
    }
    for (Index i = 0; i < all; ++i) {
      const std::string& name = layer_heads[static_cast<std::size_t>(i / heads)];
      const Tensor shares = patching.restored(name, cell(i % heads, at), list.clean);  // (pairs)
      f.by_head.set({i, at}, mean_of(shares));
      if (at < last) continue;
      f.deviation.set({i}, spread(shares).deviation);
      f.third.set({i}, mean_of(patching.restored(name, cell(i % heads, at), list.third)));
    }
  }
  const Capture seen;
  model(read(list.clean), {}, {.need_weights = true});
  const Tensor weights = concat({seen[layer_weights[0]], seen[layer_weights[1]]}, 1);
  f.weights = squeeze(slice(mean(weights, 0), 1, last, length), 1);  // (all, length)
  return f;
}

std::string head_name(Index head) {
  return std::to_string(head / heads) + "." + std::to_string(head % heads);
}

double agreement(const Findings& f, const Pairs& list) {
  const Tensor carried = squeeze(slice(f.by_head, 1, length - 1, length), 1);             // (8)
  const Tensor looked = squeeze(slice(f.weights, 1, list.changed, list.changed + 1), 1);  // (8)
  return double{rank_agreement(unsqueeze(carried, 0), unsqueeze(looked, 0)).item()};
}

}  // namespace tapestry::patching
