// Biases by distance: the buckets of T5 and the slopes of ALiBi.
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

RelativeBias scattered_bias(Index heads, bool causal) {
  Random random(5);
  RelativeBias bias(heads, causal, random);
  scatter(bias.parameters(), random);
  return bias;
}

}  // namespace

TEST_CASE("near distances have a bucket each, further ones share wider and wider ones",
          "[phase6][nn]") {
  // Where each bucket of 32 up to distance 128 begins: 16 * 8^(i / 16), and 8 * 16^(i / 8), rounded
  // up.
  const std::vector<Index> causal = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31,
                                     35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  const std::vector<Index> one_side = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  const auto bucket = [](const std::vector<Index>& begins, Index distance) {
    Index found = -1;
    for (const Index begin : begins) found += distance >= begin;
    return found;
  };
  for (Index distance = 0; distance < 200; ++distance) {
    CAPTURE(distance);
    CHECK(relative_position_bucket(-distance, true) == bucket(causal, distance));
    CHECK(relative_position_bucket(distance, true) == 0);  // ahead: nobody sees it
    CHECK(relative_position_bucket(-distance, false) == bucket(one_side, distance));
    if (distance > 0)
      CHECK(relative_position_bucket(distance, false) == 16 + bucket(one_side, distance));
  }
}

TEST_CASE("buckets for other sizes, and for distances beyond all sense", "[phase6][nn]") {
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const Index buckets : {2, 4, 10, 64}) {
    for (const Index farthest : {100, 128, 1000}) {
      for (const bool causal : {true, false}) {
        if (!causal && buckets < 4) continue;
        CAPTURE(buckets, farthest, causal);
        const Index side = causal ? buckets : buckets / 2;
        Index before = 0;
        for (Index distance = 0; distance <= farthest; ++distance) {
          const Index now = relative_position_bucket(-distance, causal, buckets, farthest);
          CHECK((now == before || now == before + 1));
          before = now;
        }
        CHECK(before == side - 1);
        CHECK(relative_position_bucket(-most - 1, causal, buckets, farthest) == side - 1);
        CHECK(relative_position_bucket(most, causal, buckets, farthest) ==
              (causal ? 0 : buckets - 1));
      }
    }
  }
  // In double, the last distance below such a max_distance is as long as that.
  CHECK(relative_position_bucket(1 - most, true, 32, most) == 31);
  CHECK(relative_position_bucket(most - 1, false, 32, most) == 31);
}

TEST_CASE("the relative bias is the table's number for the distance and the head", "[phase6][nn]") {
  for (const bool causal : {true, false}) {
    const RelativeBias bias = scattered_bias(3, causal);
    for (const Index queries : {0, 1, 2, 33}) {
      for (const Index first : {0, 4, 150}) {
        const Index keys = first + queries;
        const std::vector<double> expected = tabulate({3, queries, keys}, [&](const Place& at) {
          return element(bias.table.weight,
                         {relative_position_bucket(at[2] - at[1] - first, causal), at[0]});
        });
        CHECK(difference(bias(queries, keys, first), {3, queries, keys}, expected, 0) == "");
      }
    }
    CHECK(names(bias.parameters("r.")) == std::vector<std::string>{"r.table.weight"});
  }
}

TEST_CASE("the gradients of the relative bias are right", "[phase6][nn]") {
  for (const bool causal : {true, false}) {
    const RelativeBias bias = scattered_bias(2, causal);
    for (const Index length : {1, 2, 31, 33}) {
      CHECK(wrong_gradient_of(bias.parameters(), [&] { return softmax(bias(length, length)); }) ==
            "");
    }
  }
}

TEST_CASE("ALiBi's slopes, for any number of heads", "[phase6][nn]") {
  const auto powers = [](std::vector<double> exponents) {
    for (double& e : exponents) e = std::pow(2.0, e);
    return exponents;
  };
  CHECK(difference(alibi_slopes(1), {1}, powers({-8})) == "");
  CHECK(difference(alibi_slopes(2), {2}, powers({-4, -8})) == "");
  CHECK(difference(alibi_slopes(3), {3}, powers({-4, -8, -2})) == "");
  CHECK(difference(alibi_slopes(4), {4}, powers({-2, -4, -6, -8})) == "");
  CHECK(difference(alibi_slopes(6), {6}, powers({-2, -4, -6, -8, -1, -3})) == "");
  CHECK(difference(alibi_slopes(8), {8}, powers({-1, -2, -3, -4, -5, -6, -7, -8})) == "");
  CHECK(difference(alibi_slopes(12), {12},
                   powers({-1, -2, -3, -4, -5, -6, -7, -8, -0.5, -1.5, -2.5, -3.5})) == "");
  CHECK(same_number(double{alibi_slopes(16).at({0})}, std::sqrt(0.5), tight));
}

TEST_CASE("ALiBi takes the slope away for each step of distance, either way", "[phase6][nn]") {
  for (const Index queries : {0, 1, 2, 31, 33}) {
    for (const Index first : {0, 5}) {
      const Index keys = first + queries;
      const std::vector<double> expected = tabulate({2, queries, keys}, [&](const Place& at) {
        const double slope = at[0] == 0 ? 1.0 / 16 : 1.0 / 256;
        return -slope * std::abs(static_cast<double>(at[1] + first - at[2]));
      });
      CHECK(difference(alibi_bias(2, queries, keys, first), {2, queries, keys}, expected, 0) == "");
    }
  }
}

TEST_CASE("biases by distance say what cannot be", "[phase6][nn]") {
  CHECK(complaint([] { relative_position_bucket(0, true, 1); },
                  {"relative bucket: buckets is 1"}) == "");
  CHECK(complaint([] { relative_position_bucket(0, false, 2); }, {"buckets is 2", "not causal"}) ==
        "");
  CHECK(complaint([] { relative_position_bucket(0, false, 7); }, {"equally many on both"}) == "");
  CHECK(complaint([] { relative_position_bucket(0, true, 32, 16); },
                  {"max_distance 16", "above half"}) == "");
  CHECK(complaint([] { relative_position_bucket(0, true, -4); }, {"buckets is -4"}) == "");
  CHECK(relative_position_bucket(-9, true, 2, 2) == 1);  // the least that can be
  CHECK(relative_position_bucket(-9, false, 4, 2) == 1);
  CHECK(relative_position_bucket(9, false, 4, 2) == 3);
  CHECK(relative_position_bucket(-16, true, 32, 17) == 16);
  CHECK(alibi_bias(1, 1, 1).shape() == Shape{1, 1, 1});
  CHECK(alibi_bias(1, 0, 0).shape() == Shape{1, 0, 0});
  Random random(1);
  CHECK(RelativeBias(1, true, random)(1, 1).shape() == Shape{1, 1, 1});
  CHECK(complaint([&] { RelativeBias(0, true, random); }, {"width = 0"}) == "");
  const RelativeBias bias(1, true, random);
  CHECK(complaint([&] { bias(-1, 2); }, {"relative bias: queries is -1", "negative"}) == "");
  CHECK(complaint([] { alibi_bias(2, 3, -4); }, {"alibi bias", "keys -4"}) == "");
  CHECK(complaint([] { alibi_bias(2, 3, 4, -1); }, {"first -1"}) == "");
  CHECK(complaint([] { alibi_bias(0, 3, 4); }, {"heads is 0", "at least 1"}) == "");
  CHECK(complaint([] { alibi_slopes(-3); }, {"alibi slopes: heads is -3"}) == "");
}
