// Do heads go by the place or by the letter, whatever the seed? The tasks of step 26 with ten
// seeds; induction with two budgets and two starts. Takes about 3 minutes.
//
// The letters of the prompt have changed places. Of the head of layer 1 that looks most at the
// letter to be said (in mixed order or not), the mean weight on three keys:
//   place   where the letter to be said stood before
//   letter  where it stands now
//   behind  behind the letter just read
// says: how often the model says the letter that stands there.
// Of induction also, of the heads of layer 0:
//   before       the mean weight on the letter before, of the two that look there most; then of the
//                third and the fourth
//   same letter  where the answer is said, the largest weight of a head on the letter just read,
//                where it stands in the prompt
// and how many answers are right without these two, without the others and without all four: their
// outputs are set to zero, or to their mean over the sequences. Then which vectors of layer 1 need
// these two: only its keys, its queries or its values are those of a pass with the mean.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/inside.hpp"
#include "course/task_models.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = 4;
constexpr int seeds = 10;

// In the prompt, the letter just read: it stands before the key `behind`.
Indices same_letter(Indices behind) {
  for (std::int32_t& key : behind.values) key = std::max(key - 1, -1);
  return behind;
}

struct Result {
  double right, place, letter, behind, says_place, says_letter, says_behind;
  std::array<double, heads> before;  // of layer 0, the largest first
  double same;
  std::array<double, 3> to_zero, to_mean;  // right without the first two, the others, all
  std::array<double, 3> only_in;  // right if the first two are missed only in these vectors
};

const std::array<std::string, 3> vectors = {"key", "query", "value"};

// The share of right answers if only these vectors of layer 1 are made without the `cut` heads of
// layer 0, whose outputs are their mean.
double right_without_in(const std::string& vector, const Transformer& model, const Batch& test,
                        const std::vector<HeadOf>& cut) {
  const std::string name = "blocks.1.attention." + vector;
  const Mask mask = Mask::padding(test.lengths);
  Capture pass;
  replace_heads(pass, model, test, cut, Replacement::mean);
  model(test.inputs, mask);
  const Tensor without = pass[name];  // (rows, heads, length, d_k)
  pass.replace("blocks.0.attention.heads", {});
  pass.replace(name, [&](const Tensor&) { return without; });
  const Tensor logits = model(test.inputs, mask);  // (rows, length, vocabulary)
  return static_cast<double>(exact_matches(logits, test.targets)) /
         static_cast<double>(logits.size(0));
}

// The head of layer 1 with the most weight on the letter to be said, in prompts as they are.
Index answer_head(const Transformer& model, const PromptKeys& keys) {
  const Tensor weights = weights_of(model, keys.batch.inputs)[1];  // (rows, heads, length, length)
  Index best = 0;
  for (Index head = 1; head < heads; ++head) {
    if (mean_weight(weights, head, keys.letter) > mean_weight(weights, best, keys.letter)) {
      best = head;
    }
  }
  return best;
}

// The rest of a result is of induction only.
Result look(const Transformer& model, const TinyTask& task, TaskKind kind) {
  Random random(77);
  const Batch test = task.batch(Part::held_out, 1000, random);  // (1000, length)
  const PromptKeys keys = prompt_keys(task, true);
  const std::vector<Tensor> layers = weights_of(model, keys.batch.inputs);
  const Index head = answer_head(model, prompt_keys(task, false));
  Result result{};
  result.right = said_without(model, test, {}).right;
  result.place = mean_weight(layers[1], head, keys.place);
  result.letter = mean_weight(layers[1], head, keys.letter);
  result.behind = mean_weight(layers[1], head, keys.behind);
  const Indices said = argmax(model(keys.batch.inputs));  // (rows, length)
  result.says_place = share_said(said, keys.batch.inputs, keys.place);
  result.says_letter = share_said(said, keys.batch.inputs, keys.letter);
  result.says_behind = share_said(said, keys.batch.inputs, keys.behind);
  if (kind != TaskKind::induction) return result;
  std::vector<std::pair<double, Index>> before;
  for (Index h = 0; h < heads; ++h) {
    before.emplace_back(-mean_weight(layers[0], h, letter_before(keys.batch)), h);
  }
  std::sort(before.begin(), before.end());
  for (std::size_t h = 0; h < heads; ++h) result.before[h] = -before[h].first;
  for (Index h = 0; h < heads; ++h) {
    result.same = std::max(result.same, mean_weight(layers[0], h, same_letter(keys.behind)));
  }
  const auto without = [&](std::size_t from, std::size_t to, Replacement by) {
    std::vector<HeadOf> cut;
    for (std::size_t h = from; h < to; ++h) cut.push_back({0, before[h].second});
    return said_without(model, test, cut, by).right;
  };
  const auto all = [&](Replacement by) {
    return std::array{without(0, 2, by), without(2, 4, by), without(0, 4, by)};
  };
  result.to_zero = all(Replacement::zero);
  result.to_mean = all(Replacement::mean);
  const std::vector<HeadOf> both = {{0, before[0].second}, {0, before[1].second}};
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    result.only_in[i] = right_without_in(vectors[i], model, test, both);
  }
  return result;
}

