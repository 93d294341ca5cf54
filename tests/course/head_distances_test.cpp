// The tables and the picture of step 52.
#include "course/head_distances.hpp"

#include <algorithm>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "printed_by.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

const Looks near = {Tensor({2}, {1, 3}), Tensor({2}, {0.5, 0.75}), Tensor({2}, {0.25, 0.5})};
const Looks far = {Tensor({2}, {6, 6}), Tensor({2}, {1.25, 1}), Tensor({2}, {0.75, 1})};

}  // namespace

TEST_CASE("heads of another model stand behind those of the first", "[phase5][course]") {
  Looks both;
  both.add(near);
  both.add(far);
  CHECK(both.distance.values() == std::vector<real>{1, 3, 6, 6});
  CHECK(both.share.values() == std::vector<real>{0.5, 0.75, 1.25, 1});
  CHECK(both.entropy.values() == std::vector<real>{0.25, 0.5, 0.75, 1});
}

TEST_CASE("a row tells how far heads look, beside what that is compared with", "[phase5][course]") {
  CHECK(stdout_of([] { print_looks("copy", 1, near, far); }) ==
        "copy       1   2.00 +- 1.41       3.20      6.00          0.62       0.38\n");
  CHECK(stdout_of([] { print_controls("copy", {{{0.5, -0.001}, {1}}, {{-0.25, 0}, {2}}}); }) ==
        "copy     layer 0   uniform   0.50  0.00   cut   1.00\n"
        "copy     layer 1   uniform  -0.25  0.00   cut   2.00\n");
}

TEST_CASE("each head is a dot, in the colour of its layer", "[phase5][course]") {
  const plot::Canvas canvas = dots_of_heads({{"left", {near, far}}, {"right", {far}}});
  CHECK(plot::words(canvas, plot::Role::title) == plot::Names{"left", "right"});
  const plot::Names legend = plot::words(canvas, plot::Role::legend);
  CHECK(std::count(legend.begin(), legend.end(), "layer 0") == 2);
  CHECK(std::count(legend.begin(), legend.end(), "layer 1") == 1);
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(dots_of_heads({}), Error);
  CHECK_THROWS_AS(dots_of_heads({{"none", {}}}), Error);
  plot::check_snapshot("dots_of_heads", 0xAF3F08E9FC000A32u, canvas);
}
