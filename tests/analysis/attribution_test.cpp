// Contributions to a difference of logits: they sum to it, and each is what its row gives when it
// is sent through the norms, with their scales held, and the map to the logits.
#include "tapestry/analysis/attribution.hpp"

#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "nn/architectures.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({5}, {0, 3, 2, 6, 1});
const Question question{.position = 3, .token = 4, .against = 1};

TransformerOptions like_gpt2() {
  TransformerOptions o = tiny();
  o.attention_bias = true;
  o.tied_logits = true;
  return o;
}

// An encoder that can be attributed: BERT without the activation before its logits.
TransformerOptions like_plain_bert() {
  TransformerOptions o = like_bert();
  o.logits_transform = false;
  o.num_layers = 3;
  return o;
}

TransformerOptions only_attention() {
  TransformerOptions o = attention_only(like_llama());
  o.norm_place = NormPlace::post;
  o.positions = Positions::sinusoidal;
  o.rotary = {};
  o.max_length = 3;  // sinusoids go on
  o.tied_logits = false;
  o.logits_bias = true;
  return o;
}

TransformerOptions no_layers() {
  TransformerOptions o = tiny();
  o.num_layers = 0;
  o.embedding_norm = true;
  o.num_token_types = 2;
  return o;
}

std::vector<TransformerOptions> architectures() {
  TransformerOptions gated = tiny();
  gated.gated = true;
  TransformerOptions alibi = like_gpt2();
  alibi.positions = Positions::alibi;
  return {like_gpt2(), like_neox(),       like_llama(),     like_gpt_neo(), gated,
          alibi,       like_plain_bert(), only_attention(), no_layers()};
}

// The same forwards: a row goes on from where it is written, through norms whose scales are held.
struct ByHand {
  const Transformer& model;
  Capture seen;

  explicit ByHand(const Transformer& m) : model(m) { model(ids, {}, {}); }

  Tensor row(const Tensor& x) const { return slice(x, -2, 3, 4); }  // at the question's position

  static Tensor held(const NormLayer& norm, const Tensor& input, const Tensor& x) {
    if (const auto* layer = std::get_if<LayerNorm>(&norm.layer)) {
      return (x - mean(x, -1, true)) / sqrt(var(input, -1, true) + layer->eps) * layer->weight;
    }
    const auto& rms = std::get<RmsNorm>(norm.layer);
    return x / sqrt(mean(input * input, -1, true) + rms.eps) * rms.weight;
  }

  static Tensor bias(const NormLayer& norm) {
    const auto* layer = std::get_if<LayerNorm>(&norm.layer);
    return layer == nullptr ? Tensor() : layer->bias;
  }

  Tensor stream(Index block) const {
    return row(block == 0 ? seen["embedding"]
                          : seen["blocks." + std::to_string(block - 1) + ".output"]);
  }

  // The norms that follow, in order: place 2 i is behind block i's attention, 2 i + 1 behind its
  // feed-forward, the last one behind all blocks.
  struct Held {
    Index place;
    const NormLayer* norm;
    Tensor input;
  };
  std::vector<Held> norms() const {
    std::vector<Held> list;
    const Index layers = model.options.num_layers;
    for (Index i = 0; i < layers && !model.norm; ++i) {
      const TransformerBlock& block = model.blocks[static_cast<std::size_t>(i)];
      const std::string name = "blocks." + std::to_string(i) + ".";
      list.push_back({2 * i, &block.attention_norm,
                      stream(i) + row(squeeze(seen[name + "attention.output"], 0))});
      if (!block.feed_forward) continue;
      list.push_back({2 * i + 1, &*block.feed_forward_norm,
                      row(seen[name + "middle"]) + row(seen[name + "feed_forward"])});
    }
    if (model.norm) list.push_back({2 * layers, &*model.norm, stream(layers)});
    return list;
  }

  double to_logits(const Tensor& x) const {
    const Tensor map =
        model.options.tied_logits ? transpose(model.token_embedding.weight) : model.lm_head.weight;
    const Tensor y = matmul(x, map);  // (1, vocab_size)
    return double{y.at({0, 4})} - double{y.at({0, 1})};
  }

  // What a row (1, d_model) that is written at a place contributes.
  double from(Index place, const Tensor& written) const {
    Tensor x = written;  // (1, d_model)
    for (const Held& one : norms()) {
      if (one.place >= place) x = held(*one.norm, one.input, x);
    }
    return to_logits(x);
  }

  double biases() const {
    double sum = 0;
    for (const Held& one : norms()) {
      if (bias(*one.norm).defined()) sum += from(one.place + 1, unsqueeze(bias(*one.norm), 0));
    }
    return sum;
  }
};

double sum_of(const Attribution& a) {
  double total = a.words + a.positions + a.token_types + a.norm_bias + a.logits_bias;
  for (const Tensor& x : {a.heads, a.attention_bias, a.feed_forward}) total += sum(x).item();
  return total;
}

}  // namespace

TEST_CASE("contributions sum to the difference of logits", "[phase7][analysis]") {
  double told = 0, reversed = 0;
  for (const TransformerOptions& o : architectures()) {
    const Transformer model = scattered(o);
    const Attribution parts = attribute(model, ids, question);
    const double difference = double{answer(model(ids), question).item()};
    CAPTURE(o.d_k, o.norm_place == NormPlace::post, o.num_layers, parts.error);
    CHECK(parts.difference == Approx(difference));
    CHECK(std::abs(parts.error) < 1e-4);
    CHECK(sum_of(parts) + parts.error == Approx(difference).margin(1e-5));
    CHECK(parts.heads.shape() == Shape{o.num_layers, o.num_heads});
    told += std::abs(sum_of(parts) + parts.error - parts.difference);
    reversed += std::abs(sum_of(parts) - parts.error - parts.difference);
  }
  CHECK(told < 0.7 * reversed);  // the error is what the sum lacks, in its last digits
}

