// The picture of step 63.
#include "course/linear_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("maps of both attentions, their difference, and a line for each by the factor",
          "[phase6][course]") {
  const Tensor softmax = Tensor::eye(6) * 0.8, linear = Tensor::full({6, 6}, 1. / 6);  // (6, 6)
  const plot::Canvas canvas =
      linear_picture({softmax, linear}, {{0.25, 0.1, 0.05}, {1, 0.6, 0.06}, {16, 1, 0.1}});
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Softmax attention, factor 1", "Linear attention, same q and k",
                    "Linear less softmax", "Weight on the one key that fits"});
  CHECK(plot::words(canvas, plot::Role::subtitle) ==
        plot::Names{"6 words look for themselves; q and k times a factor"});
  CHECK(plot::words(canvas, plot::Role::legend) ==
        plot::Names{"softmax", "linear", "uniform weights"});
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(linear_picture({softmax, linear}, {}), Error);
  plot::check_snapshot("linear_picture", 0x2D98BFDE0AAF5CAAu, canvas);
}
