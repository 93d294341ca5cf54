// The film of step 64.
#include "course/tile_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// Four words, tiles of two: the first tile, the next one, which is hidden, and the two below.
std::vector<TileMoment> four_moments() {
  const Tensor terms({2, 2}, {1, 0, 0.5, 1}), ones = Tensor::ones({2, 1});
  const TileMoment first{0, 0, false, terms, {ones}, {ones * 2}, {ones * 3}};
  TileMoment hidden = first;
  hidden.key = 2, hidden.skipped = true, hidden.terms = {};
  TileMoment below = first;
  below.query = 2;
  TileMoment last = below;
  last.key = 2;
  last.tops.push_back(ones * 4), last.totals.push_back(ones * 5);
  last.distances.push_back(ones * 0);
  return {first, hidden, below, last};
}

}  // namespace

TEST_CASE("a tile that is met is seen for three frames, a skipped one for one",
          "[phase6][course]") {
  const std::vector<plot::Canvas> film = film_of_tiles(four_moments(), 4, 2);
  REQUIRE(film.size() == 3 + 1 + 3 + 3 + 3);
  const auto titles = [&](std::size_t i) { return plot::words(film[i], plot::Role::other); };
  CHECK(titles(0)[0] == "Queries 0 to 1 meet keys 0 to 1");
  CHECK(titles(2) == titles(0));
  CHECK(titles(3)[0] == "Queries 0 to 1 meet keys 2 to 3");
  CHECK(titles(3)[1] == "Nobody sees any of these: skipped");
  CHECK(titles(4)[0] == "Queries 2 to 3 meet keys 0 to 1");
  CHECK(titles(7)[0] == "Queries 2 to 3 meet keys 2 to 3");
  CHECK(titles(12) == titles(7));
  CHECK(plot::trouble(film[0]) == "");
  CHECK(film_of_tiles({}, 4, 2).empty());
}

TEST_CASE("the film of tiles looks as it did", "[phase6][course]") {
  plot::check_snapshot("film_of_tiles", 0xB913FB2C90A36979u, film_of_tiles(four_moments(), 4, 2));
}
