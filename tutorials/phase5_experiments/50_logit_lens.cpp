// Step 50. What does the model know after each layer?
//
// New here: the logit lens (nostalgebraist 2020): the last norm and the matrix of logits, applied
// after any layer. Beside it what can be known (the grammar's entropy), an untrained model, and
// linear probes: for each layer a norm and a matrix of its own that learn the right words.
// Reads the model of step 43; writes out/plots/phase5_logit_lens.png; takes about 7 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/lens_pictures.hpp"
#include "course/probes.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

const Grammar grammar;
const Vocabulary vocabulary(grammar.words());
constexpr int length = 7, sentences = 500, seeds = 3;

const Batch test = [] {
  Random random(5);
  return grammar.batch(vocabulary, sentences, random);  // (sentences, length)
}();

// What the lens or a probe says, over all test sentences.
struct Said {
  Tensor loss;                                    // of each position, (length)
  double probability = 0, rank = 0, entropy = 0;  // of the right word, and of all; means
  double mean_loss() const { return double{mean(loss).item()}; }
};

Said said(const Probe& probe, const Tensor& x) {
  const Tensor logs = log_softmax(probe(x));  // (sentences, length, vocabulary)
  Said result{Tensor::zeros({length})};       // (length)
  result.entropy = double{mean(sum(-exp(logs) * logs, -1)).item()};
  const std::vector<real> values = logs.values();
  const Index width = vocabulary.size();
  for (int i = 0, count = sentences * length; i < count; ++i) {
    const auto begin = values.begin() + i * width;
    const real right = begin[test.targets.values[static_cast<std::size_t>(i)]];
    const auto above = std::count_if(begin, begin + width, [&](real one) { return one > right; });
    result.rank += static_cast<double>(above + 1) / count;
    result.probability += std::exp(double{right}) / count;
    result.loss.data()[i % length] -= right / sentences;
  }
  return result;
}

struct Findings {
  std::vector<ModelPoint> at;
  std::vector<Said> lens, probes;
};

Findings findings(const Transformer& model, bool within_layers) {
  Findings f{model_points(model, within_layers), {}, {}};
  const std::vector<Probe> probes = trained_probes(model, f.at, 150);
  const Capture seen;
  model(test.inputs);
  for (std::size_t i = 0; i < f.at.size(); ++i) {
    f.lens.push_back(said(lens(model), seen[f.at[i].filed]));
    f.probes.push_back(said(probes[i], seen[f.at[i].filed]));
  }
  return f;
}

// The loss of guessing by how often each word comes, whatever stands before it.
double frequency_loss() {
  Random random(6);
  const Batch counted = grammar.batch(vocabulary, 5000, random);  // (5000, length)
  Tensor counts = Tensor::ones({vocabulary.size()});              // (vocabulary)
  for (const auto word : counted.targets.values) counts.data()[word] += 1;
  const Tensor logits = expand(log(counts), {sentences, length, vocabulary.size()});
  return double{cross_entropy(logits, test.targets).item()};
}

void print_model(const Findings& f) {
  std::printf("1. The model of step 43: means over %d sentences\n", sentences);
  std::printf("                     lens: loss  probability  rank  entropy   probe: loss\n");
  for (std::size_t i = 0; i < f.at.size(); ++i) {
    const Said& s = f.lens[i];
    std::printf("%-18s %12.2f %12.2f %5.1f %8.2f %14.2f\n", f.at[i].name.c_str(), s.mean_loss(),
                s.probability, s.rank, s.entropy, f.probes[i].mean_loss());
  }
  std::printf("guessing by frequency: loss %.2f; the grammar leaves open %.2f\n", frequency_loss(),
              grammar.entropy() / length);
}

void print_positions(const Findings& f) {
  std::printf("\n2. Its loss by word (lens), less what the grammar leaves open\n");
  std::printf("word to be said         1st    2nd    3rd    4th    5th    6th  <eos>\n");
  for (std::size_t i = 0; i < f.at.size(); ++i) {
    std::printf("%-20s", f.at[i].name.c_str());
    for (int at = 0; at < length; ++at) {
      const double least = at == 6 ? 0 : grammar.entropy(at + 1) - grammar.entropy(at);
      const double excess = double{f.lens[i].loss.at({at})} - least;
      std::printf(" %6.2f", std::abs(excess) < 0.005 ? 0 : excess);
    }
    std::printf("\n");
  }
}

