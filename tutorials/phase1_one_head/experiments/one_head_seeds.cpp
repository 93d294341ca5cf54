// Step 14 and step 18 with ten seeds: what does one head learn to look at, and what does it need?
//
// For each seed the head of step 14 is trained. The mean weight from a hidden word to another, and
// the rise of the loss if the head may not look there, or finds there the word of another sentence:
// one weight may be near chance and needed all the same. And for each seed the control of step 14
// is trained, which cannot choose where to look; both also on sentences whose nouns may be subjects
// and objects, so that a noun does not tell which it is. Takes about a minute of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/grammar.hpp"
#include "course/hidden_links.hpp"
#include "course/one_head.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
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

// What may be the object of form 2: the nouns of the grammar, which the verb decides; any noun that
// may be a subject; or the same, but as another word ("cat*"), which can stand at that place only.
enum class Objects { grammar, subjects, marked };

Words with_object(Words words, Objects objects, Random& random) {
  if (objects == Objects::grammar) return words;
  words[5] = Grammar().sentence(random).words[1] + (objects == Objects::marked ? "*" : "");
  return words;
}

std::vector<Words> sentences(Index count, Random& random, Objects objects) {
  std::vector<Words> texts;
  for (Index i = 0; i < count; ++i) {
    const Sentence sentence = Grammar().sentence(random);
    const bool has_object = sentence.links[2].role == Role::verb_object;
    texts.push_back(with_object(sentence.words, has_object ? objects : Objects::grammar, random));
  }
  return texts;
}

// The model of step 14, or its control with even weights: W_Q = W_K = 0 stay so.
OneHead trained(const Vocabulary& vocabulary, std::uint64_t seed, bool even,
                Objects objects = Objects::grammar) {
  Random start(seed), random(1);
  OneHead model(vocabulary.size(), start);
  if (even) {
    model.w_q = Tensor::zeros({d_model, d_model});  // (d_model, d_model)
    model.w_k = Tensor::zeros({d_model, d_model});  // (d_model, d_model)
  }
  Adam adam(model.parameters(), {.learning_rate = 3e-3});
  for (Index step = 0; step < steps; ++step) {
    const Batch b =
        masked_lm_batch(vocabulary, sentences(batch, random, objects), random);  // (batch, 6)
    Tape tape(model.parameters());
    adam.step(tape.backward(cross_entropy(model.logits(b.inputs), b.targets)));
  }
  return model;
}

// Sentences of one form with the same place hidden.
struct Hidden {
  Batch batch;  // (rows, length)
  Index place;
};

