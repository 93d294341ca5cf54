// Step 78. What does it cost to cut heads, alone and together?
//
// New here: heads are cut one by one and as a group. By how much do ln p of a token and its
// log-odds fall? First in the two models of letters of step 74, trained here; then in the real
// model stories260K, if it is there (course/real_model.hpp): where a text is read again, behind
// another passage of its own story, and behind another story, beside heads of the same layers,
// drawn at random. Last one text, as the commands ask it. With the real model writes
// out/plots/phase7_joint_cuts_stories260K.png; takes about 20 seconds.
#include <cstdio>
#include <string>
#include <vector>

#include "course/head_kinds.hpp"
#include "course/head_pictures.hpp"
#include "course/head_tables.hpp"
#include "course/induction_runs.hpp"
#include "course/inside.hpp"
#include "course/real_model.hpp"
#include "tapestry/analysis/attribution.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;

namespace {

// ---- Models of letters

void print_letters() {
  for (const int seed : {4, 0}) {
    const Transformer model =
        train_on_repetitions({"", 2, 2, Positions::sinusoidal}, seed, 500).model;
    const HeadStudy s(model, letter_readings(model));
    std::printf("\n%d. A model of letters: step 58, two layers of two heads, seed %d\n",
                seed == 4 ? 1 : 2, seed);
    std::printf("   ln p, read again, falls by: ");
    for (const HeadOf one : heads_of(s.model)) {
      std::printf(" %td.%td %.2f ", one.layer, one.head, s.fall_alone(one).again);
    }
    const Falls both = s.falls({{1, 0}, {1, 1}});
    std::printf("\n   both of layer 0 %.2f, both of layer 1 %.2f\n",
                s.falls({{0, 0}, {0, 1}}).again, both.again);
    std::printf("   ln(p / (1 - p)) falls by:  1.0 %.2f  1.1 %.2f, both %.2f\n",
                s.fall_alone({1, 0}).odds, s.fall_alone({1, 1}).odds, both.odds);
  }
}

// ---- stories260K

// On three sorts of texts, and on the first once more in log-odds, ln(p / (1 - p)).
std::vector<GroupCost> costs_of(const HeadStudy& told, const HeadStudy& own, const Heads& cut) {
  const Falls joint = told.falls(cut), sum = told.summed_falls(cut);
  const Falls means = told.falls(cut, Replacement::mean);
  const RandomFalls random = told.at_random(cut), random_own = own.at_random(cut);
  return {{"read again", joint.again, sum.again, means.again, random.again, random.sum.again},
          {"own story", own.falls(cut).other, own.summed_falls(cut).other,
           own.falls(cut, Replacement::mean).other, random_own.other, random_own.sum.other},
          {"another story", joint.other, sum.other, means.other, random.other, random.sum.other},
          {"again, log-odds", joint.odds, sum.odds, means.odds, random.odds, random.sum.odds}};
}

void print_joint_cuts(const HeadStudy& told, const HeadStudy& own, const HeadStudy& in_order) {
  std::vector<CutGroup> groups;
  std::printf("\n   cut together             joint     sum   means  random, same layers; sum\n");
  for (const HeadKind kind : {HeadKind::previous, HeadKind::induction}) {
    for (const Index count : {3, 12}) {
      const Heads cut = told.best(kind, count, told.rows());
      const std::string name = std::to_string(count) + " " + to_string(kind);
      Random random(5);
      std::printf("   %s:%s; random: %zu\n", name.c_str(), to_string(cut).c_str(),
                  told.others_like(cut, random).size());
      groups.push_back({name, costs_of(told, own, cut)});
      print_costs(groups.back().costs);
    }
  }
  const Heads three = told.best(HeadKind::induction, 3, told.rows());
  std::printf("   3 induction, own story, in its order: %.2f\n", in_order.falls(three).other);
  plot::write_png(bars_of_cuts(groups), "out/plots/phase7_joint_cuts_stories260K.png");
}

// The same for three heads that other passages chose: those of the other stories.
void print_other_half(const HeadStudy& told, const HeadStudy& half) {
  std::printf("   3, chosen on passages 1 to 12 and cut on the others\n");
  for (const HeadKind kind : {HeadKind::previous, HeadKind::induction}) {
    const Heads cut = told.best(kind, 3, told.rows() / 2);
    const Falls joint = half.falls(cut);
    const Spread others = half.at_random(cut).again;
    std::printf("      %-14s%s   read again %.2f, random %.2f ±%.2f; another story %.2f\n",
                to_string(kind).c_str(), to_string(cut).c_str(), joint.again, others.mean,
                others.deviation, joint.other);
  }
}

// One text, as `tapestry cut` and `tapestry attribute` ask it.
void print_one_text(const Transformer& model, const Tokenizer& tokenizer) {
  const char* const text = "Max had a red ball. Anna had a green hat. Max had a red";
  const Indices ids = tokenizer.encode(text);
  const auto token_of = [&](const char* word) { return tokenizer.encode(word, false).values[0]; };
  const Question question{-1, token_of("ball"), token_of("to")};
  const Tensor falls = cut_heads(model, ids, {-1, question.token, {}});  // (layers, heads)
  const Attribution parts = attribute(model, ids, question);
  std::printf("\n4. \"%s\": and then \"%s\"\n", text, tokenizer.bytes_of(question.token).c_str());
  std::printf("   head    ln p falls by without it    it writes, of a logit difference of %.2f\n",
              parts.difference);
  for (const HeadOf one : Heads{{4, 4}, {4, 0}, {4, 1}, {1, 3}}) {
    std::printf("   %td.%td %20.2f %22.2f\n", one.layer, one.head,
                double{falls.at({one.layer, one.head})},
                double{parts.heads.at({one.layer, one.head})});
  }
}

void print_real_model(const Transformer& model, const Tokenizer& tokenizer) {
  const auto study = [&](Behind behind, Index from = 0) {
    return HeadStudy(model, story_readings(tokenizer, *tokenizer.bos(), behind, from));
  };
  std::printf("\n3. stories260K, 24 passages of stories\n");
  const HeadStudy told = study(Behind::other_story);
  print_single_cuts(told);
  print_joint_cuts(told, study(Behind::own_story), study(Behind::in_order));
  print_other_half(told, study(Behind::other_story, 12));
  print_one_text(model, tokenizer);
  std::printf("wrote out/plots/phase7_joint_cuts_stories260K.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 78: cutting heads (takes about 20 seconds)\n");
  print_letters();
  const auto folder = real_model();
  if (!folder) return print_left_out("\n3. stories260K"), 0;
  print_real_model(read_model(*folder), read_tokenizer(*folder));
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
