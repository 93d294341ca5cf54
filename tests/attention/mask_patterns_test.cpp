// Masks of long sequences: global positions, parts, and how much there is to see.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "attention/mask_rule.hpp"
#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

std::vector<Tensor> operands(Index length) {
  return {random_tensor({length, 8}, 1), random_tensor({length, 8}, 2),
          random_tensor({length, 8}, 3)};
}

// fused attention and its gradients by q, k and v
std::vector<Tensor> outcome(const std::vector<Tensor>& in, const Mask& mask) {
  Tape tape(in);
  const Tensor y = fused_attention(in[0], in[1], in[2], mask);
  const Gradients gradients = tape.backward(y, random_tensor(y.shape(), 4));
  return {y, gradients.at(0), gradients.at(1), gradients.at(2)};
}

std::string not_finite(const Tensor& x) {
  for (const real value : x.values()) {
    if (!std::isfinite(value)) return summary(x);
  }
  return "";
}

// What density() counts, key by key.
Mask::Density counted(const Mask& mask, Index queries, Index keys, Index batch) {
  Mask::Density sum{queries * keys, 0, 0, 0};
  for (Index i = 0; i < queries; i += 64) {
    for (Index j = 0; j < keys; j += 64) {
      Index seen = 0;
      for (Index a = i; a < std::min(queries, i + 64); ++a) {
        for (Index b = j; b < std::min(keys, j + 64); ++b) seen += mask.allows(batch, a, b);
      }
      sum.allowed += seen;
      sum.skipped += seen == 0;
      ++sum.blocks;
    }
  }
  return sum;
}

Tensor scattered(Index queries, Index keys) {
  Tensor some = Tensor::zeros({queries, keys});
  for (Index i = 0; i < queries; ++i) some.set({i, (i * 7) % keys}, 1);
  return some;
}

// One block, and what is to be found about it key by key.
struct Block {
  Index query, queries, key, keys;
  Index end = 0, clear = 0;  // behind the last key seen; how many of the first ones all see

  Block(const Mask& mask, Index number)
      : query(std::array{0, 3, 16, 41}[static_cast<std::size_t>(number % 4)]),
        queries(std::array{1, 5, 16}[static_cast<std::size_t>(number / 4 % 3)]),
        key(std::array{0, 2, 16, 37}[static_cast<std::size_t>(number / 12 % 4)]),
        keys(std::array{1, 7, 16, 20}[static_cast<std::size_t>(number / 48)]),
        clear(keys) {
    for (Index j = keys - 1; j >= 0; --j) {
      Index seen = 0;
      for (Index i = 0; i < queries; ++i) seen += mask.allows(0, query + i, key + j);
      if (seen > 0) end = std::max(end, j + 1);
      if (seen < queries) clear = j;
    }
  }
};
constexpr Index blocks = 4 * 3 * 4 * 4;

}  // namespace

TEST_CASE("global positions see every key, and every query sees them", "[phase6][mask]") {
  for (const Index count : {0, 1, 3, 9}) {
    for (const Index offset : {0, 1, 4}) {
      const Mask mask = Mask::global(count, offset), both = Mask::local(1, offset) | mask;
      for (Index i = 0; i < 6; ++i) {
        for (Index j = 0; j < 10; ++j) {
          CAPTURE(count, offset, i, j);
          CHECK(mask.allows(0, i, j) == (i + offset < count || j < count));
          CHECK(both.allows(0, i, j) == (i + offset < count || j < count ||
                                         std::abs(static_cast<int>(i + offset - j)) <= 1));
        }
      }
    }
  }
  CHECK(((Mask::local(0) | Mask::global(1)) & Mask::causal()).text(3, 3) ==
        "✓ ✗ ✗\n✓ ✓ ✗\n✓ ✗ ✓\n");
}

TEST_CASE("a part of a mask says of its queries and keys what the whole says", "[phase6][mask]") {
  const std::vector<Mask> masks = {Mask(),
                                   Mask::causal(3),
                                   Mask::local(2) | Mask::global(4),
                                   Mask::padding({90, 40}) & Mask::strided(3),
                                   Mask::from(MaskEncoding::keep, scattered(70, 90)),
                                   Mask::blocked(7).part(1, 69, 2, 88)};
  for (std::size_t m = 0; m < masks.size(); ++m) {
    const Mask part = masks[m].part(5, 60, 9, 70);
    CAPTURE(m);
    if (m < 5) {  // the last one does not begin at 0: it is a part itself
      const Tensor seen = part.tensor({2, 60, 70}), whole = masks[m].tensor({2, 70, 90});
      CHECK(difference_to(expand(seen, {2, 60, 70}),
                          expand(slice(slice(whole, -2, 5, 65), -1, 9, 79), {2, 60, 70})) == "");
    }
    for (Index i = 0; i < 60; i += 13) CHECK(part.allows(1, i, 4) == masks[m].allows(1, i + 5, 13));
  }
}

