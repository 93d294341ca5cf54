// Step 74. What do the heads of a real model do?
//
// New here: all heads are scored for several kinds at once, with controls: the same text behind
// another one instead of itself (course/head_kinds.hpp; stories also behind another passage of
// their own), equal weights, untrained models. Whether it matters what they do is step 78.
// First in two models of step 58, trained here, then in the real model stories260K, if it is there
// (course/real_model.hpp). Writes out/plots/phase7_heads.png; with the real model also
// phase7_heads_stories260K.png; takes about 5 seconds.
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "course/head_kinds.hpp"
#include "course/head_pictures.hpp"
#include "course/induction_runs.hpp"
#include "course/inside.hpp"
#include "course/real_model.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;

namespace {

// ---- Scores. The best head is chosen on the first half of the texts, and judged on the other.

void print_scores(const HeadStudy& s) {
  const Index rows = s.rows(), half = rows / 2;
  std::printf("   ln p of a token: read again %.2f, behind another piece %.2f\n", s.whole.again,
              s.whole.other);
  std::printf("                    best   read again    another      even  untrained  above 0.3\n");
  for (const HeadKind kind : head_kinds) {
    const HeadOf best = s.best(kind, 1, half).front();
    const Spread score = score_of(s.again_scores, kind, best, half, rows);
    const Spread control = score_of(s.other_scores, kind, best, half, rows);
    const double even = even_score(kind, (s.texts.again.inputs.shape[1] - 1) / 2);
    const double lucky = s.best_untrained(kind);
    const Tensor means = split(mean(s.again_scores, -1), 5, 0)[std::size_t(kind)];
    const real above = sum(means > 0.3).item();
    std::vector<Spread> baselines = {{even, 0, score.count}, {lucky, 0, score.count}};
    // These two need a repetition: their control is the text behind another piece.
    if (kind == HeadKind::duplicate || kind == HeadKind::induction) baselines.push_back(control);
    std::printf("   %-16s %td.%td   %.2f ±%.2f    %.2f ±%.2f   %.3f   %.3f %9.0f   %s\n",
                to_string(kind).c_str(), best.layer, best.head, score.mean, score.deviation,
                control.mean, control.deviation, even, lucky, double{above},
                may_be_named(score, baselines) ? "named" : "not named");
  }
}

void draw_scores(const NamedScores& all, const std::string& path) {
  plot::write_png(plot::render(score_maps(all), 200), path);
  std::printf("wrote %s\n", path.c_str());
}

// ---- Models of letters

void print_letters(NamedScores& drawn) {
  for (const int seed : {4, 0}) {
    const Transformer model =
        train_on_repetitions({"", 2, 2, Positions::sinusoidal}, seed, 500).model;
    const HeadStudy s(model, letter_readings(model));
    std::printf("\n%d. A model of letters: step 58, two layers of two heads, seed %d\n",
                seed == 4 ? 1 : 2, seed);
    print_scores(s);
    drawn.emplace_back("seed " + std::to_string(seed), s.again_scores);
  }
}

// ---- stories260K

// What separates a repetition from the words and names of a story.
void print_own_story(const HeadStudy& told, const HeadStudy& own, const HeadStudy& in_order) {
  const Index rows = told.rows();
  const HeadOf best = told.best(HeadKind::induction, 1, rows / 2).front();
  const Spread score = score_of(own.other_scores, HeadKind::induction, best, rows / 2, rows);
  std::printf(
      "   behind another of its own story: ln p %.2f; induction, head %td.%td: %.2f ±%.2f\n",
      own.whole.other, best.layer, best.head, score.mean, score.deviation);
  std::printf("   the same, in the order of the story: ln p %.2f\n", in_order.whole.other);
}

constexpr Index second_piece = 49;  // where it begins, behind <bos> and 48 tokens

// The mean weight of head 2.6 on one position, over the queries behind both.
double weight_on_place(const Transformer& model, const Indices& ids, Index place) {
  const Tensor head = slice(weights_of(model, ids)[2], 1, 6, 7);  // (rows, 1, length, length)
  const Tensor queries = slice(head, 2, second_piece + 1, ids.shape[1]);
  return double{mean(slice(queries, 3, place, place + 1)).item()};
}

// Does that head look at <bos>, or at the first position? Five other tokens stand in place of
// <bos>; then <bos> in place of the first token of the second piece, too.
void print_first(const Transformer& model, const Tokenizer& tokenizer) {
  const std::int32_t bos = *tokenizer.bos();
  double without = 0, moved = 0, first = 0;
  for (const std::int32_t token : {259, 309, 359, 409, 459}) {
    Indices ids = story_readings(tokenizer, token, Behind::other_story).again.inputs;
    without += weight_on_place(model, ids, 0) / 5;
    for (Index row = 0; row < ids.shape[0]; ++row) {
      ids.values[std::size_t(row * ids.shape[1] + second_piece)] = bos;
    }
    first += weight_on_place(model, ids, 0) / 5;
    moved += weight_on_place(model, ids, second_piece) / 5;
  }
  const char* const name = tokenizer.token(bos).c_str();
  std::printf("   first position, head 2.6, with five other tokens in place of %s: %.2f\n", name,
              without);
  std::printf("   and %s at the beginning of the second piece: %.2f on %s, first position %.2f\n",
              name, moved, name, first);
}

void print_real_model(const Transformer& model, const Tokenizer& tokenizer) {
  const std::int32_t bos = *tokenizer.bos();
  std::vector<std::int32_t> tokens(253);
  std::iota(tokens.begin(), tokens.end(), 259);
  Random random(74);
  std::printf("\n3. stories260K, random tokens\n");
  const HeadStudy noise(model, random_readings(bos, tokens, 32, 24, random));
  print_scores(noise);
  std::printf("\n4. stories260K, 24 passages of stories\n");
  const auto study = [&](Behind behind) {
    return HeadStudy(model, story_readings(tokenizer, bos, behind));
  };
  const HeadStudy told = study(Behind::other_story);
  print_scores(told);
  print_own_story(told, study(Behind::own_story), study(Behind::in_order));
  print_first(model, tokenizer);
  draw_scores({{"random", noise.again_scores},
               {"again", told.again_scores},
               {"another", told.other_scores}},
              "out/plots/phase7_heads_stories260K.png");
}

}  // namespace

int main() try {
  std::printf("Step 74: what the heads do (takes about 5 seconds)\n");
  NamedScores drawn;
  print_letters(drawn);
  draw_scores(drawn, "out/plots/phase7_heads.png");
  const auto folder = real_model();
  if (!folder) return print_left_out("\n3. stories260K"), 0;
  print_real_model(read_model(*folder), read_tokenizer(*folder));
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
