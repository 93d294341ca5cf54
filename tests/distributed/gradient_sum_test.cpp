// When messages of a step begin and end; what they say is tested in training_test.cpp.
#include "distributed/gradient_sum.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "catch.hpp"
#include "copier.hpp"
#include "distributed/tags.hpp"
#include "late.hpp"
#include "tapestry/memory_account.hpp"
#include "tapestry/optim.hpp"

using namespace tapestry;

namespace {

// Rank 0 of two, whose messages take no time: the other rank sends zeros.
class NoTime final : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  Message send(int, int, std::span<const std::byte> bytes) override {
    sent.push_back(bytes.size());
    return {};
  }
  Message receive(int, int, std::span<std::byte> bytes) override {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    return {};
  }
  bool done(Message&) override { return true; }
  void wait(Message&) override {}
  void enter(Index, const char*) override {}

  std::vector<std::size_t> sent;  // bytes of each message
};

// Rank 0 of two. A message has ended when the test says so, and must not be waited for before.
class Held final : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  Message send(int, int, std::span<const std::byte>) override { return {++begun}; }
  Message receive(int, int, std::span<std::byte> bytes) override {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    return {++begun};
  }
  bool done(Message& message) override {
    if (message.number != 0 && ended.count(message.number) == 0) return false;
    message = {};
    return true;
  }
  void wait(Message& message) override { too_early += done(message) ? 0 : 1; }
  void enter(Index, const char*) override {}

  std::uint64_t begun = 0;
  std::set<std::uint64_t> ended;
  int too_early = 0;
};

}  // namespace

TEST_CASE("sums go back while the backward pass goes on", "[distributed][phase8]") {
  for (const bool divided : {false, true}) {
    NoTime ranks;
    const Index count = 100'000;  // two messages: of 65536 numbers, and of the rest
    const Parameters two = {{"a", Tensor::zeros({count})}, {"b", Tensor::zeros({count})}};
    GradientSum sum(ranks, two, 2, divided);
    CHECK(sum.own().count() == count);
    sum.begin_last(0);
    sum.complete(1, Tensor::ones({count}));  // the other rank's
    CHECK(ranks.sent == std::vector<std::size_t>{65536 * sizeof(real), 34464 * sizeof(real)});
    sum.complete(0, Tensor::full({count}, 3));
    CHECK(ranks.sent.size() == 2);
    sum.after_record();
    CHECK(ranks.sent.size() == (divided ? 2 : 4));
    CHECK(sum.finish().values()[0] == 3);
    CHECK(ranks.sent.size() == (divided ? 2 : 4));
    NoTime first;
    GradientSum again(first, two, 2, divided);
    again.begin_last(0);
    again.complete(0, Tensor::ones({count}));  // the own ones wait for no other
    again.after_record();
    CHECK(first.sent.size() == (divided ? 0 : 2));
  }
}

TEST_CASE("each number of many buckets is summed", "[distributed][phase8]") {
  constexpr Index count = 150'000;  // of each of three owners: three buckets
  for (const bool divided : {false, true}) {
    std::vector<Index> wrong(3);
    run_as_threads(3, [&](Ranks& ranks) {
      const Parameters parameters = {{"a", Tensor::zeros({count})},
                                     {"b", Tensor::zeros({count})},
                                     {"c", Tensor::zeros({count})}};
      GradientSum sum(ranks, parameters, 3, divided);
      sum.begin_last(ranks.rank());
      for (Index i = 0; i < 3; ++i) {  // number n has the gradients n, 2 n and 3 n
        const Tensor numbers = Tensor::arange(count) + static_cast<double>(i * count);
        sum.complete(static_cast<std::size_t>(i), numbers * double(ranks.rank() + 1));
      }
      const Range range = divided ? sum.own() : Range{0, 3 * count};
      const std::vector<real> sums = sum.finish().values();
      for (Index n = range.first; n < range.last; ++n) {
        const bool is_right = sums[static_cast<std::size_t>(n)] == static_cast<real>(6 * n);
        wrong[static_cast<std::size_t>(ranks.rank())] += is_right ? 0 : 1;
      }
    });
    CHECK(wrong == std::vector<Index>(3, 0));
  }
}

TEST_CASE("a bucket is added when it has come, and fetched when it has been read",
          "[distributed][phase8]") {
  Held ranks;
  const Index count = 100'000;  // two buckets for each rank
  const Parameters two = {{"a", Tensor::zeros({count})}, {"b", Tensor::zeros({count})}};
  GradientSum sum(ranks, two, 2, false);
  sum.begin_last(0);                       // 1 and 2: what comes for the own buckets
  sum.complete(1, Tensor::ones({count}));  // 3 and 4: the other rank's
  sum.complete(0, Tensor::ones({count}));
  CHECK(ranks.begun == 4);
  for (const std::uint64_t second : {2, 4}) {  // of the own buckets, and of the other's
    ranks.ended.insert(second);
    sum.after_record();
    CHECK(ranks.begun == 4);
  }
  ranks.ended.insert(1);
  sum.after_record();
  CHECK(ranks.begun == 6);  // both sums are sent
  ranks.ended.insert(3);
  sum.after_record();
  CHECK(ranks.begun == 8);  // the other two will come
  CHECK(ranks.too_early == 0);
}

