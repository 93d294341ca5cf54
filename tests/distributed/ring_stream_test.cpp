// When tiles leave a rank; what they bring is tested in ring_attention_test.cpp.
#include "distributed/ring_stream.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "distributed/late.hpp"
#include "distributed/ring.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

// Rank 0 of three. Tiles come when the test lets them; a tile is its number, again and again.
class OneOfThree final : public Ranks {
 public:
  explicit OneOfThree(const RingLayout& layout) : layout_(layout) {}
  int rank() const override { return 0; }
  int size() const override { return 3; }
  Message send(int to, int tag, std::span<const std::byte> bytes) override {
    real number = 0;
    std::copy_n(bytes.begin(), sizeof number, bytes_of(number).begin());
    sent += std::to_string(int(number)) + " ";
    const bool is_right =
        to == 1 && tag == 100 + int(number) % 4 && bytes.size() == size_of(number);
    wrong += is_right ? 0 : 1;
    return begin();
  }
  Message receive(int from, int tag, std::span<std::byte> bytes) override {
    while (layout_.owner(next_) == 0) ++next_;
    const real number = real(next_++);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof number) {
      std::copy_n(bytes_of(number).begin(), sizeof number, bytes.begin() + std::ptrdiff_t(i));
    }
    const bool is_right =
        from == 2 && tag == 100 + int(number) % 4 && bytes.size() == size_of(number);
    wrong += is_right ? 0 : 1;
    ++received;
    const Message message = begin();
    tile_of_[message.number] = Index(number);
    return message;
  }
  bool done(Message& message) override {
    const auto found = tile_of_.find(message.number);
    if (found != tile_of_.end() && come.count(found->second) == 0) return false;
    wait(message);
    return true;
  }
  void wait(Message& message) override {
    under_way.erase(message.number);
    message = {};
  }
  void poll() override { ++polls; }
  void enter(Index, const char*) override {}

  std::set<Index> come;
  std::string sent;
  int received = 0, polls = 0, wrong = 0;
  std::set<std::uint64_t> under_way;

 private:
  std::size_t size_of(real number) const {
    return static_cast<std::size_t>(layout_.rows(Index(number)) * 2) * sizeof(real);
  }
  Message begin() {
    under_way.insert(++messages_);
    return {messages_};
  }

  const RingLayout& layout_;
  Index next_ = 0;
  std::uint64_t messages_ = 0;
  std::map<std::uint64_t, Index> tile_of_;
};

}  // namespace

TEST_CASE("tiles travel ahead of their turn, as far as the window reaches",
          "[distributed][phase8]") {
  const RingLayout layout(34, 3, 3);  // 12 tiles, the last of one row; here 0, 5, 6, 11
  OneOfThree ranks(layout);
  std::vector<Index> filled;
  TileStream tiles(ranks, layout, 100, 2, [&](Index i, Index t, real* to) {
    CHECK(i == Index(filled.size()));
    filled.push_back(t);
    std::fill_n(to, layout.rows(t) * 2, real(t));
  });
  const auto take = [&](Index t) {
    const real* const numbers = tiles.take(t);
    return std::all_of(numbers, numbers + layout.rows(t) * 2, [&](real x) { return x == t; });
  };
  CHECK(take(0));
  CHECK(ranks.sent == "0 ");
  CHECK(ranks.received == 2);
  tiles.progress();
  CHECK(ranks.polls == 1);
  CHECK(ranks.sent == "0 ");
  CHECK(take(1));  // which began at the next rank
  CHECK(ranks.sent == "0 ");
  CHECK(ranks.received == 3);
  ranks.come = {2};
  tiles.progress();
  CHECK(ranks.sent == "0 2 ");
  ranks.come = {3};  // the last one in the window
  tiles.progress();
  CHECK(ranks.sent == "0 2 3 ");
  CHECK(take(2));
  CHECK(take(3));
  CHECK(ranks.sent == "0 2 3 5 ");  // this rank's own, before its turn
  for (const Index t : {4, 5, 6}) CHECK(take(t));
  CHECK(ranks.sent == "0 2 3 5 6 ");
  ranks.come = {7};
  tiles.progress();
  CHECK(ranks.sent == "0 2 3 5 6 ");
  for (const Index t : {7, 8, 9, 10, 11}) CHECK(take(t));
  CHECK(ranks.sent == "0 2 3 5 6 8 11 9 ");
  tiles.finish();
  CHECK(filled == std::vector<Index>{0, 5, 6, 11});
  CHECK(ranks.received == 8);
  CHECK(ranks.wrong == 0);
  CHECK(ranks.under_way.empty());
}

TEST_CASE("ring attention needs no message sooner than it must come, and sends no more",
          "[distributed][phase8]") {
  constexpr Index length = 47, width = 5, value_width = 3;  // 12 tiles, four for each of three
  const RingOptions options{.tile = 4};
  const std::vector<Tensor> of = ring_operands({3}, length, width, value_width);
  const SmallWorkShared sharing;
  use_threads(1);  // so that each call of a kernel has one tile
  const RingResult expected = on_ranks(1, of, options);
  std::vector<std::string> wrong(3);
  std::vector<std::size_t> bytes(3);
  const LateMessages messages = run_late(3, [&](LateRanks& ranks) {
    const auto here = static_cast<std::size_t>(ranks.rank());
    const auto at = RingLayout(length, options.tile, 3).positions(ranks.rank());
    const RingResult mine = on_rank(ranks, of, options);
    wrong[here] = bits_differ(mine, {rows_at(expected.y, at), rows_at(expected.d_q, at),
                                     rows_at(expected.d_k, at), rows_at(expected.d_v, at)});
    bytes[here] = ranks.bytes_sent;
    std::vector<std::string> steps = {"0 ring attention, comparing options"};
    for (const char* pass : {"forward pass", "backward pass of queries", "backward pass of keys"}) {
      for (int t = 0; t < 12; ++t) {
        steps.push_back(std::to_string(t) + " ring attention, " + pass);
      }
    }
    if (ranks.entered != steps) wrong[here] += " what it has entered";
    if (ranks.polls != 3 * 12 * 4) wrong[here] += " how often it has looked for messages";
  });
  CHECK(wrong == std::vector<std::string>(3));
  CHECK(messages == LateMessages{3 * 2 + 3 * 12 * 2 * 2, 0});  // each tile is passed on twice
  const std::size_t numbers = 3 * length * (3 * (width + value_width) + 2) * 2;
  CHECK(bytes[0] + bytes[1] + bytes[2] == numbers * sizeof(real) + 3 * 16 * sizeof(double));
}

TEST_CASE("one rank alone goes round once, and sends nothing", "[distributed][phase8]") {
  LateRanks ranks(alone());
  on_rank(ranks, ring_operands({}, 20, 4, 4), {.tile = 10});
  CHECK(ranks.entered == std::vector<std::string>{"0 ring attention, forward pass",
                                                  "1 ring attention, forward pass",
                                                  "0 ring attention, backward pass of queries",
                                                  "1 ring attention, backward pass of queries"});
  CHECK(ranks.begun() == 0);
}
