// Step 29. Does a head that looks at a word also need it?
//
// New here: three interventions. A link is cut: one head may not look at one word. A head is
// ablated: its output is replaced by its mean over many sentences, of one form or of both, so that
// it says the same, whatever it reads. Or the word is swapped for one head: it reads the word of
// another sentence, of the same form or of the other. The rise of the loss tells what the guess
// needed. All are written out in course/hidden_links.cpp and course/inside.cpp.
// Reads the model of step 23; writes no picture; takes about 2 seconds.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/hidden_links.hpp"
#include "course/inside.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/nn/transformer.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = 4;

constexpr std::array cases = {
    HiddenLink{"det -> its noun", false, 0, 1}, HiddenLink{"subject -> verb", false, 1, 2},
    HiddenLink{"verb -> subject", false, 2, 1}, HiddenLink{"prep -> place", false, 3, 5},
    HiddenLink{"det -> its noun", false, 4, 5}, HiddenLink{"place -> prep", false, 5, 3},
    HiddenLink{"det -> its noun", true, 0, 1},  HiddenLink{"subject -> verb", true, 1, 2},
    HiddenLink{"verb -> subject", true, 2, 1},  HiddenLink{"verb -> object", true, 2, 5},
    HiddenLink{"det -> its noun", true, 3, 5},  HiddenLink{"object -> verb", true, 5, 2}};

// This head alone; for `heads`, all of them.
CutIn only(std::size_t head) {
  CutIn cut{head == heads, head == heads, head == heads, head == heads};
  if (head < heads) cut[head] = true;
  return cut;
}

double rounded(double rise) { return std::abs(rise) < 0.005 ? 0.0 : rise; }

void print_links(const Transformer& model, const Vocabulary& vocabulary) {
  std::printf(
      "1. Weight on the linked word; the loss, and its rise when a head may not look there\n");
  std::printf("                            weight                rise if cut in\n");
  std::printf("form, link           h0   h1   h2   h3   loss    h0   h1   h2   h3  all\n");
  for (const HiddenLink& c : cases) {
    const Batch batch = hide_word(vocabulary, c);
    std::printf("%d %-16s", c.has_object ? 2 : 1, c.name);
    for (const double weight : weights_on_link(model, batch, c)) std::printf(" %4.2f", weight);
    const double whole = loss_without_link(model, batch, c, {});
    std::printf("  %5.3f ", whole);
    for (std::size_t h = 0; h <= heads; ++h) {
      std::printf(" %4.2f", rounded(loss_without_link(model, batch, c, only(h)) - whole));
    }
    std::printf("\n");
  }
}

// A head that is not needed may be a spare: cut alone, another one does its work.
void print_heads(const Transformer& model, const std::array<Batch, 2>& forms) {
  std::printf("\n2. The hidden verb: the rise when heads are ablated\n");
  std::printf("             to their mean over\n");
  std::printf("             that form       both forms      to zero\n");
  std::printf("heads        form 1 form 2   form 1 form 2   form 1 form 2\n");
  const std::array both = {with_other_form(forms[0], forms[1]),
                           with_other_form(forms[1], forms[0])};
  const std::array whole = {loss_without_heads(model, forms[0], {}, Replacement::zero),
                            loss_without_heads(model, forms[1], {}, Replacement::zero)};
  for (const unsigned set : {1U, 2U, 4U, 8U, 3U, 5U, 9U, 6U, 10U, 12U, 15U}) {
    CutIn cut{};
    std::string name;
    for (std::size_t h = 0; h < heads; ++h) {
      cut[h] = ((set >> h) & 1U) != 0;
      if (cut[h]) name += " h" + std::to_string(h);
    }
    std::printf("%-12s", name.c_str());
    const auto rises = [&](const std::array<Batch, 2>& batches, Replacement by, const char* end) {
      for (std::size_t i = 0; i < batches.size(); ++i) {
        const double loss = loss_without_heads(model, batches[i], cut, by);
        std::printf(" %6.2f", rounded(loss - whole[i]));
      }
      std::printf("%s", end);
    };
    rises(forms, Replacement::mean, "  ");
    rises(both, Replacement::mean, "  ");
    rises(forms, Replacement::zero, "\n");
  }
}

