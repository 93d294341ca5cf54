// Decoding one id after the other gives what the layers give for the whole text, whatever the
// options, and the same bits for any number of threads.
#include "nn/decoding.hpp"

#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "kernels/parallel.hpp"
#include "nn/without.hpp"
#include "ops/expect.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr Index length = 9;

TransformerOptions tiny() {
  TransformerOptions o;
  o.vocab_size = 13;
  o.max_length = length;
  o.d_model = 12;
  o.num_heads = 2;
  o.initializer = init::lecun_normal;
  return o;
}

TransformerOptions llama() {
  TransformerOptions o = tiny();
  o.num_heads = 4;
  o.d_k = 6;
  o.num_key_value_heads = 2;
  o.positions = Positions::rotary;
  o.norm_kind = NormKind::rms;
  o.activation = Activation::silu;
  o.gated = true;
  o.d_ff = 7;
  o.feed_forward_bias = false;
  o.tied_logits = true;
  return o;
}

// A model whose biases and gains are not those that do nothing.
Transformer model_of(const TransformerOptions& options) {
  Random random(5);
  Transformer model(options, random);
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.value.ndim() != 1) continue;
    const Tensor noise = random.normal(parameter.value.shape(), 1, 0.3);
    std::copy_n(noise.data(), noise.numel(), parameter.value.data());
  }
  return model;
}

const std::vector<std::int32_t> text = {3, 1, 4, 1, 5, 9, 2, 0, 12};

// The logits of each position, decoded one by one after the first. Counts those that decode() made.
Tensor decoded(const Transformer& model, int& made) {
  std::vector<KeyValueCache> caches;
  std::vector<Tensor> rows;
  for (const std::int32_t id : text) {
    made += !caches.empty() && can_decode(model, Indices({1, 1}, {id}), caches, {});
    rows.push_back(model.next(Indices({1, 1}, {id}), caches));
  }
  return squeeze(concat(rows, 1), 0);
}

// "" if both ways agree, and decode() made all rows but the first, or none.
std::string compared(const Transformer& model, bool is_decoded = true) {
  int made = 0;
  const Tensor rows = decoded(model, made);
  if (made != (is_decoded ? length - 1 : 0)) return std::to_string(made) + " were decoded";
  const double difference = largest_difference(rows, model(Indices({length}, text)));
  return difference < (in_double ? 1e-12 : 2e-5) ? "" : std::to_string(difference);
}

std::string compared(const TransformerOptions& options, bool is_decoded = true) {
  return compared(model_of(options), is_decoded);
}

}  // namespace

TEST_CASE("decoding agrees with the layers, for each option", "[phase7][nn]") {
  std::vector<std::pair<std::string, TransformerOptions>> cases = {{"tiny", tiny()}};
  const auto with = [&](const std::string& name, TransformerOptions base, auto change) {
    change(base);
    cases.emplace_back(name, base);
  };
  with("llama", llama(), [](auto&) {});
  with("sinusoidal", tiny(), [](auto& o) { o.positions = Positions::sinusoidal; });
  with("none", tiny(), [](auto& o) { o.positions = Positions::none; });
  with("post", tiny(), [](auto& o) { o.norm_place = NormPlace::post; });
  with("biases", tiny(), [](auto& o) { o.attention_bias = o.logits_bias = true; });
  with("tied bias", llama(), [](auto& o) { o.logits_bias = true; });
  with("only attention", tiny(), [](auto& o) { o = attention_only(o); });
  with("windows", llama(), [](auto& o) { o.windows = {3, 0}; });
  with("window of one", tiny(), [](auto& o) { o.windows = {1, 4}; });
  with("scale", tiny(), [](auto& o) { o.scores.scale = 1.0; });
  with("scale by layer", tiny(), [](auto& o) { o.scale_by_layer = true; });
  with("parallel", llama(), [](auto& o) { o.parallel_residual = true; });
  with("part of a head", llama(), [](auto& o) { o.rotary = {500, 4, RotaryLayout::half_split}; });
  with("neighbours", llama(), [](auto& o) { o.rotary = {500, 2, RotaryLayout::interleaved}; });
  with("all neighbours", llama(), [](auto& o) { o.rotary.layout = RotaryLayout::interleaved; });
  with("eps", llama(), [](auto& o) { o.norm_eps = 0.5; });
  with("a group a head", llama(), [](auto& o) { o.num_key_value_heads = 4, o.d_ff = 1; });
  for (const Activation f : {Activation::relu, Activation::gelu_tanh}) {
    with("activation", tiny(), [&](auto& o) { o.activation = f; });
  }
  for (const auto& [name, options] : cases) {
    CAPTURE(name);
    CHECK(compared(options) == "");
  }
}

