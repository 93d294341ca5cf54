// The picture of step 58.
#include "course/induction_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"

using namespace tapestry;

namespace {

// A run of three moments: its loss falls and its scores rise, by so much.
InductionRun run_that_learns(double by) {
  Random random(1);
  InductionRun run{
      {"", 1, 1, Positions::none},
      Transformer({.vocab_size = 5, .max_length = 4, .d_model = 4, .num_heads = 2, .num_layers = 1},
                  random)};
  for (int i = 0; i < 3; ++i) {
    run.at.push_back(10 * i);
    run.loss.push_back(3 - by * i);
    run.previous.push_back(Tensor({2}, {0.1, 0.1 + 0.2 * by * i}));
    run.induction.push_back(Tensor({2}, {0.05 + 0.3 * by * i, 0.1}));
  }
  return run;
}

}  // namespace

TEST_CASE("runs of a kind share a colour and a name, in three charts", "[phase5][course]") {
  const plot::Canvas canvas = induction_picture(
      {{"formed", {run_that_learns(1), run_that_learns(0.75)}}, {"not", {run_that_learns(0.125)}}},
      2.5);
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Loss", "Induction score", "Previous-letter score"});
  const plot::Names legend = plot::words(canvas, plot::Role::legend);
  CHECK(std::ranges::count(legend, "formed") == 3);
  CHECK(std::ranges::count(legend, "not") == 3);
  CHECK(plot::words(canvas, plot::Role::y_axis) == plot::Names{"nats", "score", "score"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("induction", 0x1B24C223CA80BD0Eu, canvas);
}
