#include "tapestry/pictures.hpp"

#include <cmath>

#include "catch.hpp"

namespace tapestry {
namespace {

TEST_CASE("a roofline rises with what is read and ends at the peak", "[phase0][pictures]") {
  Machine machine;
  machine.peak_gflops = 100;
  machine.read_gb_per_second = 10;
  const plot::LineChart chart =
      roofline(machine, {{"sum", 0.25, 2}, {"product", 50, 90}, {"slow", 1, 0.01}});
  REQUIRE(chart.series.size() == 1);
  const plot::Series& roof = chart.series[0];
  CHECK(roof.x.at(1) == 10);  // the ridge: 100 operations while 10 bytes are read
  CHECK(roof.y.at(1) == 100);
  CHECK(roof.y.at(2) == 100);
  CHECK(std::abs(roof.y.at(0) - 10 * roof.x.at(0)) < 1e-12);
  REQUIRE(chart.annotations.size() == 3);
  CHECK(chart.annotations[1].text == "product");
  CHECK(chart.annotations[1].x == 50);
  CHECK(chart.annotations[1].y == 90);
}

TEST_CASE("a roofline has room for every workload", "[phase0][pictures]") {
  Machine machine;
  machine.peak_gflops = 100;
  machine.read_gb_per_second = 10;
  const plot::LineChart none = roofline(machine, {});
  CHECK(*none.x_axis.low == 0.1);
  CHECK(*none.x_axis.high == 1000);
  const plot::LineChart wide = roofline(machine, {{"left", 0.001, 0.01}, {"right", 4000, 1e-5}});
  CHECK(*wide.x_axis.low < 0.001);
  CHECK(*wide.x_axis.high > 4000);
  CHECK(*wide.y_axis.low < 1e-5);
}

TEST_CASE("a picture of a mask: white where one may attend, black elsewhere",
          "[phase4][pictures]") {
  for (const Mask& mask : {Mask::causal(), Mask::padding({3}), Mask::padding({0})}) {
    const plot::Heatmap picture = mask_heatmap(mask, {"a", "b", "c"}, {"x", "y", "z"}, "who sees");
    CHECK(picture.title == "who sees");
    CHECK(picture.rows == 3);
    CHECK(picture.columns == 3);
    CHECK(picture.row_labels == std::vector<std::string>{"a", "b", "c"});
    CHECK(picture.column_labels == std::vector<std::string>{"x", "y", "z"});
    CHECK(picture.low == 0);  // fixed, or a mask of one colour would be grey
    CHECK(picture.high == 1);
    CHECK(plot::colour_at(picture.colours, 0) == plot::Colour{255, 255, 255});
    CHECK(plot::colour_at(picture.colours, 1).r < 40);
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        CHECK(picture.values[std::size_t(3 * i + j)] == (mask.allows(0, i, j) ? 0 : 1));
      }
    }
  }
}

}  // namespace
}  // namespace tapestry
