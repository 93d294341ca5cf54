// embedding and gather.
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

Indices random_indices(const Shape& shape, Index below, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> values(static_cast<std::size_t>(shape.numel()));
  for (std::int32_t& value : values) value = static_cast<std::int32_t>(random.randint(below));
  return Indices(shape, values);
}

std::size_t flat(const Shape& shape, const Place& place) {
  Index at = 0;
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    at = at * shape.begin()[axis] + place[axis];
  }
  return static_cast<std::size_t>(at);
}

std::string wrong_gather(const Tensor& x, int axis, const Indices& index) {
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + x.ndim() : axis);
  return difference(gather(x, axis, index), index.shape,
                    tabulate(index.shape, [&](const Place& place) {
                      Place from = place;
                      from[at] = index.values[flat(index.shape, place)];
                      return element(x, from);
                    }));
}

}  // namespace

TEST_CASE("embedding picks rows of the table", "[phase0][ops]") {
  const Tensor table({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(difference(embedding(table, Indices({4}, {2, 0, 0, 1})), {4, 2},
                   {5, 6, 1, 2, 1, 2, 3, 4}) == "");
  CHECK(difference(embedding(table, Indices({2, 1}, {1, 2})), {2, 1, 2}, {3, 4, 5, 6}) == "");
  CHECK(difference(embedding(table, Indices({}, {1})), {2}, {3, 4}) == "");
  CHECK(embedding(table, Indices({0}, {})).shape() == Shape{0, 2});
  CHECK(embedding(Tensor::zeros({3, 0}), Indices({2}, {0, 1})).shape() == Shape{2, 0});
  CHECK(difference(embedding(transpose(table), Indices({1}, {1})), {1, 3}, {2, 4, 6}) == "");
}

TEST_CASE("the gradient of embedding adds up where rows were picked", "[phase0][ops]") {
  const Tensor table = random_tensor({5, 3});
  const Indices ids({2, 3}, {4, 0, 4, 4, 1, 0});
  CHECK(difference(slope([&](const Tensor& t) { return embedding(t, ids); }, table), {5, 3},
                   {2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 3, 3, 3}) == "");
  CHECK(wrong_gradient([&](const std::vector<Tensor>& in) { return embedding(in[0], ids); },
                       {table}) == "");
  CHECK(wrong_gradient(
            [&](const std::vector<Tensor>& in) {
              return transpose(embedding(transpose(in[0]), ids));
            },
            {random_tensor({3, 5})}) == "");
}

TEST_CASE("gather picks along any axis", "[phase0][ops]") {
  const Tensor x = random_tensor({3, 4, 5});
  for (int axis = -3; axis < 3; ++axis) {
    for (const Index picks : {0, 1, 2, 7}) {
      CAPTURE(axis, picks);
      const Indices index = random_indices(x.shape().with(axis, picks), x.size(axis), 4);
      CHECK(wrong_gather(x, axis, index) == "");
      CHECK(wrong_gradient(
                [&](const std::vector<Tensor>& in) { return gather(in[0], axis, index); }, {x}) ==
            "");
    }
  }
  CHECK(difference(gather(Tensor({3}, {7, 8, 9}), 0, Indices({2}, {2, 2})), {2}, {9, 9}) == "");
}

TEST_CASE("gather reads strided views", "[phase0][ops]") {
  const Tensor x = random_tensor({4, 6});
  const Indices index = random_indices({6, 3}, 4, 5);
  CHECK(wrong_gather(transpose(x), 1, index) == "");
  CHECK(wrong_gradient(
            [&](const std::vector<Tensor>& in) { return gather(transpose(in[0]), 1, index); },
            {x}) == "");
}

TEST_CASE("looking up what is not there is refused, with the place", "[phase0][ops]") {
  const Tensor table = Tensor::zeros({3, 2});
  CHECK(complaint([&] { embedding(table, Indices({3}, {0, 3, 1})); },
                  {"embedding: index 3 at place 1", "3 rows", "(0 to 2)"}) == "");
  CHECK(complaint([&] { embedding(table, Indices({1}, {-1})); }, {"index -1 at place 0"}) == "");
  CHECK(complaint([&] { embedding(Tensor::zeros({3}), Indices({1}, {0})); },
                  {"embedding", "table is (3)", "(words, width)"}) == "");
  CHECK(complaint([&] { gather(table, 1, Indices({3, 1}, {0, 1, 2})); },
                  {"gather: index 2 at place 2", "2 positions"}) == "");
  CHECK(complaint([&] { gather(table, 0, Indices({1, 3}, {0, 0, 0})); },
                  {"gather: x is (3, 2), index is (1, 3)", "except along axis 0"}) == "");
  CHECK(complaint([&] { gather(table, 0, Indices({2}, {0, 0})); }, {"index is (2)"}) == "");
  CHECK(complaint([&] { gather(table, 2, Indices({3, 2}, {0, 0, 0, 0, 0, 0})); },
                  {"gather: axis 2"}) == "");
}
