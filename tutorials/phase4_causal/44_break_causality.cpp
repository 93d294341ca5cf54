// Step 44. What if a model is trained with the mask and run without it, or the other way round?
//
// New here: nothing is trained. The two models of step 43 run both ways, and their loss is looked
// at word by word, with the weight that goes to words that should not be there yet. Then models of
// step 26, which look back for each letter that they say.
// Reads the models of steps 26 and 43; writes out/plots/phase4_break_causality.png; takes about a
// second.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "course/causal_pictures.hpp"
#include "course/grammar.hpp"
#include "course/inside.hpp"
#include "course/tasks.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/batch.hpp"

using namespace tapestry;

namespace {

constexpr Index sentences = 1000, length = 7;

Transformer read_trained(const std::string& name) {
  return read_transformer("out/checkpoints/" + name + ".safetensors",
                          "step 43 trains and saves it. Type: make run-43");
}

// The same weights (a Tensor is a handle: the copy shares them) with the mask put on or taken off.
Transformer with_mask(Transformer model, bool causal) {
  for (TransformerBlock& block : model.blocks) block.attention.is_causal = causal;
  return model;
}

struct Result {
  std::vector<double> losses;  // by position
  double right;                // share of first guesses that are right
  std::vector<double> future;  // by layer: mean weight on later positions
};

// Mean weight on keys after the query, over all queries but the last, which has none.
// weights (sentences, heads, length, length).
double weight_on_future(const Tensor& weights) {
  const Tensor later = Mask::causal().to(MaskEncoding::drop, {length, length});  // (length, length)
  return double{sum(mean(weights, {0, 1}) * later).item()} / (length - 1);
}

std::string name_of(std::size_t layer, const char* what) {
  return "blocks." + std::to_string(layer) + ".attention." + what;
}

// With `cut` the heads put out zeros.
Result run(const Transformer& model, const Batch& batch, bool cut = false) {
  Capture seen;
  for (std::size_t layer = 0; cut && layer < model.blocks.size(); ++layer) {
    seen.replace(name_of(layer, "heads"), [](const Tensor& heads) { return heads * 0; });
  }
  const Tensor logits =
      model(batch.inputs, {}, {.need_weights = true});  // (sentences, length, vocabulary)
  Result result{};
  for (Index i = 0; i < length; ++i) {
    Indices targets;
    targets.shape = {sentences};
    for (Index row = 0; row < sentences; ++row) {
      targets.values.push_back(batch.targets.values[static_cast<std::size_t>(row * length + i)]);
    }
    const Tensor here = squeeze(slice(logits, 1, i, i + 1), 1).contiguous();  // (1000, vocabulary)
    result.losses.push_back(double{cross_entropy(here, targets).item()});
    const Index classes = here.size(1);
    for (Index row = 0; row < sentences; ++row) {
      const real* scores = here.data() + row * classes;
      const auto first_choice = std::max_element(scores, scores + classes) - scores;
      result.right += first_choice == targets.values[static_cast<std::size_t>(row)];
    }
  }
  result.right /= static_cast<double>(sentences * length);
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    result.future.push_back(weight_on_future(seen[name_of(layer, "weights")]));
  }
  return result;
}

void print(const char* name, const Result& result) {
  double sum = 0;
  std::printf("%-11s", name);
  for (const double loss : result.losses) {
    std::printf("%6.2f", loss);
    sum += loss;
  }
  std::printf(" %6.2f %4.0f %% ", sum / length, 100 * result.right);
  for (const double weight : result.future) std::printf(" %.2f", weight);
  std::printf("\n");
}

void print_bounds(const Grammar& grammar) {
  std::printf("%-11s", "the grammar");
  for (int i = 0; i < length; ++i) {
    const double best = i < 6 ? grammar.entropy(i + 1) - grammar.entropy(i) : 0;
    std::printf("%6.2f", best);
  }
  std::printf(" %6.2f\n", grammar.entropy() / length);
}

