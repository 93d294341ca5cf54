// Writing weights as one file, or as shards with an index.
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "io/safetensors_header.hpp"
#include "io/weight_index.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/io/weight_files.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

// Without it, other programs refuse a file.
const std::map<std::string, std::string> metadata = {{"format", "pt"}};

std::uint64_t bytes_of(const Parameter& tensor) {
  return static_cast<std::uint64_t>(tensor.value.numel()) * sizeof(real);
}

// Tensors in their order, as many in a shard as it may have.
std::vector<Parameters> shards_of(const Parameters& tensors, std::uint64_t shard_bytes) {
  std::vector<Parameters> shards(1);
  std::uint64_t bytes = 0;
  for (const Parameter& tensor : tensors) {
    if (!shards.back().empty() && bytes + bytes_of(tensor) > shard_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += bytes_of(tensor);
    shards.back().push_back(tensor);
  }
  return shards;
}

void remove_file(const fs::path& path) {
  std::error_code problem;
  fs::remove(path, problem);
  if (!problem) return;
  throw Error("write_weights: cannot remove " + path.string() + ": " + problem.message());
}

// None if there is no index that can be read.
std::set<std::string> files_named_in(const fs::path& index) {
  try {
    std::set<std::string> files;
    for (const auto& [tensor, file] : read_weight_index(index)) files.insert(file);
    return files;
  } catch (const Error&) {
    return {};
  }
}

std::set<std::string> write_shards(const fs::path& folder, const std::vector<Parameters>& shards) {
  std::set<std::string> written;
  Json map = Json::object();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = formatted("model-%05zu-of-%05zu.safetensors", i + 1, shards.size());
    write_safetensors(folder / name, shards[i], metadata);
    written.insert(name);
    for (const Parameter& tensor : shards[i]) {
      map[tensor.name] = name;
      bytes += bytes_of(tensor);
    }
  }
  const Json index = {{"metadata", {{"total_size", bytes}}}, {"weight_map", std::move(map)}};
  const std::string text = index.dump(2) + "\n";
  write_file_atomically("write_weights", folder / weight_index, std::as_bytes(std::span(text)));
  return written;
}

}  // namespace

void write_weight_files(const fs::path& folder, const Parameters& tensors,
                        std::uint64_t shard_bytes) {
  safetensors::check_names(tensors);
  const std::vector<Parameters> shards = shards_of(tensors, shard_bytes);
  const std::set<std::string> before = files_named_in(folder / weight_index);
  std::set<std::string> written = {weight_file};
  if (shards.size() == 1) {
    write_safetensors(folder / weight_file, tensors, metadata);
    remove_file(folder / weight_index);
  } else {
    remove_file(folder / weight_index);  // or it would name old shards and new ones meanwhile
    written = write_shards(folder, shards);
    remove_file(folder / weight_file);
  }
  for (const std::string& file : before) {
    if (!written.contains(file)) remove_file(folder / file);
  }
}

}  // namespace tapestry
