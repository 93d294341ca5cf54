#include <array>
#include <cmath>
#include <vector>

#include "course/exercise.hpp"
#include "phase3.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::head_to_zero) head_to_zero;
decltype(learn::head_to_mean) head_to_mean;
}  // namespace solution

namespace {

using Cut = std::function<decltype(learn::head_to_zero)>;

Attempt cut(Cut to_zero, Cut to_mean) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto head = static_cast<Index>(std::lround(double{in.at(1).value.item()}));
    return {{"to zero", to_zero(in.at(0).value, head)}, {"to mean", to_mean(in.at(0).value, head)}};
  };
}

enum Which { this_head, other_heads, head_before, position };

// What is done; the defaults are right.
struct How {
  Which which = this_head;
  std::vector<int> over = {0};  // the axes of the mean
};

using Place = std::array<Index, 4>;  // batch, head, position, column

Place place_of(const Tensor& x, Index at) {
  Place place;
  for (int axis = 3; axis >= 0; at /= x.size(axis--)) {
    place[static_cast<std::size_t>(axis)] = at % x.size(axis);
  }
  return place;
}

bool is_replaced(Which which, Index head, const Place& at) {
  return which == this_head     ? at[1] == head
         : which == other_heads ? at[1] != head
         : which == head_before ? at[1] == head - 1
                                : at[2] == head;
}

// The mean of all elements that differ from this place only in these axes.
double mean_at(const Tensor& x, const Place& place, const std::vector<int>& over) {
  const std::vector<real> values = x.values();
  double sum = 0, count = 0;
  for (Index at = 0; at < x.numel(); ++at) {
    Place other = place_of(x, at);
    for (const int axis : over) {
      other[static_cast<std::size_t>(axis)] = place[static_cast<std::size_t>(axis)];
    }
    if (other != place) continue;
    sum += double{values[static_cast<std::size_t>(at)]};
    count += 1;
  }
  return sum / count;
}

Attempt by_loops(How how) {
  const auto replaced = [=](const Tensor& x, Index head, bool zero) {
    std::vector<real> values = x.values();
    for (Index at = 0; at < x.numel(); ++at) {
      const Place place = place_of(x, at);
      if (!is_replaced(how.which, head, place)) continue;
      values[static_cast<std::size_t>(at)] =
          zero ? real{0} : static_cast<real>(mean_at(x, place, how.over));
    }
    return Tensor(x.shape(), values);
  };
  return cut([=](const Tensor& x, Index head) { return replaced(x, head, true); },
             [=](const Tensor& x, Index head) { return replaced(x, head, false); });
}

Attempt by_library(How how) {
  const auto replaced = [=](const Tensor& x, Index head, const Tensor& by) {
    const double number = double(head);
    const Tensor heads = reshape(Tensor::arange(x.size(1)), {x.size(1), 1, 1});  // (heads, 1, 1)
    const Tensor places = unsqueeze(Tensor::arange(x.size(2)), 1);               // (n, 1)
    const Tensor where_to = how.which == this_head     ? heads == number
                            : how.which == other_heads ? heads != number
                            : how.which == head_before ? heads == number - 1
                                                       : places == number;
    return where(where_to, by, x);
  };
  return cut([=](const Tensor& x, Index head) { return replaced(x, head, 0); },
             [=](const Tensor& x, Index head) {
               return replaced(x, head, mean(x, Axes(how.over), true));
             });
}

KnownMistake mistake(const char* name, const char* sentence, How how) {
  return {name, sentence, by_loops(how), by_library(how)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("the other heads cut",
            "The head that was to be cut is the only one that stayed. What a model loses without a "
            "head and what it can do with it alone are two questions.",
            {.which = other_heads}),
    mistake("heads counted from 1", "The head before it was cut: heads are counted from 0.",
            {.which = head_before}),
    mistake("a position cut",
            "A position was cut, in all heads: the number went to the wrong axis. The shape is "
            "(batch, heads, n, d).",
            {.which = position}),
    mistake("mean over the positions, too",
            "The zeros are right. The mean was taken over all positions as well, so the head says "
            "the same everywhere: what it says about the place is lost, too.",
            {.over = {0, 2}}),
    mistake("mean over the positions only",
            "The zeros are right. The mean was taken over the positions of each text by itself. So "
            "it still says something about this text, which it has to lose.",
            {.over = {2}}),
    mistake("mean of the heads",
            "The zeros are right. The mean is that of all heads, so the others' outputs stand in "
            "for this one: it has to be the head's own, over the batch.",
            {.over = {1}}),
    mistake("one number for all",
            "The zeros are right. All columns got the same number: each column of a head's output "
            "has a mean of its own, at each position.",
            {.over = {0, 2, 3}}),
};

NamedTensors inputs(Random& random, Index size) {
  const Index batch = size + 1, heads = 2 + size / 3, n = heads + random.randint(2);
  // Positions and columns have means of their own.
  const Tensor places = unsqueeze(Tensor::arange(n), 1) - Tensor({2}, {0, 3});  // (n, 2)
  return {{"outputs", random.normal({batch, heads, n, 2}) + places},
          {"head", double(1 + random.randint(heads - 1))}};
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = cut(learn::head_to_zero, learn::head_to_mean),
       .right = {cut(solution::head_to_zero, solution::head_to_mean), by_loops({}), by_library({})},
       .mistakes = mistakes,
       .hints = {"Begin with outputs.clone() and write to the places (b, head, i, c) only.",
                 "Zeros: three loops, over b, i and c. Mean: for each i and c first a sum "
                 "over b, then write sum / batch to each b.",
                 "sum += outputs.at({b, head, i, c}) in one loop over b, and in a second "
                 "one result.set({b, head, i, c}, sum / double(batch))."}},
      count, arguments);
}
