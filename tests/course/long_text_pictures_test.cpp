// The picture of step 65.
#include "course/long_text_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("two maps of windows, and lines of memory by chunks", "[phase6][course]") {
  const Tensor sliding = Tensor::eye(4) * 0.1, joined = Tensor::full({7, 4}, 0.05);
  const plot::Canvas canvas =
      long_text_picture(sliding, joined, {{1024, 13, 23, 22}, {256, 3, 16, 6}, {64, 1, 14, 2}});
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Sliding window, 8 to each side", "Windows of 16, joined as a guide prints it",
                    "Chunks of queries: peak memory, 1024 words"});
  CHECK(plot::words(canvas, plot::Role::subtitle) ==
        plot::Names{"4 words, equal scores: 4 rows", "4 words, equal scores: 7 rows"});
  CHECK(plot::words(canvas, plot::Role::legend) ==
        plot::Names{"forward", "forward and backward", "forward and backward, checkpointed"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("long_text_picture", 0xCE4306A2EB31CD9Cu, canvas);
}
