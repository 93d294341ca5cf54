// Step 35. Two layers deep, which words does a position depend on?
//
// New here: rollout, which multiplies the layers' maps, and flow, the maximum flow through
// their links (Abnar & Zuidema 2020). Both are estimates from weights alone. Beside them
// stands the local sensitivity: the norms of the derivatives of the last layer with respect to the
// words, computed by the tape. How well they agree, in order and in size, is measured over 20
// sequences, beside controls: one layer with its residual connection, even weights, another
// sequence, and untrained models.
// Reads the induction model of step 26; writes out/plots/phase3_rollout.png; takes about 5 seconds.
#include <cstdio>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/analysis/jacobian.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int sequences = 20;
const TinyTask task(TaskKind::induction, {.longest = 6});

Transformer read_model() {
  return read_transformer("out/checkpoints/induction_model.safetensors",
                          "step 26 trains and saves it. Type: make run-26");
}

// Answers to "how much does the last layer's output at position i depend on word j", (length,
// length) each.
struct Answers {
  Tensor last_layer;              // the weights of the last layer, mean over heads
  Tensor one_layer, other_layer;  // (A + I) / 2 of the last layer alone, and of the first
  Tensor rollout, flow;
  Tensor derivatives;  // || d output_i / d word_j ||, rows divided by their sum
  Tensor even;         // rollout of even weights: what residuals and mask alone make
};

Answers ask(const Transformer& model, const Words& words) {
  const Indices ids = next_word_batch(task.vocabulary(), {words}).inputs;  // (1, length)
  const std::string last = "blocks." + std::to_string(model.options.num_layers - 1) + ".output";
  const Tensor norms = jacobian_norms([&] { model(ids); }, "embedding", last);  // (length, length)
  const Capture seen;
  model(ids, {}, {.need_weights = true});                     // (1, length, vocabulary)
  const std::vector<Tensor> layers = captured_weights(seen);  // (1, heads, length, length) each
  // (1, heads, length, length)
  const Tensor even = uniform_attention(layers[0].shape(), Mask::causal());
  return {squeeze(mean(layers.back(), 1), 0),
          squeeze(with_residual(layers.back()), 0),
          squeeze(with_residual(layers.front()), 0),
          squeeze(attention_rollout(layers), 0),
          squeeze(attention_flow(layers), 0),
          norms / sum(norms, -1, true),
          squeeze(attention_rollout(std::vector<Tensor>(layers.size(), even)), 0)};
}

const char* const guesses[] = {
    "weights of layer 1",    "layer 1: (A + I) / 2", "layer 0: (A + I) / 2", "flow", "rollout",
    "  of another sequence", "  of even weights"};

// How far a guess agrees with the derivatives in one sequence.
struct Agreement {
  Tensor ranks;  // ()
  RowAgreement by_size;
};

// Of each guess, over sequences of one length.
std::vector<std::vector<Agreement>> agreement_of(const Transformer& model) {
  std::vector<std::vector<Agreement>> agreements(std::size(guesses));
  Tensor before;  // rollout of the sequence before
  for (int i = 0; i <= sequences; ++i) {
    const Words words = example_of(task, 6, 4, static_cast<std::uint64_t>(i)).words;
    const Answers a = ask(model, words);
    const Tensor maps[] = {a.last_layer, a.one_layer, a.other_layer, a.flow,
                           a.rollout,    before,      a.even};
    for (std::size_t g = 0; i > 0 && g < std::size(guesses); ++g) {  // the first is only `before`
      agreements[g].push_back({rank_agreement(maps[g], a.derivatives, Mask::causal()),
                               row_agreement(maps[g], a.derivatives)});
    }
    before = a.rollout;
  }
  return agreements;
}

// A line for each guess; print_one prints the column of one model.
template <class Print>
void print_table(const std::vector<std::vector<std::vector<Agreement>>>& models, Print print_one) {
  std::printf(
      "                             trained       random 7       random 8       random 9\n");
  for (std::size_t g = 0; g < std::size(guesses); ++g) {
    std::printf("%-22s", guesses[g]);
    for (const auto& model : models) print_one(model[g]);
    std::printf("\n");
  }
}

void print_agreement(const Transformer& model) {
  std::vector<std::vector<std::vector<Agreement>>> models = {agreement_of(model)};
  for (const std::uint64_t seed : {7, 8, 9}) {
    models.push_back(agreement_of(untrained(model, init::lecun_normal, seed)));
  }
  std::printf("\n2. Rank agreement with the derivatives, %d sequences (1: the same order)\n",
              sequences);
  print_table(models, [](const std::vector<Agreement>& agreements) {
    std::vector<Tensor> ranks;  // () each
    for (const Agreement& one : agreements) ranks.push_back(one.ranks);
    const Spread of = spread(stack(ranks, 0));
    std::printf("   %.2f +- %.2f", of.mean, of.deviation);
  });
  std::printf("\n3. The same rows by size: correlation; rows in which the same key is largest\n");
  print_table(models, [](const std::vector<Agreement>& agreements) {
    double correlation = 0, same = 0;
    for (const Agreement& one : agreements) {
      correlation += one.by_size.correlation / sequences;
      same += one.by_size.same_greatest / sequences;
    }
    std::printf("   %5.2f   %3.0f %%", correlation, 100 * same);
  });
}

// What the last position, which predicts the next letter, depends on.
void print_last_row(const Answers& a, const Words& words) {
  const Index length = a.rollout.size(0);
  std::printf("%-8s %10s %8s %6s %12s\n", "word", "last layer", "rollout", "flow", "derivatives");
  for (Index j = 0; j < length; ++j) {
    std::printf("%-8s", words[static_cast<std::size_t>(j)].c_str());
    for (const Tensor& map : {a.last_layer, a.rollout, a.flow, a.derivatives}) {
      std::printf(" %8.2f", double{map.at({length - 1, j})});
    }
    std::printf("\n");
  }
}

void draw(const Answers& a, const Words& words) {
  const struct {
    const char *title, *unit;
    Tensor map;
  } panels[] = {{"Weights of layer 1, mean of heads", "share", a.last_layer},
                {"Rollout of both layers", "share", a.rollout},
                {"Flow through both layers", "flow", a.flow},
                {"Local sensitivity: derivatives", "share", a.derivatives}};
  plot::Canvas canvas(1160, 980, 1.5);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 2, 2);
  for (std::size_t i = 0; i < areas.size(); ++i) {
    plot::Heatmap map = attention_heatmap(panels[i].map, words, words, panels[i].title);
    for (Index at = 0; at < panels[i].map.numel(); ++at) {
      map.masked.push_back(at % map.columns > at / map.columns);
    }
    map.colour_bar_name = panels[i].unit;
    map.low = 0;
    map.high = 1;  // the same in all four
    plot::draw(canvas, areas[i], map);
  }
  plot::write_png(canvas, "out/plots/phase3_rollout.png");
}

}  // namespace

int main() try {
  std::printf("Step 35: rollout, flow, and derivatives (takes about 5 seconds)\n\n");
  const Transformer model = read_model();
  const TaskSequence sequence = example_of(task, 5, 3);
  Words words = sequence.words;
  const std::string to_be_said = words.back();
  words.pop_back();
  const Answers answers = ask(model, words);  // (length, length) each
  words.insert(words.begin(), "<bos>");
  std::printf("1. What the last position depends on, which has to say \"%s\"\n",
              to_be_said.c_str());
  print_last_row(answers, words);

  print_agreement(model);
  draw(answers, words);
  std::printf("\nwrote out/plots/phase3_rollout.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