Hidden hide(const Vocabulary& vocabulary, bool has_object, Index place,
            Objects objects = Objects::grammar) {
  std::vector<Words> texts = sentences_of_form(has_object, 1000);
  Random random(78);
  for (Words& text : texts) text = with_object(text, objects, random);
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

// Mean weight on a word, and the rise of the loss if the hidden word may not look there, or finds
// there the word of another sentence.
struct Need {
  double weight, cut, swapped;
};

Need measure(const OneHead& model, const Hidden& hidden, Index to) {
  const Batch& b = hidden.batch;
  const Tensor weights = mean(model.look(b.inputs).weights, 0);  // (length, length)
  Tensor keep = Tensor::ones({length, length});                  // (length, length)
  keep.set({hidden.place, to}, 0);
  const auto loss = [&](const Indices& inputs, const Mask& mask) {
    return double{cross_entropy(model.logits(inputs, mask), b.targets).item()};
  };
  const double whole = loss(b.inputs, {});
  const auto rise = [&](double by) { return std::abs(by) < 0.005 ? 0.0 : by; };  // not "-0.00"
  return {double{weights.at({hidden.place, to})},
          rise(loss(b.inputs, Mask::from(MaskEncoding::zero_one, keep)) - whole),
          rise(loss(with_swapped(b.inputs, to), {}) - whole)};
}

// The loss if all weights are multiplied by `factors` (length), and need not sum to 1 any more.
double loss_by(const OneHead& model, const Batch& b, const Tensor& factors) {
  const Tensor x = embedding(model.words, b.inputs) + model.positions;  // (rows, length, d_model)
  const Tensor weights = model.look(b.inputs).weights * factors;        // (rows, length, length)
  const Tensor mixed = matmul(weights, matmul(x, model.w_v));           // (rows, length, d_model)
  return double{cross_entropy(model.logits(mixed), b.targets).item()};
}

// The first word is hidden. A cut of its own position does two things: it takes away this part of
// the mixture, and lets the other parts grow. Both together, and each alone.
std::string own_position(const OneHead& model, const Hidden& first) {
  const Need both = measure(model, first, 0);
  Tensor away = Tensor::ones({length}), grown = away * (1 / (1 - both.weight));  // (length) each
  away.set({0}, 0);
  grown.set({0}, 1);
  const double whole = loss_by(model, first.batch, Tensor::ones({length}));
  return formatted("%6.2f %7.2f %7.2f %7.2f\n", both.weight, both.cut,
                   loss_by(model, first.batch, away) - whole,
                   loss_by(model, first.batch, grown) - whole);
}

// The first word is hidden. The share of its guess that goes to determiners, if the value at its
// own position is that of each position in turn, as if that were hidden; all weights stay.
std::string with_other_values(const OneHead& model, const Vocabulary& vocabulary,
                              const Hidden& first) {
  const Tensor x =
      embedding(model.words, first.batch.inputs) + model.positions;  // (rows, length, d_model)
  const Tensor weights = model.look(first.batch.inputs).weights;     // (rows, length, length)
  Tensor determiners = Tensor::zeros({vocabulary.size()});           // (vocabulary)
  Tensor own = Tensor::zeros({length, 1});                           // (length, 1)
  for (const char* word : {"the", "a", "an", "this", "every"})
    determiners.set({vocabulary.id(word)}, 1);
  own.set({0, 0}, 1);
  const Tensor hidden = embedding(model.words, Indices({1}, {Vocabulary::mask}));  // (1, d_model)
  std::string line;
  for (Index place = 0; place < length; ++place) {
    const Tensor read = hidden + slice(model.positions, 0, place, place + 1);  // (1, d_model)
    const Tensor values =
        matmul(x * (1.0 - own) + read * own, model.w_v);                  // (rows, length, d_model)
    const Tensor guess = softmax(model.logits(matmul(weights, values)));  // (rows, length, words)
    line += formatted(" %6.2f", double{mean(sum(slice(guess, 1, 0, 1) * determiners, -1)).item()});
  }
  return line + "\n";
}

// Loss and share of right guesses.
std::string tested(const OneHead& model, const Batch& test) {
  const Tensor logits = model.logits(test.inputs);  // (rows, length, vocabulary)
  return formatted("%4.2f %2.0f %%", double{cross_entropy(logits, test.targets).item()},
                   100.0 * static_cast<double>(exact_matches(logits, test.targets)) /
                       static_cast<double>(test.inputs.shape[0]));
}

// The grammar's words and those that are marked as objects.
Vocabulary with_marked_words() {
  Words all = Grammar().words();
  for (const Words& text : sentences_of_form(true, 1000)) {
    const std::string marked = text[1] + "*";
    if (std::find(all.begin(), all.end(), marked) == all.end()) all.push_back(marked);
  }
  return Vocabulary(all);
}

// By how much the probability of a word at the hidden verb changes at most when subject and object
// of form 2 change places.
double changed_by_exchange(const OneHead& model, const Indices& verbs) {  // (rows, length)
  Indices exchanged = verbs;                                              // (rows, length)
  for (Index row = 0; row < verbs.shape[0]; ++row) {
    const auto first = exchanged.values.begin() + row * length;
    std::swap(first[1], first[5]);
  }
  const auto guess = [&](const Indices& inputs) {
    return softmax(slice(model.logits(inputs), 1, 2, 3));  // (rows, 1, vocabulary)
  };
  return double{max(abs(guess(verbs) - guess(exchanged))).item()};
}

// Hidden verbs of form 2, when nouns may be subjects and objects, and when objects are marked: the
// head and its control.
void print_shared_nouns() {
  std::printf("5. Objects are any nouns that may be subjects; loss and right of verbs of form 2\n");
  std::printf("          the same words         marked as objects\n");
  std::printf("seed    one head       even    one head       even\n");
  const Vocabulary vocabulary = with_marked_words();
  double of_even = 0, of_head = 1;  // the largest change of a guess: the greatest, the least of ten
  Progress progress("training on other sentences", static_cast<Index>(seeds), "seeds");
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    std::printf("%4d", static_cast<int>(seed));
    for (const Objects objects : {Objects::subjects, Objects::marked}) {
      const Batch verbs = hide(vocabulary, true, 2, objects).batch;  // (1000, length)
      for (const bool even : {false, true}) {
        const OneHead model = trained(vocabulary, seed, even, objects);
        std::printf("  %s", tested(model, verbs).c_str());
        if (objects == Objects::marked) continue;
        const double change = changed_by_exchange(model, verbs.inputs);
        if (even) of_even = std::max(of_even, change);
        if (!even) of_head = std::min(of_head, change);
      }
    }
    std::printf("\n");
    progress.step();
  }
  std::printf(
      "Subject and object change places: a probability changes by %.5f at most with even\n"
      "weights, with the head by %.2f or more in each seed\n",
      of_even, of_head);
}

