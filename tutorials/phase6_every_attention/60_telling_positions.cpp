// Step 60. In how many ways can attention be told where a word stands?
//
// New here: sinusoids looked at closely; rotary positions, which rotate queries and keys; and
// biases by distance (T5's buckets, ALiBi's slopes). What each lets a score depend on is measured.
// Writes no picture (step 61 draws the sinusoids); takes less than a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "course/if_small.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/init.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 32;

double number(const Tensor& x) { return double{x.item()}; }

void like_digits() {
  std::printf(
      "1. Sinusoids count as binary digits do: each pair changes more slowly than the last\n");
  std::printf("position   binary   sines of base 8, width 6\n");
  const Tensor p = sinusoidal_positions(8, 6, 0, 8);  // (8, 6)
  for (Index i = 0; i < 8; ++i) {
    const int at = static_cast<int>(i);
    std::printf("%8d   %d %d %d    %5.2f %5.2f %5.2f\n", at, at / 4, at / 2 % 2, at % 2,
                double{p.at({i, 4})}, double{p.at({i, 2})}, double{p.at({i, 0})});
  }
}

void turn_and_compare() {
  // As (cosine, sine) pairs a position is a point on each circle, and rotary() rotates it.
  const auto as_pairs = [](const Tensor& x) {  // (positions, 1, width)
    return unsqueeze(concat({slice(x, 1, 1, width, 2), slice(x, 1, 0, width, 2)}, 1), 1);
  };
  const Tensor all = sinusoidal_positions(1024, width);  // (1024, width)
  double error = 0;
  for (const Index k : {1, 7, 100, 500}) {
    // (1024 - k, 1, width)
    const Tensor turned = rotary(as_pairs(slice(all, 0, 0, 1024 - k)), RotaryLayout::half_split, k);
    error = std::max(error, largest_difference(turned, as_pairs(slice(all, 0, k, 1024))));
  }
  std::printf("\nRotated by k, position m becomes m + k, whatever m: error %s\n",
              if_small(error, 4).c_str());
  const Tensor products = matmul(all, transpose(all));         // (1024, 1024)
  const Tensor alike = where(Tensor::eye(1024), 0, products);  // (1024, 1024)
  std::printf("p(m) . p(m) is %.2f; of 1024 different positions the most alike two: %.2f\n",
              double{products.at({0, 0})}, number(max(alike)));
  std::printf("p(m) . p(m + k) for m = 0 to 999, smallest and largest:\n");
  for (const Index k : {1, 5, 20}) {
    const Tensor row = sum(slice(all, 0, 0, 1000) * slice(all, 0, k, 1000 + k), -1);  // (1000)
    std::printf("   k = %2d   %.3f  %.3f\n", static_cast<int>(k), number(min(row)),
                number(max(row)));
  }
}

void print_error(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    std::printf("   %s\n", error.what());
  }
}

// A guide prints PositionalEncoding with d_model / 2 angles, rounded up, and 5000 rows.
void printed_code() {
  const Tensor of_five = Tensor::zeros({5000, 5}), of_four = Tensor::zeros({1, 5000, 4});
  std::printf("A guide's code: pe[:, 1::2] = torch.cos(position * div_term), for d_model = 5\n");
  print_error(
      [&] { (void)(slice(of_five, 1, 1, 5, 2) + Tensor::zeros({5000, 3})); });  // 3: 0, 2, 4
  std::printf("... and then return x + self.pe[:, :x.size(1)], for 6000 words\n");
  print_error([&] { (void)(Tensor::zeros({1, 6000, 4}) + of_four); });
}

// Rotary positions, written out: pair i of the row at position m is rotated by m / 10000^(2i/d).
Tensor rotated(const Tensor& x) {
  Tensor y = Tensor::zeros(x.shape());  // (length, d)
  const Index d = x.size(1);
  for (Index m = 0; m < x.size(0); ++m) {
    for (Index i = 0; i < d; i += 2) {
      const double angle = double(m) / std::pow(10000, double(i) / double(d));
      const double first = double{x.at({m, i})}, second = double{x.at({m, i + 1})};
      y.set({m, i}, first * std::cos(angle) - second * std::sin(angle));
      y.set({m, i + 1}, first * std::sin(angle) + second * std::cos(angle));
    }
  }
  return y;
}

// T5's bucket of a distance back: the first 16 have one each, then widths grow up to 128.
Index bucket(Index distance) {
  if (distance < 16) return distance;
  const double grown = 16 * std::log(double(distance) / 16) / std::log(128.0 / 16);
  return std::min<Index>(31, 16 + Index(grown));
}

// ALiBi's slope of a head, if the number of heads is a power of two.
double slope(Index head, Index heads) { return std::pow(2, -8 * double(head + 1) / double(heads)); }

