// Step 38. Why do the losses of single heads not add up?
//
// New here: whole heads are cut, each alone and all four together. The last layer norm divides what
// is left by its deviation, which a cut makes smaller; what is lost when each row is divided by the
// deviation that it had with all heads. And a link that is made weaker step by step.
// Reads the induction model of step 26; takes less than a second.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"

using namespace tapestry;

namespace {

constexpr int sequences = 40;  // those of step 36
const TinyTask task(TaskKind::induction, {.longest = 6});

// The heads of layer 1 that are cut together.
const std::vector<std::vector<Index>> head_cuts = {{}, {0}, {1}, {2}, {3}, all_heads};
const char* const cut_names[] = {"none", "1.0", "1.1", "1.2", "1.3", "all four"};
using Cuts = std::vector<HeadCut>;  // of one text, one for each of these

Cuts measure(const Transformer& model, const Words& words) {
  const Reader reader = reader_of(model, task, words);
  Cuts cuts;
  for (const auto& heads : head_cuts) cuts.push_back(head_cut(reader, heads));
  return cuts;
}

void print_heads(const std::vector<Cuts>& texts) {
  std::printf("\n1. Whole heads cut: what is lost, mean of %zu sequences\n", texts.size());
  std::printf("head            logit      log-probability\n");
  const auto print_lost = [&](const char* name, const std::vector<std::size_t>& cuts) {
    std::printf("%-9s", name);
    for (const auto which : {&Effect::logit, &Effect::log_probability}) {
      const Spread lost = spread_of(numbers(texts, [&](const Cuts& one) {
        double sum = 0;
        for (const std::size_t cut : cuts) sum += (one[0].left - one[cut].left).*which;
        return sum;
      }));
      std::printf(" %7.3f +- %.3f", lost.mean, lost.deviation);
    }
    std::printf("\n");
  };
  for (std::size_t i = 1; i <= 4; ++i) print_lost(cut_names[i], {i});
  print_lost("their sum", {1, 2, 3, 4});
  print_lost("all four", {5});
}

// Why do the four losses not add up to that of all? Before the division the logit is a sum over
// heads: divided by the deviation of the whole row, both are equal.
void print_deviations(const std::vector<Cuts>& texts) {
  std::printf("the row's deviation before the last layer norm, mean\n");
  std::printf("without   none     1.0     1.1     1.2     1.3 all four\n      ");
  std::vector<double> lost;
  for (std::size_t cut = 0; cut < head_cuts.size(); ++cut) {
    const auto deviation = [&](const Cuts& one) { return one[cut].deviation; };
    const auto loss = [&](const Cuts& one) {
      return (one[0].undivided - one[cut].undivided) / one[0].deviation;
    };
    std::printf(" %7.3f", mean_of(numbers(texts, deviation)));
    lost.push_back(mean_of(numbers(texts, loss)));
  }
  std::printf(
      "\neach row divided by that of \"none\": one by one they lose %.2f, all four together %.2f\n",
      lost[1] + lost[2] + lost[3] + lost[4], lost[5]);
}

// The strongest link of each head, times 1, 0.8, ..., 0: the logit.
void print_doses(const Transformer& model, const Words& words) {
  const Reader reader = reader_of(model, task, words);
  std::printf("\n2. The link to \"%s\" made weaker: the logit\n", words.back().c_str());
  std::printf("times      1.0     0.8     0.6     0.4     0.2     0.0\n");
  const Index place = std::find(words.begin(), words.end(), words.back()) - words.begin();
  for (const Index head : all_heads) {
    std::printf("1.%td   ", head);
    for (int tenths = 10; tenths >= 0; tenths -= 2) {
      const Effect left = reader.with_link(place + 1, {head}, tenths / 10.);  // key 0: <bos>
      std::printf("%8.3f", left.logit);
    }
    std::printf("\n");
  }
}

}  // namespace

int main() try {
  std::printf("Step 38: why losses do not add up (takes less than a second)\n");
  const Transformer model = read_transformer("out/checkpoints/induction_model.safetensors",
                                             "step 26 trains and saves it. Type: make run-26");
  std::vector<Cuts> texts;
  Random random(3);
  for (int i = 0; i < sequences; ++i) {
    texts.push_back(measure(model, task.sequence(Part::held_out, random).words));
  }
  print_heads(texts);
  print_deviations(texts);
  print_doses(model, example_of(task, 5, 3).words);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
