// Which positions a rank holds, what ring attention refuses, and the memory that it needs.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "distributed/ring.hpp"
#include "tapestry/memory_account.hpp"

using namespace tapestry;

namespace {

// What `work` says on two ranks when it is refused.
std::string refusal(const std::function<void(Ranks&)>& work) {
  try {
    run_as_threads(2, work);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

// The most bytes in use on any of the ranks, for one causal head there and back.
std::size_t bytes_needed(int count, Index length) {
  constexpr Index width = 64;
  std::vector<std::size_t> peaks(static_cast<std::size_t>(count));
  run_as_threads(count, [&](Ranks& ranks) {
    const MemoryAccount account;
    // 128 tiles, of which nearly all are masked: that takes little time, and as much memory.
    const RingOptions options{.is_causal = true, .lengths = {300}, .tile = length / 128};
    const Index rows = RingLayout(length, options.tile, count).rows_of(ranks.rank());
    const Tensor x = Tensor::zeros({1, rows, width}), k = x.clone(), v = x.clone();
    Tape tape({x, k, v});
    const Tensor y = ring_attention(ranks, x, k, v, length, options);
    tape.backward(y, Tensor::ones(y.shape()));
    peaks[static_cast<std::size_t>(ranks.rank())] = account.peak_bytes();
  });
  return *std::max_element(peaks.begin(), peaks.end());
}

}  // namespace

TEST_CASE("tiles are dealt to ranks in zig-zag order", "[distributed][phase8]") {
  const RingLayout usual(32, 4, 4);  // 2R tiles: rank r has the tiles r and 2R - 1 - r
  for (int r = 0; r < 4; ++r) CHECK(usual.tiles_of(r) == std::vector<Index>{r, 7 - r});
  const RingLayout odd(21, 4, 2);  // six tiles, the last of one position
  CHECK(odd.tiles() == 6);
  CHECK(odd.tiles_of(0) == std::vector<Index>{0, 3, 4});
  CHECK(odd.tiles_of(1) == std::vector<Index>{1, 2, 5});
  CHECK(odd.positions(1) == std::vector<Index>{4, 5, 6, 7, 8, 9, 10, 11, 20});
  CHECK(odd.rows_of(1) == 9);
  CHECK(RingLayout(3, 4, 2).positions(1).empty());
  CHECK(RingLayout(0, 4, 2).tiles() == 0);
}

TEST_CASE("every position has one rank, and causal work is equal at every moment",
          "[distributed][phase8]") {
  for (const int count : {1, 2, 3, 5, 8}) {
    for (const Index length : {1, 7, 64, 720}) {
      const RingLayout layout(length, 3, count);
      std::vector<Index> all;
      for (int r = 0; r < count; ++r) {
        const auto mine = layout.positions(r);
        CHECK(std::is_sorted(mine.begin(), mine.end()));
        all.insert(all.end(), mine.begin(), mine.end());
      }
      std::sort(all.begin(), all.end());
      CHECK(all == [&] {
        std::vector<Index> each(static_cast<std::size_t>(length));
        for (Index i = 0; i < length; ++i) each[static_cast<std::size_t>(i)] = i;
        return each;
      }());
      for (Index t = 0; t < layout.tiles(); ++t) {  // how many tiles see it, rank by rank
        std::vector<Index> work;
        for (int r = 0; r < count; ++r) {
          const auto mine = layout.tiles_of(r);
          work.push_back(std::count_if(mine.begin(), mine.end(), [&](Index i) { return i >= t; }));
        }
        const auto [least, most] = std::minmax_element(work.begin(), work.end());
        CHECK(*most - *least <= (layout.tiles() % (2 * count) == 0 ? 1 : 2));
      }
    }
  }
}

TEST_CASE("ring attention refuses what does not fit the layout", "[distributed][phase8]") {
  const Tensor x = Tensor::zeros({2, 8, 4}), short_x = Tensor::zeros({2, 7, 4});
  const auto with = [&](const Tensor& q, const Tensor& k, Index length, RingOptions options) {
    return refusal([=](Ranks& ranks) { ring_attention(ranks, q, k, k, length, options); });
  };
  CHECK(missing_word(with(x, short_x, 16, {.tile = 4}),
                     {"ring_attention", "q is (2, 8, 4), k is (2, 7, 4)", "rank", "of 2",
                      "8 of 16 positions in tiles of 4", "RingLayout"}) == "");
  CHECK(missing_word(with(Tensor::zeros({8, 4}), x, 16, {.tile = 4}),
                     {"leading axes must be equal"}) == "");
  CHECK(missing_word(with(x, x, 16, {.tile = 0}), {"tile 0", "1 to 1024"}) == "");
  CHECK(RingLayout(16, 1, 2).positions(0).size() == 8);
  CHECK(RingLayout(16, 1024, 2).positions(0).size() == 16);
  CHECK(missing_word(with(x, x, 16, {.tile = 1025}), {"tile 1025", "1 to 1024"}) == "");
  CHECK(missing_word(with(x, x, -1, {}), {"length -1", "must not be negative"}) == "");
  CHECK(complaint([] { RingLayout(16, 4, 0); }, {"ranks 0", "at least one rank"}) == "");
  CHECK(missing_word(with(x, x, 16, {.lengths = {3}, .tile = 4}),
                     {"1 lengths for 2 sequences", "one for each"}) == "");
  CHECK(missing_word(with(x, x, 16, {.lengths = {3, -4}, .tile = 4}),
                     {"a length is -4", "negative"}) == "");
  RingOptions capped{.tile = 4};
  capped.scores.softcap = -1;
  CHECK(missing_word(with(x, x, 16, capped), {"ring_attention", "softcap is -1"}) == "");
  const Tensor many = Tensor::zeros({1, 1, 1, 1, 8, 4});
  CHECK(missing_word(with(many, many, 16, {.tile = 4}), {"at most 5 axes"}) == "");
}

TEST_CASE("ranks that call ring attention differently are told which of them, and in what",
          "[distributed][phase8]") {
  const auto differing = [](const RingOptions& a, const RingOptions& b, Index width) {
    return refusal([=](Ranks& ranks) {
      const bool first = ranks.rank() == 0;
      const Tensor x = Tensor::zeros({8, first ? 4 : width});
      ring_attention(ranks, x, x, x, 16, first ? a : b);
    });
  };
  const RingOptions usual{.tile = 4};
  RingOptions scaled = usual;
  scaled.scores.scale = 0.25;
  CHECK(missing_word(differing(usual, {.tile = 8}, 4),
                     {"tile: ", "4 on rank 0", "8 on rank 1", "the same"}) == "");
  CHECK(missing_word(differing(usual, {.is_causal = true, .tile = 4}, 4),
                     {"causal", "1 on rank 1"}) == "");
  CHECK(missing_word(differing(usual, {.lengths = {3}, .tile = 4}, 4), {"hash of lengths"}) == "");
  CHECK(missing_word(differing(usual, scaled, 4), {"scale", "0 on rank 0", "0.25 on rank 1"}) ==
        "");
  CHECK(missing_word(differing(usual, usual, 6), {"width", "4 on rank 0", "6 on rank 1"}) == "");
  const auto shapes = [](const Shape& a, const Shape& b, Index length) {
    return refusal([=](Ranks& ranks) {
      const bool first = ranks.rank() == 0;
      const Tensor x = Tensor::zeros(first ? a : b);
      ring_attention(ranks, x, x, x, first ? 16 : length, {.tile = 4});
    });
  };
  CHECK(missing_word(shapes({8, 4}, {8, 4}, 15), {"length: ", "16 on rank 0", "15 on rank 1"}) ==
        "");
  CHECK(missing_word(shapes({2, 3, 8, 4}, {3, 2, 8, 4}, 16),
                     {"sequences: ", "2 on rank 0", "3 on rank 1"}) == "");
  CHECK(missing_word(refusal([&](Ranks& ranks) {
                       const Tensor x = Tensor::zeros({8, 4});
                       std::vector<Tensor> watched;
                       if (ranks.rank() == 1) watched = {x};
                       Tape tape(watched);
                       ring_attention(ranks, x, x, x, 16, usual);
                     }),
                     {"q recorded", "0 on rank 0", "1 on rank 1"}) == "");
}

TEST_CASE("memory of ring attention falls with the number of ranks", "[distributed][phase8]") {
  constexpr Index length = in_double ? 4096 : 32768;  // plain loops in double
  const double alone = double(bytes_needed(1, length)), two = double(bytes_needed(2, length)),
               eight = double(bytes_needed(8, length));
  CAPTURE(alone, two, eight);
  CHECK(two < 0.8 * alone);
  CHECK(eight < 1.15 * two / 4);
  CHECK(eight > two / 4 / 1.15);
}

TEST_CASE("a rank that runs out of its memory ends the others' waits", "[distributed][phase8]") {
  const auto with_limit = [](std::size_t limit) {
    return refusal([=](Ranks& ranks) {
      const MemoryAccount account(ranks.rank() == 1 ? limit : std::size_t{1} << 30);
      const Tensor x = Tensor::ones({512, 64});
      Tape tape({x});
      const Tensor y = ring_attention(ranks, x, x, x, 1024, {.tile = 32});
      tape.backward(y, Tensor::ones(y.shape()));
    });
  };
  const std::size_t rows = 512 * 64 * sizeof(real);
  CHECK(with_limit(100 * rows) == "nothing was refused");
  for (const std::size_t few : {2, 3, 4, 5, 6}) {  // before, during and after either direction
    CHECK(missing_word(with_limit(few * rows), {"out of memory", "limit of", "more ranks"}) == "");
  }
}
