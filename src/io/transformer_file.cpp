#include "tapestry/io/transformer_file.hpp"

#include "tapestry/io/safetensors.hpp"

namespace tapestry {

void write_transformer(const std::filesystem::path& path, const Transformer& model,
                       std::map<std::string, std::string> metadata) {
  metadata.merge(to_metadata(model.options));
  write_safetensors(path, model.parameters(), metadata);
}

Transformer read_transformer(const std::filesystem::path& path) {
  const Safetensors file = read_safetensors(path);
  Random random(0);  // these weights do not stay
  Transformer model(transformer_options(file.metadata), random);
  load_parameters(model.parameters(), file);
  return model;
}

}  // namespace tapestry
