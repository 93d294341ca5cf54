#include "tapestry/epochs.hpp"

#include <algorithm>
#include <numeric>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

using Ids = std::vector<std::int32_t>;

Ids joined(const std::vector<Indices>& batches) {
  Ids all;
  for (const Indices& batch : batches) {
    REQUIRE(batch.shape == Shape{static_cast<Index>(batch.values.size())});
    all.insert(all.end(), batch.values.begin(), batch.values.end());
  }
  return all;
}

Ids sorted(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

Ids counted(int count) {
  Ids ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace

TEST_CASE("in each epoch every item comes exactly once, in another order", "[phase1]") {
  for (const Index batch_size : {1, 3, 7, 50, 60}) {
    CAPTURE(batch_size);
    Epochs epochs(50, batch_size, 4);
    Ids before = counted(50);
    for (Index number = 1; number <= 5; ++number) {
      const std::vector<Indices> batches = epochs.epoch(number);
      CHECK(static_cast<Index>(batches.size()) == epochs.batches());
      for (std::size_t i = 0; i + 1 < batches.size(); ++i) {
        CHECK(batches[i].shape[0] == batch_size);
      }
      CHECK(batches.back().shape[0] == 50 - batch_size * (epochs.batches() - 1));
      const Ids order = joined(batches);
      CHECK(sorted(order) == counted(50));
      CHECK(order != before);
      before = order;
    }
  }
}

TEST_CASE("batches depend on the seed and their number alone", "[phase1]") {
  Epochs epochs(10, 4, 7), same(10, 4, 7), other(10, 4, 8), larger(10, 5, 7);
  const std::vector<Indices> third = epochs.epoch(3);
  CHECK(same.batch(7).values == third[0].values);  // after two epochs of three batches
  CHECK(same.batch(8).values == third[1].values);
  CHECK(same.batch(9).values == third[2].values);
  CHECK(same.batch(1).values == epochs.epoch(1)[0].values);
  CHECK(same.batch(8).values == third[1].values);
  CHECK(joined(other.epoch(3)) != joined(third));
  CHECK(joined(larger.epoch(3)) == joined(third));
}

TEST_CASE("the last, smaller batch is kept or dropped; unshuffled items stay in order",
          "[phase1]") {
  Epochs kept(10, 4, 1, {.shuffle = false}), dropped(10, 4, 1, {.drop_last = true});
  CHECK(kept.batches() == 3);
  CHECK(kept.batch(2).values == Ids{4, 5, 6, 7});
  CHECK(kept.batch(3).values == Ids{8, 9});
  CHECK(kept.batch(4).values == Ids{0, 1, 2, 3});
  CHECK(dropped.batches() == 2);
  for (Index number = 1; number <= 3; ++number) {
    Ids order = sorted(joined(dropped.epoch(number)));
    CHECK(order.size() == 8);
    CHECK(std::unique(order.begin(), order.end()) == order.end());
  }
  CHECK(Epochs(8, 4, 1).batches() == 2);
  CHECK(Epochs(1, 4, 1).batches() == 1);
  CHECK(Epochs(2147483647, 4, 1).batches() == 536870912);  // as many items as there may be
  CHECK(Epochs(8, 4, 1, {.drop_last = true}).batches() == 2);
}

TEST_CASE("epochs refuse sizes that give no batch", "[phase1]") {
  CHECK(complaint([] { Epochs(0, 4, 1); }, {"Epochs: 0 items in batches of 4", "at least 1"}) ==
        "");
  CHECK(complaint([] { Epochs(4, 0, 1); }, {"4 items in batches of 0", "at least 1"}) == "");
  CHECK(complaint([] { Epochs(3, 4, 1, {.drop_last = true}); }, {"none would be left"}) == "");
  CHECK(complaint([] { Epochs(Index{1} << 31, 4, 1); }, {"2147483647 items"}) == "");
  CHECK(complaint([] { Epochs(3, 4, 1).batch(0); }, {"no step 0"}) == "");
  CHECK(complaint([] { Epochs(3, 4, 1).epoch(0); }, {"no epoch 0"}) == "");
}

TEST_CASE("take gives the items with these numbers, of any shape", "[phase1]") {
  const Tensor data({3, 2, 2}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  CHECK(difference(take(data, Indices({2}, {2, 0})), {2, 2, 2}, {20, 21, 22, 23, 0, 1, 2, 3}) ==
        "");
  CHECK(difference(take(data, Indices({}, {1})), {2, 2}, {10, 11, 12, 13}) == "");
  CHECK(difference(take(Tensor({3}, {5, 6, 7}), Indices({2, 2}, {1, 1, 0, 2})), {2, 2},
                   {6, 6, 5, 7}) == "");
  CHECK(take(data, Indices({0}, {})).shape() == Shape{0, 2, 2});
  CHECK(wrong_gradient(
            [](const std::vector<Tensor>& in) { return take(in[0], Indices({3}, {1, 0, 1})); },
            {data}) == "");
  const Indices labels = take(Indices({3, 2}, {0, 1, 10, 11, 20, 21}), Indices({2}, {2, 1}));
  CHECK(labels.shape == Shape{2, 2});
  CHECK(labels.values == Ids{20, 21, 10, 11});
  CHECK(take(Indices({3}, {7, 8, 9}), Indices({2}, {2, 0})).values == Ids{9, 7});
}

TEST_CASE("take refuses ids that are no item", "[phase1]") {
  CHECK(complaint([] { take(Tensor::zeros({3, 2}), Indices({2}, {0, 3})); },
                  {"take: id 3 at place 1 is none of the 3 items of (3, 2)"}) == "");
  Indices changed({3}, {0, 1, 2});
  changed.values.pop_back();
  CHECK(complaint([&] { take(changed, Indices({1}, {2})); }, {"take", "2", "(3)"}) == "");
  CHECK(complaint([&] { take(Indices({3}, {0, 1, 2}), changed); }, {"take", "2", "(3)"}) == "");
  CHECK(complaint([&] { take(Tensor::zeros({3}), changed); }, {"take", "2", "(3)"}) == "");
  CHECK(complaint([] { take(Tensor::zeros({3}), Indices({3}, {1, -1, 0})); },
                  {"take: id -1 at place 1"}) == "");
  CHECK(complaint([] { take(Indices({3}, {0, 1, 2}), Indices({1}, {-1})); },
                  {"take: id -1 at place 0"}) == "");
  CHECK(complaint([] { take(Tensor(1), Indices({1}, {0})); }, {"take: data is ()"}) == "");
}
