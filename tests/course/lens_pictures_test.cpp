// The picture of step 50.
#include "course/lens_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

const std::vector<LikeliestWords> rows = {{"embedding", {"the", "old", "."}, {0.25, 0.5, 1}},
                                          {"layer 0", {"a", "dog", "runs"}, {0.75, 0, 0.125}}};
const Words sentence = {"<bos>", "the", "dog"};

plot::LineChart losses() {
  return loss_by_layer(Tensor({3, 2}, {2.5, 1.5, 2.25, 1.75, 2.75, 1.625}),
                       Tensor({3, 2}, {1.75, 1.5, 1.625, 1.5, 1.75, 1.75}), 1.46);
}

}  // namespace

TEST_CASE("behind each word that was read stands what each layer would say", "[phase5][course]") {
  plot::Canvas canvas(700, 300);
  draw_likeliest(canvas, canvas.area().inset(20), sentence, rows);
  CHECK(plot::words(canvas, plot::Role::column_label) == sentence);
  CHECK(plot::words(canvas, plot::Role::row_label) == plot::Names{"embedding", "layer 0"});
  CHECK(plot::words(canvas, plot::Role::value) ==
        plot::Names{"the", "old", ".", "a", "dog", "runs"});
  const std::vector<plot::Text> said = plot::texts(canvas, plot::Role::value);
  const std::vector<plot::Text> above = plot::texts(canvas, plot::Role::column_label);
  for (std::size_t i = 0; i < said.size(); ++i) {
    CHECK(plot::middle(said[i]).x == Approx(plot::middle(above[i % 3]).x));
  }
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(draw_likeliest(canvas, canvas.area(), sentence, {{"short", {"a"}, {1}}}), Error);
  CHECK_THROWS_AS(draw_likeliest(canvas, canvas.area(), {"one"}, {{"no p", {"a"}, {}}}), Error);
}

TEST_CASE("each seed is a line of losses, its lens and its probes in two colours",
          "[phase5][course]") {
  const plot::LineChart chart = losses();
  REQUIRE(chart.series.size() == 3 + 3);
  for (const plot::Series& series : chart.series) CHECK(series.x == std::vector<double>{-1, 0});
  CHECK(chart.series[1].y == std::vector<double>{2.25, 1.75});
  CHECK(chart.series[3].y == std::vector<double>{1.75, 1.5});
  CHECK(chart.series[0].name == "lens");
  CHECK(chart.series[2].name == "");
  CHECK(chart.series[3].name == "linear probe");
  CHECK(chart.series[2].colour == plot::series_colour(0));
  CHECK(chart.series[5].colour == plot::series_colour(1));
  CHECK(chart.reference_lines.at(0).y == 1.46);
}

TEST_CASE("the lens: words at the left, losses at the right", "[phase5][course]") {
  const plot::Canvas canvas = lens_picture(sentence, rows, losses());
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"What six layers would say next", "Loss after each layer"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("lens", 0xE4DDB46A746E05ADu, canvas);
}