TEST_CASE("no message is left under way, or needed before it must come", "[distributed][phase8]") {
  constexpr Index micro_batches = 8;
  const auto train = [](Ranks& ranks, const Copier& model, Adam& adam, bool shard_state) {
    train_in_parts(adam, model.loss(micro_batches), {micro_batches, shard_state},
                   {.steps = 2, .what = ""}, ranks);
  };
  const auto numbers_in = [](const Parameters& parameters) {
    std::vector<std::vector<real>> all;
    for (const Parameter& one : parameters) all.push_back(one.value.values());
    return all;
  };
  const Copier expected;
  Adam adam(expected.parameters());
  train(alone(), expected, adam, false);
  for (const int count : {3, 8}) {  // of eight, some own no parameter
    for (const bool shard_state : {false, true}) {
      CAPTURE(count, shard_state);
      std::vector<int> right(static_cast<std::size_t>(count));
      const LateMessages messages = run_late(count, [&](LateRanks& ranks) {
        const Copier model;
        Adam mine(model.parameters());
        train(ranks, model, mine, shard_state);
        for (int again = 0; again < 2; ++again) {
          save_from_all(ranks, mine, [&] {
            right[0] += numbers_in(mine.state()) == numbers_in(adam.state()) ? 1 : 0;
          });
        }
        const bool same = numbers_in(model.parameters()) == numbers_in(expected.parameters());
        right[static_cast<std::size_t>(ranks.rank())] += same ? 1 : 0;
      });
      CHECK(right.front() == 3);
      CHECK(std::count(right.begin(), right.end(), 1) == count - 1);
      CHECK(messages.begun > std::size_t(10 * count));
      CHECK(messages.left == 0);
    }
  }
}

TEST_CASE("to save what is not divided takes two messages for each other rank",
          "[distributed][phase8]") {
  const LateMessages messages = run_late(3, [](LateRanks& ranks) {
    Adam adam({{"x", Tensor::ones({2})}});
    save_from_all(ranks, adam, [] {});
  });
  CHECK(messages == LateMessages{2 * 2 * 2, 0});
}

TEST_CASE("no two messages of a step to one rank have the same tag", "[distributed][phase8]") {
  std::vector<int> twice(3), outside(3);
  run_late(3, [&](LateRanks& ranks) {  // of eight micro-batches rank 1 has 2, 3 and 4: two nodes
    const Copier model;
    Adam adam(model.parameters());
    train_in_parts(adam, model.loss(8), {8}, {.steps = 1, .what = ""}, ranks);
    const auto here = static_cast<std::size_t>(ranks.rank());
    for (const auto& [line, count] : ranks.lines) {
      const auto [to, tag] = line;
      twice[here] += count > 1 ? 1 : 0;
      outside[here] += tag > tags::meeting && tag < tags::sums ? 1 : 0;
    }
  });
  CHECK(twice == std::vector<int>(3));
  CHECK(outside == std::vector<int>(3));
}

TEST_CASE("of many micro-batches few sums are kept", "[distributed][phase8]") {
  const Tensor x = Tensor::ones({1 << 16});
  GradientSum total(alone(), {{"x", x}}, 16, false);
  Tape tape({x});
  const Gradients gradients = tape.backward(sum(x * 3.0));
  const MemoryAccount account;
  std::size_t row = 0;
  {
    const Tensor one = Tensor::empty({1 << 16});
    row = account.live_bytes();
  }
  for (unsigned i = 0; i < 15; ++i) {
    total.add(i, gradients);
    CHECK(account.live_bytes() == row * static_cast<std::size_t>(std::popcount(i + 1)));
  }
}

TEST_CASE("whole parameters are divided where equal parts would end, nearly",
          "[distributed][phase8]") {
  const auto end_of_first = [](const std::vector<Index>& counts) {
    Parameters parameters;
    for (const Index count : counts) parameters.push_back({"p", Tensor::zeros({count})});
    const ParameterLayout layout(parameters);
    REQUIRE(layout.ranges().size() == counts.size());
    Index first = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      CHECK(layout.ranges()[i].first == first);
      first += counts[i];
      CHECK(layout.ranges()[i].last == first);
    }
    CHECK(layout.owned(2, 1, true).first == layout.owned(2, 0, true).last);
    CHECK(layout.owned(2, 1, true).last == layout.count());
    return layout.owned(2, 0, true).last;
  };
  CHECK(end_of_first({10, 10, 1, 10}) == 10);  // 15 is half: 10 is as near as 20
  CHECK(end_of_first({10, 8, 13}) == 18);      // 15
  CHECK(end_of_first({13, 8, 10}) == 13);      // 15
  CHECK(end_of_first({5, 5}) == 5);
}

TEST_CASE("of fewer numbers than ranks each has one owner, whole parameters or not",
          "[distributed][phase8]") {
  const ParameterLayout layout({{"a", Tensor::zeros({1})}, {"b", Tensor::zeros({1})}});
  for (const bool whole : {false, true}) {
    std::vector<Index> ends;
    for (int rank = 0; rank < 5; ++rank) ends.push_back(layout.owned(5, rank, whole).last);
    CHECK(ends == std::vector<Index>{0, 0, 1, 1, 2});
  }
}

TEST_CASE("a stretch of numbers is cut into buckets, and none of nothing",
          "[distributed][phase8]") {
  const auto sizes = [](const Range& range) {
    std::vector<Index> all;
    for (const Range& bucket : buckets_of(range)) all.push_back(bucket.count());
    return all;
  };
  constexpr Index most = 65536;
  CHECK(sizes({5, 5}).empty());
  CHECK(sizes({5, 6}) == std::vector<Index>{1});
  CHECK(sizes({5, 5 + most}) == std::vector<Index>{most});
  CHECK(sizes({5, 8 + 2 * most}) == std::vector<Index>{most, most, 3});
}
