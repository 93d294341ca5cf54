// An experiment for step 69: does one head of the cross-attention bring the stem of the verb, and
// another one its ending? Where does the ending come from? Ten models that differ by their seed;
// every set of heads is ablated, to its mean and to zero, and the first noun is swapped.
// Takes about a minute.
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/encoder_decoder.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr Index phrases = 5;

using Shares = std::array<double, 16>;  // right, by the set of heads that is ablated

struct Found {  // of one model and one way to ablate
  Shares stem, ending;
  Verb blind;          // without cross-attention
  Verb alone;          // without masked self-attention, with all heads
  Verb alone_swapped;  // the same, another noun in the source
};

struct Model {
  Found mean, zero;
  // Share of verbs that get the other ending with the first noun there; with its adjective, too.
  double given, with_adjective, source;
  Verb blind_swapped;  // without cross-attention, to the mean, another noun among the given words
};

// The pair whose loss together exceeds what its heads lose alone the most.
struct Pair {
  unsigned heads = 3;
  double more = -1;
};

Pair pair_of(const Shares& right) {
  Pair best;
  const auto lost = [&](unsigned set) { return right[0] - right[set]; };
  for (unsigned set = 3; set < 16; ++set) {
    if (std::popcount(set) != 2) continue;
    const unsigned one = set & (~set + 1);
    const double more = lost(set) - lost(one) - lost(set - one);
    if (more > best.more) best = {set, more};
  }
  return best;
}

bool one_head_each(const Found& found) {
  bool stem_alone = false, ending_alone = false;
  for (const unsigned head : {1, 2, 4, 8}) {
    stem_alone |= found.stem[head] < 0.8 && found.ending[head] > 0.9;
    ending_alone |= found.ending[head] < 0.8 && found.stem[head] > 0.9;
  }
  return stem_alone && ending_alone;
}

bool needs_a_pair(const Found& found) {
  return pair_of(found.stem).more > 0.2 || pair_of(found.ending).more > 0.2;
}

Found ablate_all(const EncoderDecoder& model, const TranslationTask& task,
                 const TranslationBatch& b, Instead by) {
  Found found;
  for (unsigned set = 0; set < 16; ++set) {
    const Verb verb = verb_without(model, task, b, set, {}, by);
    found.stem[set] = verb.stem, found.ending[set] = verb.ending, found.blind = verb;
  }
  const auto without_self_attention = [&](const TranslationBatch& read) {
    return verb_without(model, task, read, 0, {"target.attention.output"}, by);
  };
  found.alone = without_self_attention(b);
  found.alone_swapped = without_self_attention(swapped(task, b, Side::source));
  return found;
}

void print_heads(const char* part, std::size_t seed, const Shares& mean, const Shares& zero) {
  std::printf("%-8s %4zu ", part, seed);
  for (const unsigned head : {0, 1, 2, 4, 8}) std::printf("  %.2f", mean[head]);
  for (const Pair& pair : {pair_of(mean), pair_of(zero)}) {
    std::printf("     %d %d %5.2f", std::countr_zero(pair.heads),
                static_cast<int>(std::bit_width(pair.heads)) - 1, pair.more);
  }
  std::printf("\n");
}

template <class Number>
void print_row(const char* name, const std::vector<Model>& models, Number number) {
  std::printf("%-32s", name);
  for (const Model& model : models) std::printf("  %.2f", number(model));
  std::printf("\n");
}

void print_sources(const std::vector<Model>& models) {
  std::printf("\n%-32s", "seed");
  for (std::size_t i = 1; i <= models.size(); ++i) std::printf("  %4zu", i);
  std::printf("\nending changes with the first noun\n");
  print_row("  of the given words", models, [](const Model& m) { return m.given; });
  print_row("    and its adjective's ending", models,
            [](const Model& m) { return m.with_adjective; });
  print_row("  of the source", models, [](const Model& m) { return m.source; });
  std::printf("without cross-attention, to the mean\n");
  print_row("  a verb is said", models, [](const Model& m) { return m.mean.blind.any; });
  print_row("  its ending is right", models, [](const Model& m) { return m.mean.blind.ending; });
  std::printf("  and with the first given noun swapped\n");
  print_row("  a verb is said", models, [](const Model& m) { return m.blind_swapped.any; });
  print_row("  its ending is right", models, [](const Model& m) { return m.blind_swapped.ending; });
  for (const auto way : {&Model::mean, &Model::zero}) {
    std::printf("without masked self-attention, to %s\n",
                way == &Model::mean ? "the mean" : "zero");
    const auto print = [&](const char* name, Verb Found::* verb, double Verb::* share) {
      print_row(name, models, [=](const Model& m) { return m.*way.*verb.*share; });
    };
    print("  a verb is said", &Found::alone, &Verb::any);
    print("  its ending is right", &Found::alone, &Verb::ending);
    std::printf("  and with the first noun of the source swapped\n");
    print("  a verb is said", &Found::alone_swapped, &Verb::any);
    print("  its ending is right", &Found::alone_swapped, &Verb::ending);
  }
}

void print_counts(const std::vector<Model>& models) {
  int each[2] = {0, 0}, pairs[2] = {0, 0};
  for (const Model& model : models) {
    each[0] += one_head_each(model.mean), each[1] += one_head_each(model.zero);
    pairs[0] += needs_a_pair(model.mean), pairs[1] += needs_a_pair(model.zero);
  }
  std::printf("\nOf 10 models                                              to the mean  to zero\n");
  std::printf("a head for the stem (without it below 0.80, the ending\n");
  std::printf("above 0.90), another for the ending (the other way round)  %8d %10d\n", each[0],
              each[1]);
  std::printf("a pair that loses over 0.20 more than its heads alone      %8d %10d\n", pairs[0],
              pairs[1]);
}

}  // namespace

int main() try {
  std::printf("Experiment 69_ablated_heads: 10 seeds, 500 steps each, 300 sentences\n");
  const TranslationTask task({2, phrases});
  Random random(77);
  const TranslationBatch b = TranslationTask({phrases, phrases}).batch(Part::held_out, 300, random);
  std::vector<Model> models;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const EncoderDecoder model = learn({}, task, seed);
    const TranslationBatch other = swapped(task, b, Side::given);
    const auto changed = [&](Side side) {
      const Verb verb = verb_without(model, task, swapped(task, b, side), 0);
      return verb.any - verb.ending;
    };
    models.push_back({ablate_all(model, task, b, Instead::mean_of_verbs),
                      ablate_all(model, task, b, Instead::zeros), changed(Side::given),
                      changed(Side::given_with_adjective), changed(Side::source),
                      verb_without(model, task, other, 15, {}, Instead::mean_of_verbs)});
  }
  std::printf("The verb without heads of the cross-attention: share right. Pair: the two that\n");
  std::printf("lose more together than alone, and how much more\n\n");
  std::printf("                      one head, to the mean      to the mean   to zero\n");
  std::printf("right    seed   none     0     1     2     3     pair  more     pair  more\n");
  for (std::size_t i = 0; i < models.size(); ++i) {
    print_heads("stem", i + 1, models[i].mean.stem, models[i].zero.stem);
    print_heads("ending", i + 1, models[i].mean.ending, models[i].zero.ending);
  }
  print_sources(models);
  print_counts(models);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
