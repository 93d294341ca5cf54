#include "course/head_kinds.hpp"

#include <algorithm>
#include <numeric>

#include "course/eight_stories.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {
namespace {

Batch behind(std::int32_t bos, const Pieces& first, const Pieces& second) {
  const std::size_t piece = second.empty() ? 0 : second.front().size(), length = 1 + 2 * piece;
  Batch batch;
  for (std::size_t row = 0; row < second.size(); ++row) {
    if (first[row].size() != piece || second[row].size() != piece) {
      throw Error("two_readings: pieces differ in length.");
    }
    std::vector<std::int32_t> text = {bos};
    text.insert(text.end(), first[row].begin(), first[row].end());
    text.insert(text.end(), second[row].begin(), second[row].end());
    batch.inputs.values.insert(batch.inputs.values.end(), text.begin(), text.end());
    for (std::size_t i = 0; i < length; ++i) {
      batch.targets.values.push_back(i > piece && i + 1 < length ? text[i + 1] : -1);
    }
  }
  batch.inputs.shape = batch.targets.shape = {std::ssize(second), static_cast<Index>(length)};
  batch.lengths.assign(second.size(), static_cast<Index>(length));
  return batch;
}

Index key_of(HeadKind kind, Index query, Index piece) {
  switch (kind) {
    case HeadKind::first:
      return 0;
    case HeadKind::duplicate:
      return query - piece;
    case HeadKind::induction:
      return query - piece + 1;
    default:
      return query - 1;
  }
}

// Of each position the key of this kind, or -1 where it does not count.
Indices keys_of(HeadKind kind, Index piece) {
  const Index length = 1 + 2 * piece;
  const bool early = kind == HeadKind::previous;
  Indices keys({length}, std::vector<std::int32_t>(static_cast<std::size_t>(length), -1));
  for (Index i = early ? 2 : piece + 1; i < (early ? piece + 1 : length); ++i) {
    keys.values[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(key_of(kind, i, piece));
  }
  return keys;
}

void add(Falls& sum, const Falls& falls) {
  sum.again += falls.again;
  sum.other += falls.other;
  sum.odds += falls.odds;
}

Index in_layer(const Heads& heads, Index layer) {
  return std::count_if(heads.begin(), heads.end(), [=](HeadOf h) { return h.layer == layer; });
}

}  // namespace

std::string to_string(HeadKind kind) {
  switch (kind) {
    case HeadKind::first:
      return "first position";
    case HeadKind::previous:
      return "previous token";
    case HeadKind::previous_later:
      return "previous, later";
    case HeadKind::duplicate:
      return "duplicate token";
    default:
      return "induction";
  }
}

TwoReadings two_readings(std::int32_t bos, const Pieces& pieces, const Pieces& others) {
  if (pieces.size() != others.size()) throw Error("two_readings: as many others are needed.");
  return {behind(bos, pieces, pieces), behind(bos, others, pieces)};
}

TwoReadings random_readings(std::int32_t bos, const std::vector<std::int32_t>& tokens, Index rows,
                            Index piece, Random& random) {
  if (std::ssize(tokens) < 2 * piece) throw Error("random_readings: there are too few tokens.");
  Pieces pieces(static_cast<std::size_t>(rows)), others = pieces;
  for (std::size_t row = 0; row < pieces.size(); ++row) {
    const std::vector<Index> order = random.permutation(std::ssize(tokens));
    for (Index i = 0; i < 2 * piece; ++i) {
      const auto from = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      (i < piece ? pieces : others)[row].push_back(tokens[from]);
    }
  }
  return two_readings(bos, pieces, others);
}

TwoReadings letter_readings(const Transformer& model) {
  std::vector<std::int32_t> letters(26);
  const Index first = model.options.vocab_size - std::ssize(letters);
  if (first < 0) throw Error("letter_readings: the model has no 26 letters.");
  std::iota(letters.begin(), letters.end(), static_cast<std::int32_t>(first));
  Random random(74);
  return random_readings(Vocabulary::bos, letters, 200, 11, random);
}

TwoReadings story_readings(const Tokenizer& tokenizer, std::int32_t first, Behind behind,
                           Index from) {
  constexpr Index piece = 48, of_each = 3;
  Pieces pieces, others;
  for (const char* story : stories) {
    const std::vector<std::int32_t> ids = tokenizer.encode(story).values;
    if (std::ssize(ids) <= of_each * piece) throw Error("story_readings: a story is too short.");
    for (auto at = ids.begin() + 1; at - ids.begin() < of_each * piece; at += piece) {
      pieces.emplace_back(at, at + piece);
    }
  }
  if (from < 0 || from >= std::ssize(pieces)) throw Error("story_readings: no such passage.");
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t own = i / 3 * 3 + (i + (behind == Behind::own_story ? 1 : 2)) % 3;
    others.push_back(pieces[behind == Behind::other_story ? (i + 7) % pieces.size() : own]);
  }
  return two_readings(first, {pieces.begin() + from, pieces.end()},
                      {others.begin() + from, others.end()});
}

