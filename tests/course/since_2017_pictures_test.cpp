// The picture of step 71.
#include "course/since_2017_pictures.hpp"

#include <fstream>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

const char* const experiment =
    "kernels: avx512\n"
    "                                   bits above   difference from 2017   seeds\n"
    "2017                  163072    23.4  17.1 - 30.4\n"
    "norm in front         163200    28.1  26.1 - 31.6      4.7    2.2 to  7.3    1\n"
    "\n"
    "rotary positions      163152    21.0  17.2 - 24.9     -2.4   -6.7 to  2.0    7\n";

}  // namespace

TEST_CASE("losses of models stand beside what ten seeds end at", "[phase7][course]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "kept.txt") << experiment;
  std::vector<double> falling, steep;
  for (int step = 0; step < 110; ++step) {
    falling.push_back(1.3 - step * 0.005);
    steep.push_back(1.3 - step * 0.008);
  }
  const plot::Canvas canvas = since_2017::losses_and_seeds(
      {{"2017", falling}, {"norm in front", steep}}, folder / "kept.txt");
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Training", "New stories, after training"});
  CHECK(plot::words(canvas, plot::Role::legend) ==
        plot::Names{"2017", "norm in front", "least", "mean", "greatest"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("losses_and_seeds", 0x1DAEA822F48F4475u, canvas);
}

TEST_CASE("a picture of seeds needs the text of the experiment", "[phase7][course]") {
  const TemporaryFolder folder;
  const std::vector<since_2017::NamedLosses> models = {{"2017", std::vector<double>(40, 1.0)}};
  CHECK_THROWS_AS(since_2017::losses_and_seeds(models, folder / "kept.txt"), Error);
  std::ofstream(folder / "kept.txt") << "2017                  163072\n";
  CHECK_THROWS_AS(since_2017::losses_and_seeds(models, folder / "kept.txt"), Error);
}
