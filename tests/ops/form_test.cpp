// reshape transpose permute slice concat stack split expand squeeze unsqueeze.
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

Tensor counting(const Shape& shape) { return reshape(Tensor::arange(shape.numel()), shape); }

bool shares(const Tensor& a, const Tensor& b) { return a.buffer() == b.buffer(); }

// Elements of x in row-major order, read one by one through its strides.
std::vector<double> in_order(const Tensor& x) {
  return tabulate(x.shape(), [&](const Place& place) { return element(x, place); });
}

using Change = std::function<Tensor(const Tensor&)>;

std::string wrong_gradient_of(const Change& change, const Tensor& x) {
  return wrong_gradient([&](const std::vector<Tensor>& in) { return change(in[0]); }, {x});
}

}  // namespace

TEST_CASE("reshape keeps the order of the elements, whatever the strides", "[phase0][ops]") {
  const Tensor x = counting({4, 6, 2});
  const std::vector<Tensor> sources = {x,
                                       transpose(x),
                                       permute(x, {2, 0, 1}),
                                       slice(x, 1, 0, 6, 2),
                                       slice(x, 0, 1, 3),
                                       slice(transpose(x, 0, 1), 0, 0, 1),
                                       expand(slice(x, 2, 0, 1), {4, 6, 2}),
                                       transpose(slice(x, 0, 3, 4), 0, 2)};
  for (const Tensor& source : sources) {
    const Index count = source.numel();
    for (const Shape& shape : {Shape{count}, Shape{2, count / 2}, Shape{count / 4, 2, 2},
                               Shape{1, count, 1}, Shape{count / 2, 1, 2, 1}, source.shape()}) {
      CAPTURE(to_string(source.shape()), to_string(shape));
      CHECK(difference(reshape(source, shape), shape, in_order(source)) == "");
    }
  }
}

TEST_CASE("reshape is a view where strides allow, else a copy", "[phase0][ops]") {
  const Tensor x = counting({4, 6});
  CHECK(shares(reshape(x, {2, 2, 6}), x));
  CHECK(shares(reshape(x, {24}), x));
  CHECK(!shares(reshape(transpose(x), {24}), x));
  CHECK(shares(reshape(transpose(x), {2, 3, 4}), x));          // cuts an axis
  CHECK(shares(reshape(slice(x, 1, 0, 6, 2), {2, 2, 3}), x));  // even steps
  CHECK(shares(reshape(slice(x, 1, 0, 6, 2), {12}), x));       // rows meet without a gap
  CHECK(!shares(reshape(slice(x, 1, 0, 3), {12}), x));
  const Tensor heads = transpose(reshape(x, {4, 2, 3}), 0, 1);  // (heads, length, width)
  CHECK(!shares(reshape(heads, {2, 12}), x));
  CHECK(shares(reshape(transpose(heads, 0, 1), {4, 6}), x));  // heads joined again
}

TEST_CASE("reshape works out one size", "[phase0][ops]") {
  const Tensor x = counting({2, 3, 4});
  CHECK(reshape(x, {-1}).shape() == Shape{24});
  CHECK(reshape(x, {6, -1}).shape() == Shape{6, 4});
  CHECK(reshape(x, {2, -1, 2}).shape() == Shape{2, 6, 2});
  CHECK(reshape(Tensor::zeros({0, 3}), {-1, 3}).shape() == Shape{0, 3});
  CHECK(reshape(Tensor(5), {1, 1}).shape() == Shape{1, 1});
  CHECK(reshape(Tensor::ones({1, 1}), Shape{}).shape() == Shape{});
  CHECK(reshape(Tensor::zeros({0, 3}), {5, 0}).shape() == Shape{5, 0});
  CHECK(reshape(transpose(Tensor::zeros({2, 0, 3}), 0, 2), {5, 0}).shape() == Shape{5, 0});
  CHECK(reshape(x, {1, 2, -1, 1, 3, 2}).shape() == Shape{1, 2, 2, 1, 3, 2});
}

