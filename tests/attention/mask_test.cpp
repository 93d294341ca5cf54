// Masks: who may attend to whom, written down in every encoding.
#include "tapestry/mask.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "attention/mask_rule.hpp"
#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

using Rule = std::function<bool(Index query, Index key)>;

// The first place where mask and rule disagree, or "".
std::string disagreement(const Mask& mask, Index queries, Index keys, const Rule& rule,
                         Index batch = 0) {
  for (Index i = 0; i < queries; ++i) {
    for (Index j = 0; j < keys; ++j) {
      if (mask.allows(batch, i, j) != rule(i, j)) {
        return "query " + std::to_string(i) + ", key " + std::to_string(j);
      }
    }
  }
  return "";
}

std::vector<double> table_of(Index queries, Index keys, const Rule& rule) {
  return tabulate({queries, keys}, [&](const Place& p) { return rule(p[0], p[1]) ? 1.0 : 0.0; });
}

bool at_or_before(Index query, Index key) { return key <= query; }

}  // namespace

TEST_CASE("each mask allows what it says, also behind cached keys", "[phase1][mask]") {
  for (const Index offset : {-9, -2, 0, 1, 4}) {
    CAPTURE(offset);
    CHECK(disagreement(Mask::causal(offset), 6, 10,
                       [&](Index i, Index j) { return j <= i + offset; }) == "");
    for (const Index window : {0, 1, 3}) {
      CHECK(disagreement(Mask::local(window, offset), 6, 10, [&](Index i, Index j) {
              return std::abs(static_cast<int>(i + offset - j)) <= window;
            }) == "");
    }
    for (const Index stride : {1, 2, 3}) {
      CHECK(disagreement(Mask::strided(stride, offset), 6, 10,
                         [&](Index i, Index j) { return (i + offset - j) % stride == 0; }) == "");
      if (offset < 0) continue;
      CHECK(disagreement(Mask::blocked(stride, offset), 6, 10, [&](Index i, Index j) {
              for (Index begin = 0; begin < 20; begin += stride) {
                const Index end = begin + stride, at = i + offset;
                if (at >= begin && at < end) return j >= begin && j < end;
              }
              return false;
            }) == "");
    }
  }
}

TEST_CASE("no mask allows everything", "[phase1][mask]") {
  const Mask mask;
  CHECK(mask.allows_everything());
  CHECK(!Mask::causal().allows_everything());
  CHECK(disagreement(mask, 3, 5, [](Index, Index) { return true; }) == "");
  CHECK(difference(mask.tensor({4, 2, 3}), {2, 3}, std::vector<double>(6, 1)) == "");
}

TEST_CASE("padding hides the keys behind each sequence's length", "[phase1][mask]") {
  const Mask mask = Mask::padding({4, 0, 2});
  for (Index batch = 0; batch < 3; ++batch) {
    const Index length = std::vector<Index>{4, 0, 2}[static_cast<std::size_t>(batch)];
    CHECK(disagreement(mask, 3, 4, [&](Index, Index j) { return j < length; }, batch) == "");
  }
  CHECK(difference(mask.tensor({3, 1, 4}), {3, 1, 4}, {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0}) == "");
  CHECK(mask.tensor({3, 8, 5, 4}).shape() == Shape{3, 1, 5, 4});
  CHECK(difference(Mask::padding({1}).tensor({2, 2}), {2, 2}, {1, 0, 1, 0}) == "");
}

