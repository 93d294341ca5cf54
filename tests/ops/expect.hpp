// Checks shared by the tests: tensors against plain loops, error messages against words they must
// contain, gradients against finite differences.
//
// Each check returns an error as text, "" if there is none: CHECK(difference(...) == "").
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/gradcheck.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr bool in_double = sizeof(real) == 8;
constexpr double tight = in_double ? 1e-13 : 2e-6;  // relative; absolute below 1

using Place = std::vector<Index>;  // one position per axis
using Function = std::function<Tensor(const std::vector<Tensor>&)>;

inline bool same_number(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

// y must have this shape and these row-major values; NaN equals NaN.
inline std::string difference(const Tensor& y, const Shape& shape,
                              const std::vector<double>& expected, double tolerance = tight) {
  if (!y.defined()) return "undefined";
  if (y.shape() != shape) return "shape " + to_string(y.shape()) + ", not " + to_string(shape);
  const std::vector<real> values = y.values();
  if (values.size() != expected.size()) return std::to_string(expected.size()) + " expected";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (same_number(double{values[i]}, expected[i], tolerance)) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(values[i]) + ", not " +
           std::to_string(expected[i]);
  }
  return "";
}

[[nodiscard]] inline std::vector<double> doubles(const Tensor& x) {
  const std::vector<real> values = x.values();
  return std::vector<double>(values.begin(), values.end());
}

inline std::string difference_to(const Tensor& y, const Tensor& expected,
                                 double tolerance = tight) {
  return difference(y, expected.shape(), doubles(expected), tolerance);
}

// The element of x for `place` of a larger shape: aligned at the last axis, size 1 repeated.
inline double element(const Tensor& x, const Place& place) {
  Index at = 0;
  const std::size_t rank = static_cast<std::size_t>(x.ndim()), missing = place.size() - rank;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Index i = x.shape().begin()[axis] == 1 ? 0 : place[missing + axis];
    at += i * x.strides()[axis];
  }
  return double{x.data()[at]};
}

// f(place) for every place of the shape, in row-major order.
inline std::vector<double> tabulate(const Shape& shape,
                                    const std::function<double(const Place&)>& f) {
  std::vector<double> result;
  for (Index i = 0; i < shape.numel(); ++i) {
    Place place(static_cast<std::size_t>(shape.ndim()));
    Index rest = i;
    for (std::size_t axis = place.size(); axis-- > 0;) {
      place[axis] = rest % shape.begin()[axis];
      rest /= shape.begin()[axis];
    }
    result.push_back(f(place));
  }
  return result;
}

// The first name of a list that a message lacks.
inline std::string missing_word(const std::string& message,
                                std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (message.find(word) == std::string::npos) {
      return "'" + std::string(word) + "' is not in: " + message;
    }
  }
  return message.find('\n') == std::string::npos ? "" : "not one line: " + message;
}

// f must throw an Error of one line with all these words.
inline std::string complaint(const std::function<void()>& f,
                             std::initializer_list<const char*> words) {
  try {
    f();
  } catch (const Error& error) {
    return missing_word(error.what(), words);
  }
  return "nothing was thrown";
}

inline Tensor random_tensor(const Shape& shape, std::uint64_t seed = 1) {
  return Random(seed).normal(shape);
}

inline Tensor random_between(const Shape& shape, double low, double high, std::uint64_t seed = 1) {
  return Random(seed).uniform(shape, low, high);
}

// d sum(f(x)) / dx
inline Tensor slope(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  Tape tape({x});
  const Tensor y = f(x);
  return tape.backward(y, Tensor::ones(y.shape()))[x];
}

inline std::string wrong_gradient(const Function& f, const std::vector<Tensor>& inputs) {
  const GradcheckResult result = gradcheck(f, inputs);
  return result.passed ? "" : result.message.empty() ? "failed without a word" : result.message;
}

}  // namespace tapestry
