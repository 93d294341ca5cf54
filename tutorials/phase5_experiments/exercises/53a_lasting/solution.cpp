#include "phase5.hpp"

namespace learn {

Index stays_beyond(const Tensor& curve, double part) {
  const Index n = curve.size(0);
  const double first = double{curve.at({0})}, last = double{curve.at({n - 1})};
  const double mark = first + part * (last - first);
  Index i = n;  // from here on all values are beyond the mark
  while (i > 0) {
    const double value = double{curve.at({i - 1})};
    const bool is_beyond = last > first ? value >= mark : value <= mark;
    if (!is_beyond) break;
    --i;
  }
  return i;
}

}  // namespace learn
