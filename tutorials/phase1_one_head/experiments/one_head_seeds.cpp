// Step 14 and step 18 with ten seeds: what does one head learn to look at, and what does it need?
//
// For each seed the head of step 14 is trained. The mean weight from a hidden word to another, and
// the rise of the loss if the head may not look there: one weight may be near chance and needed
// all the same. Takes about two minutes on one thread.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/init.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/text/batch.hpp"

using namespace tapestry;

namespace {

constexpr Index d_model = 64, length = 6, batch = 64, steps = 2000;
constexpr std::uint64_t first_seed = 42, seeds = 10;

struct OneHead {              // the model of step 14, in the same order of random numbers
  Tensor words, positions;    // (vocabulary, d_model), (length, d_model)
  Tensor w_q, w_k, w_v, w_o;  // (d_model, d_model) each
  Tensor guess;               // (d_model, vocabulary)

  OneHead(Index vocabulary, Random& random)
      : words(random.normal({vocabulary, d_model}, 0, 0.1)),
        positions(random.normal({length, d_model}, 0, 0.1)),
        w_q(init::lecun_normal({d_model, d_model}, random)),
        w_k(init::lecun_normal({d_model, d_model}, random)),
        w_v(init::lecun_normal({d_model, d_model}, random)),
        w_o(init::lecun_normal({d_model, d_model}, random)),
        guess(init::lecun_normal({d_model, vocabulary}, random)) {}

  Parameters parameters() const {
    return {{"words", words}, {"positions", positions}, {"w_q", w_q}, {"w_k", w_k}, {"w_v", w_v},
            {"w_o", w_o},     {"guess", guess}};
  }

  Attention look(const Indices& ids, const Mask& mask = {}) const {
    const Tensor x = embedding(words, ids) + positions;  // (rows, length, d_model)
    return attention(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v), mask);
  }

  // ids (rows, length) -> (rows, length, vocabulary)
  Tensor logits(const Indices& ids, const Mask& mask = {}) const {
    return matmul(matmul(look(ids, mask).output, w_o), guess);
  }
};

std::vector<Words> sentences(Index count, Random& random) {
  std::vector<Words> texts;
  for (Index i = 0; i < count; ++i) texts.push_back(Grammar().sentence(random).words);
  return texts;
}

void train(const OneHead& model, const Vocabulary& vocabulary) {
  Random random(1);
  Adam adam(model.parameters(), {.learning_rate = 3e-3});
  for (Index step = 0; step < steps; ++step) {
    const Batch b = masked_lm_batch(vocabulary, sentences(batch, random), random);  // (batch, 6)
    Tape tape(model.parameters());
    adam.step(tape.backward(cross_entropy(model.logits(b.inputs), b.targets)));
  }
}

// Sentences of one form with the same place hidden.
struct Hidden {
  Batch batch;  // (rows, length)
  Index place;
};

Hidden hide(const Vocabulary& vocabulary, bool has_object, Index place) {
  Random random(123);
  std::vector<Words> texts;
  while (texts.size() < 1000) {
    const Sentence sentence = Grammar().sentence(random);
    if ((sentence.links[2].role == Role::verb_object) == has_object) {
      texts.push_back(sentence.words);
    }
  }
  Hidden hidden{{vocabulary.batch(texts), {}, {}}, place};
  Batch& made = hidden.batch;
  made.targets =
      Indices(made.inputs.shape, std::vector<std::int32_t>(made.inputs.values.size(), -1));
  for (auto at = static_cast<std::size_t>(place); at < made.inputs.values.size(); at += length) {
    made.targets.values[at] = made.inputs.values[at];
    made.inputs.values[at] = Vocabulary::mask;
  }
  return hidden;
}

// Mean weight on `to`, and the rise of the loss if the hidden word may not look there.
void print_link(const OneHead& model, const Hidden& hidden, Index to) {
  const Batch& b = hidden.batch;
  const Tensor weights = mean(model.look(b.inputs).weights, 0);  // (length, length)
  Tensor keep = Tensor::ones({length, length});                  // (length, length)
  keep.set({hidden.place, to}, 0);
  const Mask cut = Mask::from(MaskEncoding::zero_one, keep);
  const double whole = double{cross_entropy(model.logits(b.inputs), b.targets).item()};
  const double rise = double{cross_entropy(model.logits(b.inputs, cut), b.targets).item()} - whole;
  std::printf("  %4.2f %5.2f", double{weights.at({hidden.place, to})},
              std::abs(rise) < 0.005 ? 0.0 : rise);
}

}  // namespace

int main() try {
  std::printf("One head, ten seeds: mean weight, and the rise of the loss without that link\n");
  std::printf("hidden ->                verb, form 1             verb, form 2              prep\n");
  std::printf("looked at             subject     det 4     subject    adj 4    object    place\n");
  std::printf("seed loss right\n");
  const Vocabulary vocabulary(Grammar().words());
  const Hidden verb_1 = hide(vocabulary, false, 2), verb_2 = hide(vocabulary, true, 2),
               preposition = hide(vocabulary, false, 3);
  Random fresh(77);
  const Batch test = masked_lm_batch(vocabulary, sentences(6400, fresh), fresh);  // (6400, length)
  Progress progress("training", static_cast<Index>(seeds), "models");
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    Random random(seed);
    const OneHead model(vocabulary.size(), random);
    train(model, vocabulary);
    const Tensor logits = model.logits(test.inputs);  // (6400, length, vocabulary)
    std::printf("%4d %4.2f %2.0f %% ", static_cast<int>(seed),
                double{cross_entropy(logits, test.targets).item()},
                static_cast<double>(exact_matches(logits, test.targets)) / 64);
    for (const Index to : {1, 4}) print_link(model, verb_1, to);
    for (const Index to : {1, 4, 5}) print_link(model, verb_2, to);
    print_link(model, preposition, 5);
    std::printf("\n");
    progress.step();
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
