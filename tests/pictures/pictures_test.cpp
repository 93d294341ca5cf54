#include "tapestry/pictures.hpp"

#include <cmath>

#include "catch.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

TEST_CASE("a picture of a mask: white where one may attend, black elsewhere",
          "[phase4][pictures]") {
  for (const Mask& mask : {Mask::causal(), Mask::padding({3}), Mask::padding({0})}) {
    const plot::Heatmap picture = mask_heatmap(mask, {"a", "b", "c"}, {"x", "y", "z"}, "who sees");
    CHECK(picture.title == "who sees");
    CHECK(picture.rows == 3);
    CHECK(picture.columns == 3);
    CHECK(picture.values.size() == 9);
    CHECK(picture.row_labels == std::vector<std::string>{"a", "b", "c"});
    CHECK(picture.column_labels == std::vector<std::string>{"x", "y", "z"});
    CHECK(picture.low == 0);  // fixed, or a mask of one colour would be grey
    CHECK(picture.high == 1);
    CHECK(picture.subtitle == "white: may attend, black: may not");
    CHECK(picture.print == plot::PrintValues::never);
    CHECK_FALSE(picture.colour_bar);
    CHECK(plot::colour_at(picture.colours, 0) == plot::Colour{255, 255, 255});
    CHECK(plot::colour_at(picture.colours, 1).r < 40);
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        CHECK(picture.values[std::size_t(3 * i + j)] == (mask.allows(0, i, j) ? 0 : 1));
      }
    }
  }
}

TEST_CASE("a picture of weights has their values and words; they are one matrix",
          "[phase1][pictures]") {
  const Tensor weights({2, 3}, {0.5, 0.25, 0.25, 0, 0.75, 0.25});
  const plot::Heatmap picture = attention_heatmap(weights, {"a", "b"}, {"x", "y", "z"}, "a head");
  CHECK(picture.rows == 2);
  CHECK(picture.columns == 3);
  CHECK(picture.values == std::vector<double>{0.5, 0.25, 0.25, 0, 0.75, 0.25});
  CHECK(picture.title == "a head");
  for (const Tensor& wrong : {Tensor::ones({3}), Tensor::ones({1, 2, 3})}) {
    CHECK_THROWS_AS(attention_heatmap(wrong, {}, {}, ""), Error);
  }
}

TEST_CASE("an image as a tensor has its rows, columns and channels, from 0 to 1",
          "[phase3][pictures]") {
  const plot::Image image{3, 2, 1, {0, 51, 255, 102, 204, 1}};
  const Tensor values = image_tensor(image);
  CHECK(values.shape() == Shape{2, 3, 1});
  CHECK(values.values() ==
        std::vector<real>{0, real(0.2), 1, real(0.4), real(0.8), real(1 / 255.0)});
}

TEST_CASE("the diagram of a tape: a box for each record, with what it holds",
          "[phase0][pictures]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6}), w(2);
  Tape tape(Parameters{{"x", x}, {"", w}}, Tape::Keep::values);
  const Tensor y = x * w, loss = sum(y);
  tape.label(y, "scaled");
  (void)tape.backward(loss);
  const plot::Diagram diagram = tape_diagram(tape, "a small tape");
  using Lines = std::vector<std::string>;
  CHECK(diagram.title == "a small tape");
  REQUIRE(diagram.boxes.size() == 4);
  const plot::Box &watched = diagram.boxes[0], &factor = diagram.boxes[1],
                  &product = diagram.boxes[2], &last = diagram.boxes[3];
  CHECK(watched.title == "x");  // not "x = watched"
  CHECK(watched.lines == Lines{"(2, 3)"});
  CHECK(factor.title == "watched");
  CHECK(factor.lines == Lines{"value 2.000", "gradient 21.000"});
  CHECK_FALSE(factor.thumbnail);
  CHECK(product.title == "scaled = multiply");
  CHECK(product.lines == Lines{"(2, 3)"});
  CHECK(last.title == "sum");
  CHECK(last.lines == Lines{"value 42.000", "gradient 1.000"});
  CHECK(watched.fill == plot::Colour{255, 244, 230});
  CHECK(watched.fill == factor.fill);
  CHECK(watched.fill != product.fill);
  CHECK(product.fill == last.fill);
  REQUIRE(product.thumbnail);
  CHECK(product.thumbnail->rows == 2);
  CHECK(product.thumbnail->columns == 3);
  CHECK(product.thumbnail->values == std::vector<double>{2, 4, 6, 8, 10, 12});
  std::vector<std::pair<std::size_t, std::size_t>> arrows;
  for (const plot::Arrow& arrow : diagram.arrows) arrows.emplace_back(arrow.from, arrow.to);
  CHECK(arrows == decltype(arrows){{0, 2}, {1, 2}, {2, 3}});
}

TEST_CASE("a box of the diagram of a tape shows a vector as a row, and no more than a matrix",
          "[phase0][pictures]") {
  const Tensor row({3}, {1, 2, 3}), cube = Tensor::ones({2, 2, 2}), none = Tensor::zeros({0});
  const Tape tape({row, cube, none}, Tape::Keep::values);
  const plot::Diagram diagram = tape_diagram(tape, "");
  REQUIRE(diagram.boxes.size() == 3);
  REQUIRE(diagram.boxes[0].thumbnail);
  CHECK(diagram.boxes[0].thumbnail->rows == 1);
  CHECK(diagram.boxes[0].thumbnail->columns == 3);
  CHECK_FALSE(diagram.boxes[1].thumbnail);
  CHECK_FALSE(diagram.boxes[2].thumbnail);
  CHECK(diagram.boxes[2].lines == std::vector<std::string>{"(0)"});
}

}  // namespace
}  // namespace tapestry
