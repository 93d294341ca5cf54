// The pictures of steps 65 and 6i.
#include "course/long_text_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("lines of memory by chunks", "[phase6][course]") {
  const plot::Canvas canvas = chunks_picture({{1024, 13, 23, 22}, {256, 3, 16, 6}, {64, 1, 14, 2}});
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Chunks of queries: peak memory, 1024 words"});
  CHECK(plot::words(canvas, plot::Role::legend) ==
        plot::Names{"forward", "forward and backward", "forward and backward, checkpointed"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("chunks_picture", 0x5429D86653F1B5BCu, canvas);
}

TEST_CASE("two maps of windows", "[phase6][course]") {
  const Tensor sliding = Tensor::eye(4) * 0.1, joined = Tensor::full({7, 4}, 0.05);
  const plot::Canvas canvas = windows_picture(sliding, joined);
  CHECK(
      plot::words(canvas, plot::Role::title) ==
      plot::Names{"Sliding window, 8 to each side", "Windows of 16, joined as a guide prints it"});
  CHECK(plot::words(canvas, plot::Role::subtitle) ==
        plot::Names{"4 words, equal scores: 4 rows", "4 words, equal scores: 7 rows"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("windows_picture", 0xBA3E6C75FF078F7Cu, canvas);
}
