#include "tapestry/io/adapter_file.hpp"

#include <fstream>
#include <span>

#include "catch.hpp"
#include "nn/architectures.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/models/model_folder.hpp"
#include "temporary_folder.hpp"
#include "tensor/raw.hpp"

using namespace tapestry;

namespace {

using Metadata = std::map<std::string, std::string>;
using Expected = std::initializer_list<const char*>;

const Indices ids({5}, {0, 3, 2, 6, 1});

Transformer adapted(const AdapterOptions& options = {.rank = 2, .alpha = 0.7}) {
  Transformer model = scattered(like_llama());
  Random random(8);
  add_adapters(model, options, random);
  scatter(adapter_parameters(model), random, 0.4);
  return model;
}

// What is wrong with the file; the model must stay as it is.
std::string refused(const std::filesystem::path& path, Transformer model, Expected words) {
  const std::vector<std::string> before = names(model.parameters());
  const Tensor logits = model(ids);
  const std::string missing = complaint([&] { load_adapters(path, model); }, words);
  CHECK(names(model.parameters()) == before);
  CHECK(same_bits(model(ids), logits));
  return missing;
}

struct Written {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "a.safetensors";
  Transformer model = adapted();
  Written() { write_adapters(path, model); }

  // The file with other metadata, or without an entry where the text is "-".
  std::string refused_with(const Metadata& changes, Expected words) const {
    Safetensors file = read_safetensors(path);
    for (const auto& [key, text] : changes) file.metadata[key] = text;
    std::erase_if(file.metadata, [](const auto& one) { return one.second == "-"; });
    write_safetensors(folder / "b.safetensors", file.tensors, file.metadata);
    return refused(folder / "b.safetensors", scattered(like_llama()), words);
  }
};

}  // namespace

TEST_CASE("adapters written and read again are the same, to the last bit", "[phase7][io]") {
  const TemporaryFolder folder;
  for (const AdapterOptions& options :
       {AdapterOptions{.rank = 1}, AdapterOptions{.rank = 4, .alpha = 0.1, .maps = {"value"}},
        AdapterOptions{.rank = 3, .maps = {"down", "gate", "up", "output", "key"}}}) {
    const Transformer model = adapted(options);
    write_adapters(folder / "new/a.safetensors", model);
    Transformer again = scattered(like_llama());
    load_adapters(folder / "new/a.safetensors", again);
    CHECK(names(again.parameters()) == names(model.parameters()));
    CHECK(same_bits(again(ids), model(ids)));
    write_adapters(folder / "b.safetensors", again);
    CHECK(content(folder / "b.safetensors") == content(folder / "new/a.safetensors"));
  }
}

TEST_CASE("a file of adapters says what they are, and holds nothing else", "[phase7][io]") {
  const Written written;
  const Safetensors file = read_safetensors(written.path);
  CHECK(file.metadata.at("adapters.rank") == "2");
  CHECK(file.metadata.at("adapters.alpha") == "0.7");
  CHECK(file.metadata.at("adapters.maps") == "query,value");
  CHECK(names(file.tensors) == names(adapter_parameters(written.model)));
  std::uint64_t hash = 0;  // of the weights that they stand beside, as 32-bit floats
  for (const TransformerBlock& block : written.model.blocks) {
    for (const Linear* map : {&block.attention.query, &block.attention.value}) {
      const std::vector<real> weight = map->weight.values();
      const std::vector<float> numbers(weight.begin(), weight.end());
      hash = fingerprint(std::as_bytes(std::span(numbers)), hash);
    }
  }
  CHECK(file.metadata.at("adapters.beside") ==
        formatted("%016llx", static_cast<unsigned long long>(hash)));
}

TEST_CASE("adapters do not fit another model", "[phase7][io]") {
  const Written written;
  CHECK(refused(written.path, written.model, {"a.safetensors: ", "has adapters already"}) == "");
  CHECK(refused(written.path, scattered(tiny()), {"a.safetensors: ", "query.adapter.up"}) == "");
  TransformerOptions one_block = like_llama(), wide = like_llama(), four = like_llama();
  one_block.num_layers = 1, one_block.windows = {0}, four.num_layers = 4, four.windows = {};
  CHECK(refused(written.path, scattered(one_block), {"blocks.1.attention.query.adapter"}) == "");
  CHECK(refused(written.path, scattered(four), {"blocks.2.attention.query.adapter"}) == "");
  Transformer other = scattered(like_llama());
  other.blocks[1].attention.value.weight = other.blocks[1].attention.value.weight.clone();
  other.blocks[1].attention.value.weight.set({3, 1}, 0.25);
  CHECK(refused(written.path, other, {"beside other weights", "Open the model"}) == "");
  Transformer elsewhere = scattered(like_llama());  // but not at a map with an adapter
  elsewhere.blocks[1].attention.key.weight = elsewhere.blocks[0].attention.key.weight;
  load_adapters(written.path, elsewhere);
  CHECK(has_adapters(elsewhere));
}

