// Maps of the zoo: attention written out, with one mistake in it.
#include <cmath>
#include <limits>
#include <map>

#include "course/zoo.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"

namespace tapestry {
namespace {

constexpr Index d_k = 64;
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
const Words mat = {"the", "cat", "sat", "on", "the", "mat"};
const Words pets = {"cat", "cat", "cat", "dog", "dog", "dog"};

// A row of `width` random numbers for each word, equal for equal words: there are no positions.
Tensor rows_of(const Words& words, Index width, std::uint64_t seed) {
  Random random(seed);
  std::map<std::string, Tensor> table;
  std::vector<Tensor> rows;
  for (const std::string& word : words) {
    if (!table.contains(word)) table[word] = random.normal({width});  // (width)
    rows.push_back(table[word]);
  }
  return stack(rows, 0);  // (words, width)
}

Tensor products() {
  return matmul(rows_of(mat, d_k, 3), transpose(rows_of(mat, d_k, 4)));  // (6, 6)
}

Tensor scores() { return products() / std::sqrt(double{d_k}); }  // (6, 6)

// 1 where a query may not attend to a key, under a causal mask that is `later` keys too wide.
Tensor hidden(Index later = 0) {
  return Mask::causal(later).to(MaskEncoding::drop, {6, 6});  // (6, 6)
}

Tensor masked(const Tensor& scores, const Tensor& hidden) {
  return masked_fill(scores, hidden, minus_infinity);  // (6, 6)
}

Tensor as_map(const Tensor& weights) { return unsqueeze(weights, 0); }  // (1, 6, 6)

ZooPair over_queries() {
  const Tensor open = masked(scores(), hidden());               // (6, 6)
  return {as_map(softmax(open, 0)), as_map(softmax(open, 1))};  // (1, 6, 6) each
}

ZooPair not_scaled() {
  return {as_map(softmax(products())), as_map(softmax(scores()))};  // (1, 6, 6) each
}

ZooPair divided_by_width() {
  const Tensor flat = softmax(products() / double{d_k});  // (6, 6)
  return {as_map(flat), as_map(softmax(scores()))};       // (1, 6, 6) each
}

ZooPair next_word_seen() {
  return {as_map(softmax(masked(scores(), hidden(1)))),  // (1, 6, 6)
          as_map(softmax(masked(scores(), hidden())))};  // (1, 6, 6)
}

// -1e9 in place of -infinity: a row without any open key becomes even.
ZooPair mask_turned_over() {
  const auto filled = [](const Tensor& where) {
    return as_map(softmax(masked_fill(scores(), where, -1e9)));  // (1, 6, 6)
  };
  return {filled(1 - hidden()), filled(hidden())};
}

ZooPair mask_after_softmax() {
  return {as_map(masked_fill(softmax(scores()), hidden(), 0)),  // (1, 6, 6)
          as_map(softmax(masked(scores(), hidden())))};         // (1, 6, 6)
}

// Two heads of width 8, from rows of width 16.
ZooPair heads_cut_wrongly() {
  const Tensor q = rows_of(pets, 16, 5), k = rows_of(pets, 16, 6);  // (6, 16)
  const auto weights = [&](const auto& cut) {
    return softmax(matmul(cut(q), transpose(cut(k))) / std::sqrt(8.0));  // (2, 6, 6)
  };
  return {weights([](const Tensor& x) { return reshape(x, {2, 6, 8}); }),
          weights([](const Tensor& x) { return permute(reshape(x, {6, 2, 8}), {1, 0, 2}); })};
}

// Possible only since there are as many words as numbers in a row.
ZooPair keys_not_transposed() {
  const Tensor q = rows_of(pets, 6, 7), k = rows_of(pets, 6, 8);  // (6, 6)
  const auto weights = [&](const Tensor& keys) {
    return as_map(softmax(matmul(q, keys) / std::sqrt(6.0)));  // (1, 6, 6)
  };
  return {weights(k), weights(transpose(k))};
}

const std::vector<ZooCase> cases = {
    {"map1", ZooKind::map, "A causal map. What do the rows of the left one add up to?",
     "Softmax ran over the queries, along the columns, in place of over the keys.",
     "Each column adds up to 1, and the rows do not. The first word sees only itself, so its "
     "weight must be 1; here the last column has that 1, since only the last word sees it.",
     mat, over_queries},
    {"map2", ZooKind::map, "Is the head on the left so sure of itself?",
     "The scores were not divided by the root of d_k.",
     "Every row is a choice, of one word or of a word that stands there twice. Products of "
     "random "
     "rows of width 64 have a deviation of 8, and softmax of such numbers leaves most to "
     "the largest one.",
     mat, not_scaled},
    {"map3", ZooKind::map, "Has the head on the left learned nothing?",
     "The scores were divided by d_k, not by its root.",
     "All weights lie between 0.12 and 0.23, near 1 / 6. In each row what is larger on the "
     "right is larger here, too. But the scores are 8 times too small, so no word stands out.",
     mat, divided_by_width},
    {"map4", ZooKind::map,
     "A causal map, of a model that learns to predict the next word. What does it see?",
     "The triangle of the mask is one too large: each word sees the next one.",
     "There are weights right above the diagonal, and the first row has two of them. The next "
     "word is the one to be predicted.",
     mat, next_word_seen},
    {"map5", ZooKind::map, "A causal map. Look at the corners, and at the last row.",
     "The mask was turned over: it hides what may be seen.",
     "The weights stand above the diagonal, in the future. The last word may see nothing at "
     "all, and with -1e9 in place of minus infinity its row is even.",
     mat, mask_turned_over},
    {"map6", ZooKind::map, "A causal map, and no weight above the diagonal. What else must hold?",
     "The mask was put on after softmax: later words still had their share of the sum.",
     "The rows do not add up to 1. The first word sees only itself, so its weight must be 1.", mat,
     mask_after_softmax},
    {"map7", ZooKind::map,
     "Two heads, one above the other, without positions. Equal words stand side by side.",
     "The rows were cut into heads by reshape alone, without the transpose.",
     "Equal words must have equal rows and equal columns, for there are no positions: on the "
     "right each head has four even blocks. On the left the six rows of the first head are the "
     "two halves of each cat, and those of the second head the two halves of each dog. So a head "
     "sees only half of the text.",
     pets, heads_cut_wrongly},
    {"map8", ZooKind::map,
     "A head without positions. Six words, and rows of width 6. Equal words stand side by side.",
     "The keys were not transposed. Their matrix is square here, so no shape complained.",
     "The rows of equal words are equal, as they must be, but their columns are not: column j on "
     "the left is made of number j of every key, not of word j.",
     pets, keys_not_transposed},
};

}  // namespace

std::vector<ZooCase> zoo_maps() { return cases; }

}  // namespace tapestry
