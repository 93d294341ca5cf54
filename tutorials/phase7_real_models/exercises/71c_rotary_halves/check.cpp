#include <cmath>
#include <utility>

#include "course/exercise.hpp"
#include "phase7.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::rotated_halves) rotated_halves;
decltype(learn::columns_for_halves) columns_for_halves;
}  // namespace solution

namespace {

using Rotation = std::function<decltype(learn::rotated_halves)>;
using Columns = std::function<decltype(learn::columns_for_halves)>;

Attempt both(const Rotation& rotation, const Columns& columns) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto whole = [&](std::size_t i) { return Index(std::lround(in[i].value.item())); };
    return {{"rotated", rotation(in[0].value, whole(1))},
            {"columns", columns(in[2].value, whole(3))}};
  };
}

enum Kind {
  right,
  neighbours,
  backwards,
  half_power,
  no_first,
  other_way,
  one_head,
  first_head,
  odd_first,
  rows
};

// ---- The rotation

double power(Kind kind, Index i, Index d) {
  return double(kind == half_power ? i : 2 * i) / double(d);
}

Rotation by_numbers(Kind kind) {
  return [=](const Tensor& x, Index first) {
    Tensor y = x.clone();  // (length, d)
    const Index d = x.size(1);
    for (Index place = 0; place < x.size(0) * (d / 2); ++place) {
      const Index row = place / (d / 2), i = place % (d / 2);
      const Index one = kind == neighbours ? 2 * i : i;
      const Index other = kind == neighbours ? one + 1 : i + d / 2;
      double t = double(row + (kind == no_first ? 0 : first)) / std::pow(1e4, power(kind, i, d));
      if (kind == backwards) t = -t;
      const double a = double{x.at({row, one})}, b = double{x.at({row, other})};
      y.set({row, one}, a * std::cos(t) - b * std::sin(t));
      y.set({row, other}, a * std::sin(t) + b * std::cos(t));
    }
    return y;
  };
}

// As most programs do it: x cos t + (-b, a) sin t, with the angles of a row twice, side by side.
Rotation by_halves(Kind kind) {
  return [=](const Tensor& x, Index first) {
    const Index n = x.size(0), d = x.size(1), half = d / 2;
    if (kind == neighbours) return rotary(x, RotaryLayout::interleaved, first);
    const Tensor m = unsqueeze(Tensor::arange(n) + double(kind == no_first ? 0 : first), 1);
    Tensor speed = Tensor::zeros({half});  // (d / 2)
    for (Index i = 0; i < half; ++i) speed.set({i}, std::pow(1e4, -power(kind, i, d)));
    const Tensor once = m * speed * (kind == backwards ? -1.0 : 1.0);                // (n, d / 2)
    const Tensor t = concat({once, once}, 1);                                        // (n, d)
    const Tensor turned = concat({-slice(x, 1, half, d), slice(x, 1, 0, half)}, 1);  // (n, d)
    return x * cos(t) + turned * sin(t);                                             // (n, d)
  };
}

// ---- The columns

// From which column the one at `to` comes.
Index source(Kind kind, Index to, Index heads, Index d) {
  if (kind == one_head) d *= std::exchange(heads, 1);
  const Index head = to / d, c = to % d, half = d / 2;
  if (kind == first_head && head > 0) return to;
  if (kind == other_way) return head * d + c / 2 + (c % 2) * half;
  const bool is_second = c >= half;
  const Index odd = kind == odd_first ? !is_second : is_second;
  return head * d + 2 * (c % half) + odd;
}

Columns column_by_column(Kind kind) {
  return [=](const Tensor& given, Index heads) {
    const Tensor w =
        kind == rows ? transpose(given) : given;  // (d_model, heads d), square if `rows`
    std::vector<Tensor> columns;
    for (Index to = 0; to < w.size(1); ++to) {
      const Index from = source(kind, to, heads, w.size(1) / heads);
      columns.push_back(slice(w, 1, from, from + 1));  // (d_model, 1)
    }
    const Tensor moved = concat(columns, 1);         // as w
    return kind == rows ? transpose(moved) : moved;  // (d_model, heads d)
  };
}