TEST_CASE("files that are none of adapters are refused", "[phase7][io]") {
  const Written w;
  const Transformer model = scattered(like_llama());
  CHECK(refused(w.folder / "none", model, {"none"}) == "");
  std::ofstream(w.folder / "text") << "not a file of tensors";
  CHECK(refused(w.folder / "text", model, {"text"}) == "");
  write_transformer(w.folder / "model", model);
  CHECK(refused(w.folder / "model", model, {"model: ", "no file of adapters"}) == "");
  for (const char* key : {"adapters.rank", "adapters.alpha", "adapters.maps", "adapters.beside"}) {
    CHECK(w.refused_with({{key, "-"}}, {"b.safetensors: ", "no entry '", key}) == "");
  }
  CHECK(w.refused_with({{"adapters.rank", "two"}}, {"'adapters.rank' is 'two'"}) == "");
  CHECK(w.refused_with({{"adapters.rank", "2 "}}, {"not a number"}) == "");
  CHECK(w.refused_with({{"adapters.rank", "1"}}, {"query.adapter.down"}) == "");
  CHECK(w.refused_with({{"adapters.rank", "9000000000000000000"}}, {"the rank is 9"}) == "");
  CHECK(w.refused_with({{"adapters.alpha", ""}}, {"'adapters.alpha' is ''"}) == "");
  CHECK(w.refused_with({{"adapters.alpha", "nan"}}, {"alpha is nan"}) == "");
  CHECK(w.refused_with({{"adapters.maps", "query"}}, {"value.adapter"}) == "");
  CHECK(w.refused_with({{"adapters.maps", "query,value,"}}, {"no map ''"}) == "");
  CHECK(w.refused_with({{"adapters.maps", "query,value\n,x"}}, {"no map 'value"}) == "");
  CHECK(w.refused_with({{"adapters.beside", "0"}}, {"beside other weights"}) == "");
}

TEST_CASE("adapters that no file can describe are not written", "[phase7][io]") {
  const TemporaryFolder folder;
  const auto refused = [&](const Transformer& model, Expected words) {
    const std::string missing =
        complaint([&] { write_adapters(folder / "a.safetensors", model); }, words);
    CHECK_FALSE(std::filesystem::exists(folder / "a.safetensors"));
    return missing;
  };
  CHECK(refused(scattered(tiny()), {"adapters: the model has none"}) == "");
  Transformer model = adapted();
  Random random(1);
  model.blocks[1].attention.query.adapter.emplace(4, 24, 1, 0.7, random);
  CHECK(refused(model, {"at blocks.1.attention.query", "one rank and alpha"}) == "");
  model.blocks[1].attention.query.adapter.emplace(4, 24, 2, 0.8, random);
  CHECK(refused(model, {"at blocks.1.attention.query"}) == "");
  model = adapted();
  model.blocks[0].attention.value.adapter.reset();
  CHECK(refused(model, {"at blocks.0.attention.value"}) == "");
  model = adapted();
  model.blocks[1].attention.value.adapter.reset();
  CHECK(refused(model, {"at blocks.1.attention.value"}) == "");
}

TEST_CASE("files of whole models have no place for adapters", "[phase7][io]") {
  const TemporaryFolder folder;
  Transformer model = adapted();
  CHECK(complaint([&] { write_transformer(folder / "a", model); },
                  {"write_transformer", "merge them first (merge_adapters)"}) == "");
  CHECK(complaint([&] { write_model(folder / "m", model, "llama"); },
                  {"write_model", "merge them first (merge_adapters)"}) == "");
  CHECK_FALSE(std::filesystem::exists(folder / "a"));
  CHECK_FALSE(std::filesystem::exists(folder / "m"));
  const Tensor logits = model(ids);
  merge_adapters(model);
  write_transformer(folder / "a", model);
  CHECK(difference_to(read_transformer(folder / "a")(ids), logits, 10 * nearly) == "");
}
