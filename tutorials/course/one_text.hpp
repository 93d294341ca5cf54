// One text of a task, the induction model of step 26, and what it says when layer 1 is changed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

inline const std::string layer = "blocks.1.attention";
inline const std::vector<Index> all_heads = {0, 1, 2, 3};  // of layer 1

// How well the right letter is said at the last position, or the difference of two such.
struct Effect {
  double logit;            // above the mean of all logits: a constant added to all changes nothing
  double log_probability;  // ln of the chance
  double other = 0;        // the logit of the reader's other letter, above the same mean
};
Effect operator-(const Effect& a, const Effect& b);

// A model that reads one text.
struct Reader {
  const Transformer& model;
  Indices ids;          // (1, length)
  Index right;          // the letter to be said at the last position
  Index other = right;  // a letter to compare with

  // What layer 1 records under that name is multiplied by the factors.
  Effect operator()(const std::string& name, const Tensor& factors) const;

  // The last query's link to a key, times `factor` in some heads. The other weights of the row stay
  // as they are, so that it no longer sums to 1.
  Effect with_link(Index key, const std::vector<Index>& in, double factor) const;

  Effect without_heads(const std::vector<Index>& cut) const;
};

// It reads all words but the last, which is to be said.
Reader reader_of(const Transformer& model, const TinyTask& task, const Words& words);

// A letter of the task at random, any but the right one.
Index other_letter(const TinyTask& task, Index right, Random& random);

// What is left without some heads of layer 1, the last.
struct HeadCut {
  Effect left;
  double deviation;  // of the last position before the last layer norm, which divides by it
  double undivided;  // logit times deviation, but for what the norm adds: a sum over the heads
};
HeadCut head_cut(const Reader& reader, const std::vector<Index>& heads);

// The word said when the last query's weights on two keys are exchanged in some heads.
Index said_with_exchanged(const Reader& reader, Index key, Index other,
                          const std::vector<Index>& in);

// One number of each item: numbers(cuts, &HeadCut::deviation).
template <class Item, class Number>
std::vector<double> numbers(const std::vector<Item>& items, Number number) {
  std::vector<double> result;
  for (const Item& item : items) result.push_back(std::invoke(number, item));
  return result;
}

double mean_of(const std::vector<double>& values);
Spread spread_of(const std::vector<double>& values);  // as spread of a tensor
double correlation(const std::vector<double>& a, const std::vector<double>& b);  // Pearson's

// Two rows of numbers, one of each key: how far they put the keys in the same order by their sizes,
// without signs (rank_agreement), and whether both have their greatest at the same key.
double same_order(const std::vector<double>& a, const std::vector<double>& b);
bool same_greatest(const std::vector<double>& a, const std::vector<double>& b);

// Two maps under a causal mask, (length, length) each, compared by the sizes of their numbers:
// means over the rows with three keys or more, those of rank_agreement.
struct RowAgreement {
  double correlation;
  double same_greatest;  // the share of rows
};
RowAgreement row_agreement(const Tensor& a, const Tensor& b);

}  // namespace tapestry
