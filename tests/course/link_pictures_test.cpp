// How step 36 shows the links of one text.
#include "course/link_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

// Two keys; in head 2 the numbers are four times those of the others.
MeasuredText two_keys() {
  MeasuredText text{{"<bos>", "a"}, "b"};
  for (const double scale : {1, 1, 4, 1}) {
    text.links.push_back({{0.125 * scale, 0.25, -0.5 * scale, {2 * scale, 0.0005}},
                          {0.0625 * scale, 0.75, 0.25 * scale, {-1 * scale, 0}}});
  }
  text.cut_in_all = {{5, 8}, {6, -4}};
  return text;
}

}  // namespace

TEST_CASE("a table has a line for each key of a head", "[phase3][course]") {
  CHECK(table_of_links(two_keys(), 2) ==
        "                                     cut in this head       cut in all heads\n"
        "word   weight  share  gradient     logit  log-probability    log-probability\n"
        "<bos>    0.50   0.25     -2.00      8.00           0.0005             8.0000\n"
        "a        0.25   0.75      1.00     -4.00           0.0000            -4.0000\n");
}

TEST_CASE("each measure is divided by its largest size, if that is more than rounding",
          "[phase3][course]") {
  MeasuredText text = two_keys();
  const plot::Canvas canvas = maps_of_links(text, 1e-3);
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Head 1.0", "Head 1.1", "Head 1.2", "Head 1.3"});
  const plot::Names rows = plot::words(canvas, plot::Role::row_label);
  REQUIRE(rows.size() == 4 * 5);
  CHECK(plot::Names(rows.begin() + 5, rows.begin() + 15) ==
        plot::Names{"weight, 0.125", "grad x weight, 0.500", "cut: logit, 2.000",
                    "cut: ln p, 0.001", "all cut: ln p, 8.000",  //
                    "weight, 0.500", "grad x weight, 2.000", "cut: logit, 8.000",
                    "cut: ln p, 0.001", "all cut: ln p, 8.000"});
  const plot::Names values = plot::words(canvas, plot::Role::value);
  REQUIRE(values.size() == 4 * 10);
  CHECK(plot::Names(values.begin() + 20, values.begin() + 30) ==
        plot::Names{"1.00", "0.50", "−1.00", "0.50", "1.00", "−0.50", "0.50", "0.00", "1.00",
                    "−0.50"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("maps_of_links", 0x10480F3B287E1FB9u, canvas);
  text.links[3].pop_back();
  CHECK_THROWS_AS(maps_of_links(text, 1e-3), Error);
}
