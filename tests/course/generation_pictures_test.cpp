// The picture of step 46.
#include "course/generation_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

TEST_CASE("the next words: the model beside the grammar, and at three temperatures",
          "[phase4][course]") {
  const WordShares allowed = {{"sat", 0.25}, {"ran", 0.75}};
  const std::vector<std::vector<double>> by_temperature = {
      {0.88, 0.12, 0}, {0.69, 0.21, 0.1}, {0.45, 0.26, 0.29}};
  const plot::Canvas canvas = generation_picture("a cow", allowed, by_temperature);
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"“a cow …”: the next word", "“a cow …”: temperature"});
  CHECK(plot::words(canvas, plot::Role::legend) ==
        plot::Names{"model", "grammar", "0.5", "1", "2"});
  CHECK(plot::words(canvas, plot::Role::x_tick) ==
        plot::Names{"ran", "sat", "ran", "sat", "all others"});
  const plot::Names values = plot::words(canvas, plot::Role::value);
  for (const char* value : {"0.75", "0.69", "0.88", "0.29"}) {
    CHECK(std::ranges::count(values, value) >= 1);
  }
  CHECK(std::ranges::count(values, "0.69") == 2);                     // in both charts
  const plot::Names ticks = plot::words(canvas, plot::Role::y_tick);  // one scale for both
  const auto half = ticks.begin() + std::ssize(ticks) / 2;
  CHECK(ticks.size() > 4);
  CHECK(plot::Names(ticks.begin(), half) == plot::Names(half, ticks.end()));
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(generation_picture("a cow", allowed, {{1, 0, 0}, {1, 0, 0}}), Error);
  CHECK_THROWS_AS(generation_picture("a cow", allowed, {{1, 0}, {1, 0}, {1, 0}}), Error);
  plot::check_snapshot("generation", 0x272138068855E7DAu, canvas);
}
