// The capstone: trains a GPT on the grammar by the functions of the exercises, and beside it the
// same model by the library's operations and tape, from the same numbers on the same sentences.
// `make capstone` builds it with the learner's functions, and with the solutions of what is not
// solved yet. Writes out/plots/capstone.png.
#include <cmath>
#include <cstdio>

#include "course/grammar.hpp"
#include "course/timing.hpp"
#include "gpt_check.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/text/batch.hpp"

using namespace tapestry;

namespace {

constexpr Index steps = 300, rows = 16, length = 7, d = 32, f = 128;
constexpr double rate = 3e-3;

const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

struct Text {
  Indices ids, targets;  // (length) each
};

std::vector<Text> texts_of(Index step) {
  Random random(7, static_cast<std::uint64_t>(step));
  std::vector<Text> texts;
  for (Index row = 0; row < rows; ++row) {
    const Batch one = next_word_batch(vocabulary, {grammar.sentence(random).words});
    texts.push_back({{{length}, one.inputs.values}, {{length}, one.targets.values}});
  }
  return texts;
}

Gpt first_model() {
  Random random(1);
  Gpt gpt = random_gpt(random, vocabulary.size(), length, d, f, 2);
  for (Tensor* one : tensors_of(gpt)) *one = 0.1 * *one;  // small logits: begin without an opinion
  for (GptBlock& b : gpt.blocks) b.gain1 = Tensor::ones({d}), b.gain2 = Tensor::ones({d});
  gpt.gain = Tensor::ones({d});
  return gpt;
}

// The mean loss of the texts; its gradients in `gradients`, by the functions of the exercises.
double by_exercises(const Gpt& gpt, const std::vector<Text>& texts, Gpt& gradients) {
  gradients = zeros_like(gpt);
  double loss = 0;
  for (const Text& text : texts) loss += learn::gpt_loss(gpt, text.ids, text.targets, gradients);
  for (Tensor* one : tensors_of(gradients)) *one = *one / static_cast<double>(rows);
  return loss / static_cast<double>(rows);
}

double by_library(const Gpt& gpt, const std::vector<Text>& texts, Gpt& gradients) {
  gradients = gpt;
  std::vector<Tensor> watched;
  for (Tensor* one : tensors_of(gradients)) watched.push_back(*one);
  Tape tape(watched);
  Tensor loss(0);
  for (const Text& text : texts) {
    loss = loss + cross_entropy(gpt_by_library(gpt, text.ids), text.targets);
  }
  loss = loss / static_cast<double>(rows);
  const Gradients found = tape.backward(loss);
  for (Tensor* one : tensors_of(gradients)) *one = found[*one];
  return double{loss.item()};
}

double greatest_difference(Gpt a, Gpt b) {
  double greatest = 0;
  const std::vector<Tensor*> x = tensors_of(a), y = tensors_of(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    greatest = std::max(greatest, double{max(abs(*x[i] - *y[i])).item()});
  }
  return greatest;
}

using Pass = double (*)(const Gpt&, const std::vector<Text>&, Gpt&);

struct Run {
  Gpt gpt;
  std::vector<double> losses;
  double seconds = 0;
};

Run trained(Pass pass, const char* what) {
  Run run{first_model(), {}};
  std::vector<AdamMemory> memory;
  for (Tensor* one : tensors_of(run.gpt)) {
    memory.push_back({Tensor::zeros({one->numel()}), Tensor::zeros({one->numel()})});
  }
  Progress progress(what, steps, "steps");
  run.seconds = seconds_of([&] {
    for (Index step = 0; step < steps; ++step) {
      Gpt gradients;
      run.losses.push_back(pass(run.gpt, texts_of(step), gradients));
      const std::vector<Tensor*> weights = tensors_of(run.gpt), slopes = tensors_of(gradients);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        Tensor flat = reshape(*weights[i], {-1}).clone();  // (count)
        learn::adam_step(flat, reshape(*slopes[i], {-1}), memory[i], rate);
        *weights[i] = reshape(flat, weights[i]->shape());
      }
      progress.step();
    }
  });
  return run;
}

// The maps of a trained model's last block for the example sentence.
void add_maps(plot::HeatmapGrid& grid, const Run& run, const char* whose) {
  const Words words = grammar.example().words;
  const Batch one = next_word_batch(vocabulary, {words});
  Tensor x = embedding(run.gpt.words, {{length}, one.inputs.values}) + run.gpt.positions;
  BlockTrace kept;
  for (const GptBlock& block : run.gpt.blocks) x = learn::gpt_block_forward(block, x, kept);
  Words labels{"<bos>"};
  labels.insert(labels.end(), words.begin(), words.end());
  for (Index head = 0; head < Gpt::heads; ++head) {
    const std::vector<real> weights = learn::matrix_of(kept.weights, head).values();
    grid.maps.push_back(plot::attention_heatmap({weights.begin(), weights.end()}, labels, labels,
                                                whose + (", head " + std::to_string(head))));
  }
}

}  // namespace

int main() {
  Gpt own, theirs;
  const double own_loss = by_exercises(first_model(), texts_of(0), own);
  const double their_loss = by_library(first_model(), texts_of(0), theirs);
  std::printf("First loss: %.6f, by the library %.6f\n", own_loss, their_loss);
  std::printf("Greatest difference of a gradient: %.1e\n\n", greatest_difference(own, theirs));

  const Run exercises = trained(by_exercises, "by the exercises");
  const Run library = trained(by_library, "by the library's operations");
  std::printf("loss at step %18s %18s\n", "by the exercises", "by the library");
  for (Index step = 0; step <= steps; step += step == 0 ? 9 : step == 9 ? 40 : 50) {
    const auto at = static_cast<std::size_t>(std::min(step, steps - 1));
    std::printf("%12zu %18.4f %18.4f\n", at + 1, exercises.losses[at], library.losses[at]);
  }
  std::printf("seconds      %18.1f %18.1f\n", exercises.seconds, library.seconds);
  std::printf("\nNo model can come below %.2f, the grammar's entropy per word.\n",
              grammar.entropy() / length);

  plot::HeatmapGrid grid{.columns = Gpt::heads,
                         .title = "The last block's maps: by the exercises, and by the library"};
  add_maps(grid, exercises, "exercises");
  add_maps(grid, library, "library");
  plot::write_png(render(grid, 220), "out/plots/capstone.png");
  std::printf("out/plots/capstone.png\n");
}
