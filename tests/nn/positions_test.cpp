#include "tapestry/nn/positions.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

// Radians per position of column i.
double frequency(Index i, Index width) {
  return std::exp(-std::log(10000.0) * static_cast<double>(i / 2 * 2) / static_cast<double>(width));
}

}  // namespace

TEST_CASE("sinusoidal positions are sines and cosines of the paper's frequencies, odd widths too",
          "[phase2][nn]") {
  for (const Index width : {1, 2, 5, 7, 16}) {
    for (const Index first : {0, 3, 1000}) {
      CAPTURE(width, first);
      const std::vector<double> expected = tabulate({6, width}, [&](const Place& at) {
        const double angle = static_cast<double>(first + at[0]) * frequency(at[1], width);
        return at[1] % 2 == 0 ? std::sin(angle) : std::cos(angle);
      });
      CHECK(difference(sinusoidal_positions(6, width, first), {6, width}, expected,
                       in_double ? 1e-11 : tight) == "");
    }
  }
  CHECK(difference(sinusoidal_positions(1, 5), {1, 5}, {0, 1, 0, 1, 0}) == "");
}

TEST_CASE("angles of positions have the same bits on any number of threads", "[phase6][nn]") {
  const SmallWorkShared shared;
  Random random(3);
  const Tensor x = random.normal({2, 13, 6});  // (2, length, width)
  const auto all = [&] {
    return std::vector<Tensor>{sinusoidal_positions(13, 7, 5),
                               rotary(x, RotaryLayout::interleaved, 5),
                               rotary(x, RotaryLayout::half_split, 5)};
  };
  use_threads(1);
  const std::vector<Tensor> alone = all();
  for (const int threads : {2, 3, 8}) {
    use_threads(threads);
    const std::vector<Tensor> divided = all();
    for (std::size_t i = 0; i < alone.size(); ++i) CHECK(same_bits(divided[i], alone[i]));
  }
}

TEST_CASE("positions from `first` on are the rows of a longer list", "[phase2][nn]") {
  const Tensor all = sinusoidal_positions(12, 7);
  CHECK(difference_to(sinusoidal_positions(5, 7, 7), slice(all, 0, 7, 12), 0) == "");
  CHECK(sinusoidal_positions(0, 7).shape() == Shape{0, 7});
}

TEST_CASE("to look k positions on is one rotation, wherever one stands", "[phase2][nn]") {
  const Index width = 8, shift = 3;
  const Tensor p = sinusoidal_positions(20, width);
  for (Index position = 0; position + shift < 20; ++position) {
    for (Index i = 0; i < width; i += 2) {
      const double angle = static_cast<double>(shift) * frequency(i, width);
      const double sine = element(p, {position, i}), cosine = element(p, {position, i + 1});
      CHECK(same_number(element(p, {position + shift, i}),
                        sine * std::cos(angle) + cosine * std::sin(angle), 3 * tight));
      CHECK(same_number(element(p, {position + shift, i + 1}),
                        cosine * std::cos(angle) - sine * std::sin(angle), 3 * tight));
    }
  }
}

TEST_CASE("no two of a thousand positions are alike, and all lie in [-1, 1]", "[phase2][nn]") {
  const Tensor p = sinusoidal_positions(1000, 16);
  std::set<std::vector<double>> rows;
  for (Index i = 0; i < 1000; ++i) rows.insert(doubles(slice(p, 0, i, i + 1)));
  CHECK(rows.size() == 1000);
  CHECK(max(p).item() <= 1);
  CHECK(min(p).item() >= -1);
}

TEST_CASE("another base makes other wavelengths: 8 halves the speed of three pairs",
          "[phase6][nn]") {
  const std::vector<double> expected = tabulate({9, 6}, [](const Place& at) {
    const double angle = static_cast<double>(at[0]) / static_cast<double>(1 << (at[1] / 2));
    return at[1] % 2 == 0 ? std::sin(angle) : std::cos(angle);
  });
  CHECK(difference(sinusoidal_positions(9, 6, 0, 8), {9, 6}, expected, 3 * tight) == "");
  CHECK(sinusoidal_positions(2, 4, 0, 0.5).at({1, 2}) == Approx(std::sin(std::sqrt(2.0))));
  for (const double base : {0.0, -8.0, double(NAN), double(INFINITY)}) {
    CHECK(complaint([&] { sinusoidal_positions(2, 4, 0, base); },
                    {"sinusoidal positions: base is", "above 0"}) == "");
  }
}

TEST_CASE("sinusoidal positions say what cannot be", "[phase2][nn]") {
  CHECK(complaint([] { sinusoidal_positions(-1, 4); },
                  {"sinusoidal positions: length is -1, width 4, first 0", "at least"}) == "");
  CHECK(difference(sinusoidal_positions(1, 1), {1, 1}, {0}) == "");
  CHECK(sinusoidal_positions(0, 1).shape() == Shape{0, 1});
  CHECK(complaint([] { sinusoidal_positions(3, 0); }, {"width 0"}) == "");
  CHECK(complaint([] { sinusoidal_positions(3, 4, -2); }, {"first -2"}) == "");
  const Tensor far = sinusoidal_positions(2, 4, std::numeric_limits<Index>::max());
  CHECK(std::abs(element(far, {1, 0})) <= 1);
}
