// Step 67. When does attention tell sentences apart that counting words cannot?
//
// New here: a classifier (embedding, positions, attention, mean over the words, linear) on five
// forms of sentences that are made of the same words in another order, beside the same model with
// parts left out or replaced; a question that needs two words to be compared; and <pad> left out
// of attention and of the mean, of one of them, or of none.
// Writes out/plots/phase6_classifier.png; takes about 15 seconds.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

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
#include "tapestry/pictures.hpp"
#include "tapestry/plot/dot_plot.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 32, heads = 4, batch_rows = 64, steps = 300;
constexpr std::uint64_t seeds = 5;
constexpr std::size_t both = 3, pad_as_word = 6;  // rows of the list of variants
const std::vector<double> row_lengths = {9, 12, 16, 24, 48, 96, 200};

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

template <class Draw>
Classifier learn(const Parts& parts, Index vocabulary, const Draw& draw, std::uint64_t seed) {
  Random random(seed);
  Classifier model(parts, vocabulary, random);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = steps, .what = ""};
  options.learning_rate = [](Index step) {
    return cosine_schedule(step, {.peak = 1e-2, .floor = 1e-4, .warmup_steps = 20, .steps = steps});
  };
  const auto loss_of_step = [&](Index step) {
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const FormBatch b = draw(drawn);                         // ids (64, length)
    return cross_entropy(model(b.ids, b.lengths), b.forms);  // logits (64, forms)
  };
  train(adam, loss_of_step, options);
  return model;
}

Classifier learn_forms(const Parts& parts, const SentenceForms& task, std::uint64_t seed) {
  const auto draw = [&](Random& random) { return task.batch(Part::train, batch_rows, random); };
  return learn(parts, task.vocabulary().size(), draw, seed);
}

// The same sentences in rows of `length`, as if a longer one stood in the batch.
Indices padded(const Indices& ids, Index length) {
  Indices wide({ids.shape[0], length},
               std::vector<std::int32_t>(static_cast<std::size_t>(ids.shape[0] * length)));
  for (Index i = 0; i < static_cast<Index>(ids.values.size()); ++i) {
    const Index to = i / ids.shape[1] * length + i % ids.shape[1];
    wide.values[static_cast<std::size_t>(to)] = ids.values[static_cast<std::size_t>(i)];
  }
  return wide;
}

// How far the first word alone gets: count in training which form it goes with.
double first_word_alone(const SentenceForms& task, const FormBatch& test) {
  Tensor counts = Tensor::zeros({task.vocabulary().size(), sentence_forms});  // (words, forms)
  Random random(78);
  for (int i = 0; i < 20000; ++i) {
    const FormSentence one = task.sentence(Part::train, random);
    const Index first = task.vocabulary().id(one.words.front()), form = Index(one.form);
    counts.set({first, form}, double{counts.at({first, form})} + 1);
  }
  return accuracy(squeeze(slice(embedding(counts, test.ids), 1, 0, 1), 1), test.forms);
}

struct Variant {
  const char* name;
  Parts parts;
  std::vector<double> right = {};                 // share told right, by seed
  std::vector<std::vector<double>> in_rows = {};  // the same of fewer, by row length and seed
};

std::vector<Variant> measure(const SentenceForms& task, const FormBatch& test,
                             const FormBatch& few) {
  std::vector<Variant> variants = {
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
  Progress progress("training", Index(variants.size() * seeds), "models");
  for (Variant& variant : variants) {
    variant.in_rows.resize(row_lengths.size());
    for (std::uint64_t seed = 1; seed <= seeds; ++seed, progress.step()) {
      const Classifier model = learn_forms(variant.parts, task, seed);
      variant.right.push_back(accuracy(model(test.ids, test.lengths), test.forms));
      if (!variant.parts.positions || !(variant.parts.attention || variant.parts.feed_forward)) {
        continue;  // guesses at best: longer rows would tell nothing
      }
      for (std::size_t i = 0; i < row_lengths.size(); ++i) {
        const Indices ids = padded(few.ids, static_cast<Index>(row_lengths[i]));  // (500, length)
        variant.in_rows[i].push_back(accuracy(model(ids, few.lengths), few.forms));
      }
    }
  }
  return variants;
}

void print_seeds(const std::string& title) {
  std::printf("%s\n%18s seed 1 seed 2 seed 3 seed 4 seed 5\n", title.c_str(), "");
}

void print_row(const Variant& variant, const std::vector<double>& shares) {
  std::printf("%-18s", variant.name);
  for (const double share : shares) std::printf(" %6.3f", share);
  std::printf("\n");
}

void print_parts(const std::vector<Variant>& variants, double first_word) {
  print_seeds("1. Which parts are needed: share of 2000 held-out sentences told right");
  for (std::size_t i = 0; i <= pad_as_word; ++i) print_row(variants[i], variants[i].right);
  std::printf("guessing 0.200, the first word alone, counted: %.3f\n", first_word);
}

void print_padding(const std::vector<Variant>& variants) {
  for (const std::size_t length : {4, 6}) {
    print_seeds("\n3. Where <pad> is seen: 500 held-out sentences (7 to 9 words), in rows of " +
                std::to_string(static_cast<int>(row_lengths[length])));
    for (const int i : {3, 6, 7, 8, 5, 9}) print_row(variants[i], variants[i].in_rows[length]);
  }
}

// "the cat will chase the dog today": class 1 if subject and object are the same noun, half of all
// sentences; else class 0.
FormBatch same_nouns(const Vocabulary& vocabulary, Index rows, Random& random) {
  const Words nouns = {"cat", "dog", "bird", "horse", "fox", "goat"};
  FormBatch batch{Indices({rows, 7}, std::vector<std::int32_t>(static_cast<std::size_t>(rows * 7))),
                  std::vector<Index>(static_cast<std::size_t>(rows), 7),
                  Indices({rows}, std::vector<std::int32_t>(static_cast<std::size_t>(rows)))};
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const bool same = random.randint(2) == 1;
    const Index first = random.randint(6), other = (first + 1 + random.randint(5)) % 6;
    Words words = {"the", "", "will", "chase", "the", "", "today"};
    words[1] = nouns[static_cast<std::size_t>(first)];
    words[5] = nouns[static_cast<std::size_t>(same ? first : other)];
    for (std::size_t i = 0; i < 7; ++i) batch.ids.values[row * 7 + i] = vocabulary.id(words[i]);
    batch.forms.values[row] = same;
  }
  return batch;
}

