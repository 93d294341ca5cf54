// Step 81. Why does a sum depend on how many ranks made it, and how does one fixed tree end that?
//
// New here: sums of floats are not associative, so that the order of additions shows in the bits.
// The gradients of a small GPT, of 24 micro-batches, are added in the order that a ring of 1 to 8
// ranks has, in float and in double; then in one binary tree, written out and by the library.
// Writes no picture; takes about a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "course/grammar.hpp"
#include "course/parameter_rows.hpp"
#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index micro_batches = 24;  // of 2, 3, 4, 6 and 8 ranks each has as many

// The gradients of each micro-batch, of a GPT that has learned nothing yet.
std::vector<Row> draw_gradients(std::uint64_t seed) {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  Random random(seed);
  const Transformer model(
      {.vocab_size = vocabulary.size(), .max_length = 8, .d_model = 32, .num_heads = 4}, random);
  std::vector<Row> rows;
  for (Index i = 0; i < micro_batches; ++i) {
    const Batch batch = grammar.batch(vocabulary, 4, random);
    Tape tape(model.parameters());
    const Tensor loss = cross_entropy(model(batch.inputs), batch.targets);  // ()
    rows.push_back(row_of(tape.backward(loss)));
  }
  return rows;
}

// Element by element, rows [first, last) from left to right.
template <class Number>
std::vector<Number> in_order(const std::vector<Row>& rows, std::size_t first, std::size_t last) {
  std::vector<Number> sum(rows[0].size(), Number(0));
  for (std::size_t k = first; k < last; ++k) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<Number>(rows[k][i]);
  }
  return sum;
}

// Each rank adds its own rows.
template <class Number>
std::vector<std::vector<Number>> sums_of_ranks(const std::vector<Row>& rows, std::size_t ranks) {
  const std::size_t share = rows.size() / ranks;
  std::vector<std::vector<Number>> sums;
  for (std::size_t r = 0; r < ranks; ++r) {
    sums.push_back(in_order<Number>(rows, r * share, (r + 1) * share));
  }
  return sums;
}

// As a ring does (step 80): chunk c of the vector starts at rank c and collects one rank's numbers
// after the other.
template <class Number>
Row ring_order(const std::vector<Row>& rows, std::size_t ranks) {
  const std::vector<std::vector<Number>> parts = sums_of_ranks<Number>(rows, ranks);
  const std::size_t size = rows[0].size();
  Row sum(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t chunk = i * ranks / size;
    Number total = parts[chunk][i];
    for (std::size_t s = 1; s < ranks; ++s) total += parts[(chunk + s) % ranks][i];
    sum[i] = static_cast<real>(total);
  }
  return sum;
}

