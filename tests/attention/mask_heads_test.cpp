// Masks of their own for each head and each sequence, and those of any offset.
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

std::vector<Tensor> operands(Index batch, Index heads, Index queries, Index keys) {
  return {random_tensor({batch, heads, queries, 5}, 1), random_tensor({batch, heads, keys, 5}, 2),
          random_tensor({batch, heads, keys, 4}, 3)};
}

// Query and key of one head of one sequence, (length, width).
Tensor at(const Tensor& x, Index batch, Index head) {
  return squeeze(squeeze(slice(slice(x, 0, batch, batch + 1), 1, head, head + 1), 0), 0);
}

// The largest error of both forms against each head of each sequence alone, under its own mask.
std::string wrong(const std::vector<Tensor>& in, const Mask& mask,
                  const std::function<Mask(Index, Index)>& own) {
  const Tensor whole = attention(in[0], in[1], in[2], mask).output;
  const Tensor fused = fused_attention(in[0], in[1], in[2], mask);
  for (Index b = 0; b < in[0].size(0); ++b) {
    for (Index h = 0; h < in[0].size(1); ++h) {
      const Tensor expected =
          attention(at(in[0], b, h), at(in[1], b, h), at(in[2], b, h), own(b, h)).output;
      std::string what = difference_to(at(whole, b, h), expected, 1e-5);
      what += difference_to(at(fused, b, h), expected, 1e-5);
      if (what != "") return "sequence " + std::to_string(b) + ", head " + std::to_string(h) + what;
    }
  }
  return "";
}

}  // namespace

TEST_CASE("each head, and each sequence, may have a mask of its own", "[phase2][mask]") {
  const std::vector<Mask> masks = {Mask::causal(), Mask(), Mask::local(7), Mask::strided(3, 1)};
  const std::vector<Mask> sequences = {Mask::causal(-3), Mask::causal(20)};
  for (const Index length : {1, 5, 67, 130}) {
    const std::vector<Tensor> in = operands(2, 4, length, length);
    CAPTURE(length);
    const auto of_head = [&](Index, Index h) { return masks[static_cast<std::size_t>(h)]; };
    const auto of_both = [&](Index b, Index h) {
      return masks[static_cast<std::size_t>(h)] & sequences[static_cast<std::size_t>(b)];
    };
    CHECK(wrong(in, Mask::per_head(masks), of_head) == "");
    CHECK(wrong(in, Mask::per_sequence(sequences),
                [&](Index b, Index) { return sequences[static_cast<std::size_t>(b)]; }) == "");
    CHECK(wrong(in, Mask::per_head(masks) & Mask::per_sequence(sequences), of_both) == "");
    CHECK(wrong(in, Mask::per_sequence({Mask(), Mask::causal()}),
                [](Index b, Index) { return b == 0 ? Mask() : Mask::causal(); }) == "");
    CHECK(wrong(in, Mask::per_sequence({Mask::per_head(masks), Mask()}),
                [&](Index b, Index h) { return b == 0 ? of_head(b, h) : Mask(); }) == "");
  }
}

TEST_CASE("a matrix for each head is read, and written again", "[phase2][mask]") {
  const Tensor matrix = random_between({2, 3, 6, 9}, -1, 1) > 0;
  const Mask mask = Mask::from(MaskEncoding::keep, matrix);
  CHECK(difference_to(mask.tensor({2, 3, 6, 9}), matrix) == "");
  CHECK(difference_to(mask.to(MaskEncoding::drop, {2, 3, 6, 9}), 1 - matrix) == "");
  const std::vector<Tensor> in = operands(2, 3, 6, 9);
  CHECK(wrong(in, mask, [&](Index b, Index h) {
          return Mask::from(MaskEncoding::keep, at(matrix, b, h));
        }) == "");
  CHECK(mask.allows(1, 4, 5, 2) == (matrix.at({1, 2, 4, 5}) == 1));
  const Tensor two = slice(matrix, 1, 0, 2);
  CHECK(difference_to(Mask::from(MaskEncoding::keep, two).tensor({2, 2, 6, 9}), two) == "");
  const Tensor no_queries = Tensor::ones({2, 0, 9});
  CHECK(Mask::from(MaskEncoding::keep, no_queries).tensor({2, 0, 9}).shape() == Shape{2, 0, 9});
  CHECK(mask.density(6, 9, 1, 2).allowed == Index(sum(at(matrix, 1, 2)).item()));
  const Tensor one_head =
      Mask::from(MaskEncoding::keep, slice(matrix, 1, 0, 1)).tensor({2, 5, 6, 9});
  CHECK(difference_to(one_head, slice(matrix, 1, 0, 1)) == "");  // the same for every head
}

TEST_CASE("tensors of masks repeat only what differs", "[phase2][mask]") {
  const Mask heads = Mask::per_head({Mask::causal(), Mask()});
  CHECK(heads.tensor({3, 2, 4, 4}).shape() == Shape{1, 2, 4, 4});
  CHECK((heads & Mask::padding({4, 3, 2})).tensor({3, 2, 4, 4}).shape() == Shape{3, 2, 4, 4});
  CHECK(Mask::padding({4, 3, 2}).tensor({3, 2, 4, 4}).shape() == Shape{3, 1, 4, 4});
  CHECK(heads.part(1, 2, 0, 3).tensor({1, 2, 2, 3}).shape() == Shape{1, 2, 2, 3});
  CHECK(heads.text(2, 2, 0, 0) != heads.text(2, 2, 0, 1));
}

