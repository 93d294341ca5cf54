// The pictures of steps 73 and 77.
#include "course/storyteller_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

TEST_CASE("two lines tell what one more token costs", "[phase7][course]") {
  const plot::Canvas canvas = times_of_a_token({1, 64, 512}, {1, 5, 90}, {1, 1.5, 2});
  CHECK(plot::words(canvas, plot::Role::legend) == plot::Names{"all read again", "with the cache"});
  CHECK(plot::words(canvas, plot::Role::x_axis) == plot::Names{"tokens before it"});
  CHECK(plot::words(canvas, plot::Role::y_axis) == plot::Names{"milliseconds"});
  CHECK_THROWS_AS(times_of_a_token({1, 2}, {1, 2}, {1}), Error);
  CHECK_THROWS_AS(times_of_a_token({}, {}, {}), Error);
  plot::check_snapshot("times_of_a_token", 0xC4AE39F4A81EDA78u, canvas);
}

TEST_CASE("the first tokens of each text are bars", "[phase7][course]") {
  const TokenBars story = {"the story", {" the", "n", " a dog"}, {0.5, 0.75, 0.25}};
  const TokenBars other = {"greedy", {"x", " y"}, {1, 1}};
  const plot::Canvas canvas = bars_of_tokens({story, other}, 2);
  CHECK(plot::words(canvas, plot::Role::title) == plot::Names{"the story", "greedy"});
  CHECK(plot::words(canvas, plot::Role::x_tick) == plot::Names{"␣the", "n", "x", "␣y"});
  CHECK(plot::words(canvas, plot::Role::value).empty());
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(bars_of_tokens({story, other}, 3), Error);
  CHECK_THROWS_AS(bars_of_tokens({{"one", {"x", "y"}, {1}}}, 2), Error);
  CHECK_THROWS_AS(bars_of_tokens({}, 2), Error);
  plot::check_snapshot("bars_of_tokens", 0x8FEA4ACB6B27F1D5u, canvas);
}
