// An experiment for step 68: what does the bottleneck cost, and how much do a larger state, more
// parameters beside the state that is handed over, and more training help? Ten trainings of each;
// seeds 1 to 3 are the models of the step. What takes longer to train is in 68_longer.cpp.
// Takes about five minutes of processor time.
#include <cstdio>

#include "course/bottleneck_runs.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

int main() try {
  const auto last = Visibility::last_state;
  std::printf(
      "Wholly right, in %% of 300 held-out sentences; ten trainings: mean (least to most)\n");
  bottleneck_runs::print_table(
      {{"attention", {}},
       {"no source", {.visibility = Visibility::nothing}},
       {"last state", {.visibility = last}},
       {"last state", {.visibility = last}, 1000},
       {"last state", {.visibility = last}, 2000},
       {"last state", {.visibility = last, .hidden = 96}},
       // The parameters of 96 numbers, but only 48 numbers of h and of c are handed over.
       {"first half", {.visibility = last, .hidden = 96, .handed_over = 48}}},
      10);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
