// Capture::replace: what a model does when something else stands where it filed a tensor.
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({2, 5}, {1, 2, 3, 4, 5, 6, 0, 1, 2, 3});

const ForwardContext with_weights = {.need_weights = true};

const std::vector<std::string> filed_names = {"embedding",
                                              "blocks.0.attention.query",
                                              "blocks.0.attention.key",
                                              "blocks.0.attention.value",
                                              "blocks.0.attention.scores",
                                              "blocks.0.attention.weights",
                                              "blocks.0.attention.heads",
                                              "blocks.0.attention.output",
                                              "blocks.0.middle",
                                              "blocks.0.output",
                                              "blocks.1.attention.weights",
                                              "blocks.1.output",
                                              "norm",
                                              "logits"};

}  // namespace

TEST_CASE("what is recorded can be replaced, and the model continues with it", "[phase3][nn]") {
  const Transformer model = small_transformer();
  const Tensor untouched = model(ids, {}, with_weights);
  for (const std::string& name : filed_names) {
    CAPTURE(name);
    Capture seen;
    Tensor given;
    seen.replace(name, [&](const Tensor& x) { return given = x, x * x; });
    const Tensor logits = model(ids, {}, with_weights);
    CHECK(same_bits(seen[name], given * given));
    CHECK(largest_difference(logits, untouched) > 1e-3);
    CHECK(same_bits(seen["logits"], logits));
  }
}

TEST_CASE("to put in what was there changes nothing", "[phase3][nn]") {
  const Transformer model = small_transformer();
  for (const std::string& name : filed_names) {
    CAPTURE(name);
    Capture seen;
    const Tensor untouched = model(ids, {}, with_weights);
    const Tensor kept = seen[name].clone();
    seen.replace(name, [&](const Tensor&) { return kept; });
    CHECK(same_bits(model(ids, {}, with_weights), untouched));
  }
}

TEST_CASE("scores are replaced before the mask, weights before they mix", "[phase3][nn]") {
  const MultiHeadAttention layer = scattered(6, 2, {.is_causal = true});
  const Tensor x = random_tensor({1, 4, 6});
  Capture seen;
  seen.replace("scores", [](const Tensor& scores) { return Tensor::zeros(scores.shape()); });
  layer(x, {}, with_weights);
  const Shape shape{1, 2, 4, 4};
  const auto even = [](const Place& at) { return at[3] > at[2] ? 0 : 1 / double(at[2] + 1); };
  CHECK(difference(seen["weights"], shape, tabulate(shape, even)) == "");
  seen.replace("weights", [](const Tensor& w) { return expand(Tensor::eye(4), w.shape()); });
  const Tensor y = layer(x, {}, with_weights);
  CHECK(difference_to(seen["heads"], seen["value"], 0) == "");
  CHECK(difference_to(y, layer.output(layer.value(x)), nearly) == "");
}

TEST_CASE("a head that is zeroed is a layer without that head", "[phase3][nn]") {
  const MultiHeadAttention layer = scattered(6, 3, {.bias = true});
  const Tensor x = random_tensor({2, 5, 6});
  for (Index gone = 0; gone < 3; ++gone) {
    Tensor expected = layer.output.bias;
    for (Index head = 0; head < 3; ++head) {
      if (head != gone) expected = expected + layer.head(head)(x);
    }
    Tensor keep = Tensor::ones({3, 1, 1});
    keep.set({gone, 0, 0}, 0);
    Capture seen;
    seen.replace("heads", [&](const Tensor& heads) { return heads * keep; });
    CHECK(difference_to(layer(x), expected, nearly) == "");
  }
}

TEST_CASE("a replacement ends with its Capture, or with an empty function", "[phase3][nn]") {
  const Transformer model = small_transformer();
  const Tensor untouched = model(ids);
  {
    Capture seen;
    seen.replace("blocks.0.output", [](const Tensor& x) { return x * 2; });
    CHECK(largest_difference(model(ids), untouched) > 1e-3);
    seen.replace("blocks.0.output", [](const Tensor& x) { return x; });
    CHECK(difference_to(model(ids), untouched, nearly) == "");
    seen.replace("blocks.0.output", [](const Tensor& x) { return x * 3; });
    seen.replace("blocks.0.output", {});
    CHECK(difference_to(model(ids), untouched, nearly) == "");
  }
  CHECK(same_bits(model(ids), untouched));
}

TEST_CASE("gradients pass through a replacement", "[phase3][nn]") {
  const Transformer model = small_transformer();
  const Tensor factor = Tensor::full({2, 1, 1}, 0.7);
  CHECK(wrong_gradient(
            [&](const std::vector<Tensor>& in) {
              Capture seen;
              seen.replace("blocks.0.attention.heads", [&](const Tensor& x) { return x * in[0]; });
              return model(ids);
            },
            {factor}) == "");
}

TEST_CASE("a replacement of another shape is refused", "[phase3][nn]") {
  Capture seen;
  seen.replace("a", [](const Tensor&) { return Tensor::ones({2, 1}); });
  CHECK(complaint([] { Capture::record("a", Tensor::ones({2, 3})); },
                  {"capture: 'a' is (2, 3), its replacement is (2, 1)", "same shape"}) == "");
  seen.replace("a", [](const Tensor&) { return Tensor(); });
  CHECK(complaint([] { Capture::record("a", Tensor::ones({2, 3})); },
                  {"replacement is undefined"}) == "");
  CHECK_FALSE(seen.contains("a"));
  seen.replace("nothing has this name", [](const Tensor& x) { return x; });
  CHECK(same_bits(Capture::record("b", Tensor(3)), Tensor(3)));
}

TEST_CASE("weights that were not stored cannot be replaced", "[phase3][nn]") {
  const Transformer model = small_transformer();
  for (const char* name : {"scores", "weights"}) {
    Capture seen;
    const std::string full = std::string("blocks.1.attention.") + name;
    seen.replace(full, [](const Tensor& x) { return x * 2; });
    CHECK(complaint([&] { model(ids); }, {("capture: '" + full + "' was not stored").c_str(),
                                          "need_weights = true"}) == "");
    model(ids, {}, with_weights);
    CHECK(seen.contains(full));
    seen.replace(full, {});
    model(ids);
  }
}
