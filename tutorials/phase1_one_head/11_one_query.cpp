// Step 11. What does one word do when it attends?
//
// New here: query, key, value, score, weight, output, for one query of "the cat sat on the mat",
// in plain loops: every product is printed. Then the same by the library.
// Writes out/plots/phase1_dot_product.png; takes less than a second.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/colour.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int words = 6, width = 4;
const std::array<const char*, words> sentence = {"the", "cat", "sat", "on", "the", "mat"};

// "sat" asks: who did it, and where? Each key says what its word is, in four numbers: [doer, place,
// action, function word]; the query says how much each of the four matters. Chosen by hand here; in
// step 14 they are learned. The two "the" have different keys because a model adds the position to
// the word.
const std::array<double, width> query = {1.0, 0.5, 0.4, 0.2};
const std::array<std::array<double, width>, words> keys = {{{0.4, 0.2, 0.0, 1.5},
                                                            {3.0, 0.2, 0.0, 0.5},
                                                            {0.5, 0.2, 2.0, 0.5},
                                                            {0.0, 0.4, 0.0, 1.5},
                                                            {0.1, 0.6, 0.0, 1.5},
                                                            {0.6, 2.6, 0.3, 0.4}}};
// What each word adds to the output when the query attends to it: [who, where].
const std::array<std::array<double, 2>, words> values = {
    {{0.0, 0.1}, {1.0, 0.0}, {0.2, 0.2}, {0.0, 0.3}, {0.0, 0.1}, {0.1, 1.0}}};

using Row = std::array<double, words>;

Row print_scores() {
  Row scores{};
  std::printf("1. Scores: the query of 'sat' times every key, summed\n");
  for (std::size_t j = 0; j < words; ++j) {
    std::printf("%-4s", sentence[j]);
    for (std::size_t i = 0; i < width; ++i) {
      scores[j] += query[i] * keys[j][i];
      std::printf(" %s %.1f*%.1f", i > 0 ? "+" : " ", query[i], keys[j][i]);
    }
    std::printf("  = %.2f\n", scores[j]);
  }
  return scores;
}

Row print_weights(const Row& scores) {
  const double scale = std::sqrt(double{width});
  const double largest = *std::max_element(scores.begin(), scores.end());
  Row weights{};
  double total = 0;
  for (std::size_t j = 0; j < words; ++j) {
    weights[j] = std::exp((scores[j] - largest) / scale);
    total += weights[j];
  }
  std::printf("\n2. Weights: scores / sqrt(%d), then softmax\n", width);
  std::printf("word   score   / %.0f   exp(s - largest)   weight\n", scale);
  for (std::size_t j = 0; j < words; ++j) {
    const double power = weights[j];
    weights[j] /= total;
    std::printf("%-4s %7.2f %6.3f %14.3f %12.3f\n", sentence[j], scores[j], scores[j] / scale,
                power, weights[j]);
  }
  return weights;
}

std::array<double, 2> print_output(const Row& weights) {
  std::printf("\n3. Output: the values, mixed by the weights\n");
  std::array<double, 2> output{};
  for (std::size_t j = 0; j < words; ++j) {
    std::printf("%-4s  %.3f * (%.1f, %.1f)\n", sentence[j], weights[j], values[j][0], values[j][1]);
    for (std::size_t i = 0; i < 2; ++i) output[i] += weights[j] * values[j][i];
  }
  std::printf("sum         (%.3f, %.3f)\n", output[0], output[1]);
  return output;
}

