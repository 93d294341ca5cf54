// The standard headers that many sources include. The Makefile compiles them once and gives
// the result to each source. A source includes what it uses all the same: `make clang` compiles
// without this file, and `make check` each public header alone.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
