// An experiment for step 68: how far does more training bring the translator with attention, and
// the one without it whose state is twice as large? And what do both get right one noun phrase
// beyond training, if that has sentences of two and three? Ten trainings of each.
// Takes about seven minutes of processor time.
#include <cstdio>

#include "course/bottleneck_runs.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

int main() try {
  const LstmTranslatorOptions large = {.visibility = Visibility::last_state, .hidden = 96};
  std::printf(
      "Wholly right, in %% of 300 held-out sentences; ten trainings: mean (least to most)\n");
  bottleneck_runs::print_table(
      {{"attention", {}, 2000}, {"last state", large, 1000}, {"last state", large, 2000}}, 10);
  std::printf("\nTrained on sentences of two and three noun phrases\n");
  bottleneck_runs::print_table(
      {{"attention", {}}, {"last state", {.visibility = Visibility::last_state}}}, 10, 3);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
