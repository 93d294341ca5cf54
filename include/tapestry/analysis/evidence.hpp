// Evidence for naming a head after a pattern: mean and deviation of its scores over many sentences,
// compared with baselines that learned nothing. A pattern in one sentence is no evidence.
#pragma once

#include <string>
#include <vector>

#include "tapestry/analysis/patterns.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Numbers from many sentences. The deviation is that of a sample (it divides by count - 1), 0 for
// fewer than two; the mean of nothing is NaN.
struct Spread {
  double mean = 0, deviation = 0;
  Index count = 0;
};
[[nodiscard]] Spread spread(const Tensor& values);  // of all its elements; NaN gives NaN

// A head may be named after a pattern if its mean score is above that of every baseline by the
// margin, and by two standard errors of the difference. Never if there is a NaN. Throws Error
// without baselines: any head would pass.
//
// What each baseline rules out:
//   the same model untrained   that shape, mask or chance make the pattern
//   uniform attention          that there are few keys to choose from
//
// The same words in another order are no baseline; they are a test of what a head goes by. A head
// that looks at places ("previous word") scores the same on them. One that looks from a verb to
// its subject does not.
inline constexpr double naming_margin = 0.2;
[[nodiscard]] bool may_be_named(const Spread& score, const std::vector<Spread>& baselines,
                                double margin = naming_margin);

// What the heads of a layer did with many sentences.
struct Attended {
  Tensor weights = {};  // (sentences, heads, queries, keys)
  Mask mask = {};       // what the model could see, and which rows count (patterns.hpp)
  Indices ids = {};     // (sentences, keys), or none: then there is no evidence for induction
};

// How one head scores in one pattern.
struct Evidence {
  Pattern pattern = Pattern::self;
  Index offset = 0;       // of fixed_offset
  Spread score = {};      // the model
  double holds = 0;       // the share of sentences with a score of one half or more
  Spread untrained = {};  // the same model with its random initial weights
  Spread shuffled = {};   // the model, reading the words of the sentences in another order
  double uniform = 0;     // the mean score of uniform attention, at the same offset
  // Of induction, in the shuffled sentences, over the rows where place and letter disagree: the
  // weight on the key behind the same word as read there (letter), and on the key at which
  // that word's follower stood before the words changed places (place).
  Spread letter = {}, place = {};
};

// All evidence: a list of heads, for each of them every pattern in the order of all_patterns.
// Sentences without a row that can show a pattern are left out: for induction, those in which no
// word comes twice; under a causal mask, all for the next word (count 0, mean NaN). Throws Error if
// weights are not of four axes or the three differ in the number of heads, if there are ids and
// the shuffled ones are of another shape, and as pattern_score does.
[[nodiscard]] std::vector<std::vector<Evidence>> pattern_evidence(const Attended& model,
                                                                  const Attended& untrained,
                                                                  const Attended& shuffled);

// The pattern that a head may be named after, "previous word" or "fixed offset -3", or "none".
// - The mean score is at least one half, and above the untrained model and uniform attention (for
//   `uniform`, the untrained model) as may_be_named says.
// - Three sentences of four score one half or more: else a mean of 0.55 may be 1 in one half of the
//   sentences and 0.1 in the other.
// - For induction, the head goes by the letter where place and letter disagree: the weight there
//   is above that at the place, as may_be_named says. The other way round it is "by place".
// Of several patterns the one with the highest score; uniform and sparse only if there is no other,
// for they say the least. A name is not a function: ablation measures what the head does for the
// model (faithfulness.hpp).
[[nodiscard]] std::string head_name(const std::vector<Evidence>& of_head,
                                    double margin = naming_margin);

}  // namespace tapestry
