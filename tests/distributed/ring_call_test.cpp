// How many tiles one call of a kernel takes; no bit depends on it (ring_attention_test.cpp).
#include "distributed/ring_call.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

RingCall call_of(const Shape& batch, bool is_causal = false) {
  const RingLayout layout(21, 2, 2);  // 11 tiles, the last of one row
  RingOptions options{.tile = 2};
  options.is_causal = is_causal;
  return {layout, options, batch, 4, 4, layout.tiles_of(1), layout.rows_of(1)};
}

std::string text(const std::vector<TileGroup>& groups) {
  std::string all;
  for (const TileGroup& g : groups) {
    all += std::to_string(g.first) + "+" + std::to_string(g.count) + "x" + std::to_string(g.rows);
    all += " ";
  }
  return all;
}

}  // namespace

TEST_CASE("a call takes two tiles for each thread, fewer of many heads, and never more than eight",
          "[distributed][phase8]") {
  const SmallWorkShared scope;  // gives the threads back
  const auto largest = [](int threads, const Shape& batch) {
    use_threads(threads);
    return call_of(batch).largest_group();
  };
  CHECK(largest(1, {}) == 2);
  CHECK(largest(3, {}) == 6);
  CHECK(largest(3, {2}) == 3);
  CHECK(largest(3, {2, 2}) == 1);
  CHECK(largest(1, {3}) == 1);
  CHECK(largest(5, {}) == 8);
  CHECK(largest(2, {0}) == 4);
}

TEST_CASE("tiles are taken in groups, a short one by itself", "[distributed][phase8]") {
  const SmallWorkShared scope;
  use_threads(1);
  const RingCall all = call_of({}), causal = call_of({}, true);
  CHECK(all.mine == std::vector<Index>{1, 2, 5, 6, 9, 10});
  CHECK(text(all.that_see(5)) == "0+2x2 2+2x2 4+1x2 5+1x1 ");
  CHECK(text(all.seen_by(5)) == "0+2x2 2+2x2 4+1x2 5+1x1 ");
  CHECK(text(causal.that_see(5)) == "2+2x2 4+1x2 5+1x1 ");
  CHECK(text(causal.that_see(6)) == "3+2x2 5+1x1 ");
  CHECK(text(causal.seen_by(5)) == "0+2x2 2+1x2 ");
  CHECK(text(causal.seen_by(4)) == "0+2x2 ");
  CHECK(text(causal.that_see(11)) == "");
  use_threads(2);
  CHECK(text(all.that_see(0)) == "0+4x2 4+1x2 5+1x1 ");
  CHECK(text(causal.that_see(2)) == "1+4x2 5+1x1 ");
}