// A head's columns as a (d / 2, 2) matrix of pairs, transposed.
Columns by_shapes(Kind kind) {
  return [=](const Tensor& given, Index heads) {
    const Tensor w = kind == rows ? transpose(given) : given;  // as given
    const Index n = w.size(0), width = w.size(1), in = kind == one_head ? 1 : heads;
    const Index half = width / in / 2;
    const Shape pairs = kind == other_way ? Shape{n, in, 2, half} : Shape{n, in, half, 2};
    Tensor moved = transpose(reshape(w, pairs));  // (d_model, heads, 2, d / 2)
    if (kind == odd_first) {
      moved = concat({slice(moved, 2, 1, 2), slice(moved, 2, 0, 1)}, 2);
    }
    moved = reshape(moved, {n, width});  // as w
    if (kind == first_head) {
      moved = concat({slice(moved, 1, 0, 2 * half), slice(w, 1, 2 * half, width)}, 1);
    }
    return kind == rows ? transpose(moved) : moved;  // (d_model, heads d)
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, both(by_numbers(kind), column_by_column(kind)),
          both(by_halves(kind), by_shapes(kind))};
}

KnownMistake known(Kind rotation, Kind columns, const char* name, const char* sentence) {
  return {name, sentence, both(by_numbers(rotation), column_by_column(columns)),
          both(by_halves(rotation), by_shapes(columns))};
}

// A square matrix, so that rows could be moved, too; its heads have at least three pairs, so that
// moving back is another move.
NamedTensors inputs(Random& random, Index size) {
  const Index heads = size < 3 ? size : 2 + random.randint(2), d = size == 1 ? 4 : 6;
  return {{"x", random.normal({size, size == 1 ? 2 : 4 + 2 * random.randint(2)})},
          {"first", double(1 + random.randint(3))},
          {"w", random.normal({heads * d, heads * d})},
          {"heads", double(heads)}};
}

const std::vector<KnownMistake> mistakes = {
    known(neighbours, "neighbours are rotated",
          "Columns 2i and 2i + 1 are the pair, as in 60b. Here column i is paired with column i + "
          "d / 2."),
    known(backwards, "rotated backwards",
          "The rotation has the wrong sign: the sines belong as -b sin t in the first half and +a "
          "sin t in the second."),
    known(half_power, "half the power",
          "The power is i / d. It is 2i / d, as in the other layout: only the places of the two "
          "numbers differ, not the angles."),
    known(no_first, "the first position forgotten",
          "rotated_halves counts its rows from 0; they begin at `first`."),
    known(other_way, "columns moved the other way",
          "The columns go from halves to neighbours: column i went to 2i. They come from a matrix "
          "that has neighbours as pairs. With d = 4 both are the same, so that a small test does "
          "not tell."),
    known(
        one_head, "all columns as one head",
        "All even columns went to the front of the whole matrix. Each head is rotated alone: move "
        "columns only within the d of their head."),
    known(first_head, "only the first head",
          "Only the columns of head 0 are moved. The others are right at position 0, where nothing "
          "is rotated, and wrong later."),
    known(odd_first, "the odd columns first",
          "The odd columns went to the first half. Then a and b of each pair are exchanged, and "
          "pairs are rotated backwards."),
    known(rows, "rows moved",
          "The rows are moved. Rows belong to what W reads; the numbers of a query or key are its "
          "columns."),
    known(neighbours, other_way, "two: neighbours are rotated, columns moved the other way",
          "Both functions go the other way. Columns i and i + d / 2 are the pair that is rotated; "
          "and column 2i of the matrix goes to i.")};

}  // namespace

int main(int count, char** arguments) {
  const auto library = [](const Tensor& x, Index first) {
    return rotary(x, RotaryLayout::half_split, first);  // (length, d)
  };
  const auto convert = [](const Tensor& w, Index heads) {
    return convert_rotary(w, heads, RotaryLayout::interleaved, RotaryLayout::half_split);
  };
  return judge(
      {.inputs = inputs,
       .learner = both(learn::rotated_halves, learn::columns_for_halves),
       .right = {both(solution::rotated_halves, solution::columns_for_halves),
                 both(by_numbers(right), column_by_column(right)),
                 both(by_halves(right), by_shapes(right)), both(library, convert)},
       .mistakes = mistakes,
       .hints =
           {"rotated_halves is 60b with other columns: a loop over rows, in it one over i below "
            "d / 2. In columns_for_halves, ask of each column to which head it belongs, and "
            "which number of it.",
            "The angle is double(first + row) / std::pow(10000, 2 * double(i) / double(d)). "
            "With d = w.size(1) / heads, column j is number c = j % d of head j / d.",
            "Column j goes to (j / d) * d + c / 2 + (c % 2) * (d / 2), in every row."}},
      count, arguments);
}
