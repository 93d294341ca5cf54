#include "tapestry/io/transformer_file.hpp"

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/safetensors.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

Transformer small(bool causal, Positions positions = Positions::learned) {
  Random random(3);
  return Transformer({.vocab_size = 9,
                      .max_length = 5,
                      .d_model = 8,
                      .num_heads = 2,
                      .num_layers = 2,
                      .is_causal = causal,
                      .positions = positions,
                      .norm_place = NormPlace::post},
                     random);
}

}  // namespace

TEST_CASE("a transformer read from its file says the same", "[phase4][io]") {
  const TemporaryFolder folder;
  for (const bool causal : {true, false}) {
    const Transformer model = small(causal);
    write_transformer(folder / "model.safetensors", model, {{"step", "43"}});
    const Transformer again = read_transformer(folder / "model.safetensors");
    const Indices ids({1, 4}, {1, 8, 0, 3});
    CHECK(largest_difference(again(ids), model(ids)) < 1e-6);  // files hold 32-bit numbers
    CHECK(to_metadata(again.options) == to_metadata(model.options));
    CHECK(read_safetensors(folder / "model.safetensors").metadata.at("step") == "43");
  }
}

TEST_CASE("a file keeps what the model knows of positions", "[phase6][io]") {
  const TemporaryFolder folder;
  for (const Positions positions : {Positions::sinusoidal, Positions::none, Positions::rotary,
                                    Positions::relative, Positions::alibi}) {
    const Transformer model = small(true, positions);
    write_transformer(folder / "model.safetensors", model);
    const Transformer again = read_transformer(folder / "model.safetensors");
    CHECK(again.options.positions == positions);
    const Indices ids({1, 9}, {1, 8, 0, 3, 2, 2, 5, 7, 1});  // more than its length
    CHECK(largest_difference(again(ids), model(ids)) < 1e-6);
  }
  const Transformer relative = small(true, Positions::relative);
  TransformerOptions lying = relative.options;
  lying.positions = Positions::alibi;
  CHECK(complaint([&] { to_transformer({relative.parameters(), to_metadata(lying)}); },
                  {"blocks.0.attention.relative.table.weight"}) == "");
}

TEST_CASE("a file keeps heads, rotary positions, gates and ties", "[phase7][io]") {
  const TemporaryFolder folder;
  Random random(3);
  const Transformer model({.vocab_size = 9,
                           .max_length = 5,
                           .d_model = 8,
                           .num_heads = 4,
                           .d_k = 6,
                           .num_key_value_heads = 2,
                           .windows = {0, 2},
                           .positions = Positions::rotary,
                           .rotary = {.base = 77, .width = 4},
                           .activation = Activation::silu,
                           .gated = true,
                           .feed_forward_bias = false,
                           .num_token_types = 2,
                           .embedding_norm = true,
                           .tied_logits = true,
                           .logits_transform = true},
                          random);
  write_transformer(folder / "model.safetensors", model);
  const Transformer again = read_transformer(folder / "model.safetensors");
  const Indices ids({1, 4}, {1, 8, 0, 3});
  CHECK(largest_difference(again(ids), model(ids)) < 1e-6);
  const auto refused = [&](auto change, std::initializer_list<const char*> words) {
    TransformerOptions lying = model.options;
    change(lying);
    const Safetensors file{model.parameters(), to_metadata(lying)};
    return complaint([&] { to_transformer(file); }, words);
  };
  CHECK(refused([](auto& o) { o.d_k = 16777216; }, {"query.weight", "(8, 24)", "67108864"}) == "");
  CHECK(refused([](auto& o) { o.num_key_value_heads = 4; }, {"key.weight' is (8, 12)"}) == "");
  CHECK(refused([](auto& o) { o.gated = false; }, {"feed_forward.gate.weight"}) == "");
  CHECK(refused([](auto& o) { o.tied_logits = false; }, {"logits.weight"}) == "");
  CHECK(refused([](auto& o) { o.num_token_types = 3; }, {"token_types.weight", "(3, 8)"}) == "");
  CHECK(refused([](auto& o) { o.windows = {1}; }, {"1 windows for 2 layers"}) == "");
}

TEST_CASE("a file keeps which layer normalises", "[phase2][io]") {
  const TemporaryFolder folder;
  const Indices ids({1, 4}, {1, 8, 0, 3});
  Random random(3);
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    const Transformer model({.vocab_size = 9,
                             .max_length = 5,
                             .d_model = 8,
                             .norm_place = place,
                             .norm_kind = NormKind::rms},
                            random);
    for (const Parameter& one : model.parameters()) {  // also the gains, which begin as 1
      const Tensor values = random.normal(one.value.shape());
      std::copy_n(values.data(), values.numel(), one.value.data());
    }
    write_transformer(folder / "model.safetensors", model);
    const Transformer again = read_transformer(folder / "model.safetensors");
    CHECK(again.options.norm_kind == NormKind::rms);
    CHECK(largest_difference(again(ids), model(ids)) < 1e-5);
    TransformerOptions lying = model.options;
    lying.norm_kind = NormKind::layer;
    CHECK(complaint([&] { to_transformer({model.parameters(), to_metadata(lying)}); },
                    {"blocks.0.attention_norm.bias"}) == "");
    lying = small(true).options;
    lying.norm_kind = NormKind::rms;
    CHECK(complaint([&] { to_transformer({small(true).parameters(), to_metadata(lying)}); },
                    {"blocks.0.attention_norm.bias"}) == "");
  }
}

