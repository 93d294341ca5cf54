// The options that other people's models need, each against its formula written out.
#include <vector>

#include "catch.hpp"
#include "nn/architectures.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({2, 5}, {0, 3, 2, 6, 1, 4, 4, 5, 0, 2});
const Indices targets({2, 5}, {1, 2, 3, 4, 3, 1, 0, -1, 6, 5});

Tensor row_of(const Indices& few, const Tensor& table) { return embedding(table, few); }

}  // namespace

TEST_CASE("tied logits are products with the words' own vectors", "[phase7][nn]") {
  TransformerOptions o = tiny();
  o.tied_logits = true;
  const Transformer model = scattered(o);
  CHECK(names(model.parameters()).back() == "norm.bias");
  CHECK_FALSE(model.lm_head.weight.defined());
  const Capture seen;
  const Tensor logits = model(ids);
  CHECK(logits.shape() == Shape{2, 5, 7});
  CHECK(difference_to(logits, matmul(seen["norm"], transpose(model.token_embedding.weight)),
                      nearly) == "");
  o.logits_bias = true;
  const Transformer biased = scattered(o);
  CHECK(names(biased.parameters()).back() == "logits.bias");
  CHECK(difference_to(biased.read_out(seen["blocks.1.output"]),
                      matmul((*biased.norm)(seen["blocks.1.output"]),
                             transpose(biased.token_embedding.weight)) +
                          biased.lm_head.bias,
                      nearly) == "");
}

TEST_CASE("a model goes on from the input of any block", "[phase7][nn]") {
  const Transformer model = scattered(tiny());
  const Index layers = model.options.num_layers;
  Tensor logits;
  std::vector<Tensor> inputs, given;
  {
    const Capture seen;
    logits = model(ids, Mask::local(1));  // (batch, length, vocab_size)
    inputs = {seen["embedding"]};
    for (Index i = 0; i < layers; ++i) {
      const std::string block = "blocks." + std::to_string(i);
      inputs.push_back(seen[block + ".output"]);
      given.push_back(seen[block + ".middle"] + seen[block + ".feed_forward"]);
    }
  }
  for (Index i = 0; i <= layers; ++i) {
    const Tensor& x = inputs[static_cast<std::size_t>(i)];
    CHECK(same_bits(model.from_block(i, x, Mask::local(1)), logits));
    if (i > 0) CHECK(same_bits(given[static_cast<std::size_t>(i - 1)], x));
  }
  const Tensor& first = inputs.front();
  CHECK(complaint([&] { (void)model.from_block(layers + 1, first); },
                  {"from_block", "there are"}) == "");
  CHECK(complaint([&] { (void)model.from_block(-1, first); }, {"block -1"}) == "");
  KeyValueCache cache;
  ForwardContext pass;
  pass.cache = &cache;
  CHECK(complaint([&] { (void)model.from_block(0, first, {}, pass); }, {"no cache"}) == "");
}

TEST_CASE("blocks in parallel: attention and feed-forward see the same", "[phase7][nn]") {
  const Transformer model = scattered(like_neox());
  const Capture seen;
  model(ids);
  Tensor x = seen["embedding"];
  for (std::size_t i = 0; i < 2; ++i) {
    const TransformerBlock& b = model.blocks[i];
    const std::string name = "blocks." + std::to_string(i);
    const Tensor attended = b.attention.output(concat_heads(seen[name + ".attention.heads"]));
    CHECK(difference_to(seen[name + ".middle"], x + attended, nearly) == "");
    x = x + attended + (*b.feed_forward)((*b.feed_forward_norm)(x));
    CHECK(difference_to(seen[name + ".output"], x, nearly) == "");
  }
  TransformerOptions post = like_neox();
  post.norm_place = NormPlace::post;
  CHECK(complaint([&] { scattered(post); }, {"transformer block", "parallel", "NormPlace::pre"}) ==
        "");
}

TEST_CASE("token types are added to words, and the sum is normalised", "[phase7][nn]") {
  const Transformer model = scattered(like_bert());
  const Indices types({2, 5}, {0, 0, 1, 1, 2, 2, 1, 0, 0, 0});
  const Tensor words = row_of(ids, model.token_embedding.weight);
  const Tensor positions = slice(model.position_embedding->weight, 0, 0, 5);
  const Capture seen;
  const Tensor without = model(ids);
  CHECK(difference_to(seen["embedding"],
                      (*model.embedding_norm)(words + positions +
                                              slice(model.token_type_embedding->weight, 0, 0, 1)),
                      nearly) == "");
  const Indices zeros({2, 5}, std::vector<std::int32_t>(10));
  CHECK(difference_to(model(ids, {}, {.token_type_ids = &zeros}), without, nearly) == "");
  model(ids, {}, {.token_type_ids = &types});
  CHECK(difference_to(seen["embedding"],
                      (*model.embedding_norm)(words + positions +
                                              row_of(types, model.token_type_embedding->weight)),
                      nearly) == "");
  const Indices short_types({2}, {0, 1}), unknown({2, 5}, {0, 0, 3, 0, 0, 0, 0, 0, 0, 0});
  CHECK(complaint([&] { model(ids, {}, {.token_type_ids = &short_types}); },
                  {"token types are (2)", "ids are (2, 5)", "one for each"}) == "");
  CHECK(complaint([&] { model(ids, {}, {.token_type_ids = &unknown}); }, {"3"}) == "");
  TransformerOptions one = tiny();
  one.num_token_types = 1;
  CHECK(scattered(one).token_type_embedding->weight.shape() == Shape{1, 4});
  CHECK(complaint([&] { scattered(tiny())(ids, {}, {.token_type_ids = &zeros}); },
                  {"this model has none"}) == "");
}

