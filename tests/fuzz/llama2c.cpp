// Models and tokenizers of llama2.c: the first two bytes say how many bytes the model has.
#include "tapestry/models/llama2c.hpp"

#include <filesystem>

#include "fuzz.hpp"
#include "tapestry/io/weight_files.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  const std::size_t model_bytes = size < 2 ? 0 : std::size_t(data[0]) * 256 + data[1];
  const std::string_view all = std::string_view(text).substr(std::min<std::size_t>(2, size));
  const fuzz::File model(all.substr(0, model_bytes));
  const fuzz::File tokenizer(all.substr(std::min(model_bytes, all.size())));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("fuzz-llama2c-" + std::to_string(::getpid()));
  if (fuzz::done([&] { convert_llama2c(model.path(), tokenizer.path(), folder); })) {
    Index numbers = 0;
    const WeightFiles files(folder);
    for (const WeightEntry& entry : files.entries()) numbers += entry.shape.numel();
    fuzz::require(numbers <= Index(size), "no more numbers than bytes");
  }
  std::filesystem::remove_all(folder);
  return 0;
}
