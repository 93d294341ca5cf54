// Step 18. When is a map of attention a finding?
//
// New here: baselines and cuts. Where the trained head of step 14 looks is averaged over many
// sentences, beside an untrained head and shuffled words. Then one word is cut off (the head may
// not look there) or swapped for one of another sentence; the rise of the loss says what the guess
// needs.
// Reads the model of step 14; writes out/plots/phase1_weights_and_needs.png; takes about a second.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/init.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/text/vocabulary.hpp"

using namespace tapestry;

namespace {

constexpr Index length = 6;

struct OneHead {                     // the model of step 14
  Tensor words, positions;           // (vocabulary, 64), (length, 64)
  Tensor w_q, w_k, w_v, w_o, guess;  // (64, 64) each; guess (64, vocabulary)

  // ids (rows, length) -> output (rows, length, 64), weights and scores (rows, length, length)
  Attention look(const Indices& ids, const Mask& mask = {}) const {
    const Tensor x = embedding(words, ids) + positions;  // (rows, length, 64)
    return attention(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v), mask);
  }

  // The logits of the word at `place`: (rows, vocabulary).
  Tensor logits(const Indices& ids, Index place, const Mask& mask) const {
    const Tensor mixed = slice(look(ids, mask).output, 1, place, place + 1);  // (rows, 1, 64)
    return squeeze(matmul(matmul(mixed, w_o), guess), 1);                     // (rows, vocabulary)
  }
};

OneHead trained() {
  const std::string path = "out/checkpoints/single_head_model.safetensors";
  if (!std::filesystem::exists(path)) {
    throw Error(path + " is not there yet: step 14 trains and saves it. Type: make run-14");
  }
  const Safetensors file = read_safetensors(path);
  return {file["words"],
          file["positions"],
          file["head.query.weight"],
          file["head.key.weight"],
          file["head.value.weight"],
          file["head.output.weight"],
          file["guess"]};
}

// Random weights of the same sizes, spread as those of step 14 were at the start.
OneHead untrained(const OneHead& like) {
  Random random(42);
  const auto matrix = [&](const Tensor& m) { return init::lecun_normal(m.shape(), random); };
  return {random.normal(like.words.shape(), 0, 0.1),
          random.normal(like.positions.shape(), 0, 0.1),
          matrix(like.w_q),
          matrix(like.w_k),
          matrix(like.w_v),
          matrix(like.w_o),
          matrix(like.guess)};
}

Indices hide(const Vocabulary& vocabulary, const std::vector<Words>& texts, Index place) {
  Indices ids = vocabulary.batch(texts);  // (rows, length)
  for (std::size_t row = 0; row < texts.size(); ++row) {
    ids.values[row * length + static_cast<std::size_t>(place)] = Vocabulary::mask;
  }
  return ids;
}

// Mean weight between linked words, by role and both ways, over 300 sentences.
std::array<double, 8> linked_weights(const OneHead& model, const Vocabulary& vocabulary,
                                     bool shuffle) {
  Random random(99);
  std::array<double, 8> sums{}, counts{};
  for (int i = 0; i < 300; ++i) {
    Sentence sentence = Grammar().sentence(random);
    if (shuffle) sentence = shuffled(sentence, random);
    for (const Link& link : sentence.links) {
      for (const bool back : {false, true}) {
        const Index from = back ? link.to : link.from, to = back ? link.from : link.to;
        const auto role = static_cast<std::size_t>(link.role) * 2 + (back ? 1 : 0);
        const Tensor weights =
            model.look(hide(vocabulary, {sentence.words}, from)).weights;  // (1, length, length)
        sums[role] += weights.at({0, from, to});
        counts[role] += 1;
      }
    }
  }
  for (std::size_t role = 0; role < sums.size(); ++role) sums[role] /= counts[role];
  return sums;
}

void print_links(const OneHead& model, const Vocabulary& vocabulary) {
  std::printf("1. Mean weight between words that the grammar links (chance: 0.17)\n");
  std::printf("%-34s trained  untrained  shuffled\n", "hidden word -> looked at");
  const std::array<const char*, 8> roles = {"determiner -> its noun", "noun -> its determiner",
                                            "subject -> verb",        "verb -> subject",
                                            "verb -> object",         "object -> verb",
                                            "preposition -> place",   "place -> preposition"};
  const auto learned = linked_weights(model, vocabulary, false);
  const auto random = linked_weights(untrained(model), vocabulary, false);
  const auto mixed = linked_weights(model, vocabulary, true);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    std::printf("%-34s %6.2f %9.2f %10.2f\n", roles[i], learned[i], random[i], mixed[i]);
  }
}

