// Files of tensors.
#include "tapestry/io/safetensors.hpp"

#include "fuzz.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::done([&] {
    const fuzz::File input(fuzz::text_of(data, size));
    const Safetensors file = read_safetensors(input.path());
    Index numbers = 0;
    for (const auto& [name, tensor] : file.tensors) {
      numbers += tensor.numel();
      fuzz::require(file[name].buffer() == tensor.buffer(), "a tensor is found by its name");
    }
    fuzz::require(numbers <= Index(size), "no more numbers than bytes");
    for (const Skipped& tensor : file.skipped) {
      fuzz::require(!fuzz::done([&] { (void)file[tensor.name]; }), "what was skipped is not there");
    }
    fuzz::require(fuzz::done([&] { load_parameters(file.tensors, file); }) == file.skipped.empty(),
                  "a file fits its own tensors");
  });
  return 0;
}