TEST_CASE("masks combine with & and |", "[phase1][mask]") {
  const Mask causal = Mask::causal(), local = Mask::local(1), none;
  CHECK(disagreement(causal & local, 5, 5, [](Index i, Index j) { return j <= i && i - j <= 1; }) ==
        "");
  CHECK(disagreement(causal | local, 5, 5, [](Index i, Index j) { return j <= i + 1; }) == "");
  CHECK(disagreement(causal & none, 5, 5, at_or_before) == "");
  CHECK(disagreement(none & causal, 5, 5, at_or_before) == "");
  CHECK((none | causal).allows_everything());
  CHECK((causal | none).allows_everything());
  CHECK((none & none).allows_everything());
  const Mask all = (Mask::strided(3) | Mask::local(1)) & causal & Mask::padding({5, 2});
  for (Index batch = 0; batch < 2; ++batch) {
    CHECK(disagreement(
              all, 5, 5,
              [&](Index i, Index j) {
                return ((i - j) % 3 == 0 || i - j == 1 || i == j) && j <= i &&
                       j < (batch == 0 ? 5 : 2);
              },
              batch) == "");
  }
  CHECK(all.tensor({2, 4, 5, 5}).shape() == Shape{2, 1, 5, 5});
}

TEST_CASE("a mask prints as ticks and crosses, queries downwards", "[phase1][mask]") {
  CHECK(Mask::causal().text(3, 3) == "✓ ✗ ✗\n✓ ✓ ✗\n✓ ✓ ✓\n");
  CHECK(Mask::causal(1).text(2, 3) == "✓ ✓ ✗\n✓ ✓ ✓\n");
  CHECK(Mask::padding({3, 1}).text(1, 3, 1) == "✓ ✗ ✗\n");
  CHECK(Mask().text(0, 3) == "");
}

// ---------------------------------------------------------------- encodings

TEST_CASE("the five encodings of a causal mask mean the same", "[phase1][mask]") {
  const Tensor keep({3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1}), drop = 1 - keep;
  const Tensor additive = where(keep, 0, -infinity), low = where(keep, 0, -1e9);
  CHECK(disagreement(Mask::from(MaskEncoding::keep, keep), 3, 3, at_or_before) == "");
  CHECK(disagreement(Mask::from(MaskEncoding::zero_one, keep), 3, 3, at_or_before) == "");
  CHECK(disagreement(Mask::from(MaskEncoding::drop, drop), 3, 3, at_or_before) == "");
  CHECK(disagreement(Mask::from(MaskEncoding::additive, additive), 3, 3, at_or_before) == "");
  CHECK(disagreement(Mask::from(MaskEncoding::additive, low), 3, 3, at_or_before) == "");
  CHECK(disagreement(Mask::from(MaskEncoding::upper_triangle, drop), 3, 3, at_or_before) == "");
  const Mask causal = Mask::causal();
  CHECK(difference_to(causal.to(MaskEncoding::keep, {3, 3}), keep) == "");
  CHECK(difference_to(causal.to(MaskEncoding::zero_one, {3, 3}), keep) == "");
  CHECK(difference_to(causal.to(MaskEncoding::drop, {3, 3}), drop) == "");
  CHECK(difference_to(causal.to(MaskEncoding::additive, {3, 3}), additive) == "");
  CHECK(difference_to(causal.to(MaskEncoding::upper_triangle, {3, 3}), drop) == "");
  CHECK(difference_to(causal.to(MaskEncoding::upper_triangle, {2, 3}), slice(drop, 0, 0, 2)) == "");
}

TEST_CASE("any mask survives encoding and decoding", "[phase1][mask]") {
  const Mask mask = (Mask::causal(1) & Mask::padding({4, 2})) | Mask::blocked(2);
  for (const MaskEncoding encoding :
       {MaskEncoding::keep, MaskEncoding::drop, MaskEncoding::additive, MaskEncoding::zero_one}) {
    for (const Shape& scores : {Shape{2, 3, 4}, Shape{2, 1, 3, 4}}) {
      const Mask back = Mask::from(encoding, mask.to(encoding, scores));
      for (Index batch = 0; batch < 2; ++batch) {
        CHECK(disagreement(
                  back, 3, 4, [&](Index i, Index j) { return mask.allows(batch, i, j); }, batch) ==
              "");
      }
    }
  }
}

