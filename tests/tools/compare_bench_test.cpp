// What `make bench-compare` calls a change.
#include "../../tools/bench_changes.hpp"
#include "catch.hpp"

using namespace bench_changes;

namespace {

Json row(const char* name, int threads, double ms, double spread) {
  return {
      {"group", "matmul"}, {"name", name}, {"threads", threads}, {"ms", ms}, {"spread", spread}};
}

Json file(const std::vector<Json>& rows, const char* kernels = "avx2") {
  return {
      {"machine", {{"processor", "a"}, {"cores", 2}, {"kernels", kernels}, {"compiler", "g++"}}},
      {"rows", rows}};
}

}  // namespace

TEST_CASE("a row is faster or slower only beyond the spread of both files", "[bench]") {
  const Json before = file({row("a", 1, 2.0, 0.01), row("a", 2, 2.0, 0.01), row("b", 1, 1.0, 0.04),
                            row("c", 1, 1.0, 0.01), row("d", 1, 1.0, 0.0)});
  const Json after = file({row("a", 1, 1.0, 0.01), row("a", 2, 2.5, 0.01), row("b", 1, 1.06, 0.03),
                           row("c", 1, 1.06, 0.03), row("d", 1, 1.0, 0.0)});
  const Comparison found = compare(before, after);
  REQUIRE(found.changes.size() == 5);
  const std::vector<bool> clear = {true, true, false, true, false};
  for (std::size_t i = 0; i < clear.size(); ++i) {
    INFO(found.changes[i].name << " " << found.changes[i].threads);
    CHECK(found.changes[i].is_clear() == clear[i]);
  }
  CHECK(found.changes[0].ratio() == Approx(2.0));
  CHECK(found.changes[1].ratio() == Approx(0.8));
  CHECK(found.changes[1].threads == 2);
  CHECK(found.differences.empty());
  CHECK(found.gone.empty());
  CHECK(found.added.empty());
  CHECK(found.company == 0);
}

TEST_CASE("rows of one file only, and other machines, are named", "[bench]") {
  const Comparison found = compare(file({row("a", 1, 1, 0), row("old", 2, 1, 0)}),
                                   file({row("new", 1, 1, 0), row("a", 1, 1, 0)}, "avx512"));
  CHECK(found.changes.size() == 1);
  CHECK(found.gone == std::vector<std::string>{"matmul old, threads 2"});
  CHECK(found.added == std::vector<std::string>{"matmul new, threads 1"});
  CHECK(found.differences == std::vector<std::string>{"kernels: avx2, now avx512"});
  Json busy = file({}), unknown = file({});
  busy["processors_used_by_others"] = 1.5;
  unknown["processors_used_by_others"] = nullptr;
  CHECK(compare(busy, unknown).company == 1.5);
  CHECK(compare(unknown, busy).company == 1.5);
}

TEST_CASE("a file without spreads counts as settled within 3 %", "[bench]") {
  Json old_row = row("a", 1, 1.0, 0);
  old_row.erase("spread");
  const auto is_clear = [&](double ms) {
    return compare(file({old_row}), file({row("a", 1, ms, 0)})).changes.at(0).is_clear();
  };
  CHECK_FALSE(is_clear(1.029));
  CHECK(is_clear(1.032));
}

TEST_CASE("times that are none are refused", "[bench]") {
  const Json good = file({row("a", 1, 1, 0)});
  CHECK_THROWS_WITH(compare(file({row("a", 1, 0, 0)}), good),
                    "the row matmul a has no time above 0");
  CHECK_THROWS_WITH(compare(good, file({row("a", 1, 1, -1)})),
                    "the row matmul a has no time above 0");
  CHECK_THROWS(compare(good, Json{{"machine", {}}, {"rows", {{{"group", "x"}}}}}));
}