template <std::size_t columns>
Tensor matrix(const std::array<std::array<double, columns>, words>& rows) {
  Tensor result = Tensor::empty({words, Index{columns}});  // (words, columns)
  for (Index i = 0; i < words; ++i) {
    for (Index j = 0; j < Index{columns}; ++j) {
      result.set({i, j}, rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
    }
  }
  return result;
}

void compare_with_library(const Row& weights, const std::array<double, 2>& output) {
  const Tensor q({1, width}, {query[0], query[1], query[2], query[3]});  // (1, width)
  // output (1, 2), weights (1, words)
  const Attention result = attention(q, matrix(keys), matrix(values));
  double worst = 0;
  for (Index j = 0; j < words; ++j) {
    worst = std::max(
        worst, std::abs(double{result.weights.at({0, j})} - weights[static_cast<std::size_t>(j)]));
  }
  for (Index i = 0; i < 2; ++i) {
    worst = std::max(
        worst, std::abs(double{result.output.at({0, i})} - output[static_cast<std::size_t>(i)]));
  }
  std::printf("\n4. The library's attention(q, k, v) differs by %s\n",
              worst < 1e-6 ? "less than 1e-6" : "TOO MUCH");
}

// A learning guide gave these scores these weights. Softmax keeps the order, whatever the scores
// are divided by first (the temperature).
void spot_the_error() {
  const Tensor scores({words}, {0.8, 3.2, 1.5, 0.5, 0.7, 2.1});  // (words)
  std::printf("\n5. Spot the error: scores and weights as a learning guide printed them\n");
  std::printf("scores           0.80  3.20  1.50  0.50  0.70  2.10\n");
  std::printf("claimed weights  0.05  0.45  0.15  0.05  0.10  0.20\n");
  for (const double temperature : {1.0, 2.0}) {  // softmax(scores / temperature): (words)
    std::printf("softmax(s / %.0f)  ", temperature);
    for (const real w : softmax(scores / temperature).values()) std::printf(" %.2f ", double{w});
    std::printf("\n");
  }
  std::printf("0.80 > 0.70, yet the claim gives them 0.05 < 0.10: no temperature can do that.\n");
}

plot::Point at(double doer, double place) {
  constexpr double scale = 165;
  return {100 + scale * doer, 560 - scale * place};
}

// Axes, and lines along which the dot product with the query is 1, 2 and 3: they stand upright on
// the query.
void draw_axes(plot::Canvas& canvas) {
  for (const int score : {1, 2, 3}) {  // 1.0 doer + 0.5 place = score
    const double top = std::min(2.0 * score, 2.5);
    canvas.line(at(score, 0), at(score - 0.5 * top, top), {plot::theme::missing, 1.5, 6});
    canvas.text(at(score, -0.2), "score " + std::to_string(score),
                {.size = 13, .colour = plot::theme::faded, .align = plot::Align::centre});
  }
  canvas.arrow(at(0, 0), at(3.9, 0), {plot::theme::frame, 1.2});
  canvas.arrow(at(0, 0), at(0, 2.7), {plot::theme::frame, 1.2});
  canvas.text(at(3.6, -0.2), "doer", {.size = 14});
  canvas.text(at(-0.4, 2.6), "place", {.size = 14});
}

// The first two numbers of the query and of four keys as arrows.
void draw() {
  plot::Canvas canvas(820, 620);
  canvas.text({24, 36}, "A score: how far a key reaches along the query",
              {.size = 19, .bold = true});
  canvas.text({24, 62}, "two of the four numbers; at each key its dot product with the query",
              {.size = 14, .colour = plot::theme::faded});
  draw_axes(canvas);
  for (const std::size_t j : {1, 2, 3, 5}) {  // not the two "the": they would lie on others
    const double score = query[0] * keys[j][0] + query[1] * keys[j][1];
    const plot::Point tip = at(keys[j][0], keys[j][1]);
    canvas.arrow(at(0, 0), tip, {plot::theme::accent, 1.6});
    const bool upright = keys[j][0] == 0;  // to the right of it are other arrows
    canvas.text({upright ? tip.x - 9 : tip.x + 9, tip.y + 6},
                formatted("%s %.1f", sentence[j], score),
                {.size = 15, .align = upright ? plot::Align::right : plot::Align::left});
  }
  const plot::Colour blue = plot::series_colour(0);
  canvas.arrow(at(0, 0), at(query[0], query[1]), {blue, 3.5});
  canvas.text(at(query[0] + 0.05, query[1] + 0.03), "query of sat",
              {.size = 15, .colour = blue, .bold = true});
  plot::write_png(canvas, "out/plots/phase1_dot_product.png");
}

}  // namespace

int main() {
  std::printf("Step 11: one query, by hand (takes less than a second)\n\n");
  const Row weights = print_weights(print_scores());
  compare_with_library(weights, print_output(weights));
  spot_the_error();
  draw();
  std::printf("\nwrote out/plots/phase1_dot_product.png\n");
}
