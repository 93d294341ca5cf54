// The picture of step 26.
#include "course/task_pictures.hpp"

#include "catch.hpp"

using namespace tapestry;

TEST_CASE("a row for each word of the answer, over the keys that had been read",
          "[phase2][course]") {
  const TaskSequence sequence{{"b", "a", "=>", "a", "b"}, 3, true};
  Tensor weights = Tensor::zeros({6, 6});  // (words + 1, words + 1)
  weights.set({3, 2}, 0.75);               // "=>", where "a" is said, looks at the first "a"
  weights.set({4, 1}, 0.5);
  const plot::Heatmap map = answer_map(weights, sequence, "sort", 2);
  CHECK(map.title == "sort: head 2 of layer 1");
  CHECK(map.row_labels == std::vector<std::string>{"says a", "says b"});
  CHECK(map.column_labels == std::vector<std::string>{"<bos>", "b", "a", "=>", "a"});
  CHECK(map.values == std::vector<double>{0, 0, 0.75, 0, 0, 0, 0.5, 0, 0, 0});
  CHECK(map.masked == std::vector<bool>{false, false, false, false, true,  //
                                        false, false, false, false, false});
  CHECK_FALSE(map.colour_bar);
}
