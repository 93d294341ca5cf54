// Steps 44 and 45 with ten seeds: what do trained decoders lose when the mask is taken off, and
// when heads are cut? One model can be an exception.
//
// Ten decoders of step 43: the loss with the mask and without, and by how much the log-probability
// of the last word falls with heads cut; and what the rows that need no attention lose when their
// heads put out other numbers. Then ten models of each task of step 26: how many answers are wholly
// right when layers, or some rows of layer 0, see more than the mask shows.
// Takes about two minutes of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/next_word_models.hpp"
#include "course/task_models.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr std::array tasks = {TaskKind::copy, TaskKind::reverse, TaskKind::sort,
                              TaskKind::induction};

using Numbers = std::vector<double>;  // of one model, or one of each seed

// Row number `row`: that number of each model.
void print(const char* name, const std::vector<Numbers>& models, std::size_t row, int decimals) {
  std::printf("  %-25s", name);
  for (const Numbers& one : models) {
    const double number = std::abs(one[row]) < 0.005 ? 0 : one[row];  // no "-0.00"
    std::printf(" %4.*f", decimals, number);
  }
  std::printf("\n");
}

Transformer with_mask(Transformer model, bool in_layer_0, bool in_layer_1) {
  model.blocks[0].attention.is_causal = in_layer_0;
  model.blocks[1].attention.is_causal = in_layer_1;
  return model;
}

constexpr std::array cuts = {"the worst head", "... which is", "the worst pair of layer 0",
                             "all of layer 0", "all of layer 1"};

// By how much the log-probability of the last word falls without heads.
Numbers look_without_heads(const Transformer& model, const Batch& last) {
  const double whole = said_without(model, last, {}).log_probability;
  const auto fall = [&](const std::vector<HeadOf>& cut) {
    return whole - said_without(model, last, cut).log_probability;
  };
  double one = -1, two = -1, which = 0;
  for (Index a = 0; a < 8; ++a) {
    const double cost = fall({{a / 4, a % 4}});
    if (cost > one) which = static_cast<double>(a / 4) + static_cast<double>(a % 4) / 10;
    one = std::max(one, cost);
    for (Index b = a + 1; b < 4; ++b) two = std::max(two, fall({{0, a}, {0, b}}));
  }
  return {one, which, two, fall({{0, 0}, {0, 1}, {0, 2}, {0, 3}}),
          fall({{1, 0}, {1, 1}, {1, 2}, {1, 3}})};
}

constexpr Index looks_back = 5;  // the row that says the sixth word: only it needs attention
constexpr std::array changes = {"with the mask",           "without it",
                                "  of another sentence",   "  random, as long",
                                "  its own, times 4",      "added / row: these rows",
                                "  that of the sixth word"};

// The loss of the other words when the attention of these rows puts out change(output).
double loss_with(const Transformer& model, Batch batch,
                 const std::function<Tensor(const Tensor&)>& change) {
  const Index length = batch.inputs.shape[1];
  Tensor changed = Tensor::ones({length, 1});  // (length, 1)
  changed.set({looks_back, 0}, 0);
  for (std::size_t at = 0; at < batch.targets.values.size(); ++at) {
    if (static_cast<Index>(at) % length == looks_back) batch.targets.values[at] = -1;
  }
  Capture reach;
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    reach.replace("blocks." + std::to_string(layer) + ".attention.output", [&](const Tensor& y) {
      return y * (1.0 - changed) + change(y) * changed;  // (rows, length, d_model)
    });
  }
  return double{cross_entropy(model(batch.inputs), batch.targets).item()};
}

Tensor lengths(const Tensor& x) { return sqrt(sum(x * x, -1, true)); }  // (rows, length, 1)

// How long what layer 0 adds is, as a share of the row to which it is added: (length).
Tensor added(const Transformer& model, const Batch& batch) {
  const Capture seen;
  model(batch.inputs);  // (rows, length, vocabulary)
  // (rows, length, 1)
  const Tensor share = lengths(seen["blocks.0.attention.output"]) / lengths(seen["embedding"]);
  return squeeze(mean(share, 0), -1);
}

Numbers look_at_other_rows(const Transformer& model, const Transformer& open, const Batch& batch) {
  Random random(5);
  const Tensor share = added(open, batch);  // (length)
  const double here{share.at({looks_back})}, all{sum(share).item()};
  const auto unchanged = [](const Tensor& y) { return y; };  // (rows, length, d_model)
  return {loss_with(model, batch, unchanged),
          loss_with(open, batch, unchanged),
          loss_with(open, batch,
                    [](const Tensor& y) {  // (rows, length, d_model): of the next sentence
                      return concat({slice(y, 0, 1, y.size(0)), slice(y, 0, 0, 1)}, 0);
                    }),
          loss_with(open, batch,
                    [&](const Tensor& y) {
                      const Tensor drawn = random.normal(y.shape());  // (rows, length, d_model)
                      return drawn / lengths(drawn) * lengths(y);
                    }),
          loss_with(open, batch, [](const Tensor& y) { return y * 4; }),
          (all - here) / static_cast<double>(share.numel() - 1),
          here};
}