template <class Number>
void print(const char* what, const std::vector<Result>& results, const char* format,
           const Number& number) {
  std::printf("  %-22s", what);
  for (const Result& one : results) std::printf(format, number(one));
  std::printf("\n");
}

void print_weights(const std::vector<Result>& all) {
  print("place", all, " %4.2f", [](const Result& one) { return one.place; });
  print("letter", all, " %4.2f", [](const Result& one) { return one.letter; });
  print("behind", all, " %4.2f", [](const Result& one) { return one.behind; });
  print("says place, %", all, " %4.0f", [](const Result& one) { return 100 * one.says_place; });
  print("says letter, %", all, " %4.0f", [](const Result& one) { return 100 * one.says_letter; });
  print("says behind, %", all, " %4.0f", [](const Result& one) { return 100 * one.says_behind; });
}

void print_layer_0(const std::vector<Result>& all) {
  print("before", all, " %4.2f",
        [](const Result& one) { return (one.before[0] + one.before[1]) / 2; });
  print("before, third head", all, " %4.2f", [](const Result& one) { return one.before[2]; });
  print("before, fourth head", all, " %4.2f", [](const Result& one) { return one.before[3]; });
  print("same letter", all, " %4.2f", [](const Result& one) { return one.same; });
  const std::array cuts = {"right without them, %", "without the others, %", "without all four, %"};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    print(cuts[i], all, " %4.0f", [&](const Result& one) { return 100 * one.to_zero[i]; });
  }
  const std::array means = {"without them, mean, %", "the others, mean, %", "all four, mean, %"};
  for (std::size_t i = 0; i < means.size(); ++i) {
    print(means[i], all, " %4.0f", [&](const Result& one) { return 100 * one.to_mean[i]; });
  }
  const std::array only = {"only keys without, %", "only queries, %", "only values, %"};
  for (std::size_t i = 0; i < only.size(); ++i) {
    print(only[i], all, " %4.0f", [&](const Result& one) { return 100 * one.only_in[i]; });
  }
}

void run(TaskKind kind, Index steps, Initializer start, const char* deviation) {
  const TinyTask task(kind, {.longest = 6});
  std::vector<Result> results;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    results.push_back(look(trained_on(task, start, seed, steps), task, kind));
  }
  std::printf("%s, %td steps, parameters start with deviation %s\n", to_string(kind).c_str(), steps,
              deviation);
  print("wholly right, %", results, " %4.0f", [](const Result& one) { return 100 * one.right; });
  print_weights(results);
  if (kind == TaskKind::induction) print_layer_0(results);
}

}  // namespace

int main() try {
  const char* const wide = "1/sqrt(d_model) = 0.125";
  std::printf("%-24s", "seed");
  for (int seed = 1; seed <= seeds; ++seed) std::printf(" %4d", seed);
  std::printf("\n");
  run(TaskKind::copy, 300, init::lecun_normal, wide);
  run(TaskKind::reverse, 300, init::lecun_normal, wide);
  run(TaskKind::sort, 1000, init::lecun_normal, wide);
  run(TaskKind::induction, 300, init::lecun_normal, wide);
  run(TaskKind::induction, 1000, init::lecun_normal, wide);
  run(TaskKind::induction, 300, init::normal, "0.02");
  run(TaskKind::induction, 1000, init::normal, "0.02");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
