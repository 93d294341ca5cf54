#include "tapestry/nn/init.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/nn/lstm.hpp"
#include "tapestry/nn/transformer.hpp"

using namespace tapestry;

namespace {

double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

double deviation_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += (value - mean_of(x)) * (value - mean_of(x));
  return std::sqrt(sum / static_cast<double>(x.size()));
}

// "" if these maps and tables were drawn so, in this order, from the beginning of Random(1).
std::string differently_drawn(Initializer start, const std::vector<Tensor>& weights) {
  Random random(1);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].values() != start(weights[i].shape(), random).values()) {
      return "number " + std::to_string(i);
    }
  }
  return "";
}

std::vector<Tensor> maps_of(const MultiHeadAttention& a) {
  return {a.query.weight, a.key.weight, a.value.weight, a.output.weight};
}

}  // namespace

TEST_CASE("initialisers have the spread that their papers give", "[phase1][nn]") {
  Random random(3);
  const Shape shape = {50, 30};  // 1500 numbers: the deviation is known to about 2 %
  CHECK(std::abs(deviation_of(doubles(init::normal(shape, random))) / 0.02 - 1) < 0.08);
  CHECK(std::abs(deviation_of(doubles(init::lecun_normal(shape, random))) * std::sqrt(50) - 1) <
        0.08);
  const std::vector<double> x = doubles(init::xavier_uniform(shape, random));
  const double bound = std::sqrt(6.0 / 80);
  CHECK(*std::max_element(x.begin(), x.end()) <= bound);
  CHECK(*std::max_element(x.begin(), x.end()) > 0.98 * bound);
  CHECK(*std::min_element(x.begin(), x.end()) >= -bound);
  CHECK(*std::min_element(x.begin(), x.end()) < -0.98 * bound);
  CHECK(std::abs(mean_of(x)) < 4 * bound / std::sqrt(3 * 1500));
}

TEST_CASE("xavier is symmetric in its two sizes, lecun_normal goes by the first", "[phase1][nn]") {
  Random one(7), other(7);
  CHECK(init::xavier_uniform({3, 20}, one).values() ==
        init::xavier_uniform({20, 3}, other).values());
  Random wide(7), narrow(7);
  const std::vector<double> x = doubles(init::lecun_normal({4, 25}, wide));
  const std::vector<double> y = doubles(init::lecun_normal({100, 1}, narrow));
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(x[i] - 5 * y[i]) < 1e-5);
}

TEST_CASE("initialisers that scale by sizes refuse a shape without them", "[phase1][nn]") {
  Random random(1);
  CHECK(complaint([&] { init::xavier_uniform({3}, random); },
                  {"xavier_uniform: the shape (3)", "(in, out)"}) == "");
  CHECK(complaint([&] { init::lecun_normal({}, random); }, {"lecun_normal: the shape ()"}) == "");
  CHECK(init::normal({3}, random).shape() == Shape{3});
}

// Whatever a bare Linear begins with: the lessons' numbers rest on these draws.
TEST_CASE("layers made of maps begin as they say, in a fixed order", "[phase1][nn]") {
  Random single_random(1), multi_random(1), forward_random(1), lstm_random(1), model_random(1);
  const SingleHeadAttention single(6, single_random);
  CHECK(differently_drawn(init::normal, {single.query.weight, single.key.weight,
                                         single.value.weight, single.output.weight}) == "");
  CHECK(differently_drawn(init::normal, maps_of(MultiHeadAttention(6, 2, multi_random))) == "");
  const FeedForward forward(6, forward_random);
  CHECK(differently_drawn(init::normal, {forward.up.weight, forward.down.weight}) == "");
  const LstmCell cell(3, 2, lstm_random);
  CHECK(differently_drawn(init::xavier_uniform, {cell.input.weight, cell.hidden.weight}) == "");

  const Transformer model({.vocab_size = 5, .d_model = 8, .num_heads = 2}, model_random);
  std::vector<Tensor> drawn = {model.token_embedding.weight, model.lm_head.weight,
                               model.position_embedding->weight};
  for (const TransformerBlock& block : model.blocks) {
    const std::vector<Tensor> maps = maps_of(block.attention);
    drawn.insert(drawn.end(), maps.begin(), maps.end());
    drawn.push_back(block.feed_forward->up.weight);
    drawn.push_back(block.feed_forward->down.weight);
  }
  CHECK(differently_drawn(init::normal, drawn) == "");
}
