// The picture of step 17.
#include "course/lookup_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

TEST_CASE("each d_k has a chart of the losses of all ways to form scores", "[phase1][course]") {
  const std::vector<LookupCurve> fast = {{"raw", {2, 1, 0.5, 0.25}},
                                         {"scaled", {1, 0.1, 0.01, 0.001}},
                                         {"small", {1.2, 0.2, 0.02, 0.002}}};
  const std::vector<LookupCurve> slow = {{"raw", {2.5, 2, 1.5, 1.25}}};
  const plot::Canvas canvas = lookup_picture({{512, slow}, {8, fast}});
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Learning to look up, d_k = 8", "Learning to look up, d_k = 512"});
  CHECK(plot::words(canvas, plot::Role::legend) == plot::Names{"raw", "scaled", "small", "raw"});
  CHECK(plot::words(canvas, plot::Role::x_axis) == plot::Names{"step", "step"});
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(lookup_picture({{8, {fast[0], fast[0], fast[0], fast[0]}}}), Error);
  CHECK_THROWS_AS(lookup_picture({{8, {}}}), Error);
  CHECK_THROWS_AS(lookup_picture({}), Error);
  plot::check_snapshot("lookup", 0x838B1CFCE4F87799u, canvas);
}