TEST_CASE("density counts the pairs that may be seen and the blocks that nobody sees",
          "[phase6][mask]") {
  const std::vector<Mask> masks = {Mask(),
                                   Mask::causal(),
                                   Mask::local(5),
                                   Mask::strided(70),
                                   Mask::blocked(64),
                                   Mask::local(3) | Mask::global(2),
                                   Mask::padding({200, 0}),
                                   Mask::from(MaskEncoding::keep, scattered(150, 200)),
                                   Mask::causal().part(20, 150, 7, 200)};
  for (std::size_t m = 0; m < masks.size(); ++m) {
    const Mask::Density ours = masks[m].density(150, 200, m % 2);
    const Mask::Density expected = counted(masks[m], 150, 200, m % 2);
    CAPTURE(m);
    CHECK(ours.pairs == expected.pairs);
    CHECK(ours.allowed == expected.allowed);
    CHECK(ours.blocks == expected.blocks);
    CHECK(ours.skipped == expected.skipped);
  }
  CHECK(Mask::causal().density(0, 0).blocks == 0);
  CHECK(Mask().density(3, 4, 5, 6).allowed == 12);  // the same for every sequence and head
  const Mask::Density window = Mask::local(16).density(4096, 4096);
  CHECK(window.blocks == 4096);
  CHECK(window.skipped == 4096 - 64 - 2 * 63);
}

TEST_CASE("fused attention never touches what a mask hides block by block", "[phase6][mask]") {
  const Index length = 320;
  std::vector<Tensor> in = operands(length);
  for (Index j = 128; j < 192; ++j) {  // a block of poison that no query sees
    in[1].set({j, 3}, std::nan(""));
    in[2].set({j, 3}, infinity);
  }
  Tensor rows = Tensor::ones({length, length});
  for (Index i = 0; i < length; ++i) {
    for (Index j = 128; j < 192; ++j) rows.set({i, j}, 0);
  }
  const Mask hidden = Mask::from(MaskEncoding::keep, rows);
  for (const Mask& mask : {hidden, hidden & Mask::local(40), hidden & Mask::strided(2)}) {
    for (const Tensor& x : outcome(in, mask)) CHECK(not_finite(x) == "");
    CHECK(not_finite(attention(in[0], in[1], in[2], mask).output) == "");
  }
  const Tensor far = slice(in[0], 0, 0, 64);  // these are too far away from the poison
  CHECK(not_finite(fused_attention(far, in[1], in[2], Mask::local(64))) == "");
  CHECK(not_finite(fused_attention(far, in[1], in[2], Mask::local(65))) != "");
}

TEST_CASE("a window as long as the sequence is full attention, to the last bit", "[phase6][mask]") {
  for (const Index length : {1, 2, 31, 33, 64, 130}) {
    const std::vector<Tensor> in = operands(length);
    const std::vector<Tensor> full = outcome(in, Mask());
    const Tensor explicit_full = attention(in[0], in[1], in[2]).output;
    for (const Mask& mask : {Mask::local(length), Mask::local(length - 1), Mask::blocked(length),
                             Mask::global(length), Mask::strided(1)}) {
      const std::vector<Tensor> ours = outcome(in, mask);
      CAPTURE(length);
      for (std::size_t i = 0; i < 4; ++i) CHECK(largest_difference(ours[i], full[i]) == 0);
      CHECK(largest_difference(attention(in[0], in[1], in[2], mask).output, explicit_full) == 0);
    }
  }
}

TEST_CASE("attention by global and local positions is right on both paths", "[phase6][mask]") {
  const Mask mask = Mask::local(2) | Mask::global(3);
  for (const Index length : {1, 2, 31, 33, 100}) {
    const std::vector<Tensor> in = operands(length);
    CAPTURE(length);
    CHECK(difference_to(fused_attention(in[0], in[1], in[2], mask),
                        attention(in[0], in[1], in[2], mask).output, 1e-5) == "");
  }
  const Function f = [&](const std::vector<Tensor>& in) {
    return fused_attention(in[0], in[1], in[2], mask & Mask::causal());
  };
  CHECK(wrong_gradient(f, operands(9)) == "");
}

TEST_CASE("a block ends at the last key seen, and begins with those that all see",
          "[phase6][mask]") {
  const std::vector<Mask> masks = {Mask::strided(50, 3), Mask::blocked(16) & Mask::strided(40),
                                   Mask::from(MaskEncoding::keep, scattered(60, 60)),
                                   Mask::local(1) | Mask::strided(30)};
  for (const Mask& mask : masks) {
    for (Index number = 0; number < blocks; ++number) {
      const Block b(mask, number);
      std::array<std::uint64_t, visibility_block> keep{};
      const BlockVisibility visible =
          mask.visible_in_block(0, b.query, b.queries, b.key, b.keys, keep.data());
      CAPTURE(b.query, b.queries, b.key, b.keys);
      REQUIRE(visible.keys == b.end);
      REQUIRE(visible.clear == b.clear);
    }
  }
}