TEST_CASE("a file keeps the scale and the cap of scores", "[phase2][io]") {
  const TemporaryFolder folder;
  TransformerOptions options = small(true).options;
  options.scores = {.scale = 3000, .softcap = 2};
  Random random(3);
  const Transformer model(options, random);
  write_transformer(folder / "model.safetensors", model);
  const Transformer again = read_transformer(folder / "model.safetensors");
  const Indices ids({1, 4}, {1, 8, 0, 3});
  CHECK(largest_difference(again(ids), model(ids)) < 1e-6);
  CHECK(largest_difference(again(ids), small(true)(ids)) > 1e-4);  // the same weights, uncapped
}

TEST_CASE("a file of before there was RMS norm opens as it did", "[phase2][io]") {
  const Transformer model = small(true);
  const std::map<std::string, std::string> before = {{"transformer.vocabulary", "9"},
                                                     {"transformer.length", "5"},
                                                     {"transformer.d_model", "8"},
                                                     {"transformer.heads", "2"},
                                                     {"transformer.layers", "2"},
                                                     {"transformer.d_ff", "0"},
                                                     {"transformer.feed_forward", "true"},
                                                     {"transformer.causal", "true"},
                                                     {"transformer.attention_bias", "false"},
                                                     {"transformer.positions", "learned"},
                                                     {"transformer.norm", "post"},
                                                     {"transformer.activation", "gelu"},
                                                     {"transformer.dropout", "0"}};
  const Transformer again = to_transformer({model.parameters(), before});
  CHECK(again.options.norm_kind == NormKind::layer);
  const Indices ids({1, 4}, {1, 8, 0, 3});
  CHECK(difference_to(again(ids), model(ids), 0) == "");
  CHECK(to_metadata(again.options) == before);
}

TEST_CASE("a file without a transformer's options is refused in words", "[phase4][io]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "other.safetensors", {{"w", Tensor({1}, {1})}});
  CHECK(complaint([&] { read_transformer(folder / "other.safetensors"); },
                  {"transformer.vocabulary"}) == "");
  CHECK(complaint([&] { read_transformer(folder / "none.safetensors"); }, {"none.safetensors"}) ==
        "");
}

TEST_CASE("a transformer's file that is not there may be told how to get", "[phase4][io]") {
  const TemporaryFolder folder;
  CHECK(complaint([&] { read_transformer(folder / "m", "step 43 trains it. Type: make run-43"); },
                  {"/m is not there yet: step 43 trains it. Type: make run-43"}) == "");
  CHECK(complaint([&] { read_transformer(folder / "m"); }, {"/m", "there is no such file"}) == "");
  write_transformer(folder / "m", small(true));
  CHECK(read_transformer(folder / "m", "never said").options.num_layers == 2);
}

TEST_CASE("a transformer's file with a weight missing is refused", "[phase4][io]") {
  const TemporaryFolder folder;
  const Transformer model = small(true);
  Parameters part = model.parameters();
  part.pop_back();
  write_safetensors(folder / "part.safetensors", part, to_metadata(model.options));
  CHECK(complaint([&] { read_transformer(folder / "part.safetensors"); }, {"logits.weight"}) == "");
}

TEST_CASE("a transformer is read from a checkpoint too, without Adam's state", "[phase5][io]") {
  const TemporaryFolder folder;
  const Transformer model = small(true);
  save_checkpoint(folder / "m", model.parameters(), Adam(model.parameters()),
                  to_metadata(model.options));
  const Indices ids({4}, {1, 8, 0, 3});
  CHECK(largest_difference(read_transformer(folder / "m")(ids), model(ids)) < 1e-6);
}

TEST_CASE("options that ask for more than the file holds build no model", "[phase5][io]") {
  const TransformerOptions honest = small(true).options;
  const auto refused = [&](void (*change)(TransformerOptions&), const char* words) {
    TransformerOptions lying = honest;
    change(lying);
    return complaint([&] { to_transformer({small(true).parameters(), to_metadata(lying)}); },
                     {words});
  };
  using Options = TransformerOptions;
  Options typed = honest;
  typed.num_token_types = 2;
  Random random(1);
  const Transformer model(typed, random);
  for (const Index types : {1, 3}) {
    typed.num_token_types = types;
    const std::string asked = "ask for token_types.weight of shape (" + std::to_string(types);
    CHECK(complaint([&] { to_transformer({model.parameters(), to_metadata(typed)}); },
                    {"the options of this file", asked.c_str()}) == "");
  }
  CHECK(refused([](Options& o) { o.vocab_size = 1 << 24; }, "words.weight") == "");
  CHECK(refused([](Options& o) { o.max_length = 1 << 24; }, "positions.weight") == "");
  CHECK(refused([](Options& o) { o.d_model = 1 << 24; }, "(5, 16777216)") == "");
  CHECK(refused([](Options& o) { o.num_layers = 1 << 24; }, "blocks.2.attention.query.weight") ==
        "");
  CHECK(refused([](Options& o) { o.d_ff = 1 << 24; },
                "ask for blocks.0.feed_forward.up.weight of shape (8, 16777216)") == "");
  CHECK(refused([](Options& o) { o.logits_transform = true; },
                "there is no tensor 'logits_transform.weight'") == "");
  CHECK(refused([](Options& o) { o.num_heads = 3; }, "heads") == "");
  const auto far = [](Options& o) {
    o.positions = Positions::sinusoidal;
    o.max_length = 1 << 24;
  };
  CHECK(refused(far, "16777216 sinusoidal positions") == "");
  const auto beyond = [](Options& o) {
    o.positions = Positions::sinusoidal;
    o.max_length = (1 << 21) + 1;  // of width 8
  };
  CHECK(refused(beyond, "2097153 sinusoidal positions") == "");
  const auto allowed = [](Options& o) {
    o.positions = Positions::sinusoidal;
    o.max_length = 1 << 21;
    o.vocab_size = 10;  // is asked about next
  };
  CHECK(refused(allowed, "words.weight of shape (10, 8)") == "");
}
