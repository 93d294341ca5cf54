// The tables of step 72: a folder, name by name.
#include "course/folder_tables.hpp"

#include <fstream>

#include "catch.hpp"
#include "course/llama_options.hpp"
#include "printed_by.hpp"
#include "tapestry/models/model_folder.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

Transformer small_llama() {
  TransformerOptions o = llama_options(11, 24, 7, 3);
  o.num_heads = 6;
  o.num_layers = 11;
  o.max_length = 50;
  Random random(72);
  return Transformer(o, random);
}

}  // namespace

TEST_CASE("entries of config.json stand beside what they become", "[phase7][course]") {
  const TemporaryFolder folder;
  write_model(folder / "", small_llama(), "llama");
  CHECK(stdout_of([&] { print_config(folder / ""); }) ==
        "   model_type               \"llama\"   the table of names and options to use\n"
        "   vocab_size               11        vocab_size = 11\n"
        "   max_position_embeddings  50        max_length, the longest text in training\n"
        "   hidden_size              24        d_model = 24\n"
        "   num_hidden_layers        11        num_layers = 11\n"
        "   num_attention_heads      6         num_heads = 6\n"
        "   num_key_value_heads      3         num_key_value_heads = 3\n"
        "   head_dim                 4         d_k = 4\n"
        "   intermediate_size        7         d_ff = 7\n"
        "   hidden_act               \"silu\"    activation, and gated = true\n"
        "   rms_norm_eps             1e-05     norm_eps\n"
        "   rope_theta               10000.0   rotary.base\n"
        "   tie_word_embeddings      true      tied_logits\n");
}

TEST_CASE("the tensors of a folder: those of layer 0, and how many in all", "[phase7][course]") {
  const TemporaryFolder folder;
  write_model(folder / "", small_llama(), "llama");
  const WeightFiles files(folder / "");
  // In each layer: maps of query, key, value and output, three of the feed-forward, two norms.
  const Index layer = 24 * (24 + 12 + 12 + 24) + 3 * 24 * 7 + 2 * 24;
  CHECK(stdout_of([&] { print_tensors(files); }) ==
        "   model.embed_tokens.weight                       (11, 24)   a row for each token; tied: "
        "also the map to logits\n"
        "   model.layers.0.input_layernorm.weight           (24)       gain of the norm before "
        "attention\n"
        "   model.layers.0.self_attn.q_proj.weight          (24, 24)   queries of all heads, (out, "
        "in)\n"
        "   model.layers.0.self_attn.k_proj.weight          (12, 24)   keys: fewer heads than "
        "queries\n"
        "   model.layers.0.self_attn.v_proj.weight          (12, 24)   values\n"
        "   model.layers.0.self_attn.o_proj.weight          (24, 24)   output of attention\n"
        "   model.layers.0.post_attention_layernorm.weight  (24)       gain of the norm before the "
        "feed-forward\n"
        "   model.layers.0.mlp.gate_proj.weight             (7, 24)    gate of the feed-forward\n"
        "   model.layers.0.mlp.up_proj.weight               (7, 24)    what the gate multiplies\n"
        "   model.layers.0.mlp.down_proj.weight             (24, 7)    back to the residual "
        "stream\n"
        "   model.norm.weight                               (24)       gain of the last norm\n"
        "   ... and so for the other layers: 101 tensors, " +
            std::to_string(11 * 24 + 24 + 11 * layer) + " numbers\n");
}
