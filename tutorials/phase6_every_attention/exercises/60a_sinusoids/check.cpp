#include <cmath>

#include "course/exercise.hpp"
#include "phase6.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::sinusoids) sinusoids;
}

namespace {

using Rows = std::function<decltype(learn::sinusoids)>;

Attempt rows(const Rows& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"positions", f(Index(in[0].value.item()), Index(in[1].value.item()))}};
  };
}

enum Kind { right, halves, by_column, whole_width, from_one, swapped, whole_division };

// The pair that a column belongs to, and whether it is a cosine.
std::pair<Index, bool> place(Kind kind, Index column, Index width) {
  const Index sines = (width + 1) / 2;
  if (kind == halves) return {column % sines, column >= sines};
  return {column / 2, (column % 2 == 1) != (kind == swapped)};
}

Rows by_numbers(Kind kind) {
  return [=](Index length, Index width) {
    Tensor result = Tensor::zeros({length, width});  // (length, width)
    for (Index column = 0; column < width; ++column) {
      const auto [pair, is_cosine] = place(kind, column, width);
      double power = double(2 * pair) / double(width);
      if (kind == by_column) power = double(column) / double(width);
      if (kind == whole_width) power /= 2;
      if (kind == whole_division) power = 0;
      for (Index m = 0; m < length; ++m) {
        const double angle = double(m + (kind == from_one)) / std::pow(10000, power);
        result.set({m, column}, is_cosine ? std::cos(angle) : std::sin(angle));
      }
    }
    return result;
  };
}

// All angles at once; the frequency is an exponential, as in much printed code.
Rows by_tensors(Kind kind) {
  return [=](Index length, Index width) {
    const Index pairs = (width + 1) / 2;
    double step = 2 / double(width);
    if (kind == whole_width) step /= 2;
    if (kind == whole_division) step = 0;
    const Tensor m =
        unsqueeze(Tensor::arange(length) + double(kind == from_one), 1);  // (length, 1)
    const Tensor at = Tensor::arange(pairs) * step;                       // (pairs)
    const double later = kind == by_column ? 1 / double(width) : 0;
    const Tensor s = sin(m * exp(-std::log(1e4) * at));            // (length, pairs)
    const Tensor c = cos(m * exp(-std::log(1e4) * (at + later)));  // (length, pairs)
    Tensor all = concat(kind == swapped ? std::vector{c, s} : std::vector{s, c}, 1);
    if (kind != halves) {
      all = reshape(transpose(reshape(all, {length, 2, pairs})), {length, 2 * pairs});
    }
    return slice(all, 1, 0, width).clone();  // (length, width)
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, rows(by_numbers(kind)), rows(by_tensors(kind))};
}

NamedTensors inputs(Random& random, Index size) {
  return {{"length", double(size + 1 + random.randint(2))},
          {"width", double(2 * size + 1 + random.randint(2))}};
}

const std::vector<KnownMistake> mistakes = {
    known(halves, "sines first, then cosines",
          "All sines stand in the first half and all cosines in the second. The numbers "
          "are right, the columns are not: a model that learned with one order cannot "
          "read the other."),
    known(by_column, "an angle for each column",
          "The power counts columns, so that a cosine has another angle than the sine "
          "beside it. The two are then no point on a circle, and no rotation leads from a "
          "position to the next."),
    known(whole_width, "half the power",
          "The power is i / width; it has to be 2i / width. The waves of the last "
          "pairs are then about 100 times as long as those of the first, not 10000 times."),
    known(from_one, "counted from 1",
          "The first row is that of m = 1. Position 0 has sines 0 and cosines 1."),
    known(swapped, "sine and cosine exchanged",
          "The cosine comes first in each pair; the sine has to."),
    known(whole_division, "a power of 0",
          "All pairs have the same angle m. So 2i / width was 0: a division of whole "
          "numbers drops what is behind the point.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = rows(learn::sinusoids),
       .right = {rows(solution::sinusoids), rows(by_numbers(right)), rows(by_tensors(right))},
       .mistakes = mistakes,
       .hints = {"Two loops: one over positions m, in it one over columns. The pair of a column is "
                 "column / 2, as whole numbers.",
                 "angle = m / std::pow(10000, double(2 * pair) / double(width)): the same for both "
                 "columns of a pair.",
                 "result.set({m, column}, column % 2 == 0 ? std::sin(angle) : std::cos(angle));"}},
      count, arguments);
}
