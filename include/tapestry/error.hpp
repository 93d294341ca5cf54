// The one exception type. Every message is a single line: operation, operands, rule, way out.
#pragma once

#include <stdexcept>

namespace tapestry {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tapestry
