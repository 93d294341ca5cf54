#include <limits>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::causal_mask) causal_mask;
}

namespace {

Attempt made(std::function<decltype(learn::causal_mask)> make) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"mask", make(whole(in.at(0)), whole(in.at(1)), whole(in.at(2)))}};
  };
}

// Number by number; `spare` is how many more keys there are than queries.
Attempt by_loops(double (*cell)(Index i, Index j, Index offset, Index spare)) {
  return made([=](Index queries, Index keys, Index offset) {
    Tensor mask = Tensor::zeros({queries, keys});  // (queries, keys)
    for (Index j = 0; j < keys; ++j) {
      for (Index i = 0; i < queries; ++i) mask.set({i, j}, cell(i, j, offset, keys - queries));
    }
    return mask;
  });
}

// The same of columns and rows of numbers: i (queries, 1), j (keys).
Attempt by_ranges(Tensor (*mask)(const Tensor& i, const Tensor& j, double offset, double spare)) {
  return made([=](Index queries, Index keys, Index offset) {
    return mask(unsqueeze(Tensor::arange(queries), 1), Tensor::arange(keys), double(offset),
                double(keys - queries));
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index queries = size + 1 + random.randint(2);
  const Index offset = size == 1 ? 0 : size + random.randint(2), spare = size == 1 ? 0 : 2;
  return {{"queries", double(queries)},
          {"keys", double(offset + queries + spare)},
          {"offset", double(offset)}};
}

constexpr double infinity = std::numeric_limits<double>::infinity();

const std::vector<KnownMistake> mistakes = {
    {"polarity flipped",
     "The 1s stand where attention is forbidden. Here 1 means: may attend. With this mask every "
     "word sees only the future, and the last one nothing.",
     by_loops([](Index i, Index j, Index o, Index) { return j > o + i ? 1. : 0.; }),
     by_ranges([](const Tensor& i, const Tensor& j, double o, double) { return i + o < j; })},
    {"own word hidden",
     "The triangle is one too small: a word may attend to itself, too. Here the first word of a "
     "text sees nothing at all.",
     by_loops([](Index i, Index j, Index o, Index) { return j < o + i ? 1. : 0.; }),
     by_ranges([](const Tensor& i, const Tensor& j, double o, double) { return i + o > j; })},
    {"next word seen",
     "The triangle is one too large: each word sees the next one. That is the word to be "
     "guessed, so a model learns to copy it.",
     by_loops([](Index i, Index j, Index o, Index) { return j <= o + i + 1 ? 1. : 0.; }),
     by_ranges([](const Tensor& i, const Tensor& j, double o, double) { return i + o >= j - 1; })},
    {"triangle on the wrong side",
     "The triangle lies above the diagonal: rows and columns have changed places. Rows are "
     "queries, columns are keys.",
     by_loops([](Index i, Index j, Index o, Index) { return j >= o + i ? 1. : 0.; }),
     by_ranges([](const Tensor& i, const Tensor& j, double o, double) { return i + o <= j; })},
    {"offset forgotten",
     "The mask is right for offset 0 only. With words in a cache, query 0 is not the first word, "
     "and this mask hides from it most of what was read before.",
     by_loops([](Index i, Index j, Index, Index) { return j <= i ? 1. : 0.; }),
     by_ranges([](const Tensor& i, const Tensor& j, double, double) { return i >= j; })},
    {"offset subtracted",
     "The offset has the wrong sign. It moves the queries to the right: query i stands at "
     "offset + i.",
     by_loops([](Index i, Index j, Index o, Index) { return j <= i - o ? 1. : 0.; }),
     by_ranges([](const Tensor& i, const Tensor& j, double o, double) { return i >= j + o; })},
    {"offset taken from the sizes",
     "The position was computed as keys - queries + i. This puts the last query at the last key, "
     "but there can be keys behind it, for example padding: use the offset.",
     by_loops([](Index i, Index j, Index, Index spare) { return j <= i + spare ? 1. : 0.; }),
     by_ranges([](const Tensor& i, const Tensor& j, double, double s) { return i + s >= j; })},
    {"numbers to be added",
     "This is a mask to be added to the scores: 0 and -inf. It has the same meaning, but asked "
     "for was 1 for may attend, 0 for may not.",
     by_loops([](Index i, Index j, Index o, Index) { return j <= o + i ? 0. : -infinity; }),
     by_ranges([](const Tensor& i, const Tensor& j, double o, double) {
       return where(i + o >= j, 0., -infinity);
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = made(learn::causal_mask),
       .right = {made(solution::causal_mask), made([](Index queries, Index keys, Index offset) {
                   return Mask::causal(offset).tensor({queries, keys});
                 }),
                 by_ranges([](const Tensor& i, const Tensor& j, double o, double) {
                   return i + o >= j;
                 })},
       .mistakes = mistakes,
       .hints = {"Two loops: one over the queries i, in it one over the keys j.",
                 "The position of query i is offset + i. Compare j with it.",
                 "if (j <= offset + i) mask.set({i, j}, 1);"}},
      count, arguments);
}
