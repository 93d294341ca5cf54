// The table and the picture of step 70.
#include "course/text_units.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "printed_by.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

const TextUnits bytes = {"bytes", 257, 1000, 1, 3.3, 4.8, {"0 merges: 2 tokens", {"a", " b"}}};
const TextUnits tokens = {"tokens", 4353, 315, 1, 6.2, 2.8, {"4096 merges: 1 token", {"a b"}}};

}  // namespace

TEST_CASE("a row of units has bits per byte, unless some are unknown", "[phase7][course]") {
  CHECK(stdout_of([] { print_row(tokens); }) ==
        "tokens                       4353            315      100.0 %      6.20      2.80\n");
  CHECK(
      stdout_of([] { print_row({"words", 5195, 360, 0.972, 5.26}); }) ==
      "words                        5195            360       97.2 %      5.26   (says nothing of "
      "<unk>)\n");
}

TEST_CASE("sentences stand above the length of a text and its two losses", "[phase7][course]") {
  const plot::Canvas canvas = picture_of_units({bytes, tokens});
  CHECK(plot::words(canvas, plot::Role::row_label) ==
        plot::Names{"0 merges: 2 tokens", "4096 merges: 1 token"});
  CHECK(plot::words(canvas, plot::Role::value) == plot::Names{"a", "_b", "a_b"});
  CHECK(plot::words(canvas, plot::Role::y_axis) ==
        plot::Names{"tokens in 1000 bytes", "loss of a held-out text"});
  CHECK(plot::words(canvas, plot::Role::legend) == plot::Names{"nats per token", "bits per byte"});
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(picture_of_units({}), Error);
  plot::check_snapshot("picture_of_units", 0xF72271AB5CD0DD47u, canvas);
}
