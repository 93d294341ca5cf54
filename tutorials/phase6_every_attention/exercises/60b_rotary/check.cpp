#include <cmath>

#include "course/exercise.hpp"
#include "phase6.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::rotated) rotated;
decltype(learn::rotary_scores) rotary_scores;
}  // namespace solution

namespace {

using Rotation = std::function<decltype(learn::rotated)>;
using Scores = std::function<decltype(learn::rotary_scores)>;

Attempt both(const Rotation& rotation, const Scores& scores) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor &q = in[0].value, &k = in[1].value;  // (queries, d), (keys, d)
    const auto first = Index(in[2].value.item());
    return {{"rotated queries", rotation(q, first)}, {"scores", scores(q, k, first)}};
  };
}

enum Kind {
  right,
  halves,
  backwards,
  half_power,
  overwritten,
  no_first,
  all_first,
  queries_only,
  whole_division
};

double power(Kind kind, Index pair, Index d) {
  if (kind == whole_division) return 0;
  return double(kind == half_power ? pair : 2 * pair) / double(d);
}

Tensor by_numbers(Kind kind, const Tensor& x, Index first) {
  Tensor y = x.clone();  // (length, d)
  const Index d = x.size(1);
  for (Index row = 0; row < x.size(0); ++row) {
    for (Index i = 0; i < d / 2; ++i) {
      const Index one = kind == halves ? i : 2 * i, other = kind == halves ? i + d / 2 : one + 1;
      double t = double(row + (kind == no_first ? 0 : first)) / std::pow(1e4, power(kind, i, d));
      if (kind == backwards) t = -t;
      const double a = double{y.at({row, one})}, b = double{y.at({row, other})};
      y.set({row, one}, a * std::cos(t) - b * std::sin(t));
      const double now = kind == overwritten ? double{y.at({row, one})} : a;
      y.set({row, other}, now * std::sin(t) + b * std::cos(t));
    }
  }
  return y;
}

// All points at once: a and b (length, d / 2).
Tensor by_tensors(Kind kind, const Tensor& x, Index first) {
  const Index n = x.size(0), d = x.size(1);
  const Tensor m = unsqueeze(Tensor::arange(n) + double(kind == no_first ? 0 : first), 1);
  Tensor speed = Tensor::zeros({d / 2});  // (d / 2)
  for (Index i = 0; i < d / 2; ++i) speed.set({i}, std::pow(1e4, -power(kind, i, d)));
  const Tensor t = m * speed * (kind == backwards ? -1.0 : 1.0);                   // (n, d / 2)
  const Tensor a = kind == halves ? slice(x, 1, 0, d / 2) : slice(x, 1, 0, d, 2);  // as t
  const Tensor b = kind == halves ? slice(x, 1, d / 2, d) : slice(x, 1, 1, d, 2);  // as t
  const Tensor now = a * cos(t) - b * sin(t);                                      // as t
  const Tensor then = (kind == overwritten ? now : a) * sin(t) + b * cos(t);       // as t
  if (kind == halves) return concat({now, then}, 1);
  return reshape(stack({now, then}, 2), {n, d});
}

template <class F>
Attempt with(F rotation, Kind kind) {
  return both([=](const Tensor& x, Index first) { return rotation(kind, x, first); },
              [=](const Tensor& q, const Tensor& k, Index first) {
                const Tensor keys =
                    kind == queries_only ? k : rotation(kind, k, kind == all_first ? first : 0);
                return matmul(rotation(kind, q, first), transpose(keys));  // (queries, keys)
              });
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, with(by_numbers, kind), with(by_tensors, kind)};
}

NamedTensors inputs(Random& random, Index size) {
  const Index d = size == 1 ? 2 : 4 + 2 * random.randint(2), n = size + random.randint(2);
  return {{"q", random.normal({n, d})},
          {"k", random.normal({size + 1, d})},
          {"first", double(1 + random.randint(3))}};
}

const std::vector<KnownMistake> mistakes = {
    known(halves, "the half-split layout",
          "Column i is paired with column i + d / 2, as some programs do; here 2i and "
          "2i + 1 are a pair. W_Q and W_K that were learned with one layout give wrong "
          "scores in the other, and no error tells you."),
    known(backwards, "rotated backwards",
          "The rotation has the wrong sign: the sines belong as -b sin t in the first "
          "number and +a sin t in the second. Scores still depend on the distance alone, "
          "but earlier and later keys are exchanged."),
    known(half_power, "half the power",
          "The power is i / d with i the number of the pair; it has to be 2i / d, from 0 "
          "almost to 1. All pairs but the first rotate too fast."),
    known(whole_division, "a power of 0",
          "All pairs are rotated by the angle m: the power 2i / d was 0, for a division of whole "
          "numbers drops what is behind the point. Write double(2 * i) / double(d)."),
    known(overwritten, "overwritten too early",
          "The second number is made of the first one's new value. Both need the old a and "
          "b: this is no rotation, and the row's length changes."),
    known(no_first, "the first position forgotten",
          "Each call counts its rows from 0; they begin at `first`. With cached keys every "
          "new word would be told that it is the first of the text."),
    known(all_first, "the keys moved, too",
          "rotated() is right, but in the scores the keys begin at `first`, too; they "
          "begin at 0. All distances are wrong by `first`."),
    known(queries_only, "keys not rotated",
          "rotated() is right, but in the scores only the queries are rotated. Then the "
          "score depends on where the query stands, not on its distance to the key.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = both(learn::rotated, learn::rotary_scores),
       .right = {both(solution::rotated, solution::rotary_scores), with(by_numbers, right),
                 with(by_tensors, right)},
       .mistakes = mistakes,
       .hints = {"In rotated(), two loops: over rows, in it over columns 0, 2, 4, ... Read both "
                 "numbers a and b of the pair before you write either.",
                 "The angle is double(first + row) / std::pow(10000, double(column) / double(d)).",
                 "rotary_scores: matmul(rotated(q, first), transpose(rotated(k, 0)))."}},
      count, arguments);
}