TEST_CASE("a matrix may be strided, for all sequences or for each", "[phase1][mask]") {
  const Tensor later({2, 3}, {1, 0, 1, 1, 1, 0});
  const Mask one = Mask::from(MaskEncoding::keep, transpose(later));
  CHECK(difference(one.tensor({5, 3, 2}), {3, 2}, {1, 1, 0, 1, 1, 0}) == "");
  const Mask each = Mask::from(MaskEncoding::keep, reshape(later, {2, 1, 3}));
  CHECK(difference(each.tensor({2, 7, 1, 3}), {2, 1, 1, 3}, {1, 0, 1, 1, 1, 0}) == "");
  CHECK(disagreement(one & Mask::causal(), 3, 2,
                     [&](Index i, Index j) { return j <= i && later.at({j, i}) == 1; }) == "");
}

TEST_CASE("the tensor of a mask follows its rule at every size", "[phase1][mask]") {
  for (const Index queries : {0, 1, 3}) {
    for (const Index keys : {0, 1, 4}) {
      CHECK(difference(Mask::causal().tensor({queries, keys}), {queries, keys},
                       table_of(queries, keys, at_or_before)) == "");
    }
  }
}

TEST_CASE("windows, blocks and offsets may be larger than any sequence", "[phase1][mask]") {
  const Index most = std::numeric_limits<Index>::max(), far = Index{1} << 60;
  const std::vector<double> all(6, 1), none(6, 0);
  CHECK(difference(Mask::local(most).tensor({2, 3}), {2, 3}, all) == "");
  CHECK(difference(Mask::local(most, far).tensor({2, 3}), {2, 3}, all) == "");
  CHECK(difference(Mask::blocked(most).tensor({2, 3}), {2, 3}, all) == "");
  CHECK(difference(Mask::blocked(most, far).tensor({2, 3}), {2, 3}, all) == "");
  CHECK(difference(Mask::strided(most).tensor({2, 3}), {2, 3}, {1, 0, 0, 0, 1, 0}) == "");
  CHECK(difference(Mask::strided(most, far).tensor({2, 3}), {2, 3}, none) == "");
  CHECK(difference(Mask::causal(far).tensor({2, 3}), {2, 3}, all) == "");
  CHECK(difference(Mask::local(5, far).tensor({2, 3}), {2, 3}, none) == "");
  CHECK(difference(Mask::local(5, -far).tensor({2, 3}), {2, 3}, none) == "");
  CHECK(difference(Mask::local(most, -far).tensor({2, 3}), {2, 3}, all) == "");
  CHECK(difference(Mask::strided(far, -far).tensor({2, 3}), {2, 3}, {1, 0, 0, 0, 1, 0}) == "");
  CHECK(complaint([=] { Mask::causal(most); }, {"the offset is 9223372036854775807"}) == "");
}

// ---------------------------------------------------------------- errors

TEST_CASE("masks that cannot be are refused in words", "[phase1][mask]") {
  CHECK(complaint([] { Mask::blocked(2, -1); }, {"mask: the offset is -1", "negative"}) == "");
  constexpr Index far_back = -(Index{1} << 60) - 1;
  CHECK(complaint([] { Mask::causal(far_back); }, {"mask: the offset is -", "-2^60"}) == "");
  CHECK(complaint([] { Mask::local(2, far_back); }, {"the offset is -", "-2^60"}) == "");
  CHECK(complaint([] { Mask::strided(2, far_back); }, {"the offset is -", "-2^60"}) == "");
  CHECK(complaint([] { Mask::local(-1); }, {"window of -1"}) == "");
  CHECK(complaint([] { Mask::strided(0); }, {"stride of 0", "at least 1"}) == "");
  for (Index i = 0; i < 9; ++i) {  // the least that can be: each sees itself, or all
    CHECK(Mask::blocked(1).allows(0, i / 3, i % 3) == (i / 3 == i % 3));
    CHECK(Mask::local(0).allows(0, i / 3, i % 3) == (i / 3 == i % 3));
    CHECK(Mask::strided(1).allows(0, i / 3, i % 3));
    CHECK_FALSE(Mask::padding({0}).allows(0, i / 3, i % 3));
  }
  CHECK(complaint([] { Mask::blocked(0); }, {"block of 0", "at least 1"}) == "");
  CHECK(complaint([] { Mask::padding({3, -2}); }, {"length of -2", "negative"}) == "");
  CHECK(complaint([] { Mask::padding({}); }, {"padding", "at least one"}) == "");
  CHECK(complaint([] { (void)Mask::padding({3, 2}).allows(2, 0, 0); },
                  {"batch element 2", "2 sequences"}) == "");
}

