#include <algorithm>

#include "course/exercise.hpp"
#include "phase5.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::stays_beyond) stays_beyond;
}

namespace {

using Crossing = std::function<decltype(learn::stays_beyond)>;

Attempt both(const Crossing& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const double part = double{in[2].value.item()};
    return {{"of the rising curve", double(f(in[0].value, part))},
            {"of the falling curve", double(f(in[1].value, part))}};
  };
}

enum Kind { right, first_time, one_early, from_zero, furthest, rising_only, falling_only };

// Forwards: begins anew after each value that is not beyond.
Crossing forwards(Kind kind) {
  return [=](const Tensor& curve, double part) {
    const std::vector<real> y = curve.values();
    const bool up = kind == rising_only || (kind != falling_only && y.back() > y.front());
    double end = y.back(), begin = kind == from_zero ? 0 : y.front();
    if (kind == furthest && up) end = *std::max_element(y.begin(), y.end());
    if (kind == furthest && !up) end = *std::min_element(y.begin(), y.end());
    const double mark = begin + part * (end - begin);
    Index from = 0;
    for (Index i = 0; i < Index(y.size()); ++i) {
      const double value = y[std::size_t(i)];
      const bool is_beyond = up ? value >= mark : value <= mark;
      if (is_beyond && kind == first_time) return i;
      if (!is_beyond) from = i + 1;
    }
    return from - (kind == one_early);
  };
}

// By the last place where the curve is short of the mark, which tensors find: falling curves are
// turned over first.
Crossing by_tensors(Kind kind) {
  return [=](const Tensor& curve, double part) {
    const Index n = curve.size(0);
    const double sign = curve.at({n - 1}) < curve.at({0}) ? -1 : 1;
    const Tensor y = curve * sign;  // (n): rises
    const double first = kind == from_zero ? 0 : double{y.at({0})};
    const double last = double{kind == furthest ? max(y).item() : y.at({n - 1})};
    const double mark = first + part * (last - first);
    Tensor short_of = y < mark;  // (n)
    if ((kind == rising_only && sign < 0) || (kind == falling_only && sign > 0)) {
      short_of = y > mark;
    }
    if (kind == first_time) return Index{argmin(short_of).values[0]};
    const Index from = Index(max(short_of * (Tensor::arange(n) + 1)).item());
    return from - (kind == one_early);
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, both(forwards(kind)), both(by_tensors(kind))};
}

// How much of the way a curve has made at each step (n): it is beyond the part for a moment, falls
// back, stays beyond it from some step on, and overshoots before its end.
Tensor way(Random& random, Index size, double part) {
  const Index wait = 1 + random.randint(size), high = size + random.randint(2);
  const double of_last = (2 * part + 1) / 3, of_furthest = 1.8 * part;
  std::vector<real> y = {0, real(part + 0.2)};
  for (Index i = 0; i < wait; ++i) y.push_back(real((part - 0.1) * random.uniform()));
  y.push_back(real(part + 0.05));
  y.push_back(real((of_last + of_furthest) / 2));
  for (Index i = 0; i < high; ++i) y.push_back(real(i == high / 2 ? 1.8 : 0.95 + random.uniform()));
  y.push_back(1);
  for (real& one : y) one = std::min(one, real(1.8));
  return Tensor({Index(y.size())}, y);  // (n)
}

// The curves begin on one side of 0 and end on the other.
NamedTensors inputs(Random& random, Index size) {
  const double part = 0.4 + 0.1 * random.uniform(), scale = 1 + random.uniform();
  return {{"rising", (way(random, size, part) * 3 - 1) * scale},
          {"falling", (1 - way(random, size, part) * 3) * scale},
          {"part", part}};
}

const std::vector<KnownMistake> mistakes = {
    known(first_time, "the first crossing",
          "This is where the curve crosses the mark for the first time. It falls back later: one "
          "lucky batch is no crossing. From the step that is asked for, it stays."),
    known(one_early, "one step early",
          "This is the last value that is not beyond the mark. The one after it is asked for."),
    known(from_zero, "the first value forgotten",
          "The mark is part times the last value, as if the curve began at 0. A part of the way "
          "is counted from where the curve began."),
    known(furthest, "the way to the furthest value",
          "The way was measured to the greatest value (or the least one, of a falling curve). It "
          "ends at the last value: curves overshoot."),
    known(rising_only, "falling curves read as rising",
          "The rising curve is right. In a falling one, such as a loss, values are beyond the mark "
          "when they are at or below it."),
    known(falling_only, "rising curves read as falling",
          "The falling curve is right. In a rising one, such as a score, values are beyond the "
          "mark when they are at or above it.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = both(learn::stays_beyond),
       .right = {both(solution::stays_beyond), both(forwards(right)), both(by_tensors(right))},
       .mistakes = mistakes,
       .hints = {"Begin at the end: the last value is beyond the mark. Walk back as long "
                 "as the values are.",
                 "Whether a value is beyond: last > first ? value >= mark : value <= "
                 "mark.",
                 "Index i = n; while (i > 0 and value i - 1 is beyond) --i; return i;"}},
      count, arguments);
}
