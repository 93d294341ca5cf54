// The picture of step 18.
#include "course/needs_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

TEST_CASE("each form has a row of three maps: weight, cut and swapped", "[phase1][course]") {
  const std::array<Words, 2> places = {Words{"det", "noun"}, Words{"verb", "adj"}};
  std::array<Needs, 2> needs = {Needs{{0.1, 0.2, 0.3, 0.4}, {0, 1, 2, 3}, {4, 5, 6, 7}},
                                Needs{{0.5, 0.6, 0.7, 0.8}, {8, 8.5, 0, 1}, {2, 3, 4, 5}}};
  const plot::Canvas canvas = maps_of_needs(places, needs);
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"form 1: weight", "form 1: rise of the loss, cut",
                    "form 1: rise of the loss, swapped", "form 2: weight",
                    "form 2: rise of the loss, cut", "form 2: rise of the loss, swapped"});
  const plot::Names values = plot::words(canvas, plot::Role::value);
  REQUIRE(values.size() == 24);
  CHECK(values[3] == "0.40");
  CHECK(values[7] == "3.00");
  CHECK(values[11] == "7.00");
  CHECK(values[12] == "0.50");
  CHECK(values[17] == "8.50");
  CHECK(values[23] == "5.00");
  const plot::Names rows = plot::words(canvas, plot::Role::row_label);
  CHECK(plot::Names(rows.begin() + 4, rows.begin() + 8) ==
        plot::Names{"det", "noun", "verb", "adj"});
  CHECK(plot::trouble(canvas) == "");
  needs[1].cut.pop_back();
  CHECK_THROWS_AS(maps_of_needs(places, needs), Error);
  needs[1].cut.push_back(1);
  plot::check_snapshot("maps_of_needs", 0x8C022EC5B6957FF4u, maps_of_needs(places, needs));
}