TEST_CASE("a mask that does not fit the scores is refused in words", "[phase1][mask]") {
  CHECK(complaint([] { Mask::causal().tensor({4}); }, {"scores are (4)", "queries, keys"}) == "");
  CHECK(complaint([] { Mask::padding({3, 2}).tensor({4, 5, 3}); },
                  {"for 2 sequences", "first axis has 4"}) == "");
  CHECK(complaint([] { Mask::padding({3, 2}).tensor({5, 3}); }, {"for 2 sequences"}) == "");
  CHECK(complaint([] { Mask::padding({3, 7}).tensor({2, 5, 6}); }, {"7 keys", "only 6"}) == "");
  CHECK(complaint([] { (Mask::padding({3}) & Mask::padding({3, 2})).tensor({2, 3, 3}); },
                  {"for 1 sequences", "has 2"}) == "");
  const Mask matrix = Mask::from(MaskEncoding::keep, Tensor::ones({2, 3}));
  CHECK(complaint([&] { matrix.tensor({3, 3}); },
                  {"2 queries and 3 keys", "the scores have 3 and 3"}) == "");
  CHECK(complaint([&] { (matrix | Mask::causal()).tensor({2, 2}); }, {"the scores have 2 and 2"}) ==
        "");
}

TEST_CASE("a matrix in another encoding than it is said to be is caught", "[phase1][mask]") {
  const auto from = [](MaskEncoding encoding, const Tensor& matrix) {
    return [=] { Mask::from(encoding, matrix); };
  };
  const Tensor additive({2, 2}, {0, -infinity, 0, 0}), lower({2, 2}, {1, 0, 1, 1});
  CHECK(complaint(from(MaskEncoding::keep, additive),
                  {"mask: -inf at query 0, key 1", "encoding keep", "0 or 1"}) == "");
  CHECK(complaint(from(MaskEncoding::drop, 0.5 * lower), {"0.5", "query 0, key 0", "drop"}) == "");
  CHECK(complaint(from(MaskEncoding::zero_one, lower * NAN), {"nan", "zero_one"}) == "");
  CHECK(complaint(from(MaskEncoding::zero_one, lower * 0x1p-40),
                  {"mask: 9.09494701772928", "e-13 at query 0, key 0"}) == "");
  CHECK(complaint(from(MaskEncoding::additive, lower), {"mask: 1 at", "additive", "0 or -inf"}) ==
        "");
  CHECK(complaint(from(MaskEncoding::additive, Tensor({1, 2}, {0, -3})),
                  {"-3", "query 0, key 1", "finite bias is no mask"}) == "");
  CHECK(complaint(from(MaskEncoding::upper_triangle, lower),
                  {"query 0, key 0", "upper_triangle", "diagonal would forbid"}) == "");
  const Tensor far({1, 2}, {-10001, 0}), nearer({1, 2}, {-9999, 0}), at_bound({1, 2}, {-1e4, 0});
  CHECK(Mask::from(MaskEncoding::additive, far).text(1, 2) == "✗ ✓\n");
  CHECK(complaint(from(MaskEncoding::additive, nearer), {"mask: -9999 at"}) == "");
  CHECK(complaint(from(MaskEncoding::additive, at_bound), {"mask: -10000 at"}) == "");
  CHECK(complaint(from(MaskEncoding::keep, Tensor::ones({3})), {"the matrix is (3)"}) == "");
  CHECK(complaint(from(MaskEncoding::keep, Tensor::ones({1, 1, 1, 2, 2})), {"(1, 1, 1, 2, 2)"}) ==
        "");
  CHECK(complaint(from(MaskEncoding::keep, Tensor::ones({2, 0, 3, 3})),
                  {"(2, 0, 3, 3)", "(batch, heads, queries, keys)"}) == "");
}

