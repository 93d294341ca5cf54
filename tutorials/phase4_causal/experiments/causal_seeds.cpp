// Steps 44 and 45 with ten seeds: what do trained decoders lose when the mask is taken off, and
// when heads are cut? One model can be an exception.
//
// Ten decoders of step 43: the loss with the mask and without, and by how much the log-probability
// of the last word falls with heads cut; what the rows that need no attention lose when their heads
// put out other numbers; and what the sixth word loses when heads look at the one key that the mask
// hides there, or only look less at the others. Then ten models of each task of step 26: how many
// answers are wholly right when layers, or some rows of layer 0, see more than the mask shows.
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
#include "tapestry/ops.hpp"
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

struct Falls {
  Numbers numbers;            // one for each of `cuts`
  std::array<Index, 2> pair;  // the worst pair of layer 0
};

// By how much the log-probability of the last word falls without heads.
Falls look_without_heads(const Transformer& model, const Batch& last) {
  const double whole = said_without(model, last, {}).log_probability;
  const auto fall = [&](const std::vector<HeadOf>& cut) {
    return whole - said_without(model, last, cut).log_probability;
  };
  double one = -1, two = -1, which = 0;
  std::array<Index, 2> pair = {};
  for (Index a = 0; a < 8; ++a) {
    const double cost = fall({{a / 4, a % 4}});
    if (cost > one) which = static_cast<double>(a / 4) + static_cast<double>(a % 4) / 10;
    one = std::max(one, cost);
    for (Index b = a + 1; b < 4; ++b) {
      const double of_both = fall({{0, a}, {0, b}});
      if (of_both > two) pair = {a, b};
      two = std::max(two, of_both);
    }
  }
  const double first = fall({{0, 0}, {0, 1}, {0, 2}, {0, 3}}),
               second = fall({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
  return {{one, which, two, first, second}, pair};
}

constexpr Index looks_back = 5;  // the row that says the sixth word: only it needs attention
// Of the other rows: the loss with the mask and without it, each with what attention puts out
// there, changed in five ways; and how long that is.
constexpr std::array changes = {"with the mask",
                                "  of another sentence",
                                "  random, as long",
                                "  its own, times 4",
                                "  another's, times 4",
                                "  random, times 4",
                                "without it",
                                "  of another sentence",
                                "  random, as long",
                                "  its own, times 4",
                                "  another's, times 4",
                                "  random, times 4",
                                "added / row: with mask",
                                "  without it",
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

// The loss with each of the changes.
void add_losses(Numbers& to, const Transformer& model, const Batch& batch) {
  for (const double times : {1.0, 4.0}) {
    Random random(5);
    to.push_back(loss_with(model, batch, [&](const Tensor& y) { return y * times; }));
    to.push_back(loss_with(model, batch, [&](const Tensor& y) {
      // (rows, length, d_model): of the next sentence
      return concat({slice(y, 0, 1, y.size(0)), slice(y, 0, 0, 1)}, 0) * times;
    }));
    to.push_back(loss_with(model, batch, [&](const Tensor& y) {
      const Tensor drawn = random.normal(y.shape());  // (rows, length, d_model)
      return drawn / lengths(drawn) * lengths(y) * times;
    }));
  }
}

Numbers look_at_other_rows(const Transformer& model, const Transformer& open, const Batch& batch) {
  Numbers numbers;
  add_losses(numbers, model, batch);
  add_losses(numbers, open, batch);
  const Tensor with = added(model, batch), without = added(open, batch);  // (length) each
  for (const Tensor& share : {with, without}) {
    const double here{share.at({looks_back})}, all{sum(share).item()};
    numbers.push_back((all - here) / static_cast<double>(share.numel() - 1));
  }
  numbers.push_back(double{without.at({looks_back})});
  return numbers;
}

constexpr std::array looks = {"with the mask",
                              "without it",
                              "  that key hidden",
                              "  worst pair, 1/4 on it",
                              "  worst pair, 3/4 on it",
                              "    3/4 on <bos> instead",
                              "    3/4 only taken away",
                              "    3/4 on it only added",
                              "  other pair, 3/4 on it",
                              "weight on it: worst pair",
                              "  other pair"};

double loss_of_last(const Transformer& model, const Batch& last, const Mask& mask = {}) {
  const Tensor logits = model(last.inputs, mask, {.need_weights = true});  // (rows, length, words)
  return double{cross_entropy(logits, last.targets).item()};
}

// (heads, length, 1): 1 for the row that says the sixth word, in these heads or in the others.
Tensor rows_of(std::array<Index, 2> heads, bool others) {
  Tensor rows = Tensor::zeros({4, looks_back + 2, 1});  // (heads, length, 1)
  for (Index head = 0; head < 4; ++head) {
    const bool is_one = std::find(heads.begin(), heads.end(), head) != heads.end();
    rows.set({head, looks_back, 0}, is_one != others ? 1 : 0);
  }
  return rows;
}

// The loss when such rows of layer 0 have weights that sum to `rest` on the other keys, in their
// proportion, and `added` on this key.
double loss_looking_at(Index key, const Transformer& model, const Batch& last, const Tensor& rows,
                       double rest, double added) {
  Tensor there = Tensor::zeros({looks_back + 2});  // (length)
  there.set({key}, 1);
  Capture reach;
  reach.replace("blocks.0.attention.weights", [&](const Tensor& weights) {
    const Tensor others = weights * (1.0 - there);  // (rows, heads, length, length), and `moved`
    const Tensor moved = others / sum(others, -1, true) * rest + there * added;
    return weights * (1.0 - rows) + moved * rows;
  });
  return loss_of_last(model, last);
}

// The loss of the sixth word. Where it is guessed the mask hides one key: that word.
Numbers look_at_sixth_word(const Transformer& model, const Transformer& open, const Batch& last,
                           std::array<Index, 2> worst) {
  const Index hidden = looks_back + 1, length = looks_back + 2;
  Tensor shown = Tensor::ones({length, length});  // (length, length)
  shown.set({looks_back, hidden}, 0);
  const Tensor pair = rows_of(worst, false), other = rows_of(worst, true);  // (heads, length, 1)
  const Tensor weights = mean(weights_of(open, last.inputs)[0], 0);         // (heads, 7, 7)
  const Tensor on_it = slice(weights, -1, hidden, hidden + 1);              // (heads, length, 1)
  return {loss_of_last(model, last),
          loss_of_last(open, last),
          loss_of_last(open, last, Mask::from(MaskEncoding::keep, shown)),
          loss_looking_at(hidden, open, last, pair, 0.75, 0.25),
          loss_looking_at(hidden, open, last, pair, 0.25, 0.75),
          loss_looking_at(0, open, last, pair, 0.25, 0.75),
          loss_looking_at(hidden, open, last, pair, 0.25, 0),
          loss_looking_at(hidden, open, last, pair, 1, 0.75),
          loss_looking_at(hidden, open, last, other, 0.25, 0.75),
          double{sum(on_it * pair).item()} / 2,
          double{sum(on_it * other).item()} / 2};
}

void study_decoders(Progress& progress) {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  Random of_step_44(11), of_step_45(8);
  const Batch all = grammar.batch(vocabulary, 1000, of_step_44);              // (1000, 7)
  const Batch last = last_words(grammar.batch(vocabulary, 300, of_step_45));  // (300, 7)
  const Batch sixth = last_words(all);                                        // (1000, 7)
  std::vector<Numbers> losses, falls, others, sixths;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = trained_decoder(vocabulary, seed);
    const Transformer open = with_mask(model, false, false);
    losses.push_back({-said_without(model, all, {}).log_probability,
                      -said_without(open, all, {}).log_probability});
    const Falls fall = look_without_heads(model, last);
    falls.push_back(fall.numbers);
    others.push_back(look_at_other_rows(model, open, all));
    sixths.push_back(look_at_sixth_word(model, open, sixth, fall.pair));
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
  std::printf("loss of the sixth word, also if heads of layer 0 look at the key hidden there\n");
  for (std::size_t row = 0; row < looks.size(); ++row) print(looks[row], sixths, row, 2);
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