TEST_CASE("transpose and permute move axes and copy nothing", "[phase0][ops]") {
  const Tensor x = counting({2, 3, 4});
  const Tensor swapped = transpose(x, 0, -1);
  CHECK(swapped.shape() == Shape{4, 3, 2});
  CHECK(swapped.at({3, 1, 0}) == x.at({0, 1, 3}));
  CHECK(shares(swapped, x));
  CHECK(transpose(x).shape() == Shape{2, 4, 3});
  CHECK(difference_to(transpose(x, 1, 1), x) == "");
  const Tensor turned = permute(x, {2, 0, -2});
  CHECK(turned.shape() == Shape{4, 2, 3});
  CHECK(turned.at({3, 1, 2}) == x.at({1, 2, 3}));
  CHECK(shares(turned, x));
  CHECK(permute(Tensor(1), {}).shape() == Shape{});
  const std::vector<int> order = {2, 0, 1};  // known only when the program runs
  CHECK(difference_to(permute(x, order), permute(x, {2, 0, 1})) == "");
}

TEST_CASE("slice takes positions in steps, from either end", "[phase0][ops]") {
  const Tensor x = counting({3, 5});
  CHECK(difference(slice(x, 1, 1, 4), {3, 3}, {1, 2, 3, 6, 7, 8, 11, 12, 13}) == "");
  CHECK(difference(slice(x, 1, 0, 5, 2), {3, 3}, {0, 2, 4, 5, 7, 9, 10, 12, 14}) == "");
  CHECK(difference(slice(x, 1, 1, 5, 3), {3, 2}, {1, 4, 6, 9, 11, 14}) == "");
  CHECK(difference(slice(x, 0, -1, 3), {1, 5}, {10, 11, 12, 13, 14}) == "");
  CHECK(difference(slice(x, -1, -3, -1), {3, 2}, {2, 3, 7, 8, 12, 13}) == "");
  CHECK(slice(x, 0, 2, 2).shape() == Shape{0, 5});
  CHECK(slice(x, 0, 3, 3).shape() == Shape{0, 5});
  CHECK(shares(slice(x, 1, 1, 2), x));
  constexpr Index far = std::numeric_limits<Index>::max();
  CHECK(difference(slice(x, 1, 3, 5, far), {3, 1}, {3, 8, 13}) == "");
  CHECK(slice(x, 1, 5, 5, far).shape() == Shape{3, 0});
  CHECK(slice(x, 0, 3, 3).offset() == 0);  // not behind the last number
}

TEST_CASE("concat joins along an axis, stack along a new one", "[phase0][ops]") {
  const Tensor a({1, 2}, {1, 2}), b({2, 2}, {3, 4, 5, 6}), none = Tensor::zeros({0, 2});
  CHECK(difference(concat({a, b, none}, 0), {3, 2}, {1, 2, 3, 4, 5, 6}) == "");
  CHECK(difference(concat({transpose(a), b}, 1), {2, 3}, {1, 3, 4, 2, 5, 6}) == "");
  CHECK(difference(concat({b, transpose(b)}, -1), {2, 4}, {3, 4, 3, 5, 5, 6, 4, 6}) == "");
  CHECK(difference(concat({a}, 0), {1, 2}, {1, 2}) == "");
  CHECK(difference(stack({a, 2 * a}, 0), {2, 1, 2}, {1, 2, 2, 4}) == "");
  CHECK(difference(stack({a, 2 * a}, 1), {1, 2, 2}, {1, 2, 2, 4}) == "");
  CHECK(difference(stack({a, 2 * a}, -1), {1, 2, 2}, {1, 2, 2, 4}) == "");
  CHECK(difference(stack({a, 2 * a}, -3), {2, 1, 2}, {1, 2, 2, 4}) == "");
  CHECK(difference(stack({Tensor(3), Tensor(4)}, 0), {2}, {3, 4}) == "");
}