TEST_CASE("a block of a mask says of each query and key what the mask says", "[phase1][mask]") {
  Tensor some = Tensor::zeros({90, 150});
  for (Index i = 0; i < 90; ++i) some.set({i, (i * 7) % 150}, 1);
  const std::vector<Mask> masks = {Mask(),
                                   Mask::causal(),
                                   Mask::causal(40),
                                   Mask::local(3),
                                   Mask::local(70, 5),
                                   Mask::strided(3, 1),
                                   Mask::blocked(5, 2),
                                   Mask::blocked(200),
                                   Mask::padding({77, 0}),
                                   Mask::from(MaskEncoding::keep, some),
                                   Mask::causal(9) & Mask::padding({150, 64}),
                                   Mask::local(2) | Mask::strided(8),
                                   (Mask::causal() & Mask::local(4)) | Mask::padding({1, 3})};
  std::uint64_t keep[visibility_block];
  for (std::size_t m = 0; m < masks.size(); ++m) {
    for (const Index queries : {1, 7, 64}) {
      for (const Index keys : {1, 33, 64}) {
        for (const Index query : {0, 26}) {
          for (const Index key : {0, 20, 80}) {
            const Index batch = m % 2;
            const BlockVisibility visible =
                masks[m].visible_in_block(batch, query, queries, key, keys, keep);
            CAPTURE(m, queries, keys, query, key, visible.keys, visible.clear);
            REQUIRE(0 <= visible.clear);
            REQUIRE(visible.clear <= visible.keys);
            REQUIRE(visible.keys <= keys);
            bool same = true;
            for (Index j = 0; j < keys; ++j) {
              for (Index i = 0; i < queries; ++i) {
                const bool seen =
                    j < visible.clear || (j < visible.keys && (keep[j] >> i & 1) == 1);
                same = same && seen == masks[m].allows(batch, query + i, key + j);
              }
            }
            REQUIRE(same);
          }
        }
      }
    }
  }
}

TEST_CASE("only a causal mask can be written as an upper triangle", "[phase1][mask]") {
  for (const Mask& mask : {Mask(), Mask::causal(1), Mask::local(1)}) {
    CHECK(complaint([&] { mask.to(MaskEncoding::upper_triangle, {3, 4}); },
                    {"upper_triangle", "causal", "keep, drop or additive"}) == "");
  }
}

TEST_CASE("the bits of a matrix: queries from any one on, and 0 behind the last",
          "[phase1][mask]") {
  for (const Index queries : {1, 63, 64, 65, 100, 127, 128}) {
    for (const Index batches : {1, 2}) {
      MaskBits bits(batches, queries, 3);
      for (Index batch = 0; batch < batches; ++batch) {
        for (Index query = 0; query < queries; ++query) {  // all of keys 0 and 2, some of 1
          for (const Index key : {0, 2}) bits.allow(batch, query, key);
          if (query % 3 == batch) bits.allow(batch, query, 1);
        }
      }
      bool right = true;
      for (Index i = 0; i < batches * queries * 3; ++i) {
        const Index batch = i / 3 / queries, query = i / 3 % queries, key = i % 3;
        std::uint64_t expected = 0;
        for (Index b = 0; b < std::min<Index>(64, queries - query); ++b) {
          const bool allowed = key != 1 || (query + b) % 3 == batch;
          expected |= std::uint64_t{allowed} << b;
        }
        right = right && bits.who(batch, query, key) == expected;
        right = right && bits.allows(batch, query, key) == ((expected & 1) == 1);
        if (batches == 1) right = right && bits.who(7, query, key) == expected;  // one for all
      }
      if (batches == 1) right = right && bits.allows(7, 0, 0);
      CAPTURE(queries, batches);
      CHECK(right);
      CHECK(Index(bits.words.size()) == batches * 3 * (queries / 64 + 2));
    }
  }
  CHECK(MaskBits(0, 5, 3).words.size() == 3 * 2);  // of no batch element as of one
}
