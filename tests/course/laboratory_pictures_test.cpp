// The picture of step 6b.
#include "course/laboratory_pictures.hpp"

#include <cmath>

#include "catch.hpp"
#include "course/laboratory.hpp"
#include "ops/expect.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"

using namespace tapestry;

namespace {

// All variants of the laboratory, with made-up numbers; cached attention has no backward pass.
std::vector<LaboratoryCurves> made_up() {
  std::vector<LaboratoryCurves> all;
  double factor = 1;
  for (const Variant& variant : attention_variants({})) {
    LaboratoryCurves curves{variant.name, {}, {}};
    for (const Index length : {64, 256, 1024, 4096}) {
      const double growth = std::pow(double(length) / 64, variant.time_growth);
      curves.forward_ms[length] = 0.02 * factor * growth;
      curves.both_mib[length] = variant.forward_only.empty() ? 0.1 * factor * growth : NAN;
    }
    all.push_back(curves);
    factor *= 1.2;
  }
  return all;
}

}  // namespace

TEST_CASE("the laboratory's picture has time above, bytes below, and the slopes 2 and 1",
          "[phase6][laboratory]") {
  const plot::Canvas canvas = laboratory_picture(made_up(), 256);
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"All pairs: time, forward (one core)",
                    "Fewer pairs, or linear: time, forward (one core)",
                    "All pairs: most bytes, forward and backward",
                    "Linear beside fused: most bytes, forward and backward"});
  CHECK(plot::words(canvas, plot::Role::y_axis) == plot::Names{"ms", "ms", "MiB", "MiB"});
  plot::Names names = plot::words(canvas, plot::Role::legend);
  REQUIRE(names.size() == 5 + 6 + 6 + 4);
  CHECK(std::count(names.begin(), names.end(), "fused") == 4);
  CHECK(std::count(names.begin(), names.end(), "L²") == 4);
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("laboratory", 0xF2F4EF5BAA781C74u, canvas);
}

TEST_CASE("the laboratory's picture misses a variant that was not measured",
          "[phase6][laboratory]") {
  std::vector<LaboratoryCurves> all = made_up();
  std::erase_if(all, [](const LaboratoryCurves& one) { return one.name == "strided"; });
  CHECK(complaint([&] { laboratory_picture(all, 256); }, {"no variant strided"}) == "");
}
