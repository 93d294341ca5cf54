// The pictures of step 61.
#include "course/position_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;
using namespace tapestry::beyond_length;

namespace {

// Two schemes, two seeds, five lengths.
plot::LineChart two_schemes() {
  return shares_chart("Say it",
                      {Tensor({2, 5}, {1, 0.5, 0.5, 0, 0, 1, 1, 0.5, 0.5, 0}),
                       Tensor({2, 5}, {1, 1, 1, 0.75, 0.5, 1, 1, 1, 0.75, 0})},
                      {0.5, 0.4, 0.3, 0.2, 0.1}, 0.25);
}

// Any numbers from -1 to 1 will do.
plot::Canvas picture(const Tensor& p, const std::map<Index, Tensor>& alike) {
  return positions_picture(p, alike, two_schemes(), two_schemes());
}
Tensor up_and_down(const Shape& shape) {
  Tensor x = Tensor::zeros(shape);
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = real(i % 17 - 8) / 8;
  return x;
}

}  // namespace

TEST_CASE("shares are dots for each seed, and a line with the name of the scheme for their mean",
          "[phase6][course]") {
  const plot::LineChart chart = two_schemes();
  CHECK(chart.subtitle == "trained on 16 words; lines: means, dots: two seeds");
  REQUIRE(chart.series.size() == 3 + 3 + 1);
  for (const plot::Series& series : chart.series) {
    CHECK(series.x == std::vector<double>{16, 24, 32, 48, 64});
    CHECK(series.line == !series.name.empty());
    CHECK(series.markers == series.name.empty());
  }
  CHECK(chart.series[1].y == std::vector<double>{1, 1, 0.5, 0.5, 0});
  CHECK(chart.series[2].name == "learned");
  CHECK(chart.series[2].y == std::vector<double>{1, 0.75, 0.5, 0.25, 0});
  CHECK(chart.series[5].name == "sinusoidal");
  CHECK(chart.series[5].y == std::vector<double>{1, 1, 1, 0.75, 0.25});
  CHECK(chart.series[5].colour == plot::series_colour(1));
  CHECK(chart.series[6].name == "without order");
  CHECK(chart.reference_lines.at(0).y == 0.25);
}

TEST_CASE("above the charts of both tasks are the sinusoids and how alike they are",
          "[phase6][course]") {
  const Tensor p = up_and_down({30, 16}), curve = up_and_down({30, 1});
  const plot::Canvas canvas = picture(p, {{0, curve}, {20, curve * 4}});
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Sinusoids: four of 16 columns", "All columns, sines and cosines by turns",
                    "How alike positions m and n are", "Say it", "Say it"});
  CHECK(plot::words(canvas, plot::Role::note) == plot::Names{"m = 0", "m = 20"});
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(picture(p, {}), Error);
  CHECK_THROWS_AS(picture(slice(p, 1, 0, 12), {{0, curve}}), Error);
  plot::check_snapshot("positions", 0x9A2F47A427E392A8u, canvas);
}
