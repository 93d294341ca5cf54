// One text of a task, the induction model of step 26, and what it says when layer 1 is changed.
#pragma once

#include <string>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

inline const std::string layer = "blocks.1.attention";
inline const std::vector<Index> all_heads = {0, 1, 2, 3};  // of layer 1

// How well the right letter is said at the last position, or the difference of two such.
struct Effect {
  double logit;            // above the mean of all logits: a constant added to all changes nothing
  double log_probability;  // ln of the chance
};
Effect operator-(const Effect& a, const Effect& b);

// A model that reads one text.
struct Reader {
  const Transformer& model;
  Indices ids;  // (1, length)
  Index right;  // the letter to be said at the last position

  // What layer 1 records under that name is multiplied by the factors.
  Effect operator()(const std::string& name, const Tensor& factors) const;

  // The last query's link to a key, times `factor` in some heads. The other weights of the row stay
  // as they are, so that it no longer sums to 1.
  Effect with_link(Index key, const std::vector<Index>& in, double factor) const;

  Effect without_heads(const std::vector<Index>& cut) const;
};

Tensor factors_without(const std::vector<Index>& heads);  // (heads, 1, 1): 0 for these, else 1

// It reads all words but the last, which is to be said.
Reader reader_of(const Transformer& model, const TinyTask& task, const Words& words);

double mean_of(const std::vector<double>& values);
double correlation(const std::vector<double>& a, const std::vector<double>& b);  // Pearson's

}  // namespace tapestry
