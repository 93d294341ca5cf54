// Files of adapters for a small model: what is read can be written, and read again.
#include <filesystem>
#include <numeric>

#include "fuzz.hpp"
#include "tapestry/io/adapter_file.hpp"

using namespace tapestry;

namespace {

// With weights that are the same on every machine, for a file has their fingerprint.
Transformer small() {
  Random random(1);
  Transformer model(
      {.vocab_size = 3, .max_length = 2, .d_model = 2, .num_heads = 1, .num_layers = 1, .d_ff = 2},
      random);
  for (const Parameter& one : model.parameters()) {
    std::iota(one.value.data(), one.value.data() + one.value.numel(), real{1});
  }
  return model;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::File input(fuzz::text_of(data, size));
  Transformer model = small(), other = small();
  if (!fuzz::done([&] { load_adapters(input.path(), model); })) {
    fuzz::require(!has_adapters(model), "a file that is refused changes nothing");
    return 0;
  }
  const std::filesystem::path again =
      std::filesystem::temp_directory_path() / ("fuzz-adapters-" + std::to_string(::getpid()));
  write_adapters(again, model);
  load_adapters(again, other);
  std::filesystem::remove(again);
  fuzz::require(adapter_parameters(other).size() == adapter_parameters(model).size(),
                "adapters come back");
  return 0;
}
