// Queries, keys and values drawn at random, their rows, and the memory that attention takes.
#include "course/operands.hpp"

#include "catch.hpp"
#include "course/peak_memory.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"

using namespace tapestry;

TEST_CASE("queries, keys and values are drawn one after the other", "[phase6][course]") {
  const Operands x = draw_operands(3, 2, 5);  // (3, 2) each
  Random random(5);
  for (const Tensor& one : {x.q, x.k, x.v}) {
    CHECK(difference_to(one, random.normal({3, 2})) == "");
  }
}

TEST_CASE("rows end where the text ends", "[phase6][course]") {
  const Tensor x = reshape(Tensor::arange(6), {3, 2});  // (3, 2)
  CHECK(difference_to(rows_of(x, 1, 2), Tensor({1, 2}, {2, 3})) == "");
  CHECK(difference_to(rows_of(x, 1, 3), Tensor({2, 2}, {2, 3, 4, 5})) == "");
  CHECK(difference_to(rows_of(x, 1, 9), Tensor({2, 2}, {2, 3, 4, 5})) == "");
}

TEST_CASE("peaks of memory are in MiB, and a backward pass adds to them", "[phase6][course]") {
  const double numbers = 512 * 1024, mebibyte = 1024 * 1024;
  const double alone = peak_mebibytes([] { (void)Tensor::zeros({512, 1024}); });  // (512, 1024)
  CHECK(alone >= numbers * sizeof(real) / mebibyte);
  CHECK(alone <= numbers * sizeof(real) / mebibyte * 1.25);
  const Operands x = draw_operands(256, 16, 1);  // (256, 16) each
  const auto attend = [&] { return attention(x.q, x.k, x.v).output; };
  const double forward = peak_mebibytes([&] { (void)attend(); });
  const double kept = 256 * 256 * sizeof(real) / mebibyte;  // the weights
  CHECK(peak_with_backward(x, attend) > forward + kept / 2);
}
