// Step 41. How is a word kept from seeing the future?
//
// New here: the mask, a matrix of yes and no that goes between scores and softmax. Why minus
// infinity and neither 0 nor -1e9; five ways to write a mask down; rows with nothing to see;
// padding, and masks of your own.
// Writes no picture (step 47 draws the mask); takes less than a second.
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/ascii.hpp"
#include "tapestry/plot/numbers.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/unicode.hpp"

using namespace tapestry;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<std::string> words = {"the", "cat", "sat", "on", "the", "mat"};

void print_row(const char* name, const Tensor& row, int digits = 3) {
  std::printf("%-34s", name);
  for (const double number : doubles(row)) {
    // A minus sign or ∞ is one column wide, but several bytes.
    const std::string text = plot::number_text(number, digits);
    std::printf("%*s%s", 8 - display_width(text), "", text.c_str());
  }
  std::printf("\n");
}

// Masked attention, written out. q, k and v: 6 words of width 16. One line is new.
void written_out() {
  Random random(42);
  const Tensor q = random.normal({6, 16}), k = random.normal({6, 16}), v = random.normal({6, 16});
  const Tensor allowed = Mask::causal().tensor({6, 6});  // (6, 6): 1 may attend, 0 may not
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(16.0);  // (6, 6)
  const Tensor visible = where(allowed, scores, -infinity);         // (6, 6): the new line
  const Tensor weights = softmax(visible);                          // (6, 6)
  const Tensor output = matmul(weights, v);                         // (6, 16)

  std::printf("1. The causal mask (rows ask, columns answer), scores and weights under it\n");
  std::printf("%s\n", Mask::causal().text(6, 6).c_str());
  std::printf("Scores, −∞ where the mask says no\n%s",
              plot::matrix_with_words(doubles(visible), words, words).c_str());
  std::printf("Weights\n%s", plot::matrix_with_words(doubles(weights), words, words).c_str());
  const Tensor later = Mask::causal().to(MaskEncoding::drop, {6, 6});  // (6, 6)
  std::printf("Largest weight above the diagonal: %.2g\n", double{max(weights * later).item()});
  std::printf("Row sums %s\n", largest_difference(sum(weights, -1), Tensor::ones({6})) < 1e-6
                                   ? "are all 1"
                                   : "ARE NOT 1");
  const Attention library = attention(q, k, v, Mask::causal());  // output (6, 16)
  std::printf("attention(q, k, v, Mask::causal()) differs by %s\n\n",
              largest_difference(library.output, output) < 1e-6 ? "less than 1e-6" : "TOO MUCH");
}

// Hide the middle one of three keys, right and wrong.
void hide_the_middle() {
  const Tensor high({3}, {2, 0.5, 3}), low({3}, {-2, 0.5, -3}), keep({3}, {1, 0, 1});  // (3) each
  std::printf("2. Hide the middle one of three keys\n");
  print_row("scores", high, 1);
  print_row("weights, nothing hidden", softmax(high));
  print_row("its score becomes -inf: right", softmax(where(keep, high, -infinity)));
  print_row("its score becomes -1e9: right here", softmax(where(keep, high, -1e9)));
  print_row("its score becomes 0: still seen", softmax(where(keep, high, 0)));
  const Tensor late = softmax(high) * keep;  // (3)
  print_row("its weight becomes 0 afterwards", late);
  std::printf("   ... and the row sums to %.3f, not 1\n", double{sum(late).item()});
  print_row("lower scores", low, 1);
  print_row("its score becomes -inf: right", softmax(where(keep, low, -infinity)));
  print_row("hidden, score 0: gets most", softmax(where(keep, low, 0)));

  std::printf("\nSpot the error: a project guide says\n");
  std::printf("   softmax([2, 0, 3]) = [0.24, 0.03, 0.73]\n");
  print_row("computed", softmax(Tensor({3}, {2, 0, 3})));
  std::printf("\n");
}

