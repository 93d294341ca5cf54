#include "tape/made_from.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "kernels/functions.hpp"

namespace tapestry {
namespace {

template <std::size_t n>
bool among(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Functions of the elements at the same place, after broadcasting; those of two first.
constexpr std::array<std::string_view, 9> of_two = {
    "add", "subtract", "multiply", "divide", "pow", "atan2", "maximum", "minimum", "where"};

bool is_of_one(const std::string& operation) {
  bool found = operation == "clamp" || operation == "expand";
  kernels::UnaryFunctions::each([&]<class F>(F) { found = found || operation == F::name; });
  return found;
}

constexpr std::array<std::string_view, 3> of_a_row = {"softmax", "log_softmax", "cumsum"};
constexpr std::array<std::string_view, 6> of_axes = {"sum", "mean", "prod",
                                                     "max", "min",  "logsumexp"};

// The positions that agree with `place` at the axes where `held` is true.
std::vector<Index> agreeing(const Shape& shape, const Place& place, const std::vector<bool>& held) {
  std::vector<Index> numbers;
  for (Index number = 0; number < shape.numel(); ++number) {
    const Place other = place_of(shape, number);
    bool agrees = true;
    for (std::size_t axis = 0; axis < other.size(); ++axis) {
      agrees = agrees && (!held[axis] || other[axis] == place[axis]);
    }
    if (agrees) numbers.push_back(number);
  }
  return numbers;
}

std::vector<Index> broadcast_from(const Shape& from, const Place& place) {
  const std::size_t more = place.size() - static_cast<std::size_t>(from.ndim());
  Place other(place.begin() + static_cast<std::ptrdiff_t>(more), place.end());
  for (std::size_t axis = 0; axis < other.size(); ++axis) {
    if (from[static_cast<int>(axis)] == 1) other[axis] = 0;
  }
  return agreeing(from, other, std::vector<bool>(other.size(), true));
}

// What the operation makes of such numbers, as far as it is a NaN or an infinity; else a number.
real fold(const std::string& operation, const Tensor& x, const std::vector<Index>& numbers) {
  const std::vector<real> values = x.values();
  const bool largest = operation == "max", least = operation == "min";
  real result = static_cast<real>(largest ? -INFINITY : least ? INFINITY : operation == "prod");
  for (const Index number : numbers) {
    const real value = values[static_cast<std::size_t>(number)];
    if (largest || least) {
      result = largest ? std::max(result, value) : std::min(result, value);
    } else {
      result = operation == "prod" ? result * value : result + value;  // may overflow
    }
  }
  return result;
}

bool alike(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b || (std::isfinite(a) && std::isfinite(b));
}

// The tape does not say which axes were reduced: those whose shapes and numbers agree, the last
// ones first.
std::vector<Index> reduced_from(const Tape::Entry& made, const Tape::Entry& from,
                                const Place& place, double value) {
  const int axes = from.shape.ndim();
  for (unsigned held = 1U << axes; held-- > 0;) {
    const auto is_held = [&](int axis) { return (held >> (axes - 1 - axis) & 1U) != 0; };
    Place other(static_cast<std::size_t>(axes));
    std::vector<bool> holds(static_cast<std::size_t>(axes));
    const bool keepdims = made.shape.ndim() == axes;
    std::size_t next = 0;
    bool fits = true;
    for (int axis = 0; axis < axes; ++axis) {
      holds[static_cast<std::size_t>(axis)] = is_held(axis);
      if (!is_held(axis)) {
        fits = fits && (!keepdims || made.shape[axis] == 1);
        next += keepdims ? 1 : 0;
        continue;
      }
      fits = fits && next < place.size() && made.shape[static_cast<int>(next)] == from.shape[axis];
      if (fits) other[static_cast<std::size_t>(axis)] = place[next];
      ++next;
    }
    if (!fits || next != place.size()) continue;
    std::vector<Index> numbers = agreeing(from.shape, other, holds);
    if (alike(double{fold(made.operation, from.value, numbers)}, value)) return numbers;
  }
  return {};
}

}  // namespace

Place place_of(const Shape& shape, Index number) {
  Place place(static_cast<std::size_t>(shape.ndim()));
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    place[static_cast<std::size_t>(axis)] = number % shape[axis];
    number /= shape[axis];
  }
  return place;
}

bool is_of_two(const std::string& operation) { return among(operation, of_two); }

bool is_of_same_place(const std::string& operation) {
  return is_of_two(operation) || is_of_one(operation);
}

std::vector<Index> made_from(const std::vector<Tape::Entry>& all, const Element& made,
                             std::size_t input) {
  const Tape::Entry &entry = all[made.record], &from = all[input];
  const Place place = place_of(entry.shape, made.number);
  if (is_of_same_place(entry.operation) && broadcasts_to(from.shape, entry.shape)) {
    return broadcast_from(from.shape, place);
  }
  if (among(entry.operation, of_axes)) {
    std::vector<Index> numbers = reduced_from(entry, from, place, made.value);
    if (!numbers.empty()) return numbers;
  }
  std::vector<bool> held(static_cast<std::size_t>(from.shape.ndim()), false);
  const bool in_row = among(entry.operation, of_a_row) && from.shape == entry.shape;
  if (in_row && !held.empty()) {
    held.assign(held.size(), true);
    held.back() = false;
  }
  return agreeing(from.shape, place, held);
}

}  // namespace tapestry
