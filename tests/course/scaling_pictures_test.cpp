// What step 56 keeps of a film, and its pictures.
#include "course/scaling_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"

using namespace tapestry;
using namespace tapestry::scaling;

namespace {

// Looks at two items, with these losses.
Film film_of(const std::vector<double>& losses) {
  Film film;
  for (const double loss : losses) {
    Look look{Tensor({2, 2}, {0.75, 0.25, 1, 0}), Tensor({2, 2}, {-0.04, 0.04, 0.3, -0.3})};
    look.loss = loss, look.entropy = 0.4, look.by_w = 0.01, look.dead = 2, look.stuck = 1;
    film.push_back(look);
  }
  return film;
}

Settings four(Index steps) {
  const std::vector<double> falling = {2, 1, 0.5, 0.25};
  std::vector<double> losses;
  for (Index i = 0; i <= steps; ++i) losses.push_back(falling[std::size_t(i) % 4]);
  const std::vector<Film> films = {film_of(losses), film_of(losses)};
  return {Setting{"raw: not divided", 0.1, films}, Setting{"scaled: divided", 1, films},
          Setting{"small: smaller start", 0.1, films}, Setting{"large: larger start", 1, films}};
}

}  // namespace

TEST_CASE("what is seen of several seeds and steps is averaged over them", "[phase5][course]") {
  const Setting setting{"raw: not divided", 0.1, {film_of({1, 2, 3}), film_of({3, 4, 8})}};
  CHECK(setting.short_name() == "raw");
  CHECK(setting.mean(1, &Look::loss) == 3);
  CHECK(setting.mean(0, 2, &Look::loss) == 3.5);
  CHECK(setting.mean(2, &Look::dead) == 2);
  CHECK(setting.median(0, 2, &Look::loss) == 3);  // of 1, 2, 3, 3, 4 and 8
  CHECK(setting.median(1, 2, &Look::loss) == 4);  // of 2, 3, 4 and 8
  CHECK(setting.median(0, 0, &Look::loss) == 3);
}

TEST_CASE("a running median takes the steps that are near on a log axis, up to the last one",
          "[phase5][course]") {
  const Setting setting{"raw", 0.1, {film_of({1, 9, 2, 8, 3, 5, 4, 30})}};
  const auto median = [&](Index step, Index last) {
    return setting.running_median(step, last, &Look::loss);
  };
  CHECK(median(0, 7) == 1);  // itself alone: 2 is twice as much
  CHECK(median(1, 7) == 9);
  CHECK(median(3, 7) == 8);  // of two the larger one
  CHECK(median(6, 7) == 5);  // of 5, 4 and 30
  CHECK(median(6, 6) == 5);
  CHECK(median(7, 7) == 30);
}

TEST_CASE("a film shows every step at first, fewer later, and stands still at both ends",
          "[phase5][course]") {
  const std::vector<plot::Canvas> film = frames(four(41), 512);
  REQUIRE(film.size() == 5 + 23 + 12);
  const auto heading = [&](std::size_t i) { return plot::words(film[i], plot::Role::other).at(0); };
  const std::string task =
      "2 queries, each should look at its own key; d_k = 512 (curves: 2 seeds)";
  CHECK(heading(0) == "Step 0. " + task);
  CHECK(heading(5) == "Step 0. " + task);
  CHECK(heading(6) == "Step 1. " + task);
  CHECK(heading(21) == "Step 16. " + task);
  CHECK(heading(22) == "Step 20. " + task);
  CHECK(heading(27) == "Step 40. " + task);
  CHECK(heading(28) == "Step 41. " + task);
  CHECK(heading(39) == "Step 41. " + task);
}

TEST_CASE("a picture of step 56 has maps of two settings, and curves of all four",
          "[phase5][course]") {
  const plot::Canvas canvas = frame(four(3), 64, 3, 1);
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"raw: not divided", "d loss / d A", "scaled: divided", "d loss / d A", "Loss",
                    "Entropy", "Gradient of W_Q, W_K", "Rows stuck"});
  const plot::Names legend = plot::words(canvas, plot::Role::legend);
  REQUIRE(legend.size() == 16);
  CHECK(std::vector(legend.begin(), legend.begin() + 4) ==
        plot::Names{"raw", "scaled", "small", "large"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("scaling_frame", 0xC32AB5EE4E3814A5u, canvas);
}
