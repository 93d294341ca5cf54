#include "tapestry/nn/self_attention.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// x W + b, one row after the other
std::vector<double> map_rows(const std::vector<double>& x, Index rows, const Linear& map) {
  const Index in = map.weight.size(0), out = map.weight.size(1);
  std::vector<double> y;
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < out; ++j) {
      double sum = map.bias.defined() ? double{map.bias.at({j})} : 0;
      for (Index i = 0; i < in; ++i) {
        sum += x[static_cast<std::size_t>(r * in + i)] * double{map.weight.at({i, j})};
      }
      y.push_back(sum);
    }
  }
  return y;
}

// The weights (length, length) by plain loops.
std::vector<double> weights_by_hand(const SingleHeadAttention& head, const std::vector<double>& x,
                                    Index length) {
  const Index d_k = head.query.weight.size(1);
  const std::vector<double> q = map_rows(x, length, head.query), k = map_rows(x, length, head.key);
  std::vector<double> weights;
  for (Index i = 0; i < length; ++i) {
    std::vector<double> row;
    double total = 0;
    for (Index j = 0; j < length; ++j) {
      double score = 0;
      for (Index c = 0; c < d_k; ++c) {
        score +=
            q[static_cast<std::size_t>(i * d_k + c)] * k[static_cast<std::size_t>(j * d_k + c)];
      }
      const bool hidden = head.is_causal && j > i;
      row.push_back(hidden ? 0 : std::exp(score / std::sqrt(static_cast<double>(d_k))));
      total += row.back();
    }
    for (const double value : row) weights.push_back(value / total);
  }
  return weights;
}

std::vector<double> output_by_hand(const SingleHeadAttention& head, const std::vector<double>& x,
                                   Index length) {
  const Index d_v = head.value.weight.size(1);
  const std::vector<double> v = map_rows(x, length, head.value);
  const std::vector<double> weights = weights_by_hand(head, x, length);
  std::vector<double> mixed;
  for (Index i = 0; i < length; ++i) {
    for (Index c = 0; c < d_v; ++c) {
      double sum = 0;
      for (Index j = 0; j < length; ++j) {
        sum += weights[static_cast<std::size_t>(i * length + j)] *
               v[static_cast<std::size_t>(j * d_v + c)];
      }
      mixed.push_back(sum);
    }
  }
  return map_rows(mixed, length, head.output);
}

SingleHeadAttention large_head(Random& random, bool causal) {
  SingleHeadAttention head(
      4, random,
      {.d_k = 3, .d_v = 5, .bias = true, .is_causal = causal, .initializer = init::lecun_normal});
  for (Linear* map : {&head.query, &head.key, &head.value, &head.output}) {
    map->bias = random.normal(map->bias.shape());  // zeros would hide a forgotten bias
  }
  return head;
}

}  // namespace

TEST_CASE("one head is what the formula says, with d_k and d_v of its own", "[phase1][nn]") {
  const bool causal = GENERATE(false, true);
  Random random(5);
  const SingleHeadAttention head = large_head(random, causal);
  const Tensor x = random.normal({6, 4});
  const Attention result = head.with_weights(x);
  CHECK(difference(result.weights, {6, 6}, weights_by_hand(head, doubles(x), 6), 1e-5) == "");
  CHECK(difference(result.output, {6, 4}, output_by_hand(head, doubles(x), 6), 1e-5) == "");
  CHECK(difference(head(x), {6, 4}, output_by_hand(head, doubles(x), 6), 1e-5) == "");
  const Tensor scores = matmul(head.query(x), transpose(head.key(x))) / std::sqrt(3.0);
  CHECK(difference_to(result.scores, scores, 1e-5) == "");
}

TEST_CASE("the elements of a batch do not see each other", "[phase1][nn]") {
  Random random(5);
  const SingleHeadAttention head = large_head(random, true);
  const Tensor x = random.normal({2, 3, 4});
  const Attention both = head.with_weights(x);
  REQUIRE(both.output.shape() == Shape{2, 3, 4});
  REQUIRE(both.weights.shape() == Shape{2, 3, 3});
  for (Index b = 0; b < 2; ++b) {
    const Attention one = head.with_weights(squeeze(slice(x, 0, b, b + 1), 0));
    CHECK(difference_to(squeeze(slice(both.output, 0, b, b + 1), 0), one.output, 1e-5) == "");
  }
}

