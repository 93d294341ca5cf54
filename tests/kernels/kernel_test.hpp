// Helpers for the kernel tests: numbers, arrays with guards on both sides, comparisons.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "kernels/sets.hpp"
#include "kernels/table.hpp"

namespace tapestry::kernels {

inline const real nan = std::numeric_limits<real>::quiet_NaN();
inline const real inf = std::numeric_limits<real>::infinity();

// Around the widths of all registers (4, 8, 16), with odd remainders: N-1, N, N+1, 8N+2.
inline const std::vector<Index> lengths = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 34, 66, 130};

// Pseudo-random numbers between low and high; the same for the same seed everywhere.
struct Numbers {
  std::uint64_t state;

  explicit Numbers(std::uint64_t seed) : state(seed * 2654435769u + 88172645463325252u) {}
  real next(double low, double high) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<real>(low + (high - low) * double(state >> 11) / 9007199254740992.0);
  }
  std::vector<real> some(Index n, double low = -1, double high = 1) {
    std::vector<real> values(static_cast<std::size_t>(n));
    for (real& v : values) v = next(low, high);
    return values;
  }
};

// An array of n numbers that starts `offset` elements past a 64-byte boundary, between two guard
// bands of a value that no kernel produces.
class Guarded {
 public:
  Guarded(Index n, Index offset)
      : n_(n), memory_(static_cast<std::size_t>(n + 2 * band + 32), real(mark)) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data() + band);
    const auto past = static_cast<Index>(address % 64 / sizeof(real));
    start_ = band + (past == 0 ? 0 : Index(64 / sizeof(real)) - past) + offset;
  }
  Guarded(const std::vector<real>& values, Index offset) : Guarded(Index(values.size()), offset) {
    std::copy(values.begin(), values.end(), data());
  }
  real* data() { return memory_.data() + start_; }
  std::vector<real> values() { return {data(), data() + n_}; }
  bool intact() const {
    for (Index i = 0; i < Index(memory_.size()); ++i) {
      const bool inside = i >= start_ && i < start_ + n_;
      if (!inside && memory_[static_cast<std::size_t>(i)] != real(mark)) return false;
    }
    return true;
  }

 private:
  static constexpr Index band = 64;
  static constexpr double mark = -7.25e9;
  Index n_ = 0, start_ = 0;
  std::vector<real> memory_;
};

// Numbers at the very end of what the program may read.
class AtTheEnd {
 public:
  explicit AtTheEnd(const std::vector<real>& values) {
    const std::size_t page = std::size_t(::sysconf(_SC_PAGESIZE)),
                      bytes = values.size() * sizeof(real);
    size_ = (bytes / page + 2) * page;
    memory_ = static_cast<char*>(
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory_ != MAP_FAILED);
    REQUIRE(::mprotect(memory_ + size_ - page, page, PROT_NONE) == 0);
    numbers_ = reinterpret_cast<real*>(memory_ + size_ - page - bytes);
    std::copy(values.begin(), values.end(), numbers_);
  }
  AtTheEnd(const AtTheEnd&) = delete;
  ~AtTheEnd() { ::munmap(memory_, size_); }
  const real* data() const { return numbers_; }

 private:
  std::size_t size_ = 0;
  char* memory_ = nullptr;
  real* numbers_ = nullptr;
};

// Both NaN, equal (infinities), or at most relative * |want| + absolute apart.
inline bool close(real got, real want, double relative, double absolute) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (got == want) return true;
  return std::abs(double(got) - double(want)) <= relative * std::abs(double(want)) + absolute;
}

// |got - want| in distances of neighbouring floats at `want`
inline double ulps(real got, double want) {
  if (std::isnan(got)) return std::isnan(want) ? 0 : 1e9;
  if (std::isinf(got) || std::isinf(want)) return got == static_cast<real>(want) ? 0 : 1e9;
  const int exponent = std::max(want == 0 ? -126 : std::ilogb(want), -126);
  return std::abs(double(got) - want) / std::ldexp(1.0, exponent - 23);
}

// What the lists of functions say, for loops over them.
struct FunctionRow {
  const char* name;
  int place;  // in Table::unary and Table::unary_backward
  double (*plain)(double);
  Claim claim;
  bool backward, saves_output;
  double slope_error;
  double (*plain_backward)(double, double);
};

inline std::vector<FunctionRow> unary_rows() {
  std::vector<FunctionRow> rows;
  UnaryFunctions::each([&](auto f) {
    using F = decltype(f);
    FunctionRow row{
        F::name, UnaryFunctions::place<F>(), F::plain, F::claim, has_backward<F>, false, 0,
        nullptr};
    if constexpr (has_backward<F>) {
      row.saves_output = F::saves_output;
      row.slope_error = F::slope_error;
      row.plain_backward = F::plain_backward;
    }
    rows.push_back(row);
  });
  return rows;
}

struct BinaryRow {
  const char* name;
  int place;  // in Table::binary
  double (*plain)(double, double);
};

inline std::vector<BinaryRow> binary_rows() {
  std::vector<BinaryRow> rows;
  BinaryFunctions::each([&](auto f) {
    using F = decltype(f);
    rows.push_back({F::name, BinaryFunctions::place<F>(), F::plain});
  });
  return rows;
}

// How far a result is off, in shares of what its function claims; `exact` is the true result.
inline double share_of_claim(const Claim& claim, double x, real got, double exact) {
  const double distance = ulps(got, exact);
  if (distance == 0 || distance <= claim.ulp) return claim.ulp > 0 ? distance / claim.ulp : 0;
  if (claim.absolute == 0) return claim.ulp > 0 ? distance / claim.ulp : 1e9;
  return std::abs(double(got) - exact) / (claim.absolute * std::max(1.0, std::abs(x)));
}

// Index of the first pair that is not close, or -1.
inline Index first_apart(const std::vector<real>& got, const std::vector<real>& want,
                         double relative, double absolute) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!close(got[i], want[i], relative, absolute)) return Index(i);
  }
  return -1;
}

inline std::vector<const Table*> usable_sets() {
  int count = 0;
  const Table* const* tables = usable(count);
  return {tables, tables + count};
}

inline const Table& reference_set() { return *usable_sets().front(); }

// Fills the scratch memory of this thread's kernels, whose old content must have no effect.
inline void poison_scratch(real value) {
  constexpr Index n = 1 << 16;
  std::fill_n(workspace(n), n, value);
}

// Makes a set the active one while in scope.
class Using {
 public:
  explicit Using(const Table& table) : before_(active()) { use(table); }
  ~Using() { use(before_); }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;

 private:
  const Table& before_;
};

}  // namespace tapestry::kernels
