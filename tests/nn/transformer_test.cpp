// A transformer: its parts, its shapes, who sees whom, and step by step the same as at once.
#include "tapestry/nn/transformer.hpp"

#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "nn/without.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr Positions all_positions[] = {Positions::learned, Positions::sinusoidal, Positions::none,
                                       Positions::rotary,  Positions::relative,   Positions::alibi};

TransformerOptions small() {
  return {.vocab_size = 11, .max_length = 12, .d_model = 8, .num_heads = 2, .d_ff = 12};
}

Transformer scattered(const TransformerOptions& options) {
  Random random(3);
  Transformer model(options, random);
  scatter(model.parameters(), random, 0.4);
  return model;
}

Indices random_ids(const Shape& shape, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < shape.numel(); ++i) {
    ids.push_back(static_cast<std::int32_t>(random.randint(11)));
  }
  return Indices(shape, ids);
}

// Positions [begin, end) of each sequence, ids (batch, length).
Indices part(const Indices& ids, Index begin, Index end) {
  std::vector<std::int32_t> some;
  for (Index b = 0; b < ids.shape[0]; ++b) {
    for (Index i = begin; i < end; ++i) {
      some.push_back(ids.values[static_cast<std::size_t>(b * ids.shape[1] + i)]);
    }
  }
  return Indices({ids.shape[0], end - begin}, some);
}

// The model's logits by `piece` words at a time.
Tensor by_pieces(const Transformer& model, const Indices& ids, Index piece) {
  std::vector<KeyValueCache> caches;
  std::vector<Tensor> logits;
  for (Index from = 0; from < ids.shape[1]; from += piece) {
    const Index to = std::min(from + piece, ids.shape[1]);
    logits.push_back(model.next(part(ids, from, to), caches));
  }
  return concat(logits, 1);
}

}  // namespace

TEST_CASE("logits are norm(blocks(words + positions)) times a matrix", "[phase2][nn]") {
  const Indices ids = random_ids({2, 5});
  for (const Positions positions : all_positions) {
    for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
      TransformerOptions options = small();
      options.positions = positions;
      options.norm_place = place;
      options.norm_kind = positions == Positions::rotary ? NormKind::rms : NormKind::layer;
      const Transformer model = scattered(options);
      Tensor x = embedding(model.token_embedding.weight, ids);
      if (positions == Positions::learned) x = x + slice(model.position_embedding->weight, 0, 0, 5);
      if (positions == Positions::sinusoidal) x = x + sinusoidal_positions(5, 8);
      for (const TransformerBlock& block : model.blocks) x = block(x);
      if (place == NormPlace::pre) x = (*model.norm)(x);
      CHECK(difference_to(model(ids), matmul(x, model.lm_head.weight), nearly) == "");
      const Capture seen;
      model(ids);
      CHECK(seen.contains("norm") == (place == NormPlace::pre));
      CHECK(seen["embedding"].shape() == Shape{2, 5, 8});
    }
  }
}

TEST_CASE("the shape of logits follows that of ids", "[phase2][nn]") {
  const Transformer model = scattered(small());
  CHECK(model(random_ids({5})).shape() == Shape{5, 11});
  CHECK(model(random_ids({1})).shape() == Shape{1, 11});
  CHECK(model(random_ids({3, 12})).shape() == Shape{3, 12, 11});
  CHECK(model(random_ids({0})).shape() == Shape{0, 11});
  CHECK(model(random_ids({0, 5})).shape() == Shape{0, 5, 11});
  const Indices alone = random_ids({6});
  CHECK(difference_to(unsqueeze(model(alone), 0), model(Indices({1, 6}, alone.values)), nearly) ==
        "");
  CHECK(all_finite(model(random_ids({3, 12}))));
}

