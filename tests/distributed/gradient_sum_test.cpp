// When messages of a step begin and end; what they say is tested in training_test.cpp.
#include "distributed/gradient_sum.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "catch.hpp"
#include "copier.hpp"
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

// Passes everything on, and knows which messages have not ended.
class Counted final : public Ranks {
 public:
  explicit Counted(Ranks& ranks) : ranks_(ranks) {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  Message send(int to, int tag, std::span<const std::byte> bytes) override {
    return begun(ranks_.send(to, tag, bytes));
  }
  Message receive(int from, int tag, std::span<std::byte> bytes) override {
    return begun(ranks_.receive(from, tag, bytes));
  }
  bool done(Message& message) override {
    const std::uint64_t number = message.number;
    if (!ranks_.done(message)) return false;
    under_way.erase(number);
    return true;
  }
  void wait(Message& message) override {
    const std::uint64_t number = message.number;
    ranks_.wait(message);
    under_way.erase(number);
  }
  void enter(Index step, const char* operation) override { ranks_.enter(step, operation); }

  std::set<std::uint64_t> under_way;
  std::size_t in_all = 0;

 private:
  Message begun(Message message) {
    ++in_all;
    if (message.number != 0) under_way.insert(message.number);
    return message;
  }

  Ranks& ranks_;
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

TEST_CASE("no message is left under way", "[distributed][phase8]") {
  for (const bool divide_state : {false, true}) {
    std::vector<std::size_t> left(3), in_all(3);
    run_as_threads(3, [&](Ranks& threads) {
      Counted ranks(threads);
      const Copier model;
      Adam adam(model.parameters());
      train_in_parts(adam, model.loss(4), {4, divide_state}, {.steps = 2, .what = ""}, ranks);
      save_from_all(ranks, adam, [] {});
      const auto here = static_cast<std::size_t>(ranks.rank());
      left[here] = ranks.under_way.size();
      in_all[here] = ranks.in_all;
    });
    CHECK(left == std::vector<std::size_t>(3, 0));
    CHECK(*std::min_element(in_all.begin(), in_all.end()) > 10);
  }
}

TEST_CASE("whole parameters are divided where equal parts would end, nearly",
          "[distributed][phase8]") {
  const auto end_of_first = [](const std::vector<Index>& counts) {
    Parameters parameters;
    for (const Index count : counts) parameters.push_back({"p", Tensor::zeros({count})});
    const ParameterLayout layout(parameters);
    CHECK(layout.owned(2, 1, true).first == layout.owned(2, 0, true).last);
    CHECK(layout.owned(2, 1, true).last == layout.count());
    return layout.owned(2, 0, true).last;
  };
  CHECK(end_of_first({10, 10, 1, 10}) == 10);  // 15 is half: 10 is as near as 20
  CHECK(end_of_first({10, 8, 13}) == 18);      // 15
  CHECK(end_of_first({13, 8, 10}) == 13);      // 15
  CHECK(end_of_first({5, 5}) == 5);
}