// Where the heads of layer 0 look when the last word is guessed: (heads, length). There the open
// mask adds one key: that word.
Tensor last_look(const Transformer& model, const Batch& batch) {
  const Tensor weights = mean(weights_of(model, batch.inputs)[0], 0);  // (heads, length, length)
  return squeeze(slice(weights, 1, length - 2, length - 1), 1);
}

// The model that was trained with the mask: with it, without it, and with its heads cut.
WithoutMask print_words(const Transformer& causal, const Transformer& open, const Batch& batch) {
  const Result with = run(causal, batch), without = run(open, batch),
               cut = run(causal, batch, true);
  print("mask/mask", with);
  print("mask/none", without);
  print("mask/cut", cut);
  return {.losses = {{"with the mask", with.losses},
                     {"without", without.losses},
                     {"heads cut", cut.losses}},
          .with = last_look(causal, batch),
          .without = last_look(open, batch)};
}

void print_last_key(const Tensor& look) {
  std::printf("mask/none, where the 6th word is guessed: weight of heads 0.0 to 0.3 on it:");
  for (Index head = 0; head < look.size(0); ++head) {
    std::printf(" %.2f", double{look.at({head, length - 1})});
  }
  std::printf("\n");
}

// The models of step 26: loss of a letter, and answers that are wholly right.
void print_letters(WithoutMask& picture) {
  picture.right = {
      {"everywhere", {}}, {"not in layer 0", {}}, {"not in layer 1", {}}, {"nowhere", {}}};
  std::printf("\nModels of step 26, 500 sequences: loss of a letter, answers wholly right\n");
  std::printf("mask:           everywhere      not in layer 0    not in layer 1         nowhere\n");
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    const std::string name = to_string(kind);
    const Transformer model = read_transformer("out/checkpoints/" + name + "_model.safetensors",
                                               "step 26 trains and saves it. Type: make run-26");
    Random random(11);
    const Batch batch = TinyTask(kind, {.longest = 6}).batch(Part::held_out, 500, random);
    std::printf("%-11s", name.c_str());
    picture.tasks.push_back(name);
    Transformer some[] = {model, model, model, with_mask(model, false)};
    some[1].blocks[0].attention.is_causal = some[2].blocks[1].attention.is_causal = false;
    for (std::size_t i = 0; i < 4; ++i) {
      const Said said = said_without(some[i], batch, {});
      std::printf("   %5.2f %5.1f %%", -said.log_probability, 100 * said.right);
      picture.right[i].second.push_back(100 * said.right);
    }
    std::printf("\n");
  }
}

}  // namespace

int main() try {
  std::printf("Step 44: break causality (takes about a second)\n\n");
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  const Transformer causal = read_trained("causal_model"), peeking = read_trained("peeking_model");
  Random random(11);
  const Batch batch = grammar.batch(vocabulary, sentences, random);  // (sentences, length)

  std::printf("Loss of each word, over %lld sentences, and weight on the future by layer\n",
              static_cast<long long>(sentences));
  std::printf("trained/run  1st   2nd   3rd   4th   5th   6th <eos>   mean  right");
  std::printf(" future\n");
  const Transformer open = with_mask(causal, false);
  WithoutMask picture = print_words(causal, open, batch);
  print("none/none", run(with_mask(peeking, false), batch));
  print("none/mask", run(with_mask(peeking, true), batch));
  print_bounds(grammar);
  const Tensor even = Tensor::full({1, 1, length, length}, 1.0 / length);  // (1, 1, length, length)
  std::printf("Even weights without a mask would give the future %.2f.\n", weight_on_future(even));
  print_last_key(picture.without);
  print_letters(picture);
  plot::write_png(without_mask_picture(picture), "out/plots/phase4_break_causality.png");
  std::printf("\nwrote out/plots/phase4_break_causality.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
