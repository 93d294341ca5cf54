// Folders of models: the first two bytes say how long config.json is; the weights follow.
#include "tapestry/models/model_folder.hpp"

#include <filesystem>
#include <fstream>

#include "fuzz.hpp"
#include "tapestry/models/architecture.hpp"

using namespace tapestry;

namespace {

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// What a config means is what the one that is written for it means.
void is_kept(std::string_view json) {
  const ModelConfig config = model_config(std::string(json));
  std::string text;
  if (!fuzz::done([&] { text = config_text(config.architecture, config.options); })) return;
  fuzz::require(config_text(config.architecture, model_config(text).options) == text,
                "a config comes back");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  const std::size_t config_bytes = size < 2 ? 0 : std::size_t(data[0]) * 256 + data[1];
  const std::string_view all = std::string_view(text).substr(std::min<std::size_t>(2, size));
  const std::string_view config = all.substr(0, config_bytes);
  fuzz::done([&] { is_kept(config); });
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("fuzz-model-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  write(folder / "config.json", config);
  write(folder / "model.safetensors", all.substr(std::min(config_bytes, all.size())));
  Index numbers = 0;
  fuzz::done([&] { numbers = read_model(folder).num_parameters(); });
  fuzz::require(numbers <= Index(size), "no more numbers than bytes");
  std::filesystem::remove_all(folder);
  return 0;
}
