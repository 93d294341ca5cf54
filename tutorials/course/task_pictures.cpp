#include "course/task_pictures.hpp"

#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry {

plot::Heatmap answer_map(const Tensor& weights, const TaskSequence& sequence,
                         const std::string& task, Index head) {
  const Words& words = sequence.words;
  const Index given = sequence.given, length = std::ssize(words);
  const Tensor rows = slice(slice(weights, 0, given, length), 1, 0, length);  // (answer, length)
  Words says(words.begin() + given, words.end()), reads = {"<bos>"};
  for (std::string& word : says) word = "says " + word;
  reads.insert(reads.end(), words.begin(), words.end() - 1);
  plot::Heatmap map =
      attention_heatmap(rows, says, reads, task + ": head " + std::to_string(head) + " of layer 1");
  for (Index at = 0; at < map.rows * length; ++at) {
    map.masked.push_back(at % length > given + at / length);
  }
  map.row_axis = "query";
  map.column_axis = "key: what was read";
  map.colour_bar = false;
  return map;
}

}  // namespace tapestry
