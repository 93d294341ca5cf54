#include "course/induction_runs.hpp"

#include <algorithm>
#include <cmath>

#include "tapestry/analysis/patterns.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/vocabulary.hpp"
#include "tapestry/training.hpp"

namespace tapestry {
namespace {

constexpr Index letters = 26, length = 24, every = 10;

const Vocabulary& vocabulary() {
  static const Vocabulary result = [] {
    Words words;
    for (char c = 'a'; c <= 'z'; ++c) words.emplace_back(1, c);
    return Vocabulary(words);
  }();
  return result;
}

// Hides the rows of the test that ask for nothing.
const Mask& asked() {
  static const Mask result = [] {
    Tensor keep =
        Tensor::zeros({repetition_test().inputs.shape[0], length + 1, length + 1});  // (60, 25, 25)
    const Index width = keep.size(2);
    for (Index i = 0; i < keep.numel() / width; ++i) {
      if (repetition_test().targets.values[static_cast<std::size_t>(i)] < 0) continue;
      std::fill_n(keep.data() + i * width, width, real{1});
    }
    return Mask::from(MaskEncoding::keep, keep) & Mask::causal();
  }();
  return result;
}

void look(InductionRun& run, Index step) {
  const Capture seen;
  const Tensor logits =
      run.model(repetition_test().inputs, {}, {.need_weights = true});  // (60, 25, letters)
  run.at.push_back(static_cast<double>(step));
  run.loss.push_back(double{cross_entropy(logits, repetition_test().targets).item()});
  const auto weights = [&](Index layer) {
    return seen["blocks." + std::to_string(layer) + ".attention.weights"];  // (60, heads, 25, 25)
  };
  run.previous.push_back(
      mean(pattern_score(Pattern::previous, weights(0), Mask::causal()), 0));  // (heads)
  run.induction.push_back(mean(pattern_score(Pattern::induction, weights(run.setting.layers - 1),
                                             asked(), repetition_test().inputs),
                               0));  // (heads)
}

Transformer new_model(const InductionSetting& setting, int seed) {
  Random random(42, static_cast<std::uint64_t>(seed));
  TransformerOptions form{
      .vocab_size = vocabulary().size(), .max_length = length + 1, .d_model = 32};
  form.num_heads = setting.heads;
  form.num_layers = setting.layers;
  form.has_feed_forward = false;
  form.positions = setting.positions;
  form.initializer = init::lecun_normal;
  Transformer model(form, random);
  if (setting.first == FirstPositions::drawn) return model;
  const Shape shape = model.position_embedding->weight.shape();
  const std::vector<real> first =
      setting.first == FirstPositions::sinusoids
          ? sinusoidal_positions(shape[0], shape[1]).values()
          : random.normal(shape, 0, std::sqrt(0.5)).values();  // the mean square of sinusoids
  std::copy(first.begin(), first.end(), model.position_embedding->weight.data());
  return model;
}

std::vector<double> best(const std::vector<Tensor>& scores) {
  std::vector<double> result;
  for (const Tensor& of_heads : scores) result.push_back(double{max(of_heads).item()});
  return result;
}

}  // namespace

Batch repetitions(Index rows, Random& random) {
  std::vector<Words> texts;
  std::vector<Index> pieces;
  for (Index row = 0; row < rows; ++row) {
    pieces.push_back(6 + random.randint(7));
    Words words;
    for (Index i = 0; i < length; ++i) {
      words.push_back(i < pieces.back()
                          ? std::string(1, static_cast<char>('a' + random.randint(letters)))
                          : words[static_cast<std::size_t>(i - pieces.back())]);
    }
    texts.push_back(words);
  }
  Batch batch = next_word_batch(vocabulary(), texts);  // (rows, length + 1)
  for (Index row = 0; row < rows; ++row) {  // the target of position i is letter i; <eos> is last
    const auto target = batch.targets.values.begin() + row * (length + 1);
    std::fill_n(target, pieces[static_cast<std::size_t>(row)] + 1, -1);
    target[length] = -1;
  }
  return batch;
}

std::vector<double> InductionRun::best_previous() const { return best(previous); }
std::vector<double> InductionRun::best_induction() const { return best(induction); }

InductionRun train_on_repetitions(const InductionSetting& setting, int seed, Index steps,
                                  double rate) {
  InductionRun run{setting, new_model(setting, seed)};
  Adam adam(run.model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data(static_cast<std::uint64_t>(seed) + 1, static_cast<std::uint64_t>(step));
    const Batch batch = repetitions(32, data);                     // (32, length + 1)
    return cross_entropy(run.model(batch.inputs), batch.targets);  // logits (32, 25, vocabulary)
  };
  TrainingOptions options{.steps = steps};
  options.learning_rate = [rate](Index step) {
    return rate * std::min(1.0, static_cast<double>(step) / 50);
  };
  options.what = setting.name.empty() ? "" : setting.name + ", seed " + std::to_string(seed);
  options.after_step = [&](Index step, double) {
    if (step % every == 0) look(run, step);
  };
  look(run, 0);
  train(adam, loss_of_step, options);
  return run;
}

const Batch& repetition_test() {
  static const Batch result = [] {
    Random random(99);
    return repetitions(60, random);  // (60, length + 1)
  }();
  return result;
}

}  // namespace tapestry