constexpr std::array hidden_words = {
    "1 determiner", "1 subject", "1 verb", "1 preposition", "1 determiner", "1 place",
    "2 determiner", "2 subject", "2 verb", "2 determiner",  "2 adjective",  "2 object"};

// Each head alone, for each hidden word. In the grammar these twelve are equally frequent.
void print_each_head(const Transformer& model, const Vocabulary& vocabulary) {
  std::printf("\n3. Each hidden word: the rise when one head is ablated\n");
  std::printf("               to its mean over\n");
  std::printf("               that form             both forms\n");
  std::printf("form, hidden     h0   h1   h2   h3     h0   h1   h2   h3\n");
  std::array<double, 8> sums{};
  for (std::size_t i = 0; i < 12; ++i) {
    const auto hidden = static_cast<Index>(i % 6);
    const Batch own = hide_word(vocabulary, {"", i >= 6, hidden, 0});
    const Batch both = with_other_form(own, hide_word(vocabulary, {"", i < 6, hidden, 0}));
    const double whole = loss_without_heads(model, own, {}, Replacement::mean);
    std::printf("%-14s", hidden_words[i]);
    for (std::size_t j = 0; j < 8; ++j) {
      const Batch& over = j < 4 ? own : both;
      const double loss = loss_without_heads(model, over, only(j % 4), Replacement::mean);
      std::printf("%s%4.2f", j == 4 ? "   " : " ", rounded(loss - whole));
      sums[j] += loss - whole;
    }
    std::printf("\n");
  }
  std::printf("%-14s", "mean of all");
  for (std::size_t j = 0; j < 8; ++j) std::printf("%s%4.2f", j == 4 ? "   " : " ", sums[j] / 12);
  std::printf("\n");
}

void print_swap(const Transformer& model, const HiddenLink& c, const Batch& batch) {
  const double whole = loss_without_link(model, batch, c, {});
  std::printf("%d %-16s", c.has_object ? 2 : 1, c.name);
  for (std::size_t h = 0; h <= heads; ++h) {
    std::printf(" %4.2f", rounded(loss_with_swap(model, batch, c, only(h)) - whole));
  }
  const CutIn outer = {true, false, false, true};
  std::printf("   %4.2f\n", rounded(loss_with_swap(model, batch, c, outer) - whole));
}

void print_swaps(const Transformer& model, const Vocabulary& vocabulary,
                 const std::array<Batch, 2>& forms) {
  std::printf("\n4. The rise when a head reads the linked word of another sentence\n");
  std::printf("form, link           h0   h1   h2   h3  all  h0 h3\n");
  for (const HiddenLink& c : cases) {
    if (c.hidden == 2) print_swap(model, c, hide_word(vocabulary, c));
  }
  print_swap(model, {"place for object", true, 2, 5}, with_other_form(forms[1], forms[0]));
  const Batch prep = hide_word(vocabulary, cases[3]);
  print_swap(model, cases[3], prep);
  print_swap(model, {"object for place", false, 3, 5},
             with_other_form(prep, hide_word(vocabulary, {"", true, 3, 5})));
}

}  // namespace

int main() try {
  std::printf("Step 29: cuts (takes about 2 seconds)\n\n");
  const Transformer model = read_transformer("out/checkpoints/multi_head_model.safetensors",
                                             "step 23 trains and saves it. Type: make run-23");
  const Vocabulary vocabulary(Grammar().words());
  print_links(model, vocabulary);
  const std::array forms = {hide_word(vocabulary, {"", false, 2, 1}),
                            hide_word(vocabulary, {"", true, 2, 5})};
  print_heads(model, forms);
  print_each_head(model, vocabulary);
  print_swaps(model, vocabulary, forms);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
