// The functions that the exercises of phase 3 ask for.
#pragma once

#include <functional>
#include <vector>

#include "course/learn.hpp"

namespace tapestry {

// 33b: what is to be tested, weights (n, n) of one head -> a score.
using Detector = std::function<double(const Tensor& weights)>;

}  // namespace tapestry

namespace learn {

Tensor previous_word_scores(const Tensor& weights);    // 33a
bool detector_passes(const Detector& f);               // 33b
Tensor entropy_of_rows(const Tensor& weights);         // 34a
Tensor rolled_out(const std::vector<Tensor>& layers);  // 35a
Tensor lost_without_links(const Tensor& weights, const Tensor& values, const Tensor& output,
                          Index right);                  // 36a
Tensor head_to_zero(const Tensor& outputs, Index head);  // 38a
Tensor head_to_mean(const Tensor& outputs, Index head);  // 38a

}  // namespace learn