TEST_CASE("split undoes concat", "[phase0][ops]") {
  const Tensor x = counting({4, 6});
  const std::vector<Tensor> parts = split(x, 3, 1);
  REQUIRE(parts.size() == 3);
  CHECK(difference(parts[1], {4, 2}, {2, 3, 8, 9, 14, 15, 20, 21}) == "");
  CHECK(shares(parts[2], x));
  CHECK(difference_to(concat(parts, 1), x) == "");
  CHECK(split(x, 1, 0).size() == 1);
  CHECK(split(Tensor::zeros({0}), 2, 0).size() == 2);
  CHECK(split(Tensor::zeros({0}), 1 << 20, 0).size() == 1 << 20);
}

TEST_CASE("expand repeats, squeeze and unsqueeze drop and add a 1; none copies", "[phase0][ops]") {
  const Tensor x({2, 1}, {1, 2});
  CHECK(difference(expand(x, {3, 2, 2}), {3, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}) == "");
  CHECK(shares(expand(x, {3, 2, 2}), x));
  CHECK(expand(x, {2, 0}).shape() == Shape{2, 0});
  CHECK(difference(expand(Tensor(7), {2}), {2}, {7, 7}) == "");
  CHECK(squeeze(x, 1).shape() == Shape{2});
  CHECK(squeeze(x, -1).shape() == Shape{2});
  CHECK(unsqueeze(x, 0).shape() == Shape{1, 2, 1});
  CHECK(unsqueeze(x, -1).shape() == Shape{2, 1, 1});
  CHECK(unsqueeze(Tensor(1), 0).shape() == Shape{1});
  const Tensor wide = counting({3, 4, 5});
  const Tensor row = slice(permute(wide, {2, 1, 0}), 0, 1, 2);  // (1, 4, 3), strided
  CHECK(shares(squeeze(row, 0), wide));
  CHECK(shares(unsqueeze(row, 1), wide));
  CHECK(difference(squeeze(row, 0), {4, 3}, in_order(row)) == "");
  CHECK(difference(unsqueeze(row, -2), {1, 4, 1, 3}, in_order(row)) == "");
}