struct Form {
  const char* name;
  std::array<const char*, length> places;
  std::vector<Words> texts;  // 1000 sentences
};

std::array<Form, 2> two_forms() {
  std::array<Form, 2> forms = {Form{"form 1, as in: the cat sat on the mat",
                                    {"det", "subj", "verb", "prep", "det", "place"},
                                    {}},
                               Form{"form 2, as in: the dog chased an old beetle",
                                    {"det", "subj", "verb", "det", "adj", "obj"},
                                    {}}};
  Random random(123);
  while (forms[0].texts.size() < 1000 || forms[1].texts.size() < 1000) {
    const Sentence sentence = Grammar().sentence(random);
    const bool has_place = sentence.links[2].role == Role::preposition_place;
    Form& form = forms[has_place ? 0 : 1];
    if (form.texts.size() < 1000) form.texts.push_back(sentence.words);
  }
  return forms;
}

// The words at `hidden` do not look at `place`; their other weights grow in proportion.
Mask without(Index hidden, Index place) {
  Tensor keep = Tensor::ones({length, length});  // (length, length)
  keep.set({hidden, place}, 0);
  return Mask::from(MaskEncoding::zero_one, keep);
}

// Each sentence with the word at `place` of the next one.
std::vector<Words> swapped(std::vector<Words> texts, Index place) {
  const auto at = static_cast<std::size_t>(place);
  const std::string first = texts[0][at];
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) texts[i][at] = texts[i + 1][at];
  texts.back()[at] = first;
  return texts;
}

// The loss of guessing the words of `form` at `hidden`, when the model reads `texts`.
double loss(const OneHead& model, const Vocabulary& vocabulary, const Form& form, Index hidden,
            const std::vector<Words>& texts, const Mask& mask) {
  std::vector<std::int32_t> words;
  for (const Words& text : form.texts) {
    words.push_back(vocabulary.id(text[static_cast<std::size_t>(hidden)]));
  }
  const Indices targets({static_cast<Index>(words.size())}, words);  // (rows)
  const Indices ids = hide(vocabulary, texts, hidden);               // (rows, length)
  return cross_entropy(model.logits(ids, hidden, mask), targets).item();
}

// Numbers by hidden place and place looked at, row by row.
struct Needs {
  std::vector<double> weight, cut, swapped;
};

Needs measure(const OneHead& model, const Vocabulary& vocabulary, const Form& form) {
  Needs needs;
  for (Index hidden = 0; hidden < length; ++hidden) {
    const Tensor weights = model.look(hide(vocabulary, form.texts, hidden)).weights;
    const Tensor row = mean(slice(weights, 1, hidden, hidden + 1), {0, 1});  // (length)
    const double whole = loss(model, vocabulary, form, hidden, form.texts, {});
    const auto rise = [&](const std::vector<Words>& texts, const Mask& mask) {
      const double by = loss(model, vocabulary, form, hidden, texts, mask) - whole;
      return std::abs(by) < 0.005 ? 0 : by;  // not "-0.00"
    };
    for (Index place = 0; place < length; ++place) {
      needs.weight.push_back(row.at({place}));
      needs.cut.push_back(rise(form.texts, without(hidden, place)));
      needs.swapped.push_back(rise(swapped(form.texts, place), {}));
    }
  }
  return needs;
}

void print_row(const char* name, const char* kind, const std::vector<double>& rows,
               std::size_t row) {
  std::printf("%-5s %-8s", name, kind);
  for (std::size_t i = 0; i < length; ++i) std::printf(" %6.2f", rows[row * length + i]);
  std::printf("\n");
}

void print_needs(const Form& form, const Needs& needs) {
  std::printf("\n%s\n%-14s", form.name, "hidden");
  for (const char* place : form.places) std::printf(" %6s", place);
  std::printf("\n");
  for (std::size_t hidden = 0; hidden < length; ++hidden) {
    print_row(form.places[hidden], "weight", needs.weight, hidden);
    print_row("", "cut", needs.cut, hidden);
    print_row("", "swapped", needs.swapped, hidden);
  }
}

