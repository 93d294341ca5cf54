// Step 74. What do the heads of a real model do, and does it matter?
//
// New here: all heads are scored for several kinds at once, with controls: the same text behind
// another one instead of itself (course/head_kinds.hpp; stories also behind another passage of
// their own), equal weights, untrained models. Then heads are cut, alone and together, beside
// others of the same layers.
// First in two models of step 58, trained here, then in the real model stories260K, if it is there
// (course/real_model.hpp). Writes out/plots/phase7_heads.png; with the real model also
// phase7_heads_stories260K.png and phase7_joint_cuts_stories260K.png; takes about 20 seconds.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "course/eight_stories.hpp"
#include "course/head_kinds.hpp"
#include "course/induction_runs.hpp"
#include "course/inside.hpp"
#include "course/real_model.hpp"
#include "tapestry/analysis/attribution.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;

namespace {

// ---- Scores. The best head is chosen on the first half of the texts, and judged on the other.

// Induction and duplicate token need a repetition: their control is the text behind another piece.
std::vector<Spread> baselines_of(HeadKind kind, double even, double lucky, const Spread& control) {
  std::vector<Spread> all = {{even, 0, control.count}, {lucky, 0, control.count}};
  if (kind == HeadKind::duplicate || kind == HeadKind::induction) all.push_back(control);
  return all;
}

void print_scores(const HeadStudy& s) {
  const Index rows = s.again_scores.size(3), half = rows / 2;
  std::printf("   ln p of a token: read again %.2f, behind another piece %.2f\n", s.whole.again,
              s.whole.other);
  std::printf("                    best   read again    another      even  untrained  above 0.3\n");
  for (const HeadKind kind : head_kinds) {
    const HeadOf best = s.by_score(s.again_scores, kind, half).front();
    const Spread score = score_of(s.again_scores, kind, best, half, rows);
    const Spread control = score_of(s.other_scores, kind, best, half, rows);
    const double even = even_score(kind, (s.texts.again.inputs.shape[1] - 1) / 2);
    const double lucky = s.best_untrained(kind);
    Index above = 0;
    for (const HeadOf one : heads_of(s.model)) {
      above += score_of(s.again_scores, kind, one, 0, rows).mean > 0.3;
    }
    const bool named = may_be_named(score, baselines_of(kind, even, lucky, control));
    std::printf("   %-16s %td.%td   %.2f ±%.2f    %.2f ±%.2f   %.3f   %.3f %9td   %s\n",
                to_string(kind).c_str(), best.layer, best.head, score.mean, score.deviation,
                control.mean, control.deviation, even, lucky, above, named ? "named" : "not named");
  }
}

using NamedScores = std::vector<std::pair<std::string, Tensor>>;  // (kinds, layers, heads, rows)

// A row of maps for each, a column for each kind.
void draw_scores(const NamedScores& all, const std::string& path) {
  plot::HeatmapGrid grid{.columns = std::ssize(head_kinds)};
  for (const auto& [name, scores] : all) {
    for (const Tensor& of_kind : split(mean(scores, -1), std::ssize(head_kinds), 0)) {
      plot::Heatmap map{.rows = of_kind.size(1), .columns = of_kind.size(2)};
      for (const real value : of_kind.values()) map.values.push_back(double{value});
      const std::size_t kind = grid.maps.size() % head_kinds.size();
      map.title = to_string(head_kinds[kind]) + ": " + name;
      map.row_axis = "layer", map.column_axis = "head", map.colour_bar_name = "mean weight";
      map.low = 0, map.high = 1;
      grid.maps.push_back(map);
    }
  }
  plot::write_png(plot::render(grid, 200), path);
  std::printf("wrote %s\n", path.c_str());
}

// ---- Models of letters

HeadStudy letters_model(int seed) {
  const Transformer model =
      train_on_repetitions({"", 2, 2, Positions::sinusoidal}, seed, 500).model;
  std::vector<std::int32_t> letters(26);
  std::iota(letters.begin(), letters.end(), std::int32_t(model.options.vocab_size - 26));
  Random random(74);
  return {model, random_readings(Vocabulary::bos, letters, 200, 11, random)};
}

void print_letters(NamedScores& drawn) {
  for (const int seed : {4, 0}) {
    const HeadStudy s = letters_model(seed);
    std::printf("\n%d. A model of letters: step 58, two layers of two heads, seed %d\n",
                seed == 4 ? 1 : 2, seed);
    print_scores(s);
    std::printf("   ln p, read again, falls by: ");
    for (const HeadOf one : heads_of(s.model)) {
      std::printf(" %td.%td %.2f ", one.layer, one.head, s.falls({one}).again);
    }
    std::printf("\n   both of layer 0 %.2f, both of layer 1 %.2f\n",
                s.falls({{0, 0}, {0, 1}}).again, s.falls({{1, 0}, {1, 1}}).again);
    drawn.emplace_back("seed " + std::to_string(seed), s.again_scores);
  }
}

// ---- stories260K

// Behind which passage a passage stands as a control.
enum class Behind { other_story, own_story, in_order };

// Three passages of each story, behind themselves and behind another one: of another story, or of
// their own: the next one, or the first for the last, so that none stands behind the one before it;
// or in order: the one before it, or the last for the first. from: the first passage that is read.
TwoReadings passages(const Tokenizer& tokenizer, std::int32_t first, Behind behind,
                     std::ptrdiff_t from = 0) {
  Pieces pieces, others;
  for (const char* story : stories) {
    const std::vector<std::int32_t> ids = tokenizer.encode(story).values;
    for (auto at = ids.begin() + 1; at != ids.begin() + 145; at += 48) {
      pieces.emplace_back(at, at + 48);
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t own = i / 3 * 3 + (i + (behind == Behind::own_story ? 1 : 2)) % 3;
    others.push_back(pieces[behind == Behind::other_story ? (i + 7) % pieces.size() : own]);
  }
  return two_readings(first, {pieces.begin() + from, pieces.end()},
                      {others.begin() + from, others.end()});
}

// The best head of each kind, and the one whose cut costs most.
void print_single_cuts(const HeadStudy& s) {
  const Heads heads = heads_of(s.model);
  std::vector<real> again, other;
  for (const HeadOf one : heads) {
    const Falls falls = s.falls({one});
    again.push_back(real(falls.again)), other.push_back(real(falls.other));
  }
  const auto row = [&](const std::string& name, std::size_t i) {
    const auto before =
        std::count_if(again.begin(), again.end(), [&](real x) { return x > again[i]; });
    std::printf("   %-16s %td.%td %10.3f %12.3f %12td\n", name.c_str(), heads[i].layer,
                heads[i].head, double(again[i]), double(other[i]), before + 1);
  };
  std::printf("   cut alone             read again    another   place of %zu\n", heads.size());
  for (const HeadKind kind : head_kinds) {
    const HeadOf best = s.by_score(s.again_scores, kind, s.again_scores.size(3)).front();
    row(to_string(kind), std::size_t(best.layer * s.model.options.num_heads + best.head));
  }
  row("costs most", std::size_t(std::max_element(again.begin(), again.end()) - again.begin()));
  const Spread a = spread(Tensor({40}, again)), b = spread(Tensor({40}, other));
  std::printf("   all, mean         %9.3f ±%.3f  %6.3f ±%.3f\n", a.mean, a.deviation, b.mean,
              b.deviation);
}

// What separates a repetition from the words and names of a story.
void print_own_story(const HeadStudy& told, const HeadStudy& own, const HeadStudy& in_order) {
  const Index rows = told.again_scores.size(3);
  const HeadOf best = told.by_score(told.again_scores, HeadKind::induction, rows / 2).front();
  const Spread score = score_of(own.other_scores, HeadKind::induction, best, rows / 2, rows);
  std::printf(
      "   behind another of its own story: ln p %.2f; induction, head %td.%td: %.2f ±%.2f\n",
      own.whole.other, best.layer, best.head, score.mean, score.deviation);
  std::printf("   the same, in the order of the story: ln p %.2f\n", in_order.whole.other);
}

void draw_joint_cuts(std::vector<plot::BarChart> charts) {
  const char* const titles[] = {"Without heads: pieces read again",
                                "The same pieces behind another of their own story",
                                "The same pieces behind one of another story"};
  plot::Canvas canvas(800, 1100, 2);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(12), 3, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    charts[i].title = titles[i];
    charts[i].y_axis = {"ln p falls by", false, -0.1, 0.85};
    plot::draw(canvas, areas[i], charts[i]);
  }
  plot::write_png(canvas, "out/plots/phase7_joint_cuts_stories260K.png");
}

// What cutting a group costs on one sort of texts (means: with the means of its outputs in place of
// zeros), and what others of the same layers cost.
struct GroupCost {
  const char* texts;
  double joint, sum, means;
  Spread others;
};

std::vector<GroupCost> costs_of(const HeadStudy& told, const HeadStudy& own, const Heads& cut) {
  const Falls joint = told.falls(cut), sum = told.summed_falls(cut);
  const Falls means = told.falls(cut, Replacement::mean);
  const auto [again, other] = told.at_random(cut);
  return {{"read again", joint.again, sum.again, means.again, again},
          {"own story", own.falls(cut).other, own.summed_falls(cut).other,
           own.falls(cut, Replacement::mean).other, own.at_random(cut).other},
          {"another story", joint.other, sum.other, means.other, other}};
}

void print_joint_cuts(const HeadStudy& told, const HeadStudy& own) {
  std::vector<plot::BarChart> charts(3);
  for (auto& one : charts)
    one.series = {{"joint"}, {"one by one, summed"}, {"random, same layers"}};
  std::printf("\n   cut together             joint     sum   means  random, same layers\n");
  for (const HeadKind kind : {HeadKind::previous, HeadKind::induction}) {
    const Heads heads = told.by_score(told.again_scores, kind, told.again_scores.size(3));
    for (const Index count : {3, 12}) {
      const Heads cut(heads.begin(), heads.begin() + count);
      const std::string name = std::to_string(count) + " " + to_string(kind);
      std::printf("   %s:", name.c_str());
      for (const HeadOf one : cut) std::printf(" %td.%td", one.layer, one.head);
      Random random(5);
      std::printf("; random: %zu\n", told.others_like(cut, random).size());
      const auto costs = costs_of(told, own, cut);
      for (std::size_t i = 0; i < costs.size(); ++i) {
        const auto& [texts, joint, sum, means, others] = costs[i];
        std::printf("      %-16s %10.2f %7.2f %7.2f %7.2f ±%.2f\n", texts, joint, sum, means,
                    others.mean, others.deviation);
        charts[i].labels.push_back(name);
        const double values[] = {joint, sum, others.mean};
        for (std::size_t j = 0; j < 3; ++j) charts[i].series[j].values.push_back(values[j]);
      }
    }
  }
  draw_joint_cuts(charts);
}

// The same for three heads that other passages chose: those of the other stories.
void print_other_half(const HeadStudy& told, const HeadStudy& half) {
  std::printf("   3, chosen on passages 1 to 12 and cut on the others\n");
  for (const HeadKind kind : {HeadKind::previous, HeadKind::induction}) {
    const Heads heads = told.by_score(told.again_scores, kind, told.again_scores.size(3) / 2);
    const Heads cut(heads.begin(), heads.begin() + 3);
    const Falls joint = half.falls(cut);
    const Spread others = half.at_random(cut).again;
    std::printf("      %-14s", to_string(kind).c_str());
    for (const HeadOf one : cut) std::printf(" %td.%td", one.layer, one.head);
    std::printf("   read again %.2f, random %.2f ±%.2f; another story %.2f\n", joint.again,
                others.mean, others.deviation, joint.other);
  }
}

// The three best induction heads of the table, where passages stand in the order of the story.
void print_in_order(const HeadStudy& told, const HeadStudy& in_order) {
  const Heads heads = told.by_score(told.again_scores, HeadKind::induction, 24);
  std::printf("   3 induction, own story, in its order: %.2f\n",
              in_order.falls({heads.begin(), heads.begin() + 3}).other);
}

// One text, as `tapestry cut` and `tapestry attribute` ask it.
void print_one_text(const Transformer& model, const Tokenizer& tokenizer) {
  const char* const text = "Max had a red ball. Anna had a green hat. Max had a red";
  const Indices ids = tokenizer.encode(text);
  const auto first_of = [&](const char* word) { return tokenizer.encode(word, false).values[0]; };
  const Question question{-1, first_of("ball"), first_of("to")};
  const Tensor falls = cut_heads(model, ids, {-1, question.token, {}});  // (layers, heads)
  const Attribution parts = attribute(model, ids, question);
  std::printf("\n5. \"%s\": and then \"%s\"\n", text, tokenizer.bytes_of(question.token).c_str());
  std::printf("   head    ln p falls by without it    it writes, of a logit difference of %.2f\n",
              parts.difference);
  for (const HeadOf one : Heads{{4, 4}, {4, 0}, {4, 1}, {1, 3}}) {
    std::printf("   %td.%td %20.2f %22.2f\n", one.layer, one.head,
                double{falls.at({one.layer, one.head})},
                double{parts.heads.at({one.layer, one.head})});
  }
}

}  // namespace

