// The picture of step 26: where a head looks while its model says an answer.
#pragma once

#include <string>

#include "course/tasks.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The weights of a head that has read <bos> and the words of a sequence, (words + 1, words + 1): a
// row for each word of the answer, from where it is said, and a column for each key but the last
// word's, which nothing is said after. What had not been read yet is masked. The title names the
// task and the head of layer 1.
plot::Heatmap answer_map(const Tensor& weights, const TaskSequence& sequence,
                         const std::string& task, Index head);

}  // namespace tapestry
