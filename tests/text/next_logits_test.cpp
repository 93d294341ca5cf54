// What follows a text: without repetition, until it is told to stop, from what was already read.
#include <utility>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("words that a text has become less likely", "[phase7][text]") {
  const Tensor logits({4}, {2, -2, 1, 0});
  const Tensor y = without_repetition(logits, Indices({4}, {0, 1, 0, 2}), 2);
  CHECK(difference(y, {4}, {1, -4, 0.5, 0}) == "");
  CHECK(difference(logits, {4}, {2, -2, 1, 0}) == "");
  CHECK(difference(without_repetition(logits, Indices({1}, {0}), 0.5), {4}, {4, -2, 1, 0}) == "");
  CHECK(complaint([&] { (void)without_repetition(logits, Indices({1}, {4}), 2); },
                  {"there is no logit of id 4"}) == "");
  CHECK(complaint([&] { (void)without_repetition(logits, Indices({1}, {-1}), 2); },
                  {"no logit of id -1"}) == "");
  for (const double penalty : {0.0, -1.0, infinity}) {
    CHECK(complaint([&] { (void)without_repetition(logits, Indices({1}, {0}), penalty); },
                    {"it must be above 0, and finite"}) == "");
  }
  Random random(1);
  const auto fixed = [](const Indices&) { return Tensor({3}, {3, 2, 1}); };
  const Indices greedy_ids =
      generate(fixed, Indices({1}, {2}), random,
               {.sampling = greedy, .max_new_tokens = 3, .repetition_penalty = 2});
  CHECK(greedy_ids.values == std::vector<std::int32_t>{2, 0, 1, 0});  // 3, then 1.5 beside 2
}

TEST_CASE("a text ends when it is told to", "[phase7][text]") {
  Random random(1);
  int steps = 0;
  const Indices ids =
      generate([](const Indices&) { return Tensor({2}, {1, 0}); }, Indices({1}, {1}), random,
               {.sampling = greedy, .max_new_tokens = 9, .stop = [&] { return ++steps == 3; }});
  CHECK(ids.values == std::vector<std::int32_t>{1, 0, 0, 0});
}

TEST_CASE("a decoder that keeps what it has read gives the logits of one that reads all again",
          "[phase7][text]") {
  Random random(3);
  const Transformer model({.vocab_size = 11,
                           .max_length = 6,
                           .d_model = 8,
                           .num_heads = 2,
                           .initializer = init::lecun_normal},
                          random);
  const auto again = [&](const Indices& ids) {
    return squeeze(slice(model(ids), 0, ids.shape[0] - 1, ids.shape[0]), 0);
  };
  for (const std::int32_t first : {-1, 0, 9}) {
    const NextLogits next = next_logits_of(model, 6, first);
    Indices ids({2}, {1, 2});
    for (std::int32_t i = 0; i < 8; ++i) {
      Indices read = ids;
      if (ids.shape[0] > 6) {
        read = Indices({6}, {ids.values.end() - 6, ids.values.end()});
        if (first >= 0) read.values.front() = first;
      }
      CHECK(largest_difference(next(ids), again(read)) < 1e-5);
      if (i == 1) CHECK(largest_difference(next(ids), again(ids)) < 1e-5);  // the same once more
      if (i == 3 || i == 7)
        CHECK(largest_difference(next(Indices({1}, {7})), again(Indices({1}, {7}))) < 1e-5);
      ids.values.push_back(i);
      ids.shape = {ids.shape[0] + 1};
    }
  }
  const Indices one({1}, {7});
  CHECK(largest_difference(next_logits_of(model, 1)(Indices({2}, {3, 7})), again(one)) < 1e-5);
  CHECK(complaint([&] { (void)next_logits_of(model, 0); }, {"positions is 0"}) == "");
  CHECK(complaint([&] { (void)next_logits_of(model, 6)(Indices()); }, {"one id at least"}) == "");
}

TEST_CASE("a transformer writes the same text with its cache and without", "[phase4][generation]") {
  Random random(1);
  const Transformer model({.vocab_size = 7,
                           .max_length = 12,
                           .d_model = 8,
                           .num_heads = 2,
                           .num_layers = 2,
                           .initializer = init::xavier_uniform},
                          random);
  const auto whole = [&](const Indices& so_far) {
    return squeeze(slice(model(so_far), 0, -1, so_far.shape[0]), 0);
  };
  std::vector<KeyValueCache> caches;
  Index seen = 0;
  const auto cached = [&](const Indices& so_far) {
    const Index length = so_far.shape[0], fresh = length - std::exchange(seen, length);
    const Tensor logits =
        model.next(Indices({1, fresh}, {so_far.values.end() - fresh, so_far.values.end()}), caches);
    return squeeze(slice(squeeze(logits, 0), 0, -1, fresh), 0);
  };
  const GenerationOptions options = {.sampling = {.temperature = 0.7, .top_k = 5},
                                     .max_new_tokens = 9};
  Random one(3), other(3);
  const Indices text = generate(whole, Indices({2}, {3, 1}), one, options);
  CHECK(text.values.size() == 11);
  CHECK(generate(cached, Indices({2}, {3, 1}), other, options).values == text.values);
}
