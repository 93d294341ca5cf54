// Folders of weights: the first line is the index, the rest a shard.
#include <filesystem>
#include <fstream>

#include "fuzz.hpp"
#include "tapestry/io/weight_files.hpp"

using namespace tapestry;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("fuzz-weights-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }

  void put(const char* name, std::string_view bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
  }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::string text = fuzz::text_of(data, size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  folder.put("model.safetensors.index.json", std::string_view(text).substr(0, line));
  folder.put("a.safetensors", std::string_view(text).substr(std::min(line + 1, text.size())));
  fuzz::done([&] {
    const WeightFiles files(folder.path);
    for (const WeightEntry& entry : files.entries()) {
      fuzz::require(entry.shape.numel() <= 4 * Index(size), "no more numbers than bytes");
      fuzz::require(entry.file == "a.safetensors", "no other file is opened");
      fuzz::done([&] { files.read(entry.name, Tensor::empty(entry.shape)); });
    }
  });
  return 0;
}
