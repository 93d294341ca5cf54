// The forward pass of step 72, from tensors taken by their names, against the library's.
#include "course/llama_by_name.hpp"

#include <fstream>

#include "catch.hpp"
#include "course/llama_options.hpp"
#include "ops/expect.hpp"
#include "tapestry/models/model_folder.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

const Indices ids({7}, {3, 0, 4, 4, 1, 10, 2});

Transformer small_llama(Index groups) {
  TransformerOptions o = llama_options(11, 24, 7, groups);
  o.num_heads = 6;
  o.num_layers = 3;
  o.rotary.base = 50;
  o.norm_eps = 0.1;
  o.initializer = init::lecun_normal;
  Random random(72);
  return Transformer(o, random);
}

}  // namespace

TEST_CASE("a llama written out by the names of its tensors is the library's", "[phase7][course]") {
  for (const Index groups : {1, 2, 3, 6}) {
    const Transformer model = small_llama(groups);
    const TemporaryFolder folder;
    write_model(folder / "", model, "llama");
    const WeightFiles files(folder / "");
    const LlamaPass pass = LlamaByName{files, model.options}(ids);
    CHECK(difference_to(pass.logits, model(ids), 1e-5) == "");
    REQUIRE(pass.weights.size() == 3);
    CHECK(pass.weights[0].shape() == Shape{6, 7, 7});
  }
}

TEST_CASE("no layer of a llama has a bias", "[phase7][course]") {
  for (const auto& [name, parameter] : small_llama(3).parameters()) {
    CHECK(name.find("bias") == std::string::npos);
  }
}

TEST_CASE("each other convention of a llama gives other logits", "[phase7][course]") {
  const Transformer model = small_llama(3);
  const TemporaryFolder folder;
  write_model(folder / "", model, "llama");
  const WeightFiles files(folder / "");
  const LlamaConventions others[] = {{.layout = RotaryLayout::interleaved},
                                     {.neighbours = false},
                                     {.query_stored_out_in = false},
                                     {.scaled = false},
                                     {.centred = true},
                                     {.gelu = true},
                                     {.swapped = true},
                                     {.eps_factor = 0.1}};
  for (const LlamaConventions& other : others) {
    const LlamaPass pass = LlamaByName{files, model.options, other}(ids);
    CHECK(largest_difference(pass.logits, model(ids)) > 1e-3);
  }
}
