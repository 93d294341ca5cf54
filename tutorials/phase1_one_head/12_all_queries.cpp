// Step 12. How do all words attend at once?
//
// New here: the matrix form. With queries, keys and values all equal to x, attention is three
// lines. The scores are returned too, to see what softmax does to them.
// Writes no picture; takes less than a second.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/ascii.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

const std::vector<std::string> words = {"the", "cat", "sat", "on", "the", "mat"};

struct Result {
  Tensor output, weights, scores;  // (length, width), (length, length), (length, length)
};

// x (length, width): every row is query, key and value at once.
Result simple_self_attention(const Tensor& x) {
  const double width = static_cast<double>(x.size(-1));
  const Tensor scores = matmul(x, transpose(x)) / std::sqrt(width);  // (length, length)
  const Tensor weights = softmax(scores);                            // (length, length)
  const Tensor output = matmul(weights, x);                          // (length, width)
  return {output, weights, scores};
}

void print(const char* title, const Tensor& matrix) {
  std::cout << title << "\n" << plot::matrix_with_words(doubles(matrix), words, words) << "\n";
}

// Softmax depends on differences: the ratio of two weights is exp(the difference of their scores).
void compare_two_weights(const Result& result) {
  const Index cat = 1, sat = 2;
  const double scores = double{result.scores.at({cat, cat})} - result.scores.at({cat, sat});
  const double weights = double{result.weights.at({cat, cat})} / result.weights.at({cat, sat});
  std::printf("cat on itself and on sat: scores %.2f apart, weights %.2f : 1, exp(%.2f) = %.2f\n\n",
              scores, weights, scores, std::exp(scores));
}

// Attention does not know the order of words: permuted words give permuted outputs.
void order_is_invisible(const Tensor& x, const Tensor& output) {
  const Indices order({6}, {5, 3, 1, 0, 2, 4});                               // (6)
  const Tensor shuffled = simple_self_attention(embedding(x, order)).output;  // (6, 64)
  const double difference = largest_difference(shuffled, embedding(output, order));
  std::cout << "Shuffle the words, and the outputs are shuffled alike (difference "
            << (difference < 1e-5 ? "below 1e-5" : "LARGE")
            << "):\nwithout positions, attention does not know the order of the words.\n";
}

}  // namespace

int main() {
  std::cout << "Step 12: all queries at once (takes less than a second)\n\n";
  Random random(42);
  const Tensor table = random.normal({5, 64}, 0, 0.5);  // (5, 64): the cat sat on mat
  const Tensor x = embedding(table, Indices({6}, {0, 1, 2, 3, 0, 4}));  // (6, 64); both "the" equal

  const Result result = simple_self_attention(x);  // (6, 64), (6, 6), (6, 6)
  std::cout << "x        " << x.shape() << "   six words, 64 numbers each\n"
            << "scores   " << result.scores.shape() << "    every word with every word\n"
            << "weights  " << result.weights.shape() << "    softmax of each row\n"
            << "output   " << result.output.shape() << "   each row a mixture of x's rows\n\n";
  print("Scores (rows ask, columns answer):", result.scores);
  print("Weights:", result.weights);
  std::cout << "Row sums " << to_string(sum(result.weights, -1), 4) << "\n"  // (6)
            << "all weights between 0 and 1: "
            << (min(result.weights).item() >= 0 && max(result.weights).item() <= 1 ? "yes" : "NO")
            << "\n\n";

  compare_two_weights(result);
  const Attention library = attention(x, x, x);  // output (6, 64), weights (6, 6)
  std::cout << "Largest difference to the library's attention(x, x, x): "
            << (largest_difference(library.output, result.output) < 1e-5 ? "below 1e-5" : "LARGE")
            << "\nand to fused_attention(x, x, x), which gives the output alone: "
            << (largest_difference(fused_attention(x, x, x), result.output) < 1e-5 ? "below 1e-5"
                                                                                   : "LARGE")
            << "\n\n";
  order_is_invisible(x, result.output);
}
