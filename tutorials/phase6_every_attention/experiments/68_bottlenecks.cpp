// An experiment for step 68: how much do a larger state, more parameters beside the state that is
// handed over, and more training help a translator without attention? Three seeds of each.
// Takes about three minutes of processor time.
#include <cstdint>
#include <cstdio>

#include "course/lstm_translator.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

void print(const char* name, const LstmTranslatorOptions& options, Index steps) {
  const TranslationTask task({2, 5});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const LstmTranslator model = learn(options, task, seed, steps);
    std::printf("%-10s %7d %6d %5d   ", name, int(options.hidden), int(steps), int(seed));
    for (Index phrases = 2; phrases <= 7; ++phrases) {
      Random random(77);
      const TranslationBatch b =
          TranslationTask({phrases, phrases}).batch(Part::held_out, 300, random);
      std::printf("  %.3f", double(exact_matches(model(b).logits, b.target.targets)) / 300);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main() try {
  std::printf(
      "Experiment 68_bottlenecks: translations wholly right, of 300 held-out sentences\n\n");
  std::printf("           numbers  steps  seed   phrases: 2    3      4      5      6      7\n");
  for (const Index steps : {500, 2000}) print("attention", {}, steps);
  for (const Index hidden : {48, 96}) {
    for (const Index steps : {500, 1000, 2000}) {
      print("last state", {.visibility = Visibility::last_state, .hidden = hidden}, steps);
    }
  }
  // The parameters of 96 numbers, but only 48 numbers of h and of c are handed over.
  print("first half", {.visibility = Visibility::last_state, .hidden = 96, .handed_over = 48}, 500);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
