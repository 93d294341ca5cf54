// Step 21. How does one row of numbers become several heads?
//
// New here: a row of d_model numbers is cut into `heads` parts, and the heads are brought to the
// front: first reshape, then transpose. The numbers 0 to 23 show what that does, and what the
// tempting shortcut does, whose shapes are right and whose rows mix words.
// Writes out/plots/phase2_split_heads.png; takes less than a second.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/ascii.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/colour.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

constexpr int length = 3, width = 8, heads = 2, part = width / heads;

// x (words, width) -> (heads, words, part). Each word's row is cut first, then the axes of heads
// and words are swapped.
Tensor right_split(const Tensor& x) {
  const Tensor cut = reshape(x, {x.size(0), heads, -1});  // (words, heads, part)
  return transpose(cut, 0, 1);                            // (heads, words, part)
}

// The shortcut: the same shape in one step, (heads, words, part).
Tensor wrong_split(const Tensor& x) { return reshape(x, {heads, x.size(0), -1}); }

std::string strides(const Tensor& x) {
  std::string text;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    text += (axis > 0 ? ", " : "(") + std::to_string(x.strides()[static_cast<std::size_t>(axis)]);
  }
  return text + ")";
}

// The numbers of each head, row by row, and the words that they came from: in x, row i holds
// 8 i to 8 i + 7, so a number tells its word.
void print_heads(const Tensor& parts) {
  for (int head = 0; head < heads; ++head) {
    for (int row = 0; row < length; ++row) {
      std::printf("head %d, row %d: ", head, row);
      for (Index i = 0; i < part; ++i) std::printf(" %2.0f", parts.at({head, row, i}));
      const int word = static_cast<int>(parts.at({head, row, 0})) / width;
      std::printf("   of word %d%s\n", word, word == row ? "" : ": NOT ITS OWN");
    }
  }
}

// Attention in every head, then the heads side by side again: (words, width) -> the same shape.
Tensor attend(const Tensor& x, bool right) {
  const Tensor parts = right ? right_split(x) : wrong_split(x);  // (heads, words, part)
  const Tensor mixed = attention(parts, parts, parts).output;    // (heads, words, part)
  return reshape(right ? transpose(mixed, 0, 1) : mixed, {x.size(0), x.size(1)});
}

// Whose output changes when word j changes? Row i, column j: true if that of word i does.
std::vector<bool> who_sees_whom(const Tensor& x, bool right) {
  const Tensor before = attend(x, right);  // (words, width)
  std::vector<bool> sees;
  for (Index i = 0; i < x.size(0); ++i) {
    for (Index j = 0; j < x.size(0); ++j) {
      Tensor changed = x.clone();  // (words, width)
      for (Index k = 0; k < x.size(1); ++k) changed.set({j, k}, -changed.at({j, k}));
      const Tensor after = attend(changed, right);  // (words, width)
      sees.push_back(largest_difference(slice(before, 0, i, i + 1), slice(after, 0, i, i + 1)) > 0);
    }
  }
  return sees;
}

// A matrix as numbered cells, each in the colour of the word that its number belongs to.
void draw_numbers(plot::Canvas& canvas, plot::Point at, const Tensor& matrix,
                  const std::string& title) {
  constexpr double side = 44;
  canvas.text(at, title, {.size = 16, .bold = true});
  for (int i = 0; i < matrix.size(0); ++i) {
    for (int j = 0; j < matrix.size(1); ++j) {
      const double number = matrix.at({i, j});
      const auto word = static_cast<std::size_t>(number) / width;
      const plot::Colour colour = plot::mix(plot::white, plot::series_colour(word), 0.45);
      const plot::Rect cell{at.x + side * j, at.y + 14 + side * i, side, side};
      canvas.fill_rect(cell.inset(1), colour);
      canvas.text(
          cell.centre(), std::to_string(static_cast<int>(number)),
          {.size = 15, .align = plot::Align::centre, .vertical = plot::VerticalAlign::middle});
    }
  }
}

void draw(const Tensor& x) {
  plot::Canvas canvas(1100, 430);
  canvas.text({24, 36}, "One colour for each word: a row of a head must have one colour",
              {.size = 15, .colour = plot::theme::faded});
  draw_numbers(canvas, {24, 150}, x, "x: three words");
  for (const bool right : {true, false}) {
    const Tensor parts = right ? right_split(x) : wrong_split(x);  // (heads, length, part)
    for (int head = 0; head < heads; ++head) {
      const Tensor rows = squeeze(slice(parts, 0, head, head + 1), 0);  // (length, part)
      const plot::Point at{430.0 + 340.0 * head, right ? 80.0 : 265.0};
      draw_numbers(canvas, at, rows,
                   (right ? "reshape, transpose: head " : "reshape alone (wrong): head ") +
                       std::to_string(head));
    }
  }
  plot::write_png(canvas, "out/plots/phase2_split_heads.png");
}

void show_right(const Tensor& x) {
  std::cout << "1. Three words of eight numbers; row i is word i\n" << to_string(x, 0) << "\n\n";
  // cut (length, heads, part), right (heads, length, part)
  const Tensor cut = reshape(x, {length, heads, part}), right = right_split(x);
  std::cout << "2. Two heads: reshape, then transpose\n"
            << "x          " << x.shape() << "     steps in memory " << strides(x) << "\n"
            << "reshape    " << cut.shape() << "  steps in memory " << strides(cut) << "\n"
            << "transpose  " << right.shape() << "  steps in memory " << strides(right) << "\n";
  print_heads(right);
  std::cout << "copied: " << (right.data() == x.data() ? "nothing" : "SOMETHING")
            << "; differs from the library's split_heads(x, 2) by "
            << largest_difference(right, split_heads(x, heads)) << "\nconcat_heads brings x back: "
            << (largest_difference(concat_heads(right), x) == 0 ? "yes" : "NO") << "\n\n";
}

void show_wrong(const Tensor& x) {
  const Tensor wrong = wrong_split(x);  // (heads, length, part)
  std::cout << "3. The shortcut: reshape alone. Shape " << wrong.shape() << ", as it should be\n";
  print_heads(wrong);
}

void show_who_sees_whom() {
  std::cout
      << "\n4. Six words of eight random numbers attend. Row: whose output; column: which word"
      << "\n   was changed; ✓: the output noticed\n";
  Random random(42);
  const Tensor words = random.normal({6, width});  // (6, width)
  const std::vector<std::string> names = {"w0", "w1", "w2", "w3", "w4", "w5"};
  std::cout << "right:\n"
            << plot::check_table(who_sees_whom(words, true), names, names) << "wrong, both ways:\n"
            << plot::check_table(who_sees_whom(words, false), names, names);
}

}  // namespace

int main() try {
  std::cout << "Step 21: splitting heads (takes less than a second)\n\n";
  const Tensor x = reshape(Tensor::arange(length * width), {length, width});  // (length, width)
  show_right(x);
  show_wrong(x);
  show_who_sees_whom();
  std::cout << "\n5. Heads must divide the width. The library says:\n";
  try {
    (void)split_heads(x, 3);
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
  draw(x);
  std::cout << "\nwrote out/plots/phase2_split_heads.png\n";
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
