// The pictures of steps 44 and 45.
#include "course/causal_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

WithoutMask sample_of_mask() {
  WithoutMask measured;
  measured.losses = {{"with", {1.5, 2.9, 1.6, 1.5, 1.5, 1.3, 0}},
                     {"without", {1.5, 2.9, 1.6, 1.5, 1.5, 3.1, 0.1}}};
  measured.with = Tensor({2, 3}, {0.25, 0.75, 0, 0.5, 0.5, 0});
  measured.without = Tensor({2, 3}, {0.125, 0.375, 0.5, 0.25, 0.25, 0.5});
  measured.tasks = {"copy", "sort"};
  measured.right = {{"everywhere", {100, 99}}, {"layer 1", {17, 5}}, {"nowhere", {12, 4}}};
  return measured;
}

}  // namespace

TEST_CASE("a missing mask: losses by word, where heads look, tasks", "[phase4][course]") {
  WithoutMask measured = sample_of_mask();
  const plot::Canvas canvas = without_mask_picture(measured);
  CHECK(plot::words(canvas, plot::Role::x_tick) ==
        plot::Names{"1st", "2nd", "3rd", "4th", "5th", "6th", "<eos>", "copy", "sort"});
  CHECK(plot::words(canvas, plot::Role::legend) ==
        plot::Names{"with", "without", "everywhere", "layer 1", "nowhere"});
  CHECK(plot::words(canvas, plot::Role::row_label) == plot::Names{"0.0", "0.1", "0.0", "0.1"});
  CHECK(plot::words(canvas, plot::Role::column_label) ==
        plot::Names{"<bos>", "1st", "2nd", "<bos>", "1st", "2nd"});
  const plot::Names values = plot::words(canvas, plot::Role::value);
  const auto times = [&](const char* value) { return std::ranges::count(values, value); };
  CHECK(times("3.10") == 1);
  CHECK(times("0.75") == 1);
  CHECK(times("0.00") == 1);  // a loss; the hidden keys have no number
  CHECK(times("0.50") == 4);
  CHECK(times("99") == 1);
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("without_mask", 0xFA554D92A64F32B2u, canvas);
  measured.losses[1].second.pop_back();
  CHECK_THROWS_AS(without_mask_picture(measured), Error);
}

TEST_CASE("the deciding word: bars of each head, of verbs and of prepositions",
          "[phase4][course]") {
  std::vector<std::vector<double>> columns = {{0.41, 0.99}, {0.17, 0.16}, {0.27, 0.69},
                                              {0.48, 0.75}, {0.18, 0.19}, {0.29, 0.53}};
  const plot::Canvas canvas = deciding_word_bars(columns, 1.0 / 6);
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Weight on the verb, before an object",
                    "Weight on the preposition, before a place"});
  CHECK(plot::words(canvas, plot::Role::x_tick) == plot::Names{"0.0", "0.1", "0.0", "0.1"});
  CHECK(plot::words(canvas, plot::Role::value) == plot::Names{"0.41", "0.17", "0.27", "0.99",
                                                              "0.16", "0.69", "0.48", "0.18",
                                                              "0.29", "0.75", "0.19", "0.53"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("deciding_word", 0x6379E27E1991587Bu, canvas);
  columns[4].pop_back();
  CHECK_THROWS_AS(deciding_word_bars(columns, 0.2), Error);
  columns.pop_back();
  CHECK_THROWS_AS(deciding_word_bars(columns, 0.2), Error);
}