void compare_written_out() {
  Random random(3);
  const Tensor x = random.normal({50, 8});  // (50, 8)
  double slopes = 0;
  for (Index head = 0; head < 8; ++head) {
    slopes = std::max(slopes, std::abs(slope(head, 8) - double{alibi_slopes(8).at({head})}));
  }
  Index wrong = 0;
  for (Index d = 0; d < 2000; ++d) wrong += bucket(d) != relative_position_bucket(-d, true);
  std::printf(
      "\n4. Written out, and the library's: rotary differs by %s,\n",
      if_small(largest_difference(rotated(x), rotary(x, RotaryLayout::interleaved)), 4).c_str());
  std::printf("   ALiBi's slopes by %s, T5's buckets of %d distances of 2000\n",
              if_small(slopes, 4).c_str(), int(wrong));
}

// Scores of one query word and one key word that are three positions apart, in twenty places.
void print_spread(const char* name, const std::function<Tensor(Index place)>& score) {
  double low = INFINITY, high = -INFINITY;
  for (Index place = 0; place < 20; ++place) {
    const double s = number(score(place));
    low = std::min(low, s);
    high = std::max(high, s);
  }
  std::printf("   %-38s %6.3f %6.3f\n", name, low, high);
}

void rotations() {
  constexpr RotaryLayout pairs = RotaryLayout::interleaved;
  Random random(4);
  const Tensor x = random.normal({1, 8}), y = random.normal({1, 8});  // (1, 8) each
  const Tensor w_q = init::lecun_normal({8, 8}, random), w_k = init::lecun_normal({8, 8}, random);
  const auto dot = [](const Tensor& q, const Tensor& k) { return sum(q * k); };  // ()
  std::printf("\n2. Rotary: one query, one key three positions before it, at twenty places\n");
  std::printf("   the score's smallest and largest value:\n");
  print_spread("queries and keys are rotated", [&](Index at) {
    return dot(rotary(matmul(x, w_q), pairs, at + 3), rotary(matmul(y, w_k), pairs, at));
  });
  print_spread("embeddings are rotated, before W", [&](Index at) {
    return dot(matmul(rotary(x, pairs, at + 3), w_q), matmul(rotary(y, pairs, at), w_k));
  });
  print_spread("sinusoids are added, before W", [&](Index at) {
    return dot(matmul(x + sinusoidal_positions(1, 8, at + 3), w_q),
               matmul(y + sinusoidal_positions(1, 8, at), w_k));
  });
}

void layouts() {
  constexpr RotaryLayout pairs = RotaryLayout::interleaved, halves = RotaryLayout::half_split;
  Random random(5);
  const Tensor w_q = init::lecun_normal({8, 8}, random), w_k = init::lecun_normal({8, 8}, random);
  const Tensor text = random.normal({6, 8});                                        // (6, 8)
  const auto scores = [&](const Tensor& q, const Tensor& k, RotaryLayout layout) {  // (6, 6)
    return matmul(rotary(matmul(text, q), layout), transpose(rotary(matmul(text, k), layout)));
  };
  const Tensor right = scores(w_q, w_k, pairs), wrong = scores(w_q, w_k, halves);  // (6, 6) each
  const Tensor converted =                                                         // (6, 6)
      scores(convert_rotary(w_q, 1, pairs, halves), convert_rotary(w_k, 1, pairs, halves), halves);
  std::printf("   W_Q and W_K of the interleaved layout, read as half split: scores are wrong\n");
  double itself = 0;  // each word with itself
  for (Index i = 0; i < text.size(0); ++i) {
    itself = std::max(itself, std::abs(double{wrong.at({i, i})} - double{right.at({i, i})}));
  }
  std::printf("   by up to %.3f; of a word with itself, by %s; converted: by %s\n",
              largest_difference(wrong, right), if_small(itself, 4).c_str(),
              if_small(largest_difference(converted, right), 4).c_str());
}

void biases() {
  std::printf("\n3. A bias by distance\n   distance     ");
  const std::vector<Index> list = {0, 1, 2, 15, 16, 20, 40, 100, 1000};
  for (const Index d : list) std::printf(" %5d", static_cast<int>(d));
  std::printf("\n   T5's bucket  ");
  for (const Index d : list) std::printf(" %5d", int(relative_position_bucket(-d, true)));
  for (const Index heads : {4, 6}) {
    std::printf("\n   ALiBi's slopes of %d heads:", static_cast<int>(heads));
    for (const double slope : doubles(alibi_slopes(heads))) std::printf(" %.4f", slope);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("Step 60: telling positions (takes less than a second)\n\n");
  like_digits();
  turn_and_compare();
  printed_code();
  rotations();
  layouts();
  biases();
  compare_written_out();
}
