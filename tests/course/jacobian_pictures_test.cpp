// The picture of step 42.
#include "course/jacobian_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

TEST_CASE("beside each mask stand the derivatives, crossed where they are 0", "[phase4][course]") {
  const Words words = {"the", "cat"};
  const std::vector<NamedMask> masks = {{"causal", Mask::causal()}, {"no mask", {}}};
  const Tensor below({2, 2}, {0.5, 0, 2, 1}), all({2, 2}, {0.25, 1, 0.75, 4});
  const plot::Canvas canvas = masks_beside_derivatives(words, masks, {below, all});
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"causal", "what y_i depends on", "no mask", "what y_i depends on"});
  CHECK(plot::words(canvas, plot::Role::row_label) ==
        plot::Names{"the", "cat", "the", "cat", "the", "cat", "the", "cat"});
  CHECK(plot::words(canvas, plot::Role::column_axis).at(1) == "input x_j");
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(masks_beside_derivatives(words, masks, {below}), Error);
  CHECK_THROWS_AS(
      masks_beside_derivatives(words, std::vector<NamedMask>(9), std::vector<Tensor>(9, below)),
      Error);
  plot::check_snapshot("jacobians", 0x9393125012CE3CDCu, canvas);
}