TEST_CASE("a causal head gives the same past whatever the future is", "[phase1][nn]") {
  Random random(5);
  const SingleHeadAttention head = large_head(random, true);
  const Tensor x = random.normal({5, 4});
  const Tensor past = slice(x, 0, 0, 3);
  CHECK(difference_to(slice(head(x), 0, 0, 3), head(past), 1e-5) == "");
}

TEST_CASE("a mask given adds to the causal one", "[phase1][nn]") {
  Random random(5);
  const SingleHeadAttention head = large_head(random, true);
  const Tensor x = random.normal({2, 4, 4});
  const Mask padding = Mask::padding({4, 2});
  const Attention result = head.with_weights(x, padding);
  CHECK(difference_to(head(x, padding), result.output, 1e-5) == "");
  for (Index b = 0; b < 2; ++b) {
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 4; ++j) {
        const bool seen = j <= i && (b == 0 || j < 2);
        CHECK((result.weights.at({b, i, j}) > 0) == seen);
      }
    }
  }
}

TEST_CASE("d_k and d_v are d_model unless given, and biases are optional", "[phase1][nn]") {
  Random random(5);
  const SingleHeadAttention plain(6, random);
  CHECK(plain.query.weight.shape() == Shape{6, 6});
  CHECK(plain.value.weight.shape() == Shape{6, 6});
  CHECK(plain.parameters().size() == 4);
  CHECK_FALSE(plain.is_causal);
  const SingleHeadAttention other(6, random, {.d_k = 2, .d_v = 3, .bias = true});
  CHECK(other.key.weight.shape() == Shape{6, 2});
  CHECK(other.value.weight.shape() == Shape{6, 3});
  CHECK(other.output.weight.shape() == Shape{3, 6});
  const Parameters list = other.parameters("head.");
  REQUIRE(list.size() == 8);
  const std::vector<std::string> names = {
      "head.query.weight", "head.query.bias", "head.key.weight",    "head.key.bias",
      "head.value.weight", "head.value.bias", "head.output.weight", "head.output.bias"};
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(list[i].name == names[i]);
  CHECK(list[2].value.buffer() == other.key.weight.buffer());
}

TEST_CASE("the gradients of one head are right", "[phase1][nn]") {
  const bool causal = GENERATE(false, true);
  Random random(5);
  SingleHeadAttention head = large_head(random, causal);
  std::vector<Tensor> inputs = {random.normal({2, 3, 4})};
  for (const Parameter& parameter : head.parameters()) inputs.push_back(parameter.value);
  const Function f = [&](const std::vector<Tensor>& in) {
    std::size_t next = 1;
    for (Linear* map : {&head.query, &head.key, &head.value, &head.output}) {
      map->weight = in[next++];
      map->bias = in[next++];
    }
    return concat({head(in[0]), head.with_weights(in[0]).output}, -1);
  };
  CHECK(wrong_gradient(f, inputs) == "");
}

TEST_CASE("one head says what does not fit", "[phase1][nn]") {
  Random random(5);
  const SingleHeadAttention head(4, random);
  const SingleHeadAttention narrow(4, random, {.d_k = 3, .d_v = 2});
  for (const SingleHeadAttention* one : {&head, &narrow}) {
    CHECK(complaint([&] { (*one)(Tensor::zeros({6, 5})); },
                    {"self-attention: x is (6, 5)", "d_model = 4."}) == "");
    CHECK(complaint([&] { (*one).with_weights(Tensor::zeros({6, 5})); },
                    {"self-attention: x is (6, 5)"}) == "");
  }
  CHECK(complaint([&] { head(Tensor::zeros({4})); }, {"x is (4)", "(..., length, d_model)"}) == "");
  CHECK(complaint([&] { SingleHeadAttention(4, random, {.d_k = -1}); }, {"d_k is -1"}) == "");
  CHECK(complaint([&] { SingleHeadAttention(4, random, {.d_v = -2}); }, {"d_v is -2"}) == "");
  const SingleHeadAttention least(1, random, {.d_k = 1, .d_v = 1});
  CHECK(least(Tensor::ones({1, 1})).shape() == Shape{1, 1});
  CHECK(complaint([&] { SingleHeadAttention(-1, random); }, {"d_model is -1"}) == "");
  CHECK(complaint([&] { SingleHeadAttention(0, random); }, {"d_model is 0"}) == "");
}