int main() try {
  std::printf("Step 74: what the heads do (takes about 20 seconds)\n");
  NamedScores drawn;
  print_letters(drawn);
  draw_scores(drawn, "out/plots/phase7_heads.png");
  const auto folder = real_model();
  if (!folder) return print_left_out("\n3. stories260K"), 0;
  const Transformer model = read_model(*folder);
  const Tokenizer tokenizer = read_tokenizer(*folder);
  std::vector<std::int32_t> tokens(253);
  std::iota(tokens.begin(), tokens.end(), 259);
  Random random(74);
  std::printf("\n3. stories260K, random tokens\n");
  const HeadStudy noise(model, random_readings(*tokenizer.bos(), tokens, 32, 24, random));
  print_scores(noise);
  std::printf("\n4. stories260K, 24 passages of stories\n");
  const HeadStudy told(model, passages(tokenizer, *tokenizer.bos(), Behind::other_story));
  const HeadStudy own(model, passages(tokenizer, *tokenizer.bos(), Behind::own_story));
  print_scores(told);
  const HeadStudy in_order(model, passages(tokenizer, *tokenizer.bos(), Behind::in_order));
  print_own_story(told, own, in_order);
  double first = 0;
  for (const std::size_t at : {0, 50, 100, 150, 200}) {
    const TwoReadings texts = passages(tokenizer, tokens[at], Behind::other_story);
    first += score_of(kind_scores(model, texts.again), HeadKind::first, {2, 6}, 0, 24).mean / 5;
  }
  std::printf("   first position, head 2.6, with five other tokens in place of %s: %.2f\n",
              tokenizer.token(*tokenizer.bos()).c_str(), first);
  print_single_cuts(told);
  print_joint_cuts(told, own);
  print_in_order(told, in_order);
  print_other_half(told, {model, passages(tokenizer, *tokenizer.bos(), Behind::other_story, 12)});
  print_one_text(model, tokenizer);
  std::printf("wrote out/plots/phase7_joint_cuts_stories260K.png\n");
  draw_scores({{"random", noise.again_scores},
               {"again", told.again_scores},
               {"another", told.other_scores}},
              "out/plots/phase7_heads_stories260K.png");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
