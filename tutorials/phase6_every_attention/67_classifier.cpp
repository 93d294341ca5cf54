// Step 67. When does attention tell sentences apart that counting words cannot?
//
// New here: a classifier (embedding, positions, attention, mean over the words, linear) on five
// forms of sentences that are made of the same words in another order, beside the same model with
// parts left out or replaced; a question that needs two words to be compared; and <pad> left out
// of attention and of the mean, of one of them, or of none.
// Writes out/plots/phase6_classifier.png; takes about 15 seconds.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "course/classifier_pictures.hpp"
#include "course/sentence_forms.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/feed_forward.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 32, heads = 4, batch_rows = 64, steps = 300;
constexpr std::uint64_t seeds = 5;

struct Parts {  // what the model has
  bool positions = false, attention = false;
  bool feed_forward = false;                        // for each word, before the mean
  bool masks_padding = true, mean_of_words = true;  // without them <pad> is a word like any other
};
constexpr Parts attending = {.positions = true, .attention = true};
constexpr Parts by_word = {.positions = true, .feed_forward = true};

struct Classifier : Module {
  Parts parts;
  Embedding words;
  MultiHeadAttention attention;
  FeedForward feed_forward;
  Linear out;

  Classifier(const Parts& has, Index vocabulary, Random& random)
      : parts(has),
        words(vocabulary, width, random, init::lecun_normal),
        attention(width, heads, random, {.initializer = init::lecun_normal}),
        feed_forward(width, random, {.initializer = init::xavier_uniform}),
        out(width, sentence_forms, random, {.initializer = init::lecun_normal}) {}

  // ids (rows, length) -> (rows, forms)
  Tensor operator()(const Indices& ids, const std::vector<Index>& lengths,
                    const ForwardContext& pass = {}) const {
    Tensor x = words(ids);  // (rows, length, width)
    if (parts.positions) x = x + sinusoidal_positions(ids.shape[1], width);
    const Mask words_only = Mask::padding(lengths);
    if (parts.attention) x = attention(x, parts.masks_padding ? words_only : Mask(), pass);
    if (parts.feed_forward) x = x + feed_forward(x);
    if (!parts.mean_of_words) return out(mean(x, 1));  // (rows, forms)
    // The mean over the words alone: their sum, divided by how many they are.
    Tensor real = transpose(words_only.tensor({ids.shape[0], 1, ids.shape[1]}));  // 1 or 0
    return out(sum(x * real, 1) / sum(real, 1));                                  // (rows, forms)
  }

  Members members() const override {
    return {{"words", words},
            {"attention", parts.attention ? &attention : nullptr},
            {"feed_forward", parts.feed_forward ? &feed_forward : nullptr},
            {"out", out}};
  }
};

using Draw = std::function<FormBatch(Random&)>;

Classifier learn(const Parts& parts, Index vocabulary, const Draw& draw, std::uint64_t seed) {
  Random random(seed);
  Classifier model(parts, vocabulary, random);
  Adam adam(model.parameters());
  const ScheduleOptions rates{.peak = 1e-2, .floor = 1e-4, .warmup_steps = 20, .steps = steps};
  const auto rate = [&](Index step) { return cosine_schedule(step, rates); };
  const auto loss_of_step = [&](Index step) {
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const FormBatch b = draw(drawn);                         // ids (64, length)
    return cross_entropy(model(b.ids, b.lengths), b.forms);  // logits (64, forms)
  };
  train(adam, loss_of_step, {.steps = steps, .learning_rate = rate, .what = ""});
  return model;
}

struct Variant {
  const char* name;
  Parts parts;
  std::vector<Classifier> models = {};  // of each seed
};

std::vector<Variant> learn_all(std::vector<Variant> variants, Index vocabulary, const Draw& draw) {
  Progress progress("training", Index(variants.size() * seeds), "models");
  for (Variant& variant : variants) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed, progress.step()) {
      variant.models.push_back(learn(variant.parts, vocabulary, draw, seed));
    }
  }
  return variants;
}

// The share of sentences that each model tells right, of the variants with these numbers.
NamedShares told_right(const std::vector<Variant>& variants, const std::vector<int>& which,
                       const FormBatch& test) {
  NamedShares rows;
  for (const int i : which) {
    rows.emplace_back(variants[i].name, Shares());
    for (const Classifier& model : variants[i].models) {
      rows.back().second.push_back(accuracy(model(test.ids, test.lengths), test.forms));
    }
  }
  return rows;
}

const std::vector<Variant> all_variants = {
    {"words alone", {}},
    {"+ positions", {.positions = true}},
    {"+ attention", {.attention = true}},
    {"+ both", attending},
    {"+ feed-forward", {.feed_forward = true}},
    {"+ f.-f., positions", by_word},
    {"both, <pad> a word",
     {.positions = true, .attention = true, .masks_padding = false, .mean_of_words = false}},
    {"  in attention", {.positions = true, .attention = true, .masks_padding = false}},
    {"  in the mean", {.positions = true, .attention = true, .mean_of_words = false}},
    {"f.-f., in the mean", {.positions = true, .feed_forward = true, .mean_of_words = false}}};

void compare_two_words(const SentenceForms& task) {
  Random random(79);
  const FormBatch test = task.same_nouns(2000, random);  // ids (2000, 7)
  const auto draw = [&](Random& drawn) { return task.same_nouns(batch_rows, drawn); };
  const auto learned =
      learn_all({all_variants[5], all_variants[3]}, task.vocabulary().size(), draw);
  std::printf("\n2. Are subject and object the same noun? Share of 2000 sentences told right\n%s",
              text_of_shares(told_right(learned, {0, 1}, test)).c_str());
}

// The same sentences in longer rows, as if a longer one stood in the batch.
void compare_padding(const std::vector<Variant>& learned, const FormBatch& test,
                     ClassifierResults& results) {
  for (const Index length : {9, 12, 16, 24, 48, 96, 200}) {
    const NamedShares rows = told_right(learned, {3, 6, 7, 8, 5, 9}, padded(test, length));
    results.lengths.push_back(double(length));
    results.pad_left_out.push_back(rows[0].second);
    results.pad_as_word.push_back(rows[1].second);
    if (length != 48 && length != 200) continue;
    std::printf(
        "\n3. Where <pad> is seen: 500 held-out sentences (7 to 9 words), in rows of %d\n%s",
        int(length), text_of_shares(rows).c_str());
  }
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
  std::printf("Step 67: a classifier (takes about 15 seconds)\n\n");
  const SentenceForms task;
  Random random(77);
  const FormBatch test = task.batch(Part::held_out, 2000, random);  // ids (2000, 9)
  const auto draw = [&](Random& drawn) { return task.batch(Part::train, batch_rows, drawn); };
  const auto learned = learn_all(all_variants, task.vocabulary().size(), draw);

  ClassifierResults results{.models = told_right(learned, {0, 1, 2, 3, 4, 5, 6}, test),
                            .first_word = task.first_word_alone(test)};
  std::printf("1. Which parts are needed: share of 2000 held-out sentences told right\n");
  std::printf("%sguessing 0.200, the first word alone, counted: %.3f\n",
              text_of_shares(results.models).c_str(), results.first_word);
  results.models.pop_back();  // the last one is for the picture of longer rows
  compare_two_words(task);
  compare_padding(learned, task.batch(Part::held_out, 500, random), results);
  results.looks = look_inside(learned[3].models.front(), task);
  plot::write_png(classifier_picture(results), "out/plots/phase6_classifier.png");
  std::printf("\nwrote out/plots/phase6_classifier.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
