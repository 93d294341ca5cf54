// Which sets this machine can run, and which one is in use.
//
// The compiler's __builtin_cpu_supports also tests whether the operating system saves the wide
// registers; xsimd's own detection does not.
#include <atomic>
#include <cstdlib>
#include <string>

#include "kernels/sets.hpp"
#include "tapestry/error.hpp"

namespace tapestry::kernels {
namespace {

constexpr int max_sets = 4;
constexpr const char* every_name[] = {"reference", "sse2", "avx2", "avx512", "neon64"};

#if defined(TAPESTRY_X86_KERNELS)
// All that avx512.cpp is compiled for, together.
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

struct Sets {
  Table table[max_sets] = {};
  const Table* pointer[max_sets] = {};
  int count = 0;

  // A set starts as a copy of the reference, then replaces what it does faster.
  void add(void (*fill)(Table&)) {
    Table& t = table[count];
    fill_reference(t);
    fill(t);
    pointer[count++] = &t;
  }

  Sets() {
    add(fill_reference);
#if defined(TAPESTRY_X86_KERNELS)
    add(fill_sse2);
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2) add(fill_avx2);
    if (avx2 && has_avx512()) add(fill_avx512);
#elif defined(TAPESTRY_NEON_KERNELS)
    add(fill_neon64);
#elif defined(TAPESTRY_WASM_KERNELS)
    add(fill_sse2);
#endif
  }
};

const Sets& sets() {
  static const Sets all;
  return all;
}

std::string names() {
  std::string list;
  for (int i = 0; i < sets().count; ++i) {
    if (i > 0) list += ", ";
    list += sets().pointer[i]->name;
  }
  return list;
}

bool known(const std::string& name) {
  for (const char* other : every_name) {
    if (name == other) return true;
  }
  return false;
}

std::atomic<const Table*> in_use = nullptr;

}  // namespace

const Table& find(const char* name) {
  for (int i = 0; i < sets().count; ++i) {
    if (std::string(name) == sets().pointer[i]->name) return *sets().pointer[i];
  }
  const std::string what = known(name) ? "' cannot run on this machine" : "' is no kernel set";
  throw Error("kernels: '" + std::string(name) + what + "; usable here: " + names() +
              ". Set TAPESTRY_KERNELS to one of these, or unset it for the fastest.");
}

const Table& chosen_by(const char* wish) {
  const bool none = wish == nullptr || *wish == '\0';
  return none ? *sets().pointer[sets().count - 1] : find(wish);
}

const Table& active() {
  const Table* table = in_use.load(std::memory_order_acquire);
  if (table != nullptr) return *table;
  const Table& chosen = chosen_by(std::getenv("TAPESTRY_KERNELS"));
  in_use.store(&chosen, std::memory_order_release);
  return chosen;
}

void use(const Table& table) { in_use.store(&table, std::memory_order_release); }

const Table* const* usable(int& count) {
  count = sets().count;
  return sets().pointer;
}

}  // namespace tapestry::kernels