TEST_CASE("layers that turn differently are decoded each in its way", "[phase7][nn]") {
  Transformer model = model_of(llama());
  RotaryOptions& second = model.blocks[1].attention.rotary;
  const RotaryOptions first = second;
  for (const RotaryOptions& other :
       {RotaryOptions{50, first.width, first.layout}, RotaryOptions{first.base, 2, first.layout},
        RotaryOptions{first.base, first.width,
                      first.layout == RotaryLayout::half_split ? RotaryLayout::interleaved
                                                               : RotaryLayout::half_split}}) {
    second = other;
    CHECK(compared(model) == "");
  }
}

TEST_CASE("what decoding leaves to the layers agrees, too", "[phase7][nn]") {
  TransformerOptions o = tiny();
  o.positions = Positions::alibi;
  CHECK(compared(o, false) == "");
  o.positions = Positions::relative;
  CHECK(compared(o, false) == "");
  o = llama();
  o.scores.softcap = 3;
  CHECK(compared(o, false) == "");
  o = tiny();
  o.embedding_norm = true;
  CHECK(compared(o, false) == "");
  o = tiny();
  o.logits_transform = true;
  CHECK(compared(o, false) == "");
}

TEST_CASE("decoding gives the same bits for any number of threads", "[phase7][nn]") {
  const Transformer model = model_of(llama());
  int made = 0;
  kernels::divide_everything = true;
  const int before = threads_in_use();
  use_threads(1);
  const Tensor one = decoded(model, made);
  for (const int count : {2, 3, 5}) {
    use_threads(count);
    CHECK(decoded(model, made).values() == one.values());
  }
  use_threads(before);
  kernels::divide_everything = false;
}

TEST_CASE("a Capture does not change decoding by a bit", "[phase7][nn]") {
  const Transformer model = model_of(llama());
  int made = 0;
  const Tensor unseen = decoded(model, made);
  Capture seen;
  made = 0;
  CHECK(decoded(model, made).values() == unseen.values());
  CHECK(made == length - 1);
  CHECK(seen["logits"].shape() == Shape{1, 1, 13});
  for (const char* name : {"embedding", "blocks.1.attention.key", "blocks.0.output", "norm"}) {
    CHECK_FALSE(seen.contains(name));  // the first id went through the layers, the last did not
    CHECK(complaint([&] { seen[name]; },
                    {name, "was not stored", "next() {.need_weights = true}"}) == "");
  }
}

TEST_CASE("what decoding does not store is not replaced, but refused", "[phase7][nn]") {
  const Transformer model = model_of(tiny());
  std::vector<KeyValueCache> caches;
  model.next(Indices({1, 3}, {1, 2, 3}), caches);
  const auto next = [&] { return model.next(Indices({1, 1}, {4}), caches); };
  Capture seen;
  const auto twice = [](const Tensor& x) { return x * 2; };
  seen.replace("blocks.1.attention.heads", twice);
  CHECK(complaint(next, {"'blocks.1.attention.heads' was not stored", "next()"}) == "");
  CHECK(caches[1].length() == 3);
  seen.replace("blocks.1.attention.heads", {});
  std::vector<KeyValueCache> copy = caches;
  const Tensor logits = model.next(Indices({1, 1}, {4}), copy);
  seen.replace("logits", twice);
  CHECK(next().values() == (logits * 2).values());
}

