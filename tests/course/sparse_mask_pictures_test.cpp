// The picture of step 55.
#include "course/sparse_mask_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

const std::vector<NamedMask> masks = {{"one", Mask::causal()}, {"two", Mask::local(1)}};
const std::vector<double> shares = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
const std::vector<plot::Series> times = {{"fast", {500, 4000}, {1, 0.5}},
                                         {"slow", {500, 4000}, {1, 2}}};

// The last so many words with this role.
plot::Names last_words(const plot::Canvas& canvas, plot::Role role, std::ptrdiff_t count) {
  const plot::Names all = plot::words(canvas, role);
  return {all.end() - count, all.end()};
}

}  // namespace

TEST_CASE("below the masks stand the shares learned through each, and the times",
          "[phase5][course]") {
  const plot::Canvas canvas = sparse_masks(masks, {3, 7, 9}, shares, 2, times);
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"one", "two", "Share right, two layers", "Time, as a share of all before"});
  CHECK(last_words(canvas, plot::Role::row_label, 2) == plot::Names{"one", "two"});
  CHECK(last_words(canvas, plot::Role::column_label, 3) == plot::Names{"3", "7", "9"});
  CHECK(last_words(canvas, plot::Role::value, 6) ==
        plot::Names{"0.10", "0.20", "0.30", "0.40", "0.50", "0.60"});
  CHECK(plot::words(canvas, plot::Role::legend) == plot::Names{"fast", "slow"});
  CHECK(plot::trouble(canvas) == "");
  CHECK(plot::words(sparse_masks(masks, {3, 7, 9}, shares, 3, times), plot::Role::subtitle)[2] ==
        "guessing: 0.12; of three seeds the worse, out of reach the better");
  plot::check_snapshot("sparse_masks", 0xD24C357D1AA4CE8Du, canvas);
}

TEST_CASE("the picture of masks refuses what is missing", "[phase5][course]") {
  CHECK_THROWS_AS(sparse_masks({}, {3, 7, 9}, shares, 2, times), Error);
  CHECK_THROWS_AS(sparse_masks(masks, {}, {}, 2, times), Error);
  CHECK_THROWS_AS(sparse_masks(masks, {3, 7}, shares, 2, times), Error);
  CHECK_THROWS_AS(sparse_masks(masks, {3, 7, 9}, shares, 2, {}), Error);
}
