// The pictures of what ranks have and do.
#include "course/rank_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"

using namespace tapestry;

namespace {

const SumState two_ranks = {"tree", "step 1 of 2", {{1, 3}, {0, 2}}, {{1, 0, 0, 2}}};

}  // namespace

TEST_CASE("a cell has a stripe for each rank in its sum, and an arrow shows what was sent",
          "[phase8][course]") {
  const plot::Canvas canvas = sums_over_ranks({two_ranks, two_ranks});
  const auto stripes = plot::all<plot::FilledRect>(canvas);
  REQUIRE(stripes.size() == 2 * 4);  // 1, 3 = 1 + 2, none in 0, and 2
  const plot::Colour colours[] = {plot::series_colour(0), plot::series_colour(0),
                                  plot::series_colour(1), plot::series_colour(1)};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(stripes[i].colour == colours[i]);
    CHECK(stripes[i].rect.width == 33);
    CHECK(stripes[i + 4].rect.y == stripes[i].rect.y);
    CHECK(stripes[i + 4].rect.x == stripes[i].rect.x + 395);
  }
  CHECK(stripes[2].rect.x == stripes[1].rect.x + 33);
  CHECK(stripes[3].rect.x == stripes[2].rect.x);
  CHECK(stripes[3].rect.y > stripes[2].rect.y);
  CHECK(plot::all<plot::FilledPolygon>(canvas).size() == 2 * 2 * 2);  // heads: white and black
  const plot::Names words = plot::words(canvas, plot::Role::other);
  CHECK(std::vector(words.begin(), words.begin() + 4) ==
        plot::Names{"tree", "step 1 of 2", "rank 0", "rank 1"});
  CHECK(plot::trouble(canvas) == "");
}

TEST_CASE("a state is the end of a step of all ranks, or how they ended", "[phase8][course]") {
  SumRecord a{{3}}, b{{3}};
  a.steps = {{{}, {1}}, {{}, {3}}, {{{0, 1, 0, 1}}, {3}}};
  b.steps = {{{}, {2}}, {{{1, 0, 0, 1}}, {2}}, {{}, {3}}};
  const std::vector<SumRecord> ranks = {a, b};
  const SumState first = state_after("tree", ranks, 0), up = state_after("tree", ranks, 1),
                 down = state_after("tree", ranks, 2), later = state_after("tree", ranks, 3);
  CHECK(first.title == "tree");
  CHECK(first.caption == "step 0 of 2");
  CHECK(first.vectors == std::vector<std::vector<float>>{{1}, {2}});
  CHECK(first.sent.empty());
  CHECK(up.caption == "step 1 of 2");
  CHECK(up.vectors == std::vector<std::vector<float>>{{3}, {2}});
  CHECK(up.sent == std::vector<Sent>{{1, 0, 0, 1}});
  CHECK(down.caption == "step 2 of 2: each rank has the sum");
  CHECK(down.sent == std::vector<Sent>{{0, 1, 0, 1}});
  CHECK(later.caption == down.caption);
  CHECK(later.vectors == down.vectors);
  CHECK(later.sent.empty());
}

TEST_CASE("tiles have the colours of their ranks, and work is bars", "[phase8][course]") {
  plot::Canvas canvas(400, 240);
  draw_tiles(canvas, {40, 100}, {0, 1, 1});
  const auto tiles = plot::all<plot::FilledRect>(canvas);
  REQUIRE(tiles.size() == 9);
  const plot::Colour a = plot::series_colour(0), b = plot::series_colour(1),
                     hidden = plot::theme::masked;
  const plot::Colour colours[] = {a, hidden, hidden, b, b, hidden, b, b, b};
  for (std::size_t i = 0; i < 9; ++i) CHECK(tiles[i].colour == colours[i]);
  draw_work(canvas, {200, 20}, {{2, 0}, {1, 3}, {4, 1}}, 4);
  const auto all = plot::all<plot::FilledRect>(canvas);
  REQUIRE(all.size() == 9 + 5);  // what has no length is not drawn
  CHECK(all[9].rect.width == 2 * all[10].rect.width);
  CHECK(all[11].rect.right() <= 400);
  CHECK(all[12].rect.x == all[10].rect.x);  // below, in the same step
  const plot::Names words = plot::words(canvas, plot::Role::other);
  CHECK(words == plot::Names{"tiles of keys", "tiles of queries", "rank 0", "2", "1", "4", "rank 1",
                             "3", "1"});
  CHECK(plot::trouble(canvas) == "");
}

TEST_CASE("the pictures of ranks look as they did", "[phase8][course]") {
  plot::check_snapshot("sums_over_ranks", 0xB1C5C07E17547AFDu, sums_over_ranks({two_ranks}));
  plot::Canvas canvas(400, 240);
  draw_tiles(canvas, {40, 100}, {0, 1, 1});
  draw_work(canvas, {200, 20}, {{2, 0}, {1, 3}, {4, 1}}, 4);
  plot::check_snapshot("tiles_of_ranks", 0x8572A00E43FFA84Cu, canvas);
}