TEST_CASE("options reach the layers they are for", "[phase2][nn]") {
  TransformerOptions options = small();
  options.num_layers = 3;
  options.activation = Activation::relu;
  options.attention_bias = true;
  options.dropout = 0.2;
  options.norm_place = NormPlace::post;
  options.initializer = [](const Shape& shape, Random&) { return Tensor::full(shape, 0.25); };
  Random random(1);
  const Transformer model(options, random);
  REQUIRE(model.blocks.size() == 3);
  for (const TransformerBlock& block : model.blocks) {
    CHECK(block.attention.num_heads == 2);
    CHECK((block.attention.is_causal && block.attention.query.bias.defined()));
    CHECK((block.attention.dropout == 0.2 && block.dropout == 0.2));
    CHECK(block.norm_place == NormPlace::post);
    CHECK(block.feed_forward->activation == Activation::relu);
    CHECK(block.feed_forward->up.weight.shape() == Shape{8, 12});
  }
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.name.ends_with("weight")) CHECK(min(parameter.value).item() == 0.25);
  }
  CHECK_FALSE(model.norm.has_value());
  options.is_causal = false;
  options.d_ff = 0;
  const Transformer encoder(options, random);
  CHECK_FALSE(encoder.blocks[0].attention.is_causal);
  CHECK(encoder.blocks[0].feed_forward->up.weight.shape() == Shape{8, 32});
}

TEST_CASE("the norms of a transformer are all of one kind", "[phase2][nn]") {
  TransformerOptions options = small();
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    options.norm_kind = kind;
    const Transformer model = scattered(options);
    std::vector<const NormLayer*> norms = {&*model.norm};
    for (const TransformerBlock& block : model.blocks) {
      norms.insert(norms.end(), {&block.attention_norm, &*block.feed_forward_norm});
    }
    CHECK(norms.size() == 5);
    for (const NormLayer* norm : norms) {
      CHECK(std::holds_alternative<RmsNorm>(norm->layer) == (kind == NormKind::rms));
    }
  }
}

TEST_CASE("a transformer drops parts of words and positions, with a generator", "[phase2][nn]") {
  TransformerOptions options = small();
  options.num_layers = 0;
  options.dropout = 0.5;
  const Transformer model = scattered(options);
  const Indices ids = random_ids({2, 5});
  const Capture seen;
  model(ids);
  const std::vector<double> whole = doubles(seen["embedding"]);
  Random random(2);
  model(ids, {}, {.random = &random});
  const std::vector<double> left = doubles(seen["embedding"]);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    dropped += left[i] == 0;
    CHECK((left[i] == 0 || same_number(left[i], 2 * whole[i], nearly)));
  }
  CHECK(dropped > 20);  // of 80
  CHECK(dropped < 60);
}

TEST_CASE("a decoder: a later word changes no bit of earlier logits", "[phase4][nn]") {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    TransformerOptions options = small();
    options.norm_place = place;
    const Transformer model = scattered(options);
    const Indices ids = random_ids({2, 8});
    const Tensor before = model(ids);
    for (Index changed = 0; changed < 8; ++changed) {
      Indices other = ids;
      std::int32_t& word = other.values[static_cast<std::size_t>(changed)];  // of sequence 0
      word = (word + 1) % 11;
      const Tensor after = model(other);
      CHECK(same_bits(slice(after, 1, 0, changed), slice(before, 1, 0, changed)));
      CHECK(same_bits(slice(after, 0, 1, 2), slice(before, 0, 1, 2)));
      const Tensor now = slice(slice(after, 0, 0, 1), 1, changed, changed + 1);
      CHECK_FALSE(same_bits(now, slice(slice(before, 0, 0, 1), 1, changed, changed + 1)));
    }
  }
}

TEST_CASE("an encoder: every word sees every other, but none of the padding", "[phase2][nn]") {
  TransformerOptions options = small();
  options.is_causal = false;
  const Transformer model = scattered(options);
  const Indices ids = random_ids({2, 6});
  Indices other = ids;
  other.values[11] = (other.values[11] + 1) % 11;  // the last word of sequence 1
  const Tensor open = model(ids), changed = model(other);
  CHECK_FALSE(
      same_bits(slice(slice(open, 0, 1, 2), 1, 0, 1), slice(slice(changed, 0, 1, 2), 1, 0, 1)));
  const Mask mask = Mask::padding({6, 4});
  const Tensor padded = model(ids, mask);
  const Tensor real_words = slice(slice(padded, 0, 1, 2), 1, 0, 4);
  CHECK(same_bits(real_words, slice(slice(model(other, mask), 0, 1, 2), 1, 0, 4)));
  const Indices shorter({1, 4}, {ids.values[6], ids.values[7], ids.values[8], ids.values[9]});
  CHECK(difference_to(real_words, model(shorter), nearly) == "");
  CHECK(all_finite(model(ids, Mask::padding({6, 0}))));
}