TEST_CASE("BERT's way to logits: a map, an activation, a norm, the words, a bias", "[phase7][nn]") {
  const Transformer model = scattered(like_bert());
  const Capture seen;
  const Tensor logits = model(ids);
  const Linear& map = *model.logits_transform;
  const Tensor activated = gelu(matmul(seen["blocks.1.output"], map.weight) + map.bias);
  const auto& norm = std::get<LayerNorm>(model.logits_norm->layer);
  const Tensor centred = activated - mean(activated, -1, true);
  const Tensor x = centred / sqrt(var(activated, -1, true) + 1e-12) * norm.weight + norm.bias;
  CHECK(difference_to(seen["logits_transform"], x, nearly) == "");
  CHECK(difference_to(logits,
                      matmul(x, transpose(model.token_embedding.weight)) + model.lm_head.bias,
                      nearly) == "");
  TransformerOptions headless = without_logits(like_bert());
  const Transformer alone = scattered(headless);
  CHECK(difference_to(alone(ids), seen["blocks.1.output"], 100) == "");  // shapes
  CHECK(names(alone.parameters()).back() == "blocks.1.feed_forward.down.bias");
  headless.is_causal = true;
  std::vector<KeyValueCache> caches;
  CHECK(complaint([&] { scattered(headless).next(ids, caches); }, {"next()", "with logits"}) == "");
}

TEST_CASE("each layer has its own window and, if wanted, its own scale", "[phase7][nn]") {
  const Transformer model = scattered(like_gpt_neo());
  const Capture seen;
  model(ids, {}, {.need_weights = true});
  for (Index layer = 0; layer < 2; ++layer) {
    const std::string name = "blocks." + std::to_string(layer) + ".attention.";
    const Tensor scores = matmul(seen[name + "query"], transpose(seen[name + "key"])) /
                          static_cast<double>(layer + 1);
    const Mask window = layer == 0 ? Mask::causal() : Mask::causal() & Mask::local(1);
    const Tensor hidden = where(window.tensor(scores.shape()), scores, -infinity);
    CHECK(difference_to(seen[name + "weights"], softmax(hidden), nearly) == "");
  }
  TransformerOptions o = tiny();
  o.scale_by_layer = true;
  CHECK(*scattered(o).blocks[1].attention.scores.scale == 0.5 / std::sqrt(2.0));
  o.num_heads = 1;
  CHECK(*scattered(o).blocks[1].attention.scores.scale == 0.5 / std::sqrt(4.0));
  o.num_heads = 2;
  o.windows = {1};
  CHECK(complaint([&] { scattered(o); }, {"1 windows for 2 layers", "one for each"}) == "");
}

TEST_CASE("options reach the layers: widths, groups, biases, epsilon", "[phase7][nn]") {
  const Transformer model = scattered(like_llama());
  for (const TransformerBlock& b : model.blocks) {
    CHECK(b.attention.query.weight.shape() == Shape{4, 24});
    CHECK(b.attention.key.weight.shape() == Shape{4, 12});
    CHECK(b.attention.value.weight.shape() == Shape{4, 12});
    CHECK(b.attention.output.weight.shape() == Shape{24, 4});
    CHECK((b.attention.value.bias.defined() && !b.attention.output.bias.defined()));
    CHECK((b.feed_forward->gate && !b.feed_forward->gate->bias.defined()));
    CHECK(std::get<RmsNorm>(b.feed_forward_norm->layer).eps == 1e-6);
    CHECK(b.attention.rotary.base == 50);
  }
  CHECK(std::get<RmsNorm>(model.norm->layer).eps == 1e-6);
  CHECK((model.blocks[0].attention.window == 0 && model.blocks[1].attention.window == 3));
}

TEST_CASE("step by step the same as at once, with all these options", "[phase7][nn]") {
  for (const TransformerOptions& o : {like_llama(), like_neox(), like_gpt_neo()}) {
    const Transformer model = scattered(o);
    const Tensor whole = model(ids);
    for (const Index piece : {1, 2, 4}) {
      std::vector<KeyValueCache> caches;
      for (Index i = 0; i < 5; i += piece) {
        const Index end = std::min<Index>(i + piece, 5);
        std::vector<std::int32_t> some;
        for (Index b = 0; b < 2; ++b) {
          for (Index j = i; j < end; ++j) {
            some.push_back(ids.values[static_cast<std::size_t>(b * 5 + j)]);
          }
        }
        const Tensor part = model.next(Indices({2, end - i}, some), caches);
        CHECK(difference_to(part, slice(whole, 1, i, end), nearly) == "");
      }
    }
  }
}

TEST_CASE("the gradients of transformers with all these options are right", "[phase7][nn]") {
  for (const TransformerOptions& o : {like_llama(), like_neox(), like_gpt_neo(), like_bert()}) {
    const Transformer model = scattered(o);
    const Indices types({2, 5}, {0, 0, 1, 1, 0, 0, 1, 0, 0, 0});
    const ForwardContext pass{.token_type_ids = o.num_token_types > 0 ? &types : nullptr};
    const auto f = [&] {
      const Tensor logits = model(ids, {}, pass);
      return cross_entropy(logits, targets) + mean(logits * logits);
    };
    GradcheckOptions fine;
    fine.eps = in_double ? 1e-4 : 4e-3;
    CHECK(wrong_gradient_of(model.parameters(), f, fine) == "");
  }
}
