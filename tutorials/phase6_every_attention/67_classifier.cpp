// Step 67. What does attention add to words, positions and a mean?
//
// New here: a classifier (embedding, positions, attention, mean over the words, linear) on five
// forms of sentences that are made of the same words in another order, beside the same model with
// parts left out or replaced; and a question that needs two words to be compared. The layers, and
// how they learn, stand in course/form_classifiers.hpp.
// Writes out/plots/phase6_classifier.png; takes about 6 seconds.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/classifier_pictures.hpp"
#include "course/form_classifiers.hpp"
#include "course/sentence_forms.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;
using namespace tapestry::form_classifiers;

namespace {

struct Parts {  // what the model has
  bool positions = false, attention = false;
  bool feed_forward = false;  // for each word, before the mean
};

struct Classifier : Layers {
  Parts parts;

  Classifier(const Parts& has, Index vocabulary, Random& random)
      : Layers(has.attention, has.feed_forward, vocabulary, random), parts(has) {}

  // ids (rows, length) -> (rows, forms)
  Tensor operator()(const Indices& ids, const std::vector<Index>& lengths,
                    const ForwardContext& pass = {}) const {
    Tensor x = words(ids);  // (rows, length, width)
    if (parts.positions) x = x + sinusoidal_positions(ids.shape[1], width);
    const Mask words_only = Mask::padding(lengths);
    if (parts.attention) x = attention(x, words_only, pass);
    if (parts.feed_forward) x = x + feed_forward(x);
    // The mean over the words alone: their sum, divided by how many they are.
    Tensor real = transpose(words_only.tensor({ids.shape[0], 1, ids.shape[1]}));  // 1 or 0
    return out(sum(x * real, 1) / sum(real, 1));                                  // (rows, forms)
  }
};

const std::vector<std::pair<std::string, Parts>> variants = {
    {"words alone", {}},
    {"+ positions", {.positions = true}},
    {"+ attention", {.attention = true}},
    {"+ both", {.positions = true, .attention = true}},
    {"+ feed-forward", {.feed_forward = true}},
    {"+ f.-f., positions", {.positions = true, .feed_forward = true}}};

void compare_two_words(const SentenceForms& task) {
  Random random(79);
  const FormBatch test = task.same_nouns(2000, random);  // ids (2000, 7)
  const auto draw = [&](Random& drawn) { return task.same_nouns(batch_rows, drawn); };
  const auto learned =
      learn_all<Classifier>(std::vector{variants[5], variants[3]}, task.vocabulary().size(), draw);
  std::printf("\n2. Are subject and object the same noun? Share of 2000 sentences told right\n%s",
              text_of_shares(told_right(learned, test)).c_str());
}

// Each head's weights in a sentence of each form, the mean over all queries.
std::vector<HeadsLook> look_inside(const Classifier& model, const SentenceForms& task) {
  const char* texts[] = {"the cat will chase a dog today", "will the cat chase a dog today",
                         "today the cat will chase a dog", "a dog the cat will chase today",
                         "chase a dog the cat will today"};
  std::vector<HeadsLook> looks;
  for (int i = 0; i < 5; ++i) {
    const FormSentence sentence{split_words(texts[i]), static_cast<SentenceForm>(i)};
    const FormBatch one = task.batch({sentence});
    const Capture seen;
    model(one.ids, one.lengths, {.need_weights = true});
    looks.push_back({sentence, mean(squeeze(seen["weights"], 0), 1)});  // (heads, keys)
  }
  return looks;
}

}  // namespace

int main() try {
  std::printf("Step 67: a classifier (takes about 6 seconds)\n\n");
  const SentenceForms task;
  Random random(77);
  const FormBatch test = task.batch(Part::held_out, 2000, random);  // ids (2000, 9)
  const auto draw = [&](Random& drawn) { return task.batch(Part::train, batch_rows, drawn); };
  const auto learned = learn_all<Classifier>(variants, task.vocabulary().size(), draw);

  ClassifierResults results{.models = told_right(learned, test),
                            .first_word = task.first_word_alone(test)};
  std::printf("1. Which parts are needed: share of 2000 held-out sentences told right\n");
  std::printf("%sguessing 0.200, the first word alone, counted: %.3f\n",
              text_of_shares(results.models).c_str(), results.first_word);
  compare_two_words(task);
  results.looks = look_inside(learned[3].models.front(), task);
  plot::write_png(classifier_picture(results), "out/plots/phase6_classifier.png");
  std::printf("\nwrote out/plots/phase6_classifier.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
