// Do the tasks of step 26 need two layers? The same models with one and with two, the same steps,
// ten seeds; induction also with a smaller start. How many of 1000 held-out prompts are answered
// wholly rightly.
//
// Then, how one layer does induction: where each head looks when the first letter of the answer is
// to be said, and whether the place with the most weight, that of all heads added, is the one
// behind the letter just read (`vote`). Takes about 4 minutes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/task_models.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;

Batch held_out(const TinyTask& task) {  // (1000, length)
  Random random(77);
  return task.batch(Part::held_out, 1000, random);
}

void run(TaskKind kind, Index steps, Index layers, Initializer start, const char* deviation) {
  const TinyTask task(kind, {.longest = 6});
  const Batch test = held_out(task);  // (1000, length)
  std::printf("%-10s %5td %6td %6s ", to_string(kind).c_str(), steps, layers, deviation);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = task_model(task, start, 41 + seed, layers);
    teach(model, task, seed, steps, "training");
    std::printf(" %5.1f", 100 * said_without(model, test, {}).right);
  }
  std::printf("\n");
}

// Of a prompt of induction: its number of letters, and the place of the one that is read again
// behind it. Place 0 holds <bos>.
struct Repeat {
  Index text, letters, place;
};

std::vector<Repeat> repeats(const Indices& ids) {  // (texts, length)
  std::vector<Repeat> found;
  const Index length = ids.shape[1];
  for (Index text = 0; text < ids.shape[0]; ++text) {
    const auto word = ids.values.begin() + text * length;
    for (Index t = 2;; ++t) {
      const Index place = std::find(word + 1, word + t, word[t]) - word;
      if (place == t) continue;
      found.push_back({text, t - 1, place});
      break;
    }
  }
  return found;
}

Transformer one_layer(const TinyTask& task, Index heads, std::uint64_t seed) {
  Transformer model = task_model(task, init::lecun_normal, 41 + seed, 1, heads);
  teach(model, task, seed, 1000, "training");
  return model;
}

// Mean weights of each head on the four letters of a prompt, by the place of the one read again.
void print_places(const Transformer& model, const Batch& test) {
  const Tensor weights = weights_of(model, test.inputs)[0];  // (texts, heads, length, length)
  std::printf(
      "\n2. Induction by one layer, seed 1, prompts of four letters: where each head looks\n"
      "   when the first letter of the answer is to be said\n"
      "       the letter stood at 1    the letter stood at 2    the letter stood at 3\n"
      "head      1    2    3    4         1    2    3    4         1    2    3    4\n");
  for (Index head = 0; head < weights.size(1); ++head) {
    std::printf("%3td ", head);
    for (Index place = 1; place <= 3; ++place) {
      double sums[5] = {}, count = 0;
      for (const Repeat& one : repeats(test.inputs)) {
        if (one.letters != 4 || one.place != place) continue;
        for (Index key = 1; key <= 4; ++key) sums[key] += weights.at({one.text, head, 5, key});
        count += 1;
      }
      std::printf("%s", place == 1 ? "  " : "     ");
      for (Index key = 1; key <= 4; ++key) std::printf(" %4.2f", sums[key] / count);
    }
    std::printf("\n");
  }
}

struct Votes {
  double vote = 0, said = 0;  // the share of prompts in which the vote, the model is right
  double agree = 0;           // in which the model says the letter with the most votes
};

Votes votes(const Transformer& model, const Batch& test) {
  const Tensor all = sum(weights_of(model, test.inputs)[0], 1);  // (texts, length, length)
  const Indices said = argmax(model(test.inputs));               // (texts, length)
  const Index length = test.inputs.shape[1];
  Votes right;
  const std::vector<Repeat> prompts = repeats(test.inputs);
  for (const Repeat& one : prompts) {
    const Index row = one.letters + 1;
    Index most = 1;
    for (Index key = 2; key <= one.letters; ++key) {
      if (all.at({one.text, row, key}) > all.at({one.text, row, most})) most = key;
    }
    const auto at = static_cast<std::size_t>(one.text * length + row);
    right.vote += most == one.place + 1;
    right.said += said.values[at] == test.targets.values[at];
    right.agree += said.values[at] == test.inputs.values[std::size_t(one.text * length + most)];
  }
  const auto count = static_cast<double>(prompts.size());
  return {right.vote / count, right.said / count, right.agree / count};
}

void print_votes(const TinyTask& task, const Batch& test) {
  std::printf(
      "\n3. Induction by one layer, %% of 1000 prompts, by seed; first: the first letter\n");
  for (const Index heads : {1, 2, 4, 8}) {
    std::string wholly, first, vote, agree;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Transformer model = one_layer(task, heads, seed);
      const Votes right = votes(model, test);
      wholly += formatted(" %5.1f", 100 * said_without(model, test, {}).right);
      first += formatted(" %5.1f", 100 * right.said);
      vote += formatted(" %5.1f", 100 * right.vote);
      agree += formatted(" %5.1f", 100 * right.agree);
    }
    std::printf("%td heads, wholly right  %s\n", heads, wholly.c_str());
    std::printf("         first right   %s\n", first.c_str());
    std::printf("         vote right    %s\n", vote.c_str());
    std::printf("         says the vote %s\n", agree.c_str());
  }
}

}  // namespace

int main() try {
  std::printf("1. Wholly right, %%, of 1000 held-out prompts, by seed; start: the deviation\n");
  std::printf("task       steps layers  start ");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) std::printf(" %5d", static_cast<int>(seed));
  std::printf("\n");
  for (const Index layers : {1, 2}) {
    run(TaskKind::copy, 300, layers, init::lecun_normal, "0.125");
    run(TaskKind::reverse, 300, layers, init::lecun_normal, "0.125");
    run(TaskKind::sort, 1000, layers, init::lecun_normal, "0.125");
    run(TaskKind::induction, 1000, layers, init::lecun_normal, "0.125");
    run(TaskKind::induction, 1000, layers, init::normal, "0.02");
  }
  const TinyTask task(TaskKind::induction, {.longest = 6});
  const Batch test = held_out(task);  // (1000, length)
  print_places(one_layer(task, 4, 1), test);
  print_votes(task, test);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
