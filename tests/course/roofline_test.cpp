#include "course/roofline.hpp"

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
  const plot::LineChart wide = roofline(machine, {{"left", 0.001, 0.01}, {"right", 5000, 1e-5}});
  CHECK(*wide.x_axis.low == 0.0005);  // half of the least, twice the greatest
  CHECK(*wide.x_axis.high == 10000);
  CHECK(*wide.y_axis.low == 0.5e-5);
}

}  // namespace
}  // namespace tapestry