void study_decoders(Progress& progress) {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  Random of_step_44(11), of_step_45(8);
  const Batch all = grammar.batch(vocabulary, 1000, of_step_44);              // (1000, 7)
  const Batch last = last_words(grammar.batch(vocabulary, 300, of_step_45));  // (300, 7)
  std::vector<Numbers> losses, falls, others;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = trained_decoder(vocabulary, seed);
    const Transformer open = with_mask(model, false, false);
    losses.push_back({-said_without(model, all, {}).log_probability,
                      -said_without(open, all, {}).log_probability});
    falls.push_back(look_without_heads(model, last));
    others.push_back(look_at_other_rows(model, open, all));
    progress.step();
  }
  std::printf("1. Decoders of step 43: loss over 1000 sentences\n");
  print("with the mask", losses, 0, 2);
  print("without it", losses, 1, 2);
  std::printf("how much the log-probability of the last word falls without\n");
  for (std::size_t row = 0; row < cuts.size(); ++row)
    print(cuts[row], falls, row, row == 1 ? 1 : 2);
  std::printf("loss of the words that need no attention, also if other numbers are added\n");
  for (std::size_t row = 0; row < changes.size(); ++row) print(changes[row], others, row, 2);
}

enum class Rows { prompt, answer };               // answer: those that say a letter of it
enum class Ahead { everything, prompt, answer };  // the keys that they see besides

// In layer 0 these rows see such keys besides what the causal mask shows them.
Mask with_open_rows(const Batch& batch, Rows open_rows, Ahead ahead) {
  const Index rows = batch.inputs.shape[0], length = batch.inputs.shape[1];
  Tensor open = Tensor::zeros({rows, length, length});  // (rows, length, length)
  for (Index row = 0; row < rows; ++row) {
    const auto begin = batch.targets.values.begin() + row * length;
    const auto says = [](std::int32_t target) { return target >= 0; };
    const Index first = std::find_if(begin, begin + length, says) - begin;  // it reads the prompt
    for (Index at = 0; at < length; ++at) {
      if (says(begin[at]) != (open_rows == Rows::answer)) continue;
      for (Index key = 0; key < length; ++key) {
        const Ahead part = key <= first ? Ahead::prompt : Ahead::answer;
        if (ahead == Ahead::everything || ahead == part) open.set({row, at, key}, 1);
      }
    }
  }
  return (Mask::causal() | Mask::from(MaskEncoding::keep, open)) & Mask::padding(batch.lengths);
}

constexpr std::array questions = {
    "answers wholly right, %, masked in both layers",
    "answers wholly right, %, layer 0 without mask",
    "answers wholly right, %, layer 1 without mask",
    "answers wholly right, %, no mask",
    "loss of a letter, no mask",
    "answers wholly right, %, in layer 0 only rows of the prompt look ahead",
    "answers wholly right, %, in layer 0 only rows that say the answer look ahead",
    "answers wholly right, %, in layer 0 rows of the prompt see the prompt ahead",
    "answers wholly right, %, in layer 0 rows of the prompt see the answer ahead"};
constexpr std::size_t open_1 = 2, loss = 4, prompt_ahead = 7, answer_ahead = 8;

Numbers look_without_mask(const Transformer& model, const Batch& batch) {
  const auto say = [&](bool in_layer_0, bool in_layer_1) {
    return said_without(with_mask(model, in_layer_0, in_layer_1), batch, {});
  };
  const Transformer open_0 = with_mask(model, false, true);
  const auto right_with = [&](Rows rows, Ahead ahead) {
    // (rows, length, vocabulary)
    const Tensor logits = open_0(batch.inputs, with_open_rows(batch, rows, ahead));
    return 100 * static_cast<double>(exact_matches(logits, batch.targets)) /
           static_cast<double>(batch.inputs.shape[0]);
  };
  const Said none = say(false, false);
  return {100 * say(true, true).right,
          100 * say(false, true).right,
          100 * say(true, false).right,
          100 * none.right,
          -none.log_probability,
          right_with(Rows::prompt, Ahead::everything),
          right_with(Rows::answer, Ahead::everything),
          right_with(Rows::prompt, Ahead::prompt),
          right_with(Rows::prompt, Ahead::answer)};
}

std::vector<Numbers> study_task(TaskKind kind, Progress& progress) {
  const TinyTask task(kind, {.longest = 6});
  Random random(11);
  const Batch batch = task.batch(Part::held_out, 500, random);  // (500, length)
  const bool is_long = kind == TaskKind::sort || kind == TaskKind::induction;
  std::vector<Numbers> models;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = trained_on(task, init::lecun_normal, seed, is_long ? 1000 : 300, "");
    models.push_back(look_without_mask(model, batch));
    progress.step();
  }
  return models;
}

void study_tasks(Progress& progress) {
  std::vector<std::vector<Numbers>> studied;
  for (const TaskKind kind : tasks) studied.push_back(study_task(kind, progress));
  std::printf("2. Models of step 26, 500 sequences\n");
  int kept = 0, prompt_worse = 0;
  for (std::size_t row = 0; row < questions.size(); ++row) {
    std::printf("%s\n", questions[row]);
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      print(to_string(tasks[task]).c_str(), studied[task], row, row == loss ? 2 : 0);
      for (const Numbers& one : studied[task]) kept += row == open_1 && one[row] >= 90 ? 1 : 0;
    }
  }
  for (const std::vector<Numbers>& models : studied) {
    for (const Numbers& one : models) prompt_worse += one[prompt_ahead] < one[answer_ahead] ? 1 : 0;
  }
  std::printf("fewer right with the prompt ahead than with the answer: %d of %d models\n",
              prompt_worse, static_cast<int>(tasks.size() * seeds));
  std::printf("models that keep 90 %% or more with layer 1 without mask: %d of %d\n", kept,
              static_cast<int>(tasks.size() * seeds));
}

}  // namespace

int main() try {
  std::printf("%-27s", "seed");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) std::printf(" %4d", static_cast<int>(seed));
  std::printf("\n");
  Progress progress("training", static_cast<Index>((1 + tasks.size()) * seeds), "models");
  study_decoders(progress);
  study_tasks(progress);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
