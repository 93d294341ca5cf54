// A classifier of texts, put together from layers: words and positions, attention, the mean over
// the positions, a linear map.
#include <algorithm>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr Index texts = 32, length = 50, vocabulary = 10000, width = 256, heads = 8, classes = 5;

struct Classifier {
  Random random = Random(1);
  Embedding words{vocabulary, width, random};
  MultiHeadAttention attention{width, heads, random, {.initializer = init::lecun_normal}};
  Linear out{width, classes, random};
  bool has_positions = true;

  // ids (texts, length) -> logits (texts, classes)
  Tensor operator()(const Indices& ids) const {
    Tensor x = 16 * words(ids);  // (texts, length, width)
    if (has_positions) x = x + sinusoidal_positions(ids.shape[1], width);
    return out(mean(x + attention(x), 1));
  }
};

Indices some_texts() {
  Random random(2);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < texts * length; ++i) {
    ids.push_back(static_cast<std::int32_t>(random.randint(vocabulary)));
  }
  return {{texts, length}, ids};
}

}  // namespace

TEST_CASE("a classifier of 32 texts of 50 words gives five logits for each", "[phase6][nn]") {
  const Classifier model;
  const Indices ids = some_texts();
  const Tensor logits = model(ids);  // (32, 5)
  CHECK(logits.shape() == Shape{32, 5});

  // Each text is read alone: the last one by itself has the same logits.
  const Indices last({1, length}, {ids.values.end() - length, ids.values.end()});
  CHECK(largest_difference(model(last), slice(logits, 0, texts - 1, texts)) < 1e-4);

  // The gradients of the loss reach the words, attention and the last map.
  const Indices labels({texts}, std::vector<std::int32_t>(texts, 3));
  const Parameters learned =
      parameters({{"words", model.words}, {"attention", model.attention}, {"out", model.out}});
  Tape tape(learned);
  const Gradients gradients = tape.backward(cross_entropy(model(ids), labels));
  for (const Parameter& p : learned) {
    CAPTURE(p.name);
    CHECK(largest_difference(gradients[p.value], 0 * p.value) > 1e-6);
  }
}

TEST_CASE("a classifier without positions does not know the order of words", "[phase6][nn]") {
  Classifier model;
  const Indices ids = some_texts();
  Indices turned = ids;  // each text read backwards
  for (Index i = 0; i < texts; ++i) {
    std::reverse(turned.values.begin() + i * length, turned.values.begin() + (i + 1) * length);
  }
  CHECK(largest_difference(model(ids), model(turned)) > 1e-3);
  model.has_positions = false;
  CHECK(largest_difference(model(ids), model(turned)) < 1e-5);
}
