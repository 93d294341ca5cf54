// What the experiments of step 68 measure and print.
#include "course/bottleneck_runs.hpp"

#include "catch.hpp"
#include "printed_by.hpp"

using namespace tapestry;
using namespace tapestry::bottleneck_runs;

TEST_CASE("a sentence counts if it is wholly right", "[phase6][course]") {
  const TranslationTask task({2, 5});
  const LstmTranslator model = learn({}, task, 1, 200);
  const std::vector<double> percent = percent_right(model, 20);
  REQUIRE(percent.size() == 6);
  Random random(77);
  const TranslationBatch b = TranslationTask({2, 2}).batch(Part::held_out, 20, random);
  const std::vector<std::int32_t> said = argmax(model(b).logits).values;  // of (20, target)
  const std::vector<std::int32_t>& targets = b.target.targets.values;
  const std::size_t length = targets.size() / 20;
  int right = 0;
  for (std::size_t row = 0; row < 20; ++row) {
    bool all = true;
    for (std::size_t at = row * length; at < (row + 1) * length; ++at) {
      all = all && (targets[at] < 0 || said[at] == targets[at]);
    }
    right += all;
  }
  CHECK(percent[0] == 5 * right);
  CHECK(percent[0] > percent[5]);
}

TEST_CASE("a row tells of some trainings the mean, the least and the most", "[phase6][course]") {
  const std::vector<std::vector<double>> trainings = {{9, 50, 1}, {9, 40, 2}, {9, 75, 3}};
  CHECK(summary(trainings, 2) == "  9 (9 to 9)");
  CHECK(summary(trainings, 3) == " 55 (40 to 75)");
  CHECK(summary(trainings, 4) == "  2 (1 to 3)");
  const std::string table = stdout_of([] {
    print_table({{"no source", {.visibility = Visibility::nothing, .hidden = 4}, 22}}, 2, 3);
  });
  CHECK(table ==
        "            numbers  steps   3 noun phrases    4 noun phrases    5 noun phrases  "
        "  6 noun phrases  \n"
        "no source         4     22     0 (0 to 0)        0 (0 to 0)        0 (0 to 0)    "
        "    0 (0 to 0)    \n");
}
