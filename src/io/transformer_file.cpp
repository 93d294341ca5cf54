#include "tapestry/io/transformer_file.hpp"

#include "tapestry/error.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/nn/adapters.hpp"

namespace tapestry {
namespace {

void check_shape(const Safetensors& file, const std::string& name, const Shape& shape) {
  const Shape found = file[name].shape();
  if (found == shape) return;
  throw Error("transformer: the options of this file ask for " + name + " of shape " +
              to_string(shape) + ", but it is " + to_string(found) + ".");
}

// The tensors that determine how much memory the model will take.
void check_sizes(const Safetensors& file, const TransformerOptions& o) {
  constexpr Index most = Index{1} << 24;  // sinusoids, which are not stored
  if (o.positions == Positions::learned) {
    check_shape(file, "positions.weight", {o.max_length, o.d_model});
  } else if (o.positions == Positions::sinusoidal && o.max_length * o.d_model > most) {
    throw Error("transformer: the options of this file ask for " + std::to_string(o.max_length) +
                " sinusoidal positions of width " + std::to_string(o.d_model) +
                ": these are more than " + std::to_string(most) + " numbers.");
  }
  check_shape(file, "words.weight", {o.vocab_size, o.d_model});
  if (o.num_token_types > 0)
    check_shape(file, "token_types.weight", {o.num_token_types, o.d_model});
  if (o.logits_transform && o.has_logits) {
    check_shape(file, "logits_transform.weight", {o.d_model, o.d_model});
  }
  const Index d_ff = o.d_ff == 0 ? 4 * o.d_model : o.d_ff;
  const Index queries = o.d_k == 0 ? o.d_model : o.num_heads * o.d_k;
  for (Index i = 0; i < o.num_layers; ++i) {  // ends at the first block that the file lacks
    const std::string block = "blocks." + std::to_string(i) + ".";
    check_shape(file, block + "attention.query.weight", {o.d_model, queries});
    if (o.has_feed_forward) check_shape(file, block + "feed_forward.up.weight", {o.d_model, d_ff});
  }
}

}  // namespace

void write_transformer(const std::filesystem::path& path, const Transformer& model,
                       std::map<std::string, std::string> metadata, Precision precision) {
  if (has_adapters(model)) {
    throw Error(
        "write_transformer: the model has adapters, of which its options do not tell: merge them "
        "first (merge_adapters), or write them beside it (write_adapters).");
  }
  metadata.merge(to_metadata(model.options));
  write_safetensors(path, model.parameters(), metadata, precision);
}

Transformer to_transformer(const Safetensors& file) {
  const TransformerOptions options = transformer_options(file.metadata);
  check_sizes(file, options);
  Random random(0);  // these weights are overwritten
  Transformer model(options, random);
  load_parameters(model.parameters(), file);
  return model;
}

Transformer read_transformer(const std::filesystem::path& path, const std::string& if_missing) {
  if (!if_missing.empty() && !std::filesystem::exists(path)) {
    throw Error(path.string() + " is not there yet: " + if_missing);
  }
  return to_transformer(read_checkpoint(path).weights);
}

}  // namespace tapestry
