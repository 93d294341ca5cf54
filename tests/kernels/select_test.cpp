// Choosing a kernel set: what can run, what is refused and in which words.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>

#include "kernels/kernel_test.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/machine_limits.hpp"
#include "threads.hpp"

namespace tapestry::kernels {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Entry = void (*)();

// A table is a name and function pointers, nothing else. Those from the `first`-th byte on.
std::vector<Entry> entries(const Table& set, std::size_t first, std::size_t bytes) {
  static_assert((sizeof(Table) - sizeof(const char*)) % sizeof(Entry) == 0);
  std::vector<Entry> all(bytes / sizeof(Entry));
  std::memcpy(all.data(), reinterpret_cast<const char*>(&set) + first, bytes);
  return all;
}

// All but the elementwise ones, which have lists of their own.
std::vector<Entry> other_entries(const Table& set) {
  return entries(set, offsetof(Table, select), sizeof(Table) - offsetof(Table, select));
}

// How many entries of one set are those of another, too.
template <class Entries>
std::size_t shared(const Entries& one, const Entries& other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::size(one); ++i) count += one[i] != nullptr && one[i] == other[i];
  return count;
}

std::string refusal(const char* name) {
  try {
    find(name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the reference is always usable and comes first", "[phase0][kernels]") {
  int count = 0;
  const Table* const* tables = usable(count);
  REQUIRE(count >= 1);
  CHECK(std::string(tables[0]->name) == "reference");
  CHECK(kernel_sets().size() == std::size_t(count));
#ifdef TAPESTRY_F64
  CHECK(count == 1);
#elif defined(__x86_64__)
  CHECK(count >= 2);
  CHECK(std::string(tables[1]->name) == "sse2");
#elif defined(__aarch64__)
  CHECK(std::string(tables[count - 1]->name) == "neon64");
#endif
}

TEST_CASE("every set has a name of its own, and is found by it", "[phase0][kernels]") {
  const std::vector<std::string> order = {"reference", "sse2", "avx2", "avx512", "neon64"};
  auto next = order.begin();
  for (const Table* set : usable_sets()) {
    CAPTURE(set->name);
    next = std::find(next, order.end(), set->name);
    REQUIRE(next++ != order.end());
    CHECK(&find(set->name) == set);
  }
  std::string list;
  for (const std::string& name : kernel_sets()) list += (list.empty() ? "" : ", ") + name;
  CHECK(contains(refusal("mmx"), "; usable here: " + list + ". Set"));
}

TEST_CASE("a burst of multiply-adds is all done, and told right", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) {
    CAPTURE(set->name);
    real none = nan, some = nan, many = nan;
    CHECK(set->fma_burst(0, &none) == 0);  // chains of 0, 1, 2, ... in every lane
    const double operations = set->fma_burst(2, &some);
    CHECK(operations == 2 * set->fma_burst(1, &many));
    const double all = operations / 4, chains = 2 * double(none) / all + 1, lanes = all / chains;
    CHECK((chains == 8 || chains == 12 || chains == 24));
    CHECK((lanes == 1 || lanes == 4 || lanes == 8 || lanes == 16));
    CHECK(double(some) == double(none) / 4 + 1.5 * all);  // x / 4 + 1 / 2 + 1 each
    set->fma_burst(100, &many);
    CHECK(double(many) == 2 * all);
  }
}

TEST_CASE("a burst of reads reads each number once, each thread its part", "[phase0][kernels]") {
  static const real* start;
  static std::vector<int> times;
  static std::mutex mutex;
  static int calls;
  Table counting = reference_set();
  counting.sum = [](const real* x, Index outer, Index length, Index inner, real*) {
    const std::lock_guard lock(mutex);
    ++calls;
    if (outer != 1 || inner != 1) return;
    for (Index i = 0; i < length; ++i) ++times.at(std::size_t(x - start + i));
  };
  const Using scope(counting);
  const SmallWorkShared shared;
  const std::vector<real> numbers(10);
  start = numbers.data();
  for (const int threads : {1, 3}) {
    times.assign(numbers.size(), 0);
    calls = 0;
    use_threads(threads);
    read_burst(numbers);
    CHECK(times == std::vector<int>(10, 1));
    CHECK(calls == threads);
  }
}

TEST_CASE("every entry of every set is filled, and each set has its own", "[phase0][kernels]") {
  const std::vector<const Table*> sets = usable_sets();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const Table& set = *sets[i];
    CAPTURE(set.name);
    for (const Entry entry : other_entries(set)) CHECK(entry != nullptr);
    for (const Binary entry : set.binary) CHECK(entry != nullptr);
    for (const FunctionRow& row : unary_rows()) {
      CAPTURE(row.name);
      CHECK(set.unary[row.place] != nullptr);
      CHECK((set.unary_backward[row.place] != nullptr) == row.backward);
    }
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(shared(set.unary, sets[j]->unary) == 0);
      CHECK(shared(set.unary_backward, sets[j]->unary_backward) == 0);
      CHECK(shared(set.binary, sets[j]->binary) == 2);  // only the reference has power and atan2
      CHECK(shared(other_entries(set), other_entries(*sets[j])) == 1);  // only it has prod
    }
    CHECK(set.of<Power>() == reference_set().of<Power>());
    CHECK(set.prod == reference_set().prod);
  }
}

TEST_CASE("a set of an unknown name is refused with the usable ones", "[phase0][kernels]") {
  const std::string message = refusal("mmx");
  CHECK(contains(message, "'mmx' is no kernel set"));
  CHECK(contains(message, "usable here: reference"));
  CHECK(contains(message, "TAPESTRY_KERNELS"));
  CHECK(!contains(message, "\n"));
}

TEST_CASE("a set of another machine is refused as such", "[phase0][kernels]") {
#ifdef __x86_64__
  const char* foreign = "neon64";
#else
  const char* foreign = "avx2";
#endif
  CHECK(contains(refusal(foreign), "cannot run on this machine"));
}

TEST_CASE("use_kernel_set switches and kernel_set names the active one", "[phase0][kernels]") {
  const std::string before = kernel_set();
  for (const std::string& name : kernel_sets()) {
    use_kernel_set(name);
    CHECK(kernel_set() == name);
  }
  REQUIRE_THROWS_AS(use_kernel_set("fastest"), Error);
  CHECK(kernel_set() == kernel_sets().back());
  use_kernel_set(before);
}

TEST_CASE("TAPESTRY_KERNELS names a set, or the fastest is chosen", "[phase0][kernels]") {
  for (const Table* set : usable_sets()) CHECK(&chosen_by(set->name) == set);
  CHECK(&chosen_by(nullptr) == usable_sets().back());
  CHECK(&chosen_by("") == usable_sets().back());
  CHECK_THROWS_AS(chosen_by("mmx"), Error);
}

TEST_CASE("TAPESTRY_KERNELS chooses the set of the whole test run", "[phase0][kernels]") {
  const char* wanted = std::getenv("TAPESTRY_KERNELS");
  if (wanted != nullptr && *wanted != '\0') {
    CHECK(kernel_set() == wanted);
  } else {
    CHECK(kernel_set() == kernel_sets().back());
  }
}

}  // namespace tapestry::kernels
