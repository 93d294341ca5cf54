#include <algorithm>
#include <cmath>
#include <vector>

#include "course/exercise.hpp"
#include "phase8.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::merge_tiles) merge_tiles;
}

namespace {

using Merge = std::function<decltype(learn::merge_tiles)>;

// Of the keys that a query sees: it sees none where `seen` is 0.
KeySums sums_of(const Tensor& scores, const Tensor& seen, const Tensor& values) {
  const Tensor open = unsqueeze(seen, 1) + scores * 0;          // (rows, keys)
  const Tensor top = max(scores, -1);                           // (rows)
  const Tensor terms = exp(scores - unsqueeze(top, 1)) * open;  // (rows, keys)
  return {where(seen, top, -INFINITY), sum(terms, -1), matmul(terms, values)};
}

Attempt merged(const Merge& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const KeySums all = f(sums_of(in[0].value, in[1].value, in[2].value),
                          sums_of(in[3].value, in[4].value, in[5].value));
    return {{"top (-infinity as -9)", maximum(all.top, -9)},
            {"total", all.total},
            {"mixed", all.mixed}};
  };
}

enum Kind {
  right,
  as_they_are,
  total_only,
  mixed_only,
  upside_down,
  only_a,
  top_of_b,
  averaged,
  nan
};

// The corrections of one row.
struct Factors {
  double top, total_a, total_b, mixed_a, mixed_b;
};

Factors factors_of(Kind kind, double a, double b) {
  const double top = kind == top_of_b ? b : std::max(a, b);
  if (std::max(a, b) == -INFINITY && kind != nan) return {-INFINITY, 0, 0, 0, 0};
  double of_a = a == top ? 1 : std::exp(a - top), of_b = b == top ? 1 : std::exp(b - top);
  if (kind == nan) of_a = std::exp(a - top), of_b = std::exp(b - top);
  if (kind == top_of_b && b == -INFINITY) of_a = INFINITY;
  if (kind == upside_down) of_a = 1 / std::max(of_a, 1e-30), of_b = 1 / std::max(of_b, 1e-30);
  if (kind == as_they_are) of_a = of_b = 1;
  if (kind == only_a) of_b = 1;
  Factors f{top, of_a, of_b, of_a, of_b};
  if (kind == total_only) f.mixed_a = f.mixed_b = 1;
  if (kind == mixed_only) f.total_a = f.total_b = 1;
  if (kind == averaged) f.mixed_a /= 2, f.mixed_b /= 2;
  return f;
}

Merge by_numbers(Kind kind) {
  return [=](const KeySums& a, const KeySums& b) {
    KeySums all{a.top + 0, a.total + 0, a.mixed + 0};  // (rows) twice, (rows, d_v)
    for (Index i = 0; i < a.top.size(0); ++i) {
      const Factors f = factors_of(kind, double{a.top.at({i})}, double{b.top.at({i})});
      all.top.set({i}, f.top);
      all.total.set({i}, f.total_a * double{a.total.at({i})} + f.total_b * double{b.total.at({i})});
      for (Index c = 0; c < a.mixed.size(1); ++c) {
        all.mixed.set({i, c}, f.mixed_a * double{a.mixed.at({i, c})} +
                                  f.mixed_b * double{b.mixed.at({i, c})});
      }
    }
    return all;
  };
}

// All rows at once.
Merge by_tensors(Kind kind) {
  return [=](const KeySums& a, const KeySums& b) -> KeySums {
    std::vector<real> columns[5];
    for (Index i = 0; i < a.top.size(0); ++i) {
      const Factors f = factors_of(kind, double{a.top.at({i})}, double{b.top.at({i})});
      const double all[] = {f.top, f.total_a, f.total_b, f.mixed_a, f.mixed_b};
      for (int k = 0; k < 5; ++k) columns[k].push_back(real(all[k]));
    }
    const auto column = [&](int k) { return Tensor(a.top.shape(), columns[k]); };  // (rows)
    return {column(0), column(1) * a.total + column(2) * b.total,
            unsqueeze(column(3), 1) * a.mixed + unsqueeze(column(4), 1) * b.mixed};
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, merged(by_numbers(kind)), merged(by_tensors(kind))};
}

// Scores of both signs; from size 2 on, one query sees no key of either tile.
NamedTensors inputs(Random& random, Index size) {
  const Index rows = size < 2 ? 2 : size + 1, width = size < 2 ? 1 : 2;
  Tensor none = Tensor::ones({rows});  // (rows)
  if (size > 1) none.set({rows - 1}, 0);
  const Tensor sign = Tensor::arange(rows) * 2 - double(rows - 1);  // (rows)
  const auto scores = [&](double by) {
    return random.normal({rows, 2}, 0, 0.3) + unsqueeze(sign, 1) * by;  // (rows, 2)
  };
  const Tensor first = scores(0.6), second = scores(-0.5);  // (rows, 2) each
  return {
      {"scores of a", first},  {"sees a", none},     {"values of a", random.normal({2, width}, 2)},
      {"scores of b", second}, {"sees b", none + 0}, {"values of b", random.normal({2, width}, 2)}};
}

const std::vector<KnownMistake> mistakes = {
    known(as_they_are, "added as they are",
          "The totals and mixtures were added without a correction. Each belongs to its own top; "
          "both have to be brought to the larger one."),
    known(
        total_only, "the mixture is not corrected",
        "total is multiplied by exp(top_a - top), mixed is not: then mixed / total is no weighted "
        "mean any more."),
    known(mixed_only, "the total is not corrected",
          "mixed is multiplied by exp(top_a - top), total is not: the weights do not sum to 1."),
    known(upside_down, "corrected the wrong way",
          "The correction is exp(top - top_a), above 1. The terms of the tile with the smaller top "
          "have to shrink: exp(top_a - top)."),
    known(only_a, "only one tile is corrected",
          "Tile b was added as it is. Where the top of a is the larger one, b's terms have to "
          "shrink."),
    known(top_of_b, "the later top instead of the larger",
          "The top of b was taken, even where that of a is larger. The quotient is the same, but "
          "exp(top_a - top) can overflow: that is what the maximum is for."),
    known(averaged, "the mixture halved",
          "The mixtures were averaged. They are sums over different keys, and are added."),
    known(nan, "no key in either tile",
          "Where a query saw no key at all, top - top is -infinity + infinity, which is NaN. Then "
          "top stays -infinity, and total and mixed are 0.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = merged(learn::merge_tiles),
       .right = {merged(solution::merge_tiles), merged(by_numbers(right)),
                 merged(by_tensors(right))},
       .mistakes = mistakes,
       .hints = {"Row by row: the larger of both tops first, then one factor for a and one "
                 "for b, used for total and for each number of mixed.",
                 "of_a = std::exp(top_a - top), of_b = std::exp(top_b - top). One of them is "
                 "1. Test top == -INFINITY first.",
                 "if (top == -INFINITY) continue, with a result that was -infinity, 0 and 0 "
                 "from the start; else total = of_a total_a + of_b total_b, mixed alike."}},
      count, arguments);
}