TEST_CASE("scores without an axis of heads are those of one head", "[phase2][mask]") {
  const Tensor q = random_tensor({5, 3}, 1), k = random_tensor({5, 3}, 2);
  const Tensor v = random_tensor({5, 3}, 3), one = fused_attention(q, k, v, Mask::causal());
  CHECK(difference_to(fused_attention(q, k, v, Mask::per_head({Mask::causal()})), one, 0) == "");
  CHECK(difference_to(attention(q, k, v, Mask::per_head({Mask::causal()})).output, one, 1e-5) ==
        "");
  CHECK(complaint([&] { fused_attention(q, k, v, Mask::per_head({Mask(), Mask::causal()})); },
                  {"for 2 heads, but the scores have 1"}) == "");
}

TEST_CASE("heads that share keys, chunks and parts keep their heads' masks", "[phase2][mask]") {
  const Mask mask = Mask::per_head({Mask::causal(), Mask::local(2), Mask(), Mask::strided(2)});
  const std::vector<Tensor> in = operands(2, 4, 9, 9);
  const Tensor expected = attention(in[0], in[1], in[2], mask).output;
  CHECK(difference_to(chunked_attention(in[0], in[1], in[2], mask, 4), expected, 1e-5) == "");
  const Tensor k = slice(in[1], 1, 0, 2), v = slice(in[2], 1, 0, 2);  // two groups of two heads
  const auto repeated = [](const Tensor& x) {
    return concat({slice(x, 1, 0, 1), slice(x, 1, 0, 1), slice(x, 1, 1, 2), slice(x, 1, 1, 2)}, 1);
  };
  CHECK(difference_to(grouped_attention(in[0], k, v, mask),
                      attention(in[0], repeated(k), repeated(v), mask).output, 1e-5) == "");
}

TEST_CASE("gradients under masks of their own, and before every key", "[phase2][mask]") {
  const Mask mask = Mask::per_head({Mask::causal(-2), Mask::local(1)}) & Mask::padding({3, 5});
  for (const bool fused : {false, true}) {
    const Function f = [&](const std::vector<Tensor>& in) {
      return fused ? fused_attention(in[0], in[1], in[2], mask)
                   : attention(in[0], in[1], in[2], mask).output;
    };
    CHECK(wrong_gradient(f, operands(2, 2, 4, 5)) == "");
  }
  const std::vector<Tensor> in = operands(1, 2, 4, 5);  // the first two queries see nothing
  const Tensor y = fused_attention(in[0], in[1], in[2], Mask::causal(-2));
  CHECK(difference_to(slice(y, 2, 0, 2), Tensor::zeros({1, 2, 2, 4})) == "");
}

TEST_CASE("local and strided masks of queries before every key, on both paths", "[phase2][mask]") {
  for (const Index offset : {-70, -3, -1}) {
    const std::vector<Tensor> in = operands(1, 2, 130, 75);
    for (const Mask& mask : {Mask::local(2, offset), Mask::strided(3, offset)}) {
      CAPTURE(offset);
      CHECK(difference_to(fused_attention(in[0], in[1], in[2], mask),
                          attention(in[0], in[1], in[2], mask).output, 1e-5) == "");
      const Mask::Density seen = mask.density(130, 75);
      CHECK(seen.allowed == Index(sum(mask.tensor({130, 75})).item()));
    }
  }
  CHECK(Mask::local(1, -1).text(3, 2) == "✓ ✗\n✓ ✓\n✓ ✓\n");
  CHECK(Mask::strided(2, -1).text(3, 2) == "✗ ✓\n✓ ✗\n✗ ✓\n");
}

TEST_CASE("masks of heads that do not fit are refused in words", "[phase2][mask]") {
  const Mask three = Mask::per_head({Mask::causal(), Mask(), Mask()});
  const std::vector<Tensor> in = operands(2, 2, 4, 4);
  for (const bool fused : {false, true}) {
    CHECK(complaint(
              [&] {
                if (fused) (void)fused_attention(in[0], in[1], in[2], three);
                if (!fused) (void)attention(in[0], in[1], in[2], three);
              },
              {"mask: it is for 3 heads", "have 2", "(batch, heads, queries, keys)"}) == "");
  }
  CHECK(complaint([&] { (void)three.tensor({3, 4, 4}); }, {"for 3 heads", "have 1"}) == "");
  CHECK(complaint([&] { (void)three.allows(0, 0, 0, 3); }, {"mask: head 3", "for 3"}) == "");
  for (const Index length : {4, 0}) {
    CHECK(complaint([&] { (void)three.density(length, length, 0, 3); },
                    {"mask: head 3", "for 3"}) == "");
  }
  const Mask six = Mask::from(MaskEncoding::keep, Tensor::ones({2, 3}));
  const Mask each = Mask::per_head({Mask(), six});
  CHECK(complaint([&] { (void)each.tensor({1, 2, 4, 3}); }, {"2 queries and 3 keys"}) == "");
  CHECK(complaint([&] { (void)(Mask::causal() & six).tensor({2, 4}); }, {"have 2 and 4"}) == "");
  CHECK(complaint([&] { (void)each.part(0, 2, 1, 3); }, {"3 keys from 1 on"}) == "");
  CHECK(complaint([] { (void)Mask::per_sequence({Mask(), Mask()}).allows(2, 0, 0); },
                  {"mask: batch element 2", "for 2"}) == "");
  CHECK(complaint([] { (void)Mask::per_head({}); }, {"mask: a list for heads is empty"}) == "");
  CHECK(complaint([] { (void)Mask::per_sequence({Mask(), Mask()}).tensor({3, 4, 4}); },
                  {"for 2 sequences", "first axis has 3"}) == "");
}