plot::Heatmap map(const Form& form, const std::vector<double>& values, const char* title,
                  bool is_weight) {
  plot::Heatmap picture;
  picture.rows = picture.columns = length;
  picture.values = values;
  picture.row_labels = picture.column_labels = {form.places.begin(), form.places.end()};
  picture.title = title;
  picture.row_axis = "the hidden word";
  picture.column_axis = "another word, or <mask> on the diagonal";
  picture.colours = is_weight ? plot::ColourMap::blues : plot::ColourMap::blue_orange;
  picture.low = is_weight ? 0 : -9;
  picture.high = is_weight ? 1 : 9;
  picture.colour_bar = false;
  return picture;
}

void draw(const std::array<Form, 2>& forms, const std::array<Needs, 2>& needs) {
  plot::Canvas canvas(1380, 1000);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 2, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string form = i == 0 ? "form 1: " : "form 2: ";
    plot::draw(canvas, panels[3 * i],
               map(forms[i], needs[i].weight, (form + "weight").c_str(), true));
    plot::draw(canvas, panels[3 * i + 1],
               map(forms[i], needs[i].cut, (form + "rise of the loss, cut").c_str(), false));
    plot::draw(
        canvas, panels[3 * i + 2],
        map(forms[i], needs[i].swapped, (form + "rise of the loss, swapped").c_str(), false));
  }
  plot::write_png(canvas, "out/plots/phase1_weights_and_needs.png");
}

// Which share of the guesses for a hidden verb goes to verbs that only the other form has? Without
// each place in turn; in the column "foreign" with the other form's words at position 4. The loss
// is -ln of the share that other words get, plus -ln of the verb's part of it; "explains" is the
// rise of the first by the cut of position 4.
void print_other_form(const OneHead& model, const Vocabulary& vocabulary,
                      const std::array<Form, 2>& forms) {
  std::printf("\n3. A hidden verb: the share that its guess gives to verbs of the other form\n");
  std::printf("%20s  uncut", "not looking at");
  for (Index place = 0; place < length; ++place) std::printf(" %6d", static_cast<int>(place));
  std::printf("  foreign explains");
  for (const bool second : {false, true}) {
    std::vector<Words> texts = forms[second ? 1 : 0].texts;
    const std::vector<Words>& other = forms[second ? 0 : 1].texts;
    Tensor verbs = Tensor::zeros({vocabulary.size()});  // (vocabulary), 1 for those of `other`
    for (const Words& words : other) verbs.set({vocabulary.id(words[2])}, 1);
    const auto shares = [&](const Tensor& words, const Mask& mask) {  // (rows)
      return sum(softmax(model.logits(hide(vocabulary, texts, 2), 2, mask)) * words, -1);
    };
    const auto share = [&](const Mask& mask) { return mean(shares(verbs, mask)).item(); };
    const Tensor rises = log(shares(1 - verbs, {}) / shares(1 - verbs, without(2, 4)));  // (rows)
    std::printf("\n%20s %6.2f", second ? "form 2" : "form 1", share({}));
    for (Index place = 0; place < length; ++place) std::printf(" %6.2f", share(without(2, place)));
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i][4] = other[i][4];
    std::printf(" %8.2f %8.2f", share({}), mean(rises).item());
  }
  std::printf("\n");
}

}  // namespace

int main() try {
  std::printf("Step 18: when is a map a finding? (takes about a second)\n\n");
  const OneHead model = trained();
  const Vocabulary vocabulary(Grammar().words());
  print_links(model, vocabulary);
  std::printf(
      "\n2. Mean weight; how much the loss rises if the head may not look there (cut), or\n"
      "   finds there the word of another sentence (swapped)\n");
  const std::array<Form, 2> forms = two_forms();
  const std::array<Needs, 2> needs = {measure(model, vocabulary, forms[0]),
                                      measure(model, vocabulary, forms[1])};
  for (std::size_t i = 0; i < 2; ++i) print_needs(forms[i], needs[i]);
  draw(forms, needs);
  print_other_form(model, vocabulary, forms);
  std::printf("\nwrote out/plots/phase1_weights_and_needs.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
