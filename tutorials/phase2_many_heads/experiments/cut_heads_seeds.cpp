// Steps 23 and 29 with ten seeds: which head does what, and does the one that looks most matter
// most?
//
// For each seed the four heads of step 23 are trained. For each link: the head with the largest
// weight on the linked word, the one whose cut costs most, and the one whose ablation does, to its
// mean over that form and over both. Takes about two minutes on one thread.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/grammar.hpp"
#include "course/hidden_links.hpp"
#include "course/hidden_word_heads.hpp"
#include "course/inside.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/random.hpp"
#include "tapestry/text/batch.hpp"

using namespace tapestry;

namespace {

constexpr std::size_t heads = 4;
constexpr std::uint64_t first_seed = 42, seeds = 10;

constexpr std::array cases = {
    HiddenLink{"subject -> verb", false, 1, 2}, HiddenLink{"verb -> subject", false, 2, 1},
    HiddenLink{"prep -> place", false, 3, 5},   HiddenLink{"place -> prep", false, 5, 3},
    HiddenLink{"subject -> verb", true, 1, 2},  HiddenLink{"verb -> subject", true, 2, 1},
    HiddenLink{"verb -> object", true, 2, 5},   HiddenLink{"object -> verb", true, 5, 2}};

// How often, over all seeds and links.
struct Counts {
  int same_link = 0;  // the head that looks most is the one whose link costs most
  int same_head = 0;  // ... is the one whose ablation to the mean over that form costs most
  int same_both = 0;  // ... over both forms
  int looking = 0;    // heads with a weight of at least 0.4
  int needless = 0;   // of these: without the link the loss rises by less than 0.02
  int spare = 0;      // links that cost less than 0.1 in each head alone, and 1 or more in all
};

// The place of the largest number.
int largest(const std::vector<double>& numbers) {
  const auto most = std::max_element(numbers.begin(), numbers.end());
  return static_cast<int>(most - numbers.begin());
}

void print_case(const Transformer& model, const Vocabulary& vocabulary, const HiddenLink& c,
                Counts& counts) {
  const Batch batch = hide_word(vocabulary, c);
  const std::vector<double> looks = weights_on_link(model, batch, c);
  const double whole = loss_without_link(model, batch, c, {});
  const Batch other = hide_word(vocabulary, {"", !c.has_object, c.hidden, c.linked});
  const Batch both = with_other_form(batch, other);
  std::vector<double> links, ablated, ablated_both;
  for (std::size_t h = 0; h < heads; ++h) {
    CutIn cut{};
    cut[h] = true;
    links.push_back(loss_without_link(model, batch, c, cut) - whole);
    ablated.push_back(loss_without_heads(model, batch, cut, Replacement::mean) - whole);
    ablated_both.push_back(loss_without_heads(model, both, cut, Replacement::mean) - whole);
    if (looks[h] < 0.4) continue;
    counts.looking += 1;
    counts.needless += links[h] < 0.02 ? 1 : 0;
  }
  const int most = largest(looks), link = largest(links), head = largest(ablated),
            head_both = largest(ablated_both);
  counts.same_link += most == link ? 1 : 0;
  counts.same_head += most == head ? 1 : 0;
  counts.same_both += most == head_both ? 1 : 0;
  const double all = loss_without_link(model, batch, c, {true, true, true, true}) - whole;
  if (links[static_cast<std::size_t>(link)] < 0.1 && all >= 1) counts.spare += 1;
  std::printf("  %d%d%d%d", most, link, head, head_both);
}

void print_counts(const Counts& counts) {
  const int links = static_cast<int>(seeds * cases.size());
  std::printf("\nthe head that looks most is the one whose cut costs most: %d of %d\n",
              counts.same_link, links);
  std::printf(
      "... whose ablation costs most, to the mean over that form: %d; over both forms: %d\n",
      counts.same_head, counts.same_both);
  std::printf(
      "heads with a weight of 0.4 or more: %d; in %d of these the cut costs less than 0.02\n",
      counts.looking, counts.needless);
  std::printf("links whose cut costs less than 0.1 in each head alone, and 1 or more in all: %d\n",
              counts.spare);
}

}  // namespace

int main() try {
  std::printf(
      "Four heads, ten seeds. For each link four heads: the one that looks most, the one\n"
      "whose cut costs most, and those whose ablation costs most, to the mean over that\n"
      "form and over both forms\n\n");
  std::printf("               -------- form 1 --------  -------- form 2 --------\n");
  std::printf("hidden          subj  verb  prep place    subj  verb  verb   obj\n");
  std::printf("looked at       verb  subj place  prep    verb  subj   obj  verb\n");
  std::printf("seed loss right\n");
  const Vocabulary vocabulary(Grammar().words());
  Random fresh(77);
  const Batch test = hidden_word_batch(vocabulary, 6400, fresh);  // (6400, 6)
  Progress progress("training", static_cast<Index>(seeds), "models");
  Counts counts;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    const Transformer model = trained_heads(vocabulary, seed);
    const Tensor logits = model(test.inputs);  // (6400, 6, vocabulary)
    std::printf("%4d %4.2f %2.0f %% ", static_cast<int>(seed),
                double{cross_entropy(logits, test.targets).item()},
                static_cast<double>(exact_matches(logits, test.targets)) / 64);
    for (const HiddenLink& c : cases) print_case(model, vocabulary, c, counts);
    std::printf("\n");
    progress.step();
  }
  print_counts(counts);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
