// Models in files: read, described, and asked for the next word.
#include "tapestry/io/checkpoint.hpp"

#include <algorithm>

#include "fuzz.hpp"
#include "tapestry/model_file.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::File input(fuzz::text_of(data, size));
  fuzz::done([&] {
    const command::ModelFile file = command::read_model(input.path());
    const TransformerOptions& options = file.model.options();
    Indices ids;
    for (Index i = 0; i < std::min<Index>(5, options.max_length); ++i) {
      ids.values.push_back(static_cast<std::int32_t>(i % options.vocab_size));
    }
    ids.shape = {static_cast<Index>(ids.values.size())};
    const Tensor logits = file.model(ids);
    fuzz::require(logits.shape() == Shape{ids.shape[0], options.vocab_size}, "a row for each word");
  });
  fuzz::done([&] {  // what a resumed training would use of it
    const Checkpoint checkpoint = read_checkpoint(input.path());
    Adam adam(checkpoint.weights.tensors);
    load_checkpoint(checkpoint.weights.tensors, adam, checkpoint);
    fuzz::require(adam.steps() == checkpoint.steps, "the steps are taken over");
  });
  return 0;
}