// The sum at a node of the one binary tree over all micro-batches: the same additions, whoever
// makes them.
Row tree_sum(const std::vector<Row>& rows, std::size_t first, std::size_t last) {
  if (last - first == 1) return rows[first];
  std::size_t half = 1;  // the largest power of two below last - first
  while (2 * half < last - first) half *= 2;
  Row sum = tree_sum(rows, first, first + half);
  const Row right = tree_sum(rows, first + half, last);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

// With ranks: each makes the nodes that lie within its share, by the library's functions; then one
// of them makes the rest of the tree from these.
Row tree_by_ranks(const std::vector<Row>& rows, int ranks) {
  const Index size = static_cast<Index>(rows[0].size());
  std::vector<Row> sums = rows;
  std::vector<TreePart> of_all;
  for (int r = 0; r < ranks; ++r) {
    for (const TreeNode& node : whole_nodes(micro_batches, share_of(micro_batches, ranks, r))) {
      std::vector<TreePart> own;
      for (Index k = node.first; k < node.last; ++k) {
        own.push_back({{k, k + 1}, sums[static_cast<std::size_t>(k)].data()});
      }
      of_all.push_back({node, add_up(node, own, size)});
    }
  }
  const real* const sum = add_up({0, micro_batches}, of_all, size);
  return {sum, sum + size};
}

// Each rank its own rows from left to right, and only then a tree, over ranks.
Row tree_over_ranks(const std::vector<Row>& rows, std::size_t ranks) {
  return tree_sum(sums_of_ranks<real>(rows, ranks), 0, ranks);
}

void three_numbers() {
  const float large = 16777216, one = 1;  // 2^24: the next float above it is 2^24 + 2
  std::printf("1. (16777216 + 1) + 1 = %.0f, and 16777216 + (1 + 1) = %.0f\n",
              double((large + one) + one), double(large + (one + one)));
  const double more = 9007199254740992;  // 2^53: the same for double
  std::printf("   in double: (9007199254740992 + 1) + 1 = %.0f, and with (1 + 1) %.0f\n\n",
              (more + 1) + 1, more + (1 + 1.0));
}

using Sum = std::function<Row(const std::vector<Row>&, int ranks)>;
const struct {
  const char* name;
  Sum sum;
} ways[] = {
    {"ring", [](const auto& rows, int r) { return ring_order<real>(rows, std::size_t(r)); }},
    {"ring in double",
     [](const auto& rows, int r) { return ring_order<double>(rows, std::size_t(r)); }},
    {"a tree over ranks",
     [](const auto& rows, int r) { return tree_over_ranks(rows, std::size_t(r)); }},
    {"one tree", [](const auto& rows, int r) { return tree_by_ranks(rows, r); }}};

void compare(const std::vector<Row>& rows) {
  const double count = double(rows[0].size());
  std::printf(
      "2. %.0f gradients, the sums over 24 micro-batches: how many differ from 1 rank's, %%\n",
      count);
  std::printf("ranks                  2       3       4       6       8   largest difference\n");
  for (const auto& way : ways) {
    std::printf("%-18s", way.name);
    const Row alone = way.sum(rows, 1);
    double most = 0;
    for (const int ranks : {2, 3, 4, 6, 8}) {
      const Row sum = way.sum(rows, ranks);
      most = std::max(most, largest_relative(sum, alone));
      std::printf(" %7.2f", 100 * double(different(sum, alone)) / count);
    }
    std::printf("   %s\n", most == 0 ? "0" : most < 1e-6 ? "below 1e-6 of the largest" : "MORE");
  }
}

// Ranks that do not divide the number of micro-batches, and other seeds.
void try_to_break_it() {
  std::size_t runs = 0, equal = 0, ring_equal = 0, double_equal = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::vector<Row> rows = draw_gradients(seed);
    const Row truth = tree_sum(rows, 0, rows.size());
    for (int ranks = 1; ranks <= micro_batches; ++ranks) {
      ++runs, equal += tree_by_ranks(rows, ranks) == truth;
    }
    ring_equal += ring_order<real>(rows, 2) == ring_order<real>(rows, 4);
    double_equal += ring_order<double>(rows, 2) == ring_order<double>(rows, 4);
  }
  std::printf(
      "\n3. Ten seeds, 1 to 24 ranks: the bits of the tree written out here in %zu of %zu runs\n",
      equal, runs);
  std::printf(
      "   ring of 2 ranks and of 4: the same bits in float with %zu seeds of 10, in double %zu\n",
      ring_equal, double_equal);
}

// Which order is the more exact one? Against sums in double.
void errors(const std::vector<Row>& rows) {
  const std::vector<double> truth = in_order<double>(rows, 0, rows.size());
  const auto error = [&](const Row& sum) {
    double squares = 0, size = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      squares += (sum[i] - truth[i]) * (sum[i] - truth[i]), size += truth[i] * truth[i];
    }
    return std::sqrt(squares / size) / std::ldexp(1.0, -24);
  };
  std::printf(
      "\n4. Rounding errors (root mean square, in units of 2^-24 of the root mean square)\n");
  std::printf("from left to right %5.2f\n", error(ring_order<real>(rows, 1)));
  std::printf("ring of 8 ranks    %5.2f\n", error(ring_order<real>(rows, 8)));
  std::printf("one tree           %5.2f\n", error(tree_sum(rows, 0, rows.size())));
}

}  // namespace

int main() try {
  std::printf("Step 81: the order of a sum (takes about a second)\n\n");
  three_numbers();
  const std::vector<Row> rows = draw_gradients(1);
  compare(rows);
  try_to_break_it();
  errors(rows);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