void compare_two_words(const Vocabulary& vocabulary) {
  Random random(79);
  const FormBatch test = same_nouns(vocabulary, 2000, random);  // ids (2000, 7)
  const auto draw = [&](Random& drawn) { return same_nouns(vocabulary, batch_rows, drawn); };
  print_seeds("\n2. Are subject and object the same noun? Share of 2000 sentences told right");
  Variant list[] = {{"+ f.-f., positions", by_word}, {"+ both", attending}};
  for (Variant& variant : list) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Classifier model = learn(variant.parts, vocabulary.size(), draw, seed);
      variant.right.push_back(accuracy(model(test.ids, test.lengths), test.forms));
    }
    print_row(variant, variant.right);
  }
}

plot::DotPlot parts_chart(const std::vector<Variant>& variants, double first_word) {
  plot::DotPlot chart;
  chart.title = "Sentences told right";
  chart.subtitle = "a dot for each of five seeds";
  chart.value_axis = {"share", false, 0, 1.05};
  chart.series.push_back({"", {}, plot::series_colour(2)});  // blue and orange: at the right
  for (std::size_t i = 0; i < pad_as_word; ++i) {
    chart.labels.push_back(variants[i].name);
    chart.series[0].groups.push_back({variants[i].right, {}});
  }
  chart.reference_lines = {{0.2, "guessing"},
                           {first_word, "the first word alone", plot::theme::frame}};
  return chart;
}

plot::LineChart padding_chart(const std::vector<Variant>& variants) {
  plot::LineChart chart;
  chart.title = "The same sentences in longer rows";
  chart.subtitle = "a line for each of five seeds";
  chart.x_axis = {"length of the row", true};
  chart.y_axis = {"share told right", false, 0, 1};
  for (const std::size_t which : {pad_as_word, both}) {
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      const char* name = which == both ? "<pad> left out: all five" : "<pad> as a word";
      std::vector<double> y;
      for (const auto& right : variants[which].in_rows) y.push_back(right[seed]);
      chart.series.push_back({seed == 0 ? name : "", row_lengths, y, true, true});
      chart.series.back().colour = plot::series_colour(which == both ? 1 : 0);
    }
  }
  return chart;
}

// Where the heads look in a sentence: each head's weights, the mean over all queries.
plot::Heatmap where_heads_look(const Classifier& model, const SentenceForms& task,
                               const FormSentence& sentence) {
  const FormBatch one = task.batch({sentence});
  const Capture seen;
  model(one.ids, one.lengths, {.need_weights = true});
  const Tensor weights = mean(squeeze(seen["weights"], 0), 1);  // (heads, keys)
  const std::vector<std::string> rows = {"head 0", "head 1", "head 2", "head 3"};
  plot::Heatmap map = attention_heatmap(weights, rows, sentence.words, to_string(sentence.form));
  map.row_axis = map.column_axis = "";
  map.colour_bar = false;
  return map;
}

}  // namespace

int main() try {
  std::printf("Step 67: a classifier (takes about 15 seconds)\n\n");
  const SentenceForms task;
  Random random(77);
  const FormBatch test = task.batch(Part::held_out, 2000, random);  // ids (2000, 9)
  const double first_word = first_word_alone(task, test);
  const auto variants = measure(task, test, task.batch(Part::held_out, 500, random));
  print_parts(variants, first_word);
  compare_two_words(task.vocabulary());
  print_padding(variants);

  plot::Canvas canvas(1360, 710, 1.5);
  plot::draw(canvas, {16, 16, 640, 420}, parts_chart(variants, first_word));
  plot::draw(canvas, {690, 16, 650, 420}, padding_chart(variants));
  canvas.text({16, 464},
              "Five orders: where the four heads of seed 1 look (mean over all queries)");
  const char* texts[] = {"the cat will chase a dog today", "will the cat chase a dog today",
                         "today the cat will chase a dog", "a dog the cat will chase today",
                         "chase a dog the cat will today"};
  const Classifier model = learn_forms(attending, task, 1);
  for (int i = 0; i < 5; ++i) {
    const FormSentence sentence{split_words(texts[i]), static_cast<SentenceForm>(i)};
    plot::draw(canvas, {16 + 267.0 * i, 476, 260, 220}, where_heads_look(model, task, sentence));
  }
  plot::write_png(canvas, "out/plots/phase6_classifier.png");
  std::printf("\nwrote out/plots/phase6_classifier.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
