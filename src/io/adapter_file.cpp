#include "tapestry/io/adapter_file.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "nn/adapted_maps.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/unicode.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

using Metadata = std::map<std::string, std::string>;

const char* const rank_key = "adapters.rank";
const char* const alpha_key = "adapters.alpha";
const char* const maps_key = "adapters.maps";
const char* const beside_key = "adapters.beside";

// Of the weights that adapters stand beside, as 32-bit floats, so that it is the same where `real`
// is double.
std::string fingerprint_of_weights(const Transformer& model) {
  std::uint64_t hash = 0;
  for (const auto& [kind, name, map] : adaptable_maps(model)) {
    if (!map->adapter) continue;
    const Tensor dense = map->weight.contiguous();  // (in, out)
    const std::vector<float> numbers(raw(dense), raw(dense) + dense.numel());
    hash = fingerprint(std::as_bytes(std::span(numbers)), hash);
  }
  return formatted("%016llx", static_cast<unsigned long long>(hash));
}

template <class Number>
Number number_in(const Metadata& metadata, const char* key) {
  const std::string& text = metadata.at(key);
  Number value{};
  if (read_number(text, value)) return value;
  throw Error("its entry '" + std::string(key) + "' is " + in_quotes(text) +
              ", which is not a number.");
}

AdapterOptions options_in(const Metadata& metadata) {
  for (const char* key : {rank_key, alpha_key, maps_key, beside_key}) {
    if (metadata.contains(key)) continue;
    throw Error("this is no file of adapters: it has no entry '" + std::string(key) + "'.");
  }
  AdapterOptions options{.rank = number_in<Index>(metadata, rank_key),
                         .alpha = number_in<double>(metadata, alpha_key),
                         .maps = {""}};
  for (const char letter : metadata.at(maps_key)) {
    if (letter == ',') options.maps.emplace_back();
    if (letter != ',') options.maps.back() += letter;
  }
  return options;
}

Transformer with_adapters(const Transformer& model, const Safetensors& file) {
  Transformer result = model;
  Random random(0);  // these numbers are overwritten
  add_adapters(result, options_in(file.metadata), random);
  load_parameters(adapter_parameters(result), file);
  if (file.metadata.at(beside_key) == fingerprint_of_weights(result)) return result;
  throw Error(
      "these adapters were trained beside other weights than this model has, though of the same "
      "shapes. Open the model that they were trained with.");
}

}  // namespace

void write_adapters(const std::filesystem::path& path, const Transformer& model) {
  const AdapterOptions options = adapter_options(model);
  std::string maps;
  for (const std::string& map : options.maps) maps += (maps.empty() ? "" : ",") + map;
  write_safetensors(path, adapter_parameters(model),
                    {{rank_key, std::to_string(options.rank)},
                     {alpha_key, exact_text(options.alpha)},
                     {maps_key, maps},
                     {beside_key, fingerprint_of_weights(model)}});
}

void load_adapters(const std::filesystem::path& path, Transformer& model) {
  const Safetensors file = read_safetensors(path);
  try {
    model = with_adapters(model, file);
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

}  // namespace tapestry