TEST_CASE("gradients of every change of form, also through views", "[phase0][ops]") {
  const Tensor x = random_tensor({2, 3, 4});
  const std::vector<Change> changes = {
      [](const Tensor& t) { return reshape(t, {4, 6}); },
      [](const Tensor& t) { return reshape(transpose(t), {6, -1}); },
      [](const Tensor& t) { return transpose(t, 0, 2); },
      [](const Tensor& t) { return permute(t, {1, 2, 0}); },
      [](const Tensor& t) { return permute(transpose(t), {-1, 0, 1}); },
      [](const Tensor& t) { return slice(t, 2, 1, 4, 2); },
      [](const Tensor& t) { return slice(transpose(t), 1, -2, 4); },
      [](const Tensor& t) { return slice(t, 0, 1, 1); },
      [](const Tensor& t) { return slice(t, 2, -1, 0, -2); },
      [](const Tensor& t) { return slice(transpose(t), 0, 1, -3, -1); },
      [](const Tensor& t) { return concat({t, 2 * t, transpose(permute(t, {0, 2, 1}))}, 1); },
      [](const Tensor& t) { return concat({slice(t, 1, 0, 1), t, slice(t, 1, 1, 3)}, 1); },
      [](const Tensor& t) { return stack({t, t * t}, -1); },
      [](const Tensor& t) { return split(t, 2, 2)[1] * split(t, 2, 2)[0]; },
      [](const Tensor& t) { return expand(slice(t, 1, 0, 1), {5, 2, 3, 4}); },
      [](const Tensor& t) { return squeeze(slice(t, 1, 2, 3), 1); },
      [](const Tensor& t) { return unsqueeze(transpose(t), 2); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    CHECK(wrong_gradient_of(changes[i], x) == "");
  }
}

TEST_CASE("reshapes that cannot be are refused in words", "[phase0][ops]") {
  const Tensor x = counting({2, 3});
  CHECK(complaint([&] { reshape(x, {4, 2}); },
                  {"reshape: x is (2, 3)", "6 elements", "(4, 2) has 8"}) == "");
  CHECK(complaint([&] { reshape(x, {-1, 4}); }, {"reshape", "product 4", "-1 cannot"}) == "");
  CHECK(complaint([&] { reshape(x, {-1, -1}); }, {"reshape", "only one size may be -1"}) == "");
  CHECK(complaint([&] { reshape(x, {-1, 0}); }, {"reshape", "product 0"}) == "");
  CHECK(complaint([&] { reshape(x, {-2, -3}); }, {"(-2, -3)", "negative"}) == "");
  CHECK(complaint([&] { reshape(x, {1, 1, 1, 1, 1, 2, 3}); }, {"reshape", "at most six"}) == "");
  const Index large = Index{1} << 33;  // the square wraps to 0
  CHECK(complaint([&] { reshape(x, {large, large, -1}); }, {"x is (2, 3)", "more than memory"}) ==
        "");
}

TEST_CASE("other changes of form that cannot be are refused in words", "[phase0][ops]") {
  const Tensor x = counting({2, 3});
  CHECK(complaint([] { transpose(Tensor::zeros({3})); }, {"transpose: x is (3)", "two axes"}) ==
        "");
  CHECK(complaint([&] { transpose(x, 0, 2); }, {"transpose: axis 2", "-2 to 1"}) == "");
  CHECK(complaint([&] { permute(x, {0, 0}); }, {"permute: x is (2, 3)", "exactly once"}) == "");
  CHECK(complaint([&] { permute(x, {0}); }, {"permute", "each of its 2 axes"}) == "");
  CHECK(complaint([&] { permute(x, {0, 5}); }, {"permute: axis 5"}) == "");
  CHECK(complaint([&] { slice(x, 1, 0, 4); }, {"slice: x is (2, 3)", "0 to 4", "size 3"}) == "");
  CHECK(complaint([&] { slice(x, 1, 2, 1); }, {"slice", "2 to 1", "forwards"}) == "");
  CHECK(complaint([&] { slice(x, 1, -4, 3); }, {"slice", "-4 to 3"}) == "");
  CHECK(complaint([&] { slice(x, 1, 0, 3, 0); }, {"slice", "steps of 0"}) == "");
  CHECK(complaint([&] { slice(x, 1, 2, 1, 0); }, {"2 to 1 in steps of 0", "forwards"}) == "");
  CHECK(complaint([&] { slice(x, 1, 0, 2, -1); }, {"0 to 2 in steps of -1", "backwards"}) == "");
  CHECK(complaint([&] { slice(x, 1, 3, 0, -1); }, {"3 to 0", "backwards"}) == "");
  CHECK(complaint([&] { slice(x, 1, 2, -5, -1); }, {"2 to -5", "backwards"}) == "");
  CHECK(complaint([&] { concat({}, 0); }, {"concat", "empty"}) == "");
  CHECK(complaint([&] { concat({x, transpose(x)}, 0); },
                  {"concat", "(2, 3) and (3, 2)", "except along axis 0"}) == "");
  CHECK(complaint([&] { concat({x, Tensor(1)}, 0); }, {"concat", "()"}) == "");
  CHECK(complaint([&] { stack({}, 0); }, {"stack", "empty"}) == "");
  CHECK(complaint([&] { stack({x, transpose(x)}, 0); },
                  {"stack", "(2, 3) and (3, 2)", "concat?"}) == "");
  CHECK(complaint([&] { stack({x, x}, 3); }, {"axis 3"}) == "");
  CHECK(complaint([&] { split(x, 2, 1); }, {"split", "2 equal parts", "size 3", "slice"}) == "");
  CHECK(complaint([&] { split(x, 0, 1); }, {"split", "0 equal parts"}) == "");
  CHECK(split(Tensor::zeros({0, 3}), 5, 0).size() == 5);
  CHECK(complaint([] { split(Tensor::zeros({0, 3}), Index{1} << 33, 0); },
                  {"split: x is (0, 3)", "8589934592 parts", "at most 1048576"}) == "");
  CHECK(complaint([&] { expand(x, {2, 6}); }, {"expand: x is (2, 3)", "to (2, 6)"}) == "");
  CHECK(complaint([&] { expand(x, {3}); }, {"expand: x is (2, 3)", "to (3)"}) == "");
  CHECK(complaint([&] { squeeze(x, 0); }, {"squeeze", "(2, 3)", "size 2", "size 1"}) == "");
  CHECK(complaint([&] { unsqueeze(x, 3); }, {"unsqueeze: axis 3", "-3 to 2"}) == "");
}

TEST_CASE("a slice in negative steps goes backwards", "[phase0][ops]") {
  const Tensor x = reshape(Tensor::arange(15), {3, 5});
  CHECK(difference(slice(x, 1, -1, -6, -1), {3, 5},
                   {4, 3, 2, 1, 0, 9, 8, 7, 6, 5, 14, 13, 12, 11, 10}) == "");
  CHECK(difference(slice(x, 1, 3, 0, -2), {3, 2}, {3, 1, 8, 6, 13, 11}) == "");
  CHECK(difference(slice(x, 0, 2, -4, -2), {2, 5}, {10, 11, 12, 13, 14, 0, 1, 2, 3, 4}) == "");
  constexpr Index far = std::numeric_limits<Index>::min();
  CHECK(difference(slice(x, 1, 4, 1, far), {3, 1}, {4, 9, 14}) == "");
  CHECK(difference(slice(x, 1, 4, -6, -5), {3, 1}, {4, 9, 14}) == "");
  CHECK(slice(x, 1, 2, 2, -1).shape() == Shape{3, 0});
  CHECK(slice(Tensor::zeros({0, 2}), 0, -1, -1, -1).shape() == Shape{0, 2});
  CHECK(shares(slice(x, 1, -1, -6, -1), x));
}

TEST_CASE("operations read views with negative strides", "[phase0][ops]") {
  const Tensor x = random_tensor({6, 7}, 1), y = random_tensor({7, 6}, 2);
  const Tensor turned = slice(slice(x, 0, -1, -7, -1), 1, 5, -8, -2);  // (6, 3)
  const Tensor copy = turned.clone();
  const Tensor other = slice(y, 0, 2, -8, -1);  // (3, 6)
  CHECK(difference_to(turned + 1, copy + 1) == "");
  CHECK(difference_to(turned * transpose(other), copy * transpose(other.clone())) == "");
  CHECK(difference_to(exp(turned), exp(copy)) == "");
  CHECK(difference_to(matmul(turned, other), matmul(copy, other.clone())) == "");
  CHECK(difference_to(matmul(other, turned), matmul(other.clone(), copy)) == "");
  CHECK(difference_to(sum(turned, 0), sum(copy, 0)) == "");
  CHECK(difference_to(reshape(turned, {18}), reshape(copy, {18})) == "");
  CHECK(difference_to(reshape(turned, {2, 3, 3}), reshape(copy, {2, 3, 3})) == "");
  CHECK(difference_to(softmax(turned, 0), softmax(copy, 0)) == "");
  CHECK(difference_to(concat({turned, turned}, 1), concat({copy, copy}, 1)) == "");
  CHECK(difference_to(expand(slice(turned, 0, 2, 1, -1), {4, 3}),
                      expand(slice(copy, 0, 2, 3), {4, 3})) == "");
}
