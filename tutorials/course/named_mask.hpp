// A mask with its name, for tables and pictures of several.
#pragma once

#include <string>

#include "tapestry/mask.hpp"

namespace tapestry {

struct NamedMask {
  std::string name;
  Mask mask;
};

}  // namespace tapestry