Tensor kind_scores(const Transformer& model, const Batch& batch) {
  const Index piece = (batch.inputs.shape[1] - 1) / 2;
  const std::vector<Tensor> weights = weights_of(model, batch.inputs);  // (rows, heads, n, n) each
  std::vector<Tensor> kinds;
  for (const HeadKind kind : head_kinds) {
    std::vector<Tensor> layers;
    for (const Tensor& layer : weights) {
      layers.push_back(transpose(weight_on(layer, keys_of(kind, piece), Mask::causal())));
    }
    kinds.push_back(stack(layers, 0));  // (layers, heads, rows)
  }
  return stack(kinds, 0);  // (kinds, layers, heads, rows)
}

double even_score(HeadKind kind, Index piece) {
  const Tensor even = uniform_attention({1 + 2 * piece, 1 + 2 * piece}, Mask::causal());  // (n, n)
  return double{weight_on(even, keys_of(kind, piece), Mask::causal()).item()};
}

Heads heads_of(const Transformer& model) {
  Heads heads;
  for (Index layer = 0; layer < model.options.num_layers; ++layer) {
    for (Index head = 0; head < model.options.num_heads; ++head) heads.push_back({layer, head});
  }
  return heads;
}

std::string to_string(const Heads& heads) {
  std::string names;
  for (const HeadOf one : heads) names += formatted(" %td.%td", one.layer, one.head);
  return names;
}

HeadStudy::HeadStudy(Transformer read, TwoReadings by)
    : model(std::move(read)),
      texts(std::move(by)),
      again_scores(kind_scores(model, texts.again)),
      other_scores(kind_scores(model, texts.other)),
      whole{} {
  const Said again = said_without(model, texts.again, {});
  whole = {again.log_probability, said_without(model, texts.other, {}).log_probability,
           again.log_odds};
}

Falls HeadStudy::falls(const Heads& cut, Replacement by) const {
  const Said again = said_without(model, texts.again, cut, by);
  const Said other = said_without(model, texts.other, cut, by);
  return {whole.again - again.log_probability, whole.other - other.log_probability,
          whole.odds - again.log_odds};
}

const Falls& HeadStudy::fall_alone(HeadOf one) const {
  const auto [place, is_new] = alone_.try_emplace({one.layer, one.head});
  if (is_new) place->second = falls({one});
  return place->second;
}

Falls HeadStudy::summed_falls(const Heads& cut) const {
  Falls sum{0, 0, 0};
  for (const HeadOf one : cut) add(sum, fall_alone(one));
  return sum;
}

Heads HeadStudy::others_like(const Heads& cut, Random& random) const {
  Heads drawn;
  const Heads all = heads_of(model);
  for (const Index i : random.permutation(std::ssize(all))) {
    const HeadOf one = all[static_cast<std::size_t>(i)];
    const bool is_cut = std::any_of(cut.begin(), cut.end(), [&](HeadOf other) {
      return other.layer == one.layer && other.head == one.head;
    });
    if (!is_cut && in_layer(drawn, one.layer) < in_layer(cut, one.layer)) drawn.push_back(one);
  }
  return drawn;
}

RandomFalls HeadStudy::at_random(const Heads& cut) const {
  constexpr Index draws = 12;
  Random random(5);
  std::vector<real> again, other, odds;
  Falls sum{0, 0, 0};
  for (Index draw = 0; draw < draws; ++draw) {
    const Heads others = others_like(cut, random);
    const Falls joint = falls(others), alone = summed_falls(others);
    again.push_back(real(joint.again));
    other.push_back(real(joint.other));
    odds.push_back(real(joint.odds));
    add(sum, {alone.again / draws, alone.other / draws, alone.odds / draws});
  }
  const auto over_draws = [](const std::vector<real>& x) { return spread(Tensor({draws}, x)); };
  return {over_draws(again), over_draws(other), over_draws(odds), sum};
}

double HeadStudy::best_untrained(HeadKind kind) const {
  const Index rows = again_scores.size(3), half = rows / 2;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Transformer fresh = untrained(model, model.options.initializer, seed);
    const Tensor scores = kind_scores(fresh, texts.again);  // (kinds, layers, heads, rows)
    sum += score_of(scores, kind, by_score(scores, kind, half).front(), half, rows).mean;
  }
  return sum / 3;
}

Heads HeadStudy::by_score(const Tensor& scores, HeadKind kind, Index rows) const {
  Heads heads = heads_of(model);
  std::stable_sort(heads.begin(), heads.end(), [&](HeadOf a, HeadOf b) {
    return score_of(scores, kind, a, 0, rows).mean > score_of(scores, kind, b, 0, rows).mean;
  });
  return heads;
}

Heads HeadStudy::best(HeadKind kind, Index count, Index rows) const {
  const Heads heads = by_score(again_scores, kind, rows);
  return {heads.begin(), heads.begin() + count};
}

Spread score_of(const Tensor& scores, HeadKind kind, HeadOf head, Index from, Index to) {
  const auto only = [](const Tensor& x, int axis, Index i) { return slice(x, axis, i, i + 1); };
  const Tensor of_kind = only(scores, 0, static_cast<Index>(kind));      // (1, layers, heads, rows)
  const Tensor rows = only(only(of_kind, 1, head.layer), 2, head.head);  // (1, 1, 1, rows)
  return spread(slice(rows, 3, from, to));
}

}  // namespace tapestry