TEST_CASE("next() gives a Capture what it asks for by need_weights", "[phase7][nn]") {
  const Transformer model = model_of(llama());
  std::vector<KeyValueCache> caches;
  model.next(Indices({1, 3}, {3, 1, 4}), caches);
  const Capture seen;
  const ForwardContext pass = {.need_weights = true};
  const Tensor logits = model.next(Indices({1, 1}, {1}), caches, NextOf::all, pass);
  const Tensor weights = seen["blocks.1.attention.weights"];  // (1, heads, 1, 4)
  CHECK(seen["blocks.0.attention.key"].shape() == Shape{1, 2, 4, 6});
  const Tensor whole = model(Indices({1, 4}, {3, 1, 4, 1}), {}, pass);
  const double nearly = in_double ? 1e-12 : 2e-5;
  CHECK(largest_difference(logits, slice(whole, 1, 3, 4)) < nearly);
  CHECK(largest_difference(weights, slice(seen["blocks.1.attention.weights"], 2, 3, 4)) < nearly);
  KeyValueCache one;
  CHECK(complaint([&] { model.next(Indices({1, 1}, {1}), caches, NextOf::all, {.cache = &one}); },
                  {"a cache of its own"}) == "");
}

TEST_CASE("dropout and token types of next() are those of the layers", "[phase7][nn]") {
  TransformerOptions options = tiny();
  options.dropout = 0.5;
  const Transformer model = model_of(options);
  std::vector<KeyValueCache> caches;
  model.next(Indices({1, 3}, {1, 2, 3}), caches);
  const Indices id({1, 1}, {4}), types({1, 1}, {0});
  const auto next = [&](const ForwardContext& pass) {
    std::vector<KeyValueCache> copy = caches;
    return model.next(id, copy, NextOf::all, pass);
  };
  Random first(1), second(2);
  CHECK(largest_difference(next({.random = &first}), next({.random = &second})) > 1e-3);
  CHECK(complaint([&] { next({.token_type_ids = &types}); }, {"this model has none"}) == "");
}

TEST_CASE("what a tape has to see is not decoded past it", "[phase7][nn]") {
  const Transformer model = model_of(llama());
  std::vector<KeyValueCache> caches;
  model.next(Indices({1, 3}, {1, 2, 3}), caches);
  Tape tape(model.parameters());
  const Tensor loss = sum(model.next(Indices({1, 1}, {4}), caches));
  const Gradients gradients = tape.backward(loss);
  CHECK(sum(abs(gradients[model.blocks[0].attention.query.weight])).item() > 0);
}

TEST_CASE("no parameter that a tape has to see is decoded past it", "[phase7][nn]") {
  TransformerOptions biased = tiny(), tied = llama();
  biased.attention_bias = biased.logits_bias = tied.logits_bias = true;
  for (const TransformerOptions& options : {biased, tied}) {
    const Transformer model = model_of(options);
    std::vector<KeyValueCache> caches;
    model.next(Indices({1, 3}, {1, 2, 3}), caches);
    CHECK(can_decode(model, Indices({1, 1}, {4}), caches, {}));
    for (const Parameter& parameter : model.parameters()) {
      CAPTURE(parameter.name);
      const Tape tape(std::vector<Tensor>{parameter.value});
      CHECK_FALSE(can_decode(model, Indices({1, 1}, {4}), caches, {}));
    }
  }
}

TEST_CASE("decoding refuses what the layers refuse, and leaves the caches", "[phase7][nn]") {
  Transformer model = model_of(tiny());
  std::vector<KeyValueCache> caches;
  const auto next = [&](std::int32_t id) {
    return [&, id] { model.next(Indices({1, 1}, {id}), caches); };
  };
  model.next(Indices({1, length - 1}, {0, 1, 2, 3, 4, 5, 6, 7}), caches);
  CHECK(complaint(next(13), {"index 13", "13 rows"}) == "");
  CHECK(complaint(next(-1), {"index -1"}) == "");
  const Tensor weight = model.blocks[1].attention.query.weight;
  model.blocks[1].attention.query.weight = slice(weight, 0, 0, 11);
  CHECK(complaint(next(1), {"multi-head attention: x is (1, 1, 12)"}) == "");
  model.blocks[1].attention.query.weight = unsqueeze(weight, 0);
  CHECK(complaint(next(1), {"multi-head attention: x is (1, 1, 12)"}) == "");
  model.blocks[1].attention.query.weight = weight;
  const Tensor output = model.blocks[1].attention.output.weight;
  model.blocks[1].attention.output.weight = unsqueeze(output, 0);
  CHECK(complaint(next(1), {"weight is (1, 12, 12)"}) == "");
  model.blocks[1].attention.output.weight = output;
  CHECK(caches[0].length() == length - 1);
  next(1)();
  CHECK(complaint(next(1), {"only 9 were learned"}) == "");
  CHECK(caches[1].length() == length);
}
