// What stands in emscripten's way on one Debian or the other. Included before each file of the
// engine.
#pragma once

#include <version>

#ifndef __cpp_lib_bit_cast
namespace std {
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif

// xxhash 0.8.3 would take NEON's header, which Debian 13's emscripten has in part; SSE2's it has.
#define XXH_HAS_INCLUDE(header) 0
