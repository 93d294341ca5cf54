// Step 18. When is a map of attention a finding?
//
// New here: baselines and cuts. Where the trained head of step 14 looks is averaged over many
// sentences, beside an untrained head and shuffled words. Then one word is cut off (the head may
// not look there) or swapped for one of another sentence; the rise of the loss says what the guess
// needs.
// Reads the model of step 14; writes out/plots/phase1_weights_and_needs.png; takes about a second.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/hidden_links.hpp"
#include "course/needs_pictures.hpp"
#include "course/one_head.hpp"
#include "course/saved.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr Index length = 6;

Indices hide(const Vocabulary& vocabulary, const std::vector<Words>& texts, Index place) {
  Indices ids = vocabulary.batch(texts);  // (rows, length)
  for (std::size_t row = 0; row < texts.size(); ++row) {
    ids.values[row * length + std::size_t(place)] = Vocabulary::mask;
  }
  return ids;
}

// The logits of the word at `place`, which is hidden: (rows, vocabulary).
Tensor logits(const OneHead& model, const Vocabulary& vocabulary, const std::vector<Words>& texts,
              Index place, const Mask& mask) {
  // (rows, length, 64)
  const Tensor mixed = model.look(hide(vocabulary, texts, place), mask).output;
  return squeeze(model.logits(slice(mixed, 1, place, place + 1)), 1);
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
        const Attention head = model.look(hide(vocabulary, {sentence.words}, from));
        sums[role] += head.weights.at({0, from, to});  // weights (1, length, length)
        counts[role] += 1;
      }
    }
  }
  for (std::size_t role = 0; role < sums.size(); ++role) sums[role] /= counts[role];
  return sums;
}

void print_links(const OneHead& model, const OneHead& untrained, const Vocabulary& vocabulary) {
  std::printf("1. Mean weight between words that the grammar links (chance: 0.17)\n");
  std::printf("%-34s trained  untrained  shuffled\n", "hidden word -> looked at");
  const std::array<const char*, 8> roles = {"determiner -> its noun", "noun -> its determiner",
                                            "subject -> verb",        "verb -> subject",
                                            "verb -> object",         "object -> verb",
                                            "preposition -> place",   "place -> preposition"};
  const auto learned = linked_weights(model, vocabulary, false);
  const auto random = linked_weights(untrained, vocabulary, false);
  const auto mixed = linked_weights(model, vocabulary, true);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    std::printf("%-34s %6.2f %9.2f %10.2f\n", roles[i], learned[i], random[i], mixed[i]);
  }
}

struct Form {
  std::string name;
  Words places;
  std::vector<Words> texts;  // 1000 sentences
};

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
  for (const Words& text : form.texts) words.push_back(vocabulary.id(text[std::size_t(hidden)]));
  const Indices targets({std::ssize(words)}, words);  // (rows)
  return cross_entropy(logits(model, vocabulary, texts, hidden, mask), targets).item();
}

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

void print_needs(const Form& form, const Needs& needs) {
  std::printf("\n%s\n%-14s", form.name.c_str(), "hidden");
  for (const std::string& place : form.places) std::printf(" %6s", place.c_str());
  for (std::size_t hidden = 0; hidden < length; ++hidden) {
    const auto print = [&](const std::string& name, const char* kind, const auto& numbers) {
      std::printf("\n%-5s %-8s", name.c_str(), kind);
      for (std::size_t i = 0; i < length; ++i) std::printf(" %6.2f", numbers[hidden * length + i]);
    };
    print(form.places[hidden], "weight", needs.weight);
    print("", "cut", needs.cut);
    print("", "swapped", needs.swapped);
  }
  std::printf("\n");
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
      return sum(softmax(logits(model, vocabulary, texts, 2, mask)) * words, -1);
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
  const OneHead model(read_saved("out/checkpoints/single_head_model.safetensors",
                                 "step 14 trains and saves it. Type: make run-14"));
  const Vocabulary vocabulary(Grammar().words());
  Random random(42);
  print_links(model, OneHead(vocabulary.size(), random), vocabulary);
  std::printf(
      "\n2. Mean weight; how much the loss rises if the head may not look there (cut), or\n"
      "   finds there the word of another sentence (swapped)\n");
  const std::array<Form, 2> forms = {Form{"form 1, as in: the cat sat on the mat",
                                          {"det", "subj", "verb", "prep", "det", "place"},
                                          sentences_of_form(false, 1000)},
                                     Form{"form 2, as in: the dog chased an old beetle",
                                          {"det", "subj", "verb", "det", "adj", "obj"},
                                          sentences_of_form(true, 1000)}};
  const std::array<Needs, 2> needs = {measure(model, vocabulary, forms[0]),
                                      measure(model, vocabulary, forms[1])};
  for (std::size_t i = 0; i < 2; ++i) print_needs(forms[i], needs[i]);
  plot::write_png(maps_of_needs({forms[0].places, forms[1].places}, needs),
                  "out/plots/phase1_weights_and_needs.png");
  print_other_form(model, vocabulary, forms);
  std::printf("\nwrote out/plots/phase1_weights_and_needs.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