TEST_CASE("each part contributes what its row gives through held norms", "[phase7][analysis]") {
  for (const TransformerOptions& o : architectures()) {
    const Transformer model = scattered(o);
    const Attribution parts = attribute(model, ids, question);
    const ByHand hand(model);
    CAPTURE(o.d_k, o.norm_place == NormPlace::post, o.num_layers);
    for (Index i = 0; i < o.num_layers; ++i) {
      const std::string name = "blocks." + std::to_string(i) + ".";
      const MultiHeadAttention& layer = model.blocks[static_cast<std::size_t>(i)].attention;
      const Tensor heads = squeeze(hand.seen[name + "attention.heads"], 0);
      const Index d_v = heads.size(-1);
      for (Index h = 0; h < o.num_heads; ++h) {
        const Tensor out = matmul(hand.row(squeeze(slice(heads, 0, h, h + 1), 0)),
                                  slice(layer.output.weight, 0, h * d_v, (h + 1) * d_v));
        CHECK(double{parts.heads.at({i, h})} == Approx(hand.from(2 * i, out)).margin(1e-5));
      }
      const Tensor& bias = layer.output.bias;
      const double given = bias.defined() ? hand.from(2 * i, unsqueeze(bias, 0)) : 0;
      CHECK(double{parts.attention_bias.at({i})} == Approx(given).margin(1e-5));
      if (!o.has_feed_forward) continue;
      const Tensor row = hand.row(hand.seen[name + "feed_forward"]);
      CHECK(double{parts.feed_forward.at({i})} == Approx(hand.from(2 * i + 1, row)).margin(1e-5));
    }
    if (o.embedding_norm) continue;
    CHECK(parts.norm_bias == Approx(hand.biases()).margin(1e-5));
    CHECK(parts.words ==
          Approx(hand.from(0, slice(model.token_embedding.weight, 0, 6, 7))).margin(1e-5));
  }
}

TEST_CASE("what the embedding is made of, the biases and the logits' bias are apart",
          "[phase7][analysis]") {
  const Transformer model = scattered(like_plain_bert());
  const Attribution parts = attribute(model, ids, question);
  const ByHand hand(model);
  const Tensor word = slice(model.token_embedding.weight, 0, 6, 7);        // (1, d_model)
  const Tensor place = slice(model.position_embedding->weight, 0, 3, 4);   // (1, d_model)
  const Tensor type = slice(model.token_type_embedding->weight, 0, 0, 1);  // (1, d_model)
  const NormLayer& norm = *model.embedding_norm;
  const auto from = [&](const Tensor& x) {
    return hand.from(0, ByHand::held(norm, word + place + type, x));
  };
  CHECK(parts.words == Approx(from(word)).margin(1e-5));
  CHECK(parts.positions == Approx(from(place)).margin(1e-5));
  CHECK(parts.token_types == Approx(from(type)).margin(1e-5));
  const double first = hand.from(0, unsqueeze(ByHand::bias(norm), 0));
  CHECK(parts.norm_bias == Approx(first + hand.biases()).margin(1e-5));
  const Tensor& bias = model.lm_head.bias;
  CHECK(parts.logits_bias == Approx(double{bias.at({4})} - double{bias.at({1})}));
}

TEST_CASE("what has no contributions is refused", "[phase7][analysis]") {
  const Transformer model = scattered(tiny());
  const auto refused = [&](const Transformer& m, const Indices& text, const Question& asked,
                           std::initializer_list<const char*> words) {
    return complaint([&] { (void)attribute(m, text, asked); }, words);
  };
  CHECK(refused(model, ids, {.token = 4}, {"attribute", "against", "logarithm"}) == "");
  CHECK(refused(scattered(like_bert()), ids, question, {"logits_transform", "BERT"}) == "");
  TransformerOptions headless = tiny();
  headless.has_logits = false;
  CHECK(refused(scattered(headless), ids, question, {"attribute", "no logits"}) == "");
  CHECK(refused(model, ids, {.position = 5, .token = 1, .against = 2},
                {"no position 5", "0 to 4"}) == "");
  CHECK(refused(model, ids, {.position = -6, .token = 1, .against = 2}, {"no position -6"}) == "");
  CHECK(refused(model, ids, {.token = 1, .against = 7}, {"no token 7", "0 to 6"}) == "");
  CHECK(refused(model, Indices({2, 2}, {0, 1, 2, 3}), question, {"(2, 2)", "one text"}) == "");
  CHECK(refused(model, Indices({0}, {}), question, {"at least one token"}) == "");
}

TEST_CASE("the planted induction head gives nearly all of the difference", "[phase7][analysis]") {
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Transformer model = planted_induction(8, 16, kind);
    const Attribution parts =
        attribute(model, Indices({6}, {3, 1, 4, 6, 0, 1}), {.token = 4, .against = 7});
    CHECK(parts.difference > 9);
    CHECK(std::abs(parts.error) < 1e-4);
    CHECK(double{parts.heads.at({1, 0})} > 0.99 * parts.difference);
    CHECK(std::abs(double{parts.heads.at({1, 1})}) < 0.01 * parts.difference);
    // Layer 0 helps to find the key; it writes nothing to the logits itself.
    CHECK(std::abs(double{parts.heads.at({0, 0})}) < 0.01 * parts.difference);
    CHECK(std::abs(parts.words) < 0.01 * parts.difference);
  }
}
