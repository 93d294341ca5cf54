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
    std::copy_n(noise.data(), noise.count(), parameter.value.data());
  }
  return model;
}

const std::vector<std::int32_t> text = {3, 1, 4, 1, 5, 9, 2, 6, 12};

// The logits of each position, decoded one by one after the first. Counts those that decode() made.
Tensor decoded(const Transformer& model, int& made) {
  std::vector<KeyValueCache> caches;
  std::vector<Tensor> rows;
  for (const std::int32_t id : text) {
    made += !caches.empty() && can_decode(model, Indices({1, 1}, {id}), caches);
    rows.push_back(model.next(Indices({1, 1}, {id}), caches));
  }
  return squeeze(concat(rows, 1), 0);
}

// "" if both ways agree, and decode() made all rows but the first, or none.
std::string compared(const TransformerOptions& options, bool is_decoded = true) {
  const Transformer model = model_of(options);
  int made = 0;
  const Tensor rows = decoded(model, made);
  if (made != (is_decoded ? length - 1 : 0)) return std::to_string(made) + " were decoded";
  const double difference = largest_difference(rows, model(Indices({length}, text)));
  return difference < (in_double ? 1e-12 : 2e-5) ? "" : std::to_string(difference);
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
  for (const Activation f : {Activation::relu, Activation::gelu_tanh}) {
    with("activation", tiny(), [&](auto& o) { o.activation = f; });
  }
  for (const auto& [name, options] : cases) {
    CAPTURE(name);
    CHECK(compared(options) == "");
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

TEST_CASE("what a Capture or a tape asks for is not decoded past them", "[phase7][nn]") {
  const Transformer model = model_of(llama());
  std::vector<KeyValueCache> caches;
  model.next(Indices({1, 3}, {1, 2, 3}), caches);
  {
    std::vector<KeyValueCache> copy = caches;
    const Capture seen;
    model.next(Indices({1, 1}, {4}), copy);
    CHECK(seen.contains("blocks.1.attention.key"));
  }
  Tape tape(model.parameters());
  const Tensor loss = sum(model.next(Indices({1, 1}, {4}), caches));
  const Gradients gradients = tape.backward(loss);
  CHECK(sum(abs(gradients[model.blocks[0].attention.query.weight])).item() > 0);
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
  model.blocks[1].attention.query.weight = weight;
  CHECK(caches[0].length() == length - 1);
  next(1)();
  CHECK(complaint(next(1), {"only 9 were learned"}) == "");
  CHECK(caches[1].length() == length);
}