TEST_CASE("step by step is the same as all at once, for any steps and positions", "[phase4][nn]") {
  const Indices ids = random_ids({2, 10});
  for (const Positions positions : all_positions) {
    for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
      TransformerOptions options = small();
      options.positions = positions;
      options.norm_place = place;
      if (place == NormPlace::post) options = attention_only(options);
      options.norm_kind = positions == Positions::rotary ? NormKind::rms : NormKind::layer;
      const Transformer model = scattered(options);
      const Tensor whole = model(ids);
      for (const Index piece : {1, 2, 3, 5, 10}) {
        CAPTURE(static_cast<int>(positions), static_cast<int>(place), piece);
        CHECK(difference_to(by_pieces(model, ids, piece), whole, nearly) == "");
      }
    }
  }
}

TEST_CASE("all positions but learned ones go on beyond the length a model was made for",
          "[phase4][nn]") {
  for (const Positions positions : all_positions) {
    if (positions == Positions::learned) continue;
    TransformerOptions options = small(), longer = small();
    options.positions = longer.positions = positions;
    options.max_length = 4;
    const Transformer model = scattered(options), other = scattered(longer);
    const Indices ids = random_ids({2, 10});
    CHECK(same_bits(model(ids), other(ids)));
    for (const Index piece : {1, 2, 3, 5}) {
      CAPTURE(static_cast<int>(positions), piece);
      CHECK(difference_to(by_pieces(model, ids, piece), model(ids), nearly) == "");
    }
  }
}

TEST_CASE("of some next words the logits of the last are those of all, or none of none",
          "[phase4][nn]") {
  const Transformer model = scattered(small());
  const Indices ids = random_ids({3, 7});
  const Tensor whole = model(ids);
  for (const Index words : {1, 2, 7}) {
    std::vector<KeyValueCache> caches;
    const Tensor last = model.next(part(ids, 0, words), caches, NextOf::last);
    CHECK(difference_to(last, slice(whole, 1, words - 1, words), nearly) == "");
    CHECK(caches[1].length() == words);
  }
  std::vector<KeyValueCache> caches;
  CHECK(model.next(random_ids({3, 0}), caches, NextOf::last).shape() == Shape{3, 0, 11});
}

TEST_CASE("steps that cannot be are refused, and the caches stay as they were", "[phase4][nn]") {
  const Transformer model = scattered(small());
  std::vector<KeyValueCache> caches;
  model.next(random_ids({2, 10}), caches);
  const auto next = [&](const Indices& ids) { return [&, ids] { model.next(ids, caches); }; };
  CHECK(complaint(next(random_ids({2, 3})), {"transformer: 13 positions, but only 12"}) == "");
  CHECK(complaint(next(random_ids({3, 1})), {"the cache is of a batch of 2"}) == "");
  CHECK(complaint(next(Indices({2, 1}, {0, 11})), {"embedding: index 11"}) == "");
  REQUIRE(caches.size() == 2);
  CHECK(caches[0].length() == 10);
  CHECK(caches[1].length() == 10);
  CHECK(model.next(random_ids({2, 1}), caches).shape() == Shape{2, 1, 11});
  std::vector<KeyValueCache> one(1), uneven(2);
  uneven[0] = caches[0];
  const char* words = "there must be one for each block, at least one, all equally long";
  CHECK(complaint([&] { model.next(random_ids({2, 1}), one); }, {"1 caches for 2 blocks", words}) ==
        "");
  CHECK(complaint([&] { model.next(random_ids({2, 1}), uneven); }, {words}) == "");
  CHECK(complaint([&] { model(random_ids({2, 1}), {}, {.cache = &caches[0]}); },
                  {"each block has a cache of its own", "next()"}) == "");
  TransformerOptions options = small();
  options.is_causal = false;
  std::vector<KeyValueCache> none;
  CHECK(complaint([&] { scattered(options).next(random_ids({1, 2}), none); },
                  {"next() is for a decoder", "whole text"}) == "");
  CHECK(none.empty());
}