TEST_CASE("a rule is asked of no key behind the last one seen, nor of those that all see",
          "[phase6][mask]") {
  struct Case {
    Mask mask;
    Index offset, window;  // all see the first keys of blocks at most so far behind the last query
  };
  const std::vector<Case> cases = {
      {Mask::causal(), 0, 999},      {Mask::causal(9), 9, 999},
      {Mask::padding({20}), 0, 999}, {Mask::global(16), 0, 999},
      {Mask::global(6, 2), 2, 999},  {Mask::local(5), 0, 5},
      {Mask::local(12, 4), 4, 12},   {Mask::causal() & Mask::local(5), 0, 5},
      {Mask::blocked(16), 0, -999},  {Mask::blocked(7, 3), 3, -999}};
  for (const auto& [mask, offset, window] : cases) {
    for (Index number = 0; number < blocks; ++number) {
      const Block b(mask, number);
      std::array<std::uint64_t, visibility_block> keep, other;  // equal where written
      keep.fill(0x5A5A5A5A5A5A5A5A), other.fill(~keep[0]);
      for (auto* words : {&keep, &other}) {
        const BlockVisibility visible =
            mask.visible_in_block(0, b.query, b.queries, b.key, b.keys, words->data());
        CAPTURE(offset, window, b.query, b.queries, b.key, b.keys);
        REQUIRE(visible.keys == b.end);
        REQUIRE(visible.clear == b.clear);
      }
      const Index begin = b.key >= offset + b.query + b.queries - 1 - window ? b.clear : 0;
      for (Index j = 0; j < visibility_block; ++j) {
        const auto place = static_cast<std::size_t>(j);
        REQUIRE((keep[place] == other[place]) == (begin <= j && j < b.end));
      }
    }
  }
}

TEST_CASE("a matrix of bits says nothing of what lies outside it", "[phase1][mask]") {
  const MaskBits bits(2, 3, 5);
  const auto words = [&](Index batch, Index query, Index key) {
    const std::string place = "batch element " + std::to_string(batch) + ", query " +
                              std::to_string(query) + ", key " + std::to_string(key);
    return complaint([&] { (void)bits.allows(batch, query, key); },
                     {place.c_str(), "is not in the matrix"});
  };
  CHECK(words(0, 3, 4) == "");
  CHECK(words(1, 2, 5) == "");
  CHECK(words(2, 0, 0) == "");
  CHECK(words(-1, 0, 0) == "");
  CHECK(words(0, -1, 0) == "");
  CHECK(words(0, 0, -1) == "");
  CHECK_FALSE(bits.allows(1, 2, 4));
}

TEST_CASE("masks of long sequences say what is wrong", "[phase6][mask]") {
  CHECK(complaint([] { Mask::global(-1); }, {"-1 global positions"}) == "");
  CHECK(complaint([] { Mask::global(1, -2); }, {"offset is -2"}) == "");
  const Mask matrix = Mask::from(MaskEncoding::keep, Tensor::ones({3, 4}));
  CHECK(complaint([&] { matrix.part(1, 3, 0, 4); }, {"3 queries from 1 on", "not lie within"}) ==
        "");
  CHECK(complaint([&] { (matrix & Mask::causal()).part(0, 3, 1, 4); }, {"4 keys from 1 on"}) == "");
  const Mask whole = Mask::causal().part(2, 3, 1, 4);
  CHECK(whole.part(0, 3, 0, 4).text(3, 4) == whole.text(3, 4));
  CHECK(complaint([] { Mask::causal().part(-1, 3, 0, 4); }, {"-1 on"}) == "");
  const Index far = Index{1} << 60;  // offsets up to here may be added
  CHECK(Mask::causal().part(far, 2, far, 2).text(2, 2) == "✓ ✗\n✓ ✓\n");
  CHECK(complaint([=] { Mask::causal().part(0, 2, far + 1, 2); }, {"2 keys from 1152921504606"}) ==
        "");
  CHECK(complaint([] { Mask::causal().part(0, 3, 0, 4).tensor({3, 3}); },
                  {"part is for 3 queries and 4 keys", "have 3 and 3"}) == "");
  CHECK(complaint([] { Mask::padding({2, 3}).part(0, 3, 0, 2).tensor({1, 3, 2}); },
                  {"2 sequences", "has 1"}) == "");
  CHECK(complaint([] { Mask::padding({2, 3}).density(3, 3, 2); }, {"batch element 2"}) == "");
  CHECK(complaint([&] { matrix.density(3, 3); }, {"3 queries and 4 keys"}) == "");
}