// The mean losses of the lens or of the probes: (runs, points).
Tensor losses(const std::vector<Findings>& runs, bool by_lens) {
  std::vector<Tensor> all;
  for (const Findings& run : runs) {
    for (const Said& said : by_lens ? run.lens : run.probes) all.push_back(mean(said.loss));
  }
  return reshape(stack(all, 0), {std::ssize(runs), -1});  // (runs, points)
}

std::vector<Spread> over_seeds(const Tensor& by_run) {
  std::vector<Spread> result;
  for (const Tensor& point : split(by_run, by_run.size(1), 1)) {  // (runs, 1)
    result.push_back(spread(point));
  }
  return result;
}

void print_deep(const std::vector<Findings>& runs, const Findings& untrained) {
  const std::vector<Spread> lens = over_seeds(losses(runs, true));
  const std::vector<Spread> probe = over_seeds(losses(runs, false));
  std::printf("\n3. Six layers of half the width, %d seeds: loss\n", seeds);
  std::printf("                      lens            probe     untrained: lens  probe\n");
  for (std::size_t i = 0; i < lens.size(); ++i) {
    std::printf("%-12s %8.2f +- %.2f %8.2f +- %.2f %14.2f %9.2f\n", runs[0].at[i].name.c_str(),
                lens[i].mean, lens[i].deviation, probe[i].mean, probe[i].deviation,
                untrained.lens[i].mean_loss(), untrained.probes[i].mean_loss());
  }
}

void print_answer(const Findings& shallow, const std::vector<Findings>& runs) {
  const auto first = [](const Tensor& by_run, std::size_t layer) {  // per cent
    const std::vector<Spread> loss = over_seeds(by_run);
    return 100 * (loss[0].mean - loss[layer].mean) / (loss[0].mean - loss.back().mean);
  };
  std::printf("\n4. Answer: of the loss that the layers take away, the first one takes\n");
  std::printf("step 43's model   by the lens %3.0f %%, by probes %3.0f %%\n",
              first(losses({shallow}, true), 2), first(losses({shallow}, false), 2));
  std::printf("six layers        by the lens %3.0f %%, by probes %3.0f %%\n",
              first(losses(runs, true), 1), first(losses(runs, false), 1));
}

// What the lens would say first behind each word, after each layer.
std::vector<LikeliestWords> likeliest(const Transformer& model, const Words& read) {
  std::vector<LikeliestWords> rows;
  const Capture seen;
  model(vocabulary.batch({read}));
  for (const ModelPoint& point : model_points(model, false)) {
    const Tensor p = softmax(lens(model)(seen[point.filed]));  // (1, words, vocabulary)
    rows.push_back({point.name, {}, doubles(max(p, -1))});
    for (const auto id : predicted_classes(p).values) {
      rows.back().words.push_back(vocabulary.word(id));
    }
  }
  return rows;
}

}  // namespace

int main() try {
  std::printf("Step 50: the logit lens (takes about 7 seconds)\n\n");
  const Transformer model = read_transformer("out/checkpoints/causal_model.safetensors",
                                             "step 43 trains and saves it. Type: make run-43");
  const Findings shallow = findings(model, true);
  print_model(shallow);
  print_positions(shallow);
  std::vector<Transformer> deep;
  std::vector<Findings> runs;
  for (int seed = 1; seed <= seeds; ++seed) {
    deep.push_back(deep_model(seed, 300));
    runs.push_back(findings(deep.back(), false));
  }
  print_deep(runs, findings(deep_model(1, 0), false));
  print_answer(shallow, runs);

  const Words read = {"<bos>", "the", "dog", "chased", "an", "old", "beetle"};
  const plot::LineChart chart =
      loss_by_layer(losses(runs, true), losses(runs, false), grammar.entropy() / length);
  plot::write_png(lens_picture(read, likeliest(deep[0], read), chart),
                  "out/plots/phase5_logit_lens.png");
  std::printf("\nwrote out/plots/phase5_logit_lens.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