TEST_CASE("a transformer says what does not fit", "[phase2][nn]") {
  const Transformer model = scattered(small());
  CHECK(complaint([&] { model(random_ids({13})); },
                  {"13 positions, but only 12 were learned", "larger max_length"}) == "");
  CHECK(complaint([&] { model(random_ids({1, 2, 3})); },
                  {"transformer: ids are (1, 2, 3)", "(length) or (batch, length)"}) == "");
  CHECK(complaint([&] { model(Indices(Shape{}, {1})); }, {"ids are ()"}) == "");
  CHECK(complaint([&] { model(Indices({1}, {-1})); }, {"index -1"}) == "");
  CHECK(complaint([&] { model(random_ids({2, 3}), Mask::padding({3})); }, {"mask"}) == "");
  const auto made = [](auto change) {
    return [change] {
      TransformerOptions options = small();
      change(options);
      scattered(options);
    };
  };
  using O = TransformerOptions;
  Random random(1);
  const Transformer least(
      {.vocab_size = 1, .max_length = 1, .d_model = 1, .num_heads = 1, .num_layers = 1, .d_ff = 1},
      random);
  CHECK(least(Indices({1}, {0})).shape() == Shape{1, 1});
  CHECK(complaint(made([](O& o) { o.vocab_size = 0; }), {"vocab_size is 0", "at least 1"}) == "");
  CHECK(complaint(made([](O& o) { o.max_length = 0; }),
                  {"transformer", "max_length is 0", "at least 1"}) == "");
  CHECK(complaint(made([](O& o) { o.num_layers = -1; }), {"num_layers is -1", "at least 0"}) == "");
  CHECK(complaint(made([](O& o) { o.num_token_types = -1; }),
                  {"num_token_types is -1", "at least 0"}) == "");
  CHECK(complaint(made([](O& o) { o.num_heads = 0, o.scale_by_layer = true; }),
                  {"num_heads is 0"}) == "");
  CHECK(complaint(made([](O& o) { o.d_model = 0; }), {"width = 0"}) == "");
  CHECK(complaint(made([](O& o) { o.num_heads = 3; }), {"heads must divide"}) == "");
  CHECK(complaint(made([](O& o) { o.d_ff = -1; }), {"out = -1"}) == "");
  CHECK(complaint(made([](O& o) { o.dropout = 1; }), {"transformer: dropout is 1", "[0, 1)"}) ==
        "");
  CHECK(complaint(made([](O& o) { o.dropout = NAN; }), {"dropout is nan"}) == "");
  for (bool O::* const option : {&O::tied_logits, &O::logits_bias, &O::logits_transform}) {
    const char* const name = option == &O::tied_logits   ? "tied_logits is true"
                             : option == &O::logits_bias ? "logits_bias is true"
                                                         : "logits_transform is true";
    CHECK(complaint(made([=](O& o) { o.*option = true, o.has_logits = false; }),
                    {name, "has_logits is false", "leave it out"}) == "");
  }
  CHECK(complaint(made([](O& o) { o.has_feed_forward = false; }), {"d_ff is given"}) == "");
  CHECK(complaint(made([](O& o) {
                    o.has_feed_forward = false, o.d_ff = 0, o.activation = Activation::relu;
                  }),
                  {"an activation is given"}) == "");
  CHECK(complaint(made([](O& o) { o.initializer = nullptr; }), {"the initializer is null"}) == "");
  CHECK(complaint(made([](O& o) { o.rotary.base = 50; }), {"rotary options"}) == "");
}
