// Compares the tape's gradients with finite differences.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

struct GradcheckOptions {
  // |tape - differences| <= atol + rtol * |differences|
  double atol = sizeof(real) == 8 ? 1e-7 : 2e-3;
  double rtol = sizeof(real) == 8 ? 1e-6 : 1e-2;
  double eps = sizeof(real) == 8 ? 1e-3 : 2e-2;  // of the differences
  std::uint64_t seed = 42;
};

struct GradcheckResult {
  bool passed = false;
  double tape = 0;           // the last derivative compared, by the tape ...
  double differences = 0;    // ... and by finite differences
  std::string message = {};  // if it failed: which input, which element, both numbers

  explicit operator bool() const { return passed; }
};

// Checks d f / d inputs at the values given, in the precision of `real`: strict in the double build
// (`make f64`), a coarser check in float. f may return any shape; it must be smooth near the
// inputs, so avoid kinks such as relu at 0; where it bends sharply, as 1 / x near 0, give a smaller
// eps.
//
// First one derivative along a random direction in all inputs at once: two numbers tell whether
// anything is wrong, whatever the size. Only if they differ, element by element, to name the wrong
// one.
// Differences are of fourth order: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h.
[[nodiscard]] GradcheckResult gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                                        const std::vector<Tensor>& inputs,
                                        const GradcheckOptions& options = {});

// The same for a model: d f / d parameters, where f reads the parameters by itself. Their values
// change during the check, and are restored. Inputs are numbered in the order of the list.
[[nodiscard]] GradcheckResult gradcheck(const std::function<Tensor()>& f,
                                        const Parameters& parameters,
                                        const GradcheckOptions& options = {});

}  // namespace tapestry