// What other programs call "the mask": the same meaning, five matrices.
void five_encodings() {
  const struct {
    const char* name;
    MaskEncoding encoding;
  } list[] = {{"keep:      1 = may attend", MaskEncoding::keep},
              {"drop:      1 = may NOT attend", MaskEncoding::drop},
              {"additive:  added to the scores", MaskEncoding::additive},
              {"zero_one:  0 becomes -1e9", MaskEncoding::zero_one},
              {"upper_triangle: triu(ones, 1)", MaskEncoding::upper_triangle}};
  std::printf("3. Five ways to write the causal mask of three words, row by row\n");
  for (const auto& [name, encoding] : list) {
    const Tensor matrix = Mask::causal().to(encoding, {3, 3});  // (3, 3)
    std::string text;
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        text += " " + plot::number_text(double{matrix.at({i, j})}, 0);
      }
      text += i < 2 ? "  |" : "";
    }
    const bool same = Mask::from(encoding, matrix).text(3, 3) == Mask::causal().text(3, 3);
    std::printf("%-31s %s   %s\n", name, text.c_str(), same ? "read back: same" : "DIFFERS");
  }
  const Mask wrong = Mask::from(MaskEncoding::keep, Mask::causal().to(MaskEncoding::drop, {3, 3}));
  std::printf("One polarity read as the other, and everybody sees nothing but the future:\n%s\n",
              wrong.text(3, 3).c_str());
}

// A query that may attend to nothing: a sentence of padding, say.
void nothing_to_see() {
  const Tensor scores({3}, {2, 0.5, 3}), nothing = Tensor::zeros({3});  // (3) each
  const Tensor hidden = where(nothing, scores, -infinity);              // (3)
  const Tensor powers = exp(hidden - max(hidden, -1, true));  // (3): -inf - -inf is not a number
  const Tensor low = where(nothing, scores, -1e9);            // (3)
  std::printf("4. Every key is hidden\n");
  print_row("-inf, softmax by the book", powers / sum(powers));
  print_row("-1e9 in place of each score", softmax(low));
  print_row("scores plus -1e9", softmax(scores - 1e9));
  Tape tape({hidden});
  const Tensor shares = softmax(hidden);                                           // (3)
  const Tensor slopes = tape.backward(shares, Tensor({3}, {0.5, -1, 2}))[hidden];  // (3)
  print_row("softmax of this library, -inf", shares);
  print_row("... gradient of its scores", slopes);
  std::printf("In 32 bits -1e9 + 2 is %.0f: the scores are gone, the weights even.\n\n",
              static_cast<double>(static_cast<float>(-1e9) + 2.0F));
}

void side_by_side(const std::vector<std::string>& names, const std::vector<Mask>& masks) {
  for (const std::string& name : names) std::printf("%-24s", name.c_str());
  std::printf("\n");
  for (Index i = 0; i < 6; ++i) {
    for (const Mask& mask : masks) {
      for (Index j = 0; j < 6; ++j) std::printf("%s ", mask.allows(0, i, j) ? "✓" : "✗");
      std::printf("%12s", "");
    }
    std::printf("\n");
  }
}

void combine() {
  std::printf("5. Masks combine: & allows what both allow\n");
  const Mask causal = Mask::causal();
  side_by_side({"causal & padding({4})", "causal & local(2)", "causal & strided(2)"},
               {causal & Mask::padding({4}), causal & Mask::local(2), causal & Mask::strided(2)});

  std::printf("\n%-28s       16      128     1024   blocks left out, of 256\n",
              "Pairs allowed, by length");
  const auto print_pairs = [](const char* name, const Mask& mask) {
    std::printf("%-28s", name);
    for (const Index length : {16, 128, 1024}) {
      const Tensor allowed = mask.tensor({length, length});  // (length, length)
      std::printf(" %8.0f", double{sum(allowed).item()});
    }
    std::printf(" %25td\n", mask.density(1024, 1024).skipped);
  };
  print_pairs("no mask", Mask::local(1024));
  print_pairs("causal", causal);
  print_pairs("causal & local(7)", causal & Mask::local(7));
  print_pairs("causal & strided(2)", causal & Mask::strided(2));
  std::printf("blocks: of 64 by 64 pairs, at length 1024; fused_attention leaves some out\n");
}

}  // namespace

int main() {
  std::printf("Step 41: the mask (takes less than a second)\n\n");
  written_out();
  hide_the_middle();
  five_encodings();
  nothing_to_see();
  combine();
}
