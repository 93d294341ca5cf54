// The pictures of step 37. Each gets its finding, the sentence below its title.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// Where words look: weights (words, words). The numbers stand in the cells of up to six words.
plot::Heatmap word_map(const Tensor& weights, const Words& words, const std::string& title,
                       const std::string& finding = "");

// The same of a causal model: what it may not see is masked.
plot::Heatmap causal_map(const Tensor& weights, const Words& words, const std::string& title,
                         const std::string& finding);

// How much outputs change with what was read: norms (words, words), divided by the largest. What is
// exactly 0 is grey.
plot::Heatmap derivative_map(const Tensor& norms, const Words& words, const std::string& finding);

// A map for each head, two side by side: weights (heads, words, words).
plot::HeatmapGrid head_maps(const Tensor& weights, const Words& words, const std::string& finding);

// The largest weight, a mean from 0 to 1, at each d_k: of scores that were divided, and of others.
plot::LineChart scale_chart(const std::vector<double>& d_k, const std::vector<double>& divided,
                            const std::vector<double>& not_divided, const std::string& finding);

// How many of six words each of four heads looks at, in effect.
plot::BarChart width_chart(const std::vector<double>& trained, const std::vector<double>& untrained,
                           const std::string& finding);

// Of eight heads, 0.0 to 1.3, the weight on what followed the same letter before, from 0 to 1; and
// on the place where it stood before letters were mixed.
plot::BarChart name_chart(const std::vector<double>& trained, const std::vector<double>& untrained,
                          const std::vector<double>& mixed, const std::string& finding);

// A point for each link: its weight, and by how much a cut of it lowers the right logit.
plot::LineChart cut_chart(const std::vector<double>& weights, const std::vector<double>& falls,
                          const std::string& finding);

}  // namespace tapestry
