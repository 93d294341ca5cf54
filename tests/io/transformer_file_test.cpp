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
                      .norm = Norm::post},
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
  CHECK(refused([](Options& o) { o.vocab_size = 1 << 24; }, "words.weight") == "");
  CHECK(refused([](Options& o) { o.max_length = 1 << 24; }, "positions.weight") == "");
  CHECK(refused([](Options& o) { o.d_model = 1 << 24; }, "(5, 16777216)") == "");
  CHECK(refused([](Options& o) { o.num_layers = 1 << 24; }, "blocks.2.attention.query.weight") ==
        "");
  CHECK(refused([](Options& o) { o.d_ff = 1 << 24; }, "(8, 16777216)") == "");
  CHECK(refused([](Options& o) { o.num_heads = 3; }, "heads") == "");
  const auto far = [](Options& o) {
    o.positions = Positions::sinusoidal;
    o.max_length = 1 << 24;
  };
  CHECK(refused(far, "16777216 sinusoidal positions") == "");
}