void print_others(const std::string& second, const std::string& third, const std::string& fourth) {
  std::printf("2. Even weights, and the rise of the loss if that word is swapped\n");
  std::printf("     even weights     verb, form 1               verb, form 2     prep\n");
  std::printf("seed loss right   subject    det 4  subject    adj 4   object    place\n%s",
              second.c_str());
  std::printf(
      "3. The first word of form 1 is hidden: its weight on its own position; the rise of\n");
  std::printf("   the loss by a cut, by only taking that part away, by only letting others grow\n");
  std::printf("seed weight     cut    away   grown\n%s", third.c_str());
  std::printf(
      "4. The same word: the share of its guess that goes to determiners, if the value at\n");
  std::printf("   its own position is that of a hidden word at position 0 (its own) to 5\n");
  std::printf("seed     det   subj   verb   prep    det  place\n%s", fourth.c_str());
}

// Prints the first table as its seeds are trained, then the others.
void print_tables(const Vocabulary& vocabulary) {
  std::string second, third, fourth;
  const Hidden verb_1 = hide(vocabulary, false, 2), verb_2 = hide(vocabulary, true, 2),
               preposition = hide(vocabulary, false, 3), first_word = hide(vocabulary, false, 0);
  const std::vector<std::pair<const Hidden*, Index>> links = {
      {&verb_1, 1}, {&verb_1, 4}, {&verb_2, 1}, {&verb_2, 4}, {&verb_2, 5}, {&preposition, 5}};
  Random fresh(77);
  const Batch test = masked_lm_batch(vocabulary, sentences(6400, fresh, Objects::grammar),
                                     fresh);  // (6400, length)
  Progress progress("training", static_cast<Index>(seeds), "seeds");
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    const OneHead model = trained(vocabulary, seed, false), even = trained(vocabulary, seed, true);
    const std::string number = formatted("%4d ", static_cast<int>(seed));
    std::printf("%s%s ", number.c_str(), tested(model, test).c_str());
    second += number + tested(even, test) + " ";
    for (const auto& [hidden, to] : links) {
      const Need need = measure(model, *hidden, to);
      std::printf("  %4.2f %5.2f", need.weight, need.cut);
      second += formatted(" %8.2f", need.swapped);
    }
    std::printf("\n");
    second += "\n";
    third += number + own_position(model, first_word);
    fourth += number + with_other_values(model, vocabulary, first_word);
    progress.step();
  }
  print_others(second, third, fourth);
}

}  // namespace

int main() try {
  std::printf("1. Mean weight, and the rise of the loss without that link\n");
  std::printf("hidden ->                verb, form 1             verb, form 2              prep\n");
  std::printf("looked at             subject     det 4     subject    adj 4    object    place\n");
  std::printf("seed loss right\n");
  print_tables(Vocabulary(Grammar().words()));
  print_shared_nouns();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
