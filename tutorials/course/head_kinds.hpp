// Four kinds of heads, scored on texts that repeat and on texts that do not: for steps 74 and 78.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "course/inside.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/tokenizer.hpp"

namespace tapestry {

// A text here is <bos>, a piece, and a second piece of as many tokens. The kind of a head says
// which key it looks at from position i.
enum class HeadKind {
  first,           // 0
  previous,        // i - 1, in the first piece
  previous_later,  // i - 1, in the second one, as for all others here
  duplicate,       // i - piece: the same token before, if the second piece repeats the first
  induction,       // i - piece + 1: what followed it there
};
inline constexpr std::array<HeadKind, 5> head_kinds = {HeadKind::first, HeadKind::previous,
                                                       HeadKind::previous_later,
                                                       HeadKind::duplicate, HeadKind::induction};
std::string to_string(HeadKind kind);

using Pieces = std::vector<std::vector<std::int32_t>>;

// The same second pieces in both. Targets are their tokens, but for the first of each.
struct TwoReadings {
  Batch again;  // (rows, 1 + 2 piece): behind themselves
  Batch other;  // behind other pieces: the control
};

// Throws Error unless all pieces have the same length, and there are as many others.
TwoReadings two_readings(std::int32_t bos, const Pieces& pieces, const Pieces& others);

// Pieces of random tokens; those of a row and of its other piece are all different. Throws Error
// for fewer than 2 piece tokens.
TwoReadings random_readings(std::int32_t bos, const std::vector<std::int32_t>& tokens, Index rows,
                            Index piece, Random& random);

// 200 texts for a model of letters (train_on_repetitions): pieces of 11 random letters. These are
// the last 26 ids of its vocabulary. Throws Error for a vocabulary of fewer.
TwoReadings letter_readings(const Transformer& model);

// Behind which passage a passage of a story stands as a control: one of another story; of its own,
// the next one, or the first for the last, so that none stands behind the one before it; or in
// order, the one before it, or the last for the first.
enum class Behind { other_story, own_story, in_order };

// 24 passages of 48 tokens, three of each of the eight stories (eight_stories.hpp), or those from
// number `from` on; `first` stands at the beginning of each text, for <bos>. The first token of an
// encoded story is left out. Throws Error for a story of fewer tokens, and for another `from`.
TwoReadings story_readings(const Tokenizer& tokenizer, std::int32_t first, Behind behind,
                           Index from = 0);

// The mean weight on the key of each kind, over the queries of its piece, when the model reads
// inputs: (kinds, layers, heads, rows). The first two queries of a text do not count.
Tensor kind_scores(const Transformer& model, const Batch& batch);

// What equal weights on all visible keys would score.
double even_score(HeadKind kind, Index piece);

using Heads = std::vector<HeadOf>;
Heads heads_of(const Transformer& model);
std::string to_string(const Heads& heads);  // " 1.3 3.6": layer and head, a blank before each

// How much lower ln p of a token of the second pieces is without some heads, on average.
struct Falls {
  double again, other;
  double odds;  // the same of ln(p / (1 - p)), read again
};

struct RandomFalls {
  Spread again, other, odds;
  Falls sum;  // of each cut alone, mean over the draws
};

// A model, texts, and what its heads do on them.
struct HeadStudy {
  Transformer model;
  TwoReadings texts;
  Tensor again_scores, other_scores;  // kind_scores
  Falls whole;                        // ln p and ln(p / (1 - p)) with all heads

  HeadStudy(Transformer model, TwoReadings texts);

  Falls falls(const Heads& cut, Replacement by = Replacement::zero) const;

  // As falls({one}), but counted once only.
  const Falls& fall_alone(HeadOf one) const;

  // The sum of what cutting each alone gives.
  Falls summed_falls(const Heads& cut) const;

  // None of these, but as many of each layer, drawn at random; or all others, where a layer has
  // fewer.
  Heads others_like(const Heads& cut, Random& random) const;

  // As falls, for such others, drawn twelve times.
  RandomFalls at_random(const Heads& cut) const;

  // The score of the best head of an untrained model of the same sizes: chosen on the first half of
  // the texts, and measured on the others; the mean of three models.
  double best_untrained(HeadKind kind) const;

  // Of all heads, those with the highest mean score in the first `rows` of the texts first.
  Heads by_score(const Tensor& scores, HeadKind kind, Index rows) const;

  // The first so many of these, by again_scores.
  Heads best(HeadKind kind, Index count, Index rows) const;

  Index rows() const { return again_scores.size(3); }

 private:
  mutable std::map<std::pair<Index, Index>, Falls> alone_;  // of layer and head
};

// The scores of one head in rows from ... to - 1.
Spread score_of(const Tensor& scores, HeadKind kind, HeadOf head, Index from, Index to);

}  // namespace tapestry
