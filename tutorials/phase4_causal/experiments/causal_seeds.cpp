// Steps 44 and 45 with ten seeds: what do trained decoders lose when the mask is taken off, and
// when heads are cut? One model can be an exception.
//
// Ten decoders of step 43: the loss with the mask and without, and by how much the log-probability
// of the last word falls with heads cut. Then ten models of each task of step 26: how many answers
// are wholly right when layers, or some rows of layer 0, see all positions.
// Takes about a minute and a half of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/inside.hpp"
#include "course/next_word_rows.hpp"
#include "course/task_models.hpp"
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

// As in step 43.
Transformer trained_decoder(const Vocabulary& vocabulary, std::uint64_t seed) {
  Random random(seed);
  const Transformer model({.vocab_size = vocabulary.size(), .max_length = 8}, random);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = 400};
  options.what = "";
  options.learning_rate = [&](Index step) {
    return cosine_schedule(step, {.peak = 3e-3, .warmup_steps = 50, .steps = options.steps});
  };
  const auto loss_of_step = [&](Index step) {
    Random data(seed + 1, static_cast<std::uint64_t>(step));
    const Batch batch = next_word_rows(vocabulary, Part::train, 64, data);  // (64, 7)
    return cross_entropy(model(batch.inputs), batch.targets);  // (), of logits (64, 7, vocabulary)
  };
  train(adam, loss_of_step, options);
  return model;
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

void study_decoders(Progress& progress) {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  Random of_step_44(11), of_step_45(8);
  const Batch all = grammar.batch(vocabulary, 1000, of_step_44);              // (1000, 7)
  const Batch last = last_words(grammar.batch(vocabulary, 300, of_step_45));  // (300, 7)
  std::vector<Numbers> losses, falls;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = trained_decoder(vocabulary, seed);
    const Transformer open = with_mask(model, false, false);
    losses.push_back({-said_without(model, all, {}).log_probability,
                      -said_without(open, all, {}).log_probability});
    falls.push_back(look_without_heads(model, last));
    progress.step();
  }
  std::printf("1. Decoders of step 43: loss over 1000 sentences\n");
  print("with the mask", losses, 0, 2);
  print("without it", losses, 1, 2);
  std::printf("how much the log-probability of the last word falls without\n");
  for (std::size_t row = 0; row < cuts.size(); ++row)
    print(cuts[row], falls, row, row == 1 ? 1 : 2);
}

// Besides what the causal mask shows, the rows that say a letter of the answer see all positions,
// or else all other rows do.
Mask with_open_rows(const Batch& batch, bool of_answer) {
  const Index rows = batch.inputs.shape[0], length = batch.inputs.shape[1];
  Tensor open = Tensor::zeros({rows, length, length});  // (rows, length, length)
  for (Index at = 0; at < rows * length; ++at) {
    const bool says = batch.targets.values[static_cast<std::size_t>(at)] >= 0;
    for (Index key = 0; says == of_answer && key < length; ++key) {
      open.set({at / length, at % length, key}, 1);
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
    "answers wholly right, %, in layer 0 only rows that say the answer look ahead"};
constexpr std::size_t open_1 = 2, loss = 4;

Numbers look_without_mask(const Transformer& model, const Batch& batch) {
  const auto say = [&](bool in_layer_0, bool in_layer_1) {
    return said_without(with_mask(model, in_layer_0, in_layer_1), batch, {});
  };
  const Transformer open_0 = with_mask(model, false, true);
  const auto right_with = [&](bool of_answer) {
    // (rows, length, vocabulary)
    const Tensor logits = open_0(batch.inputs, with_open_rows(batch, of_answer));
    return 100 * static_cast<double>(exact_matches(logits, batch.targets)) /
           static_cast<double>(batch.inputs.shape[0]);
  };
  const Said none = say(false, false);
  return {100 * say(true, true).right,
          100 * say(false, true).right,
          100 * say(true, false).right,
          100 * none.right,
          -none.log_probability,
          right_with(false),
          right_with(true)};
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
  int kept = 0;
  for (std::size_t row = 0; row < questions.size(); ++row) {
    std::printf("%s\n", questions[row]);
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      print(to_string(tasks[task]).c_str(), studied[task], row, row == loss ? 2 : 0);
      for (const Numbers& one : studied[task]) kept += row == open_1 && one[row] >= 90 ? 1 : 0;
    }
  }
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
