// The weights of a model in a folder as Hugging Face lays it out: the file model.safetensors, or
// the files ("shards") that model.safetensors.index.json names, each with a part of the tensors.
//
//   const WeightFiles files("stories260K");
//   files.read("model.norm.weight", std::get<RmsNorm>(model.norm->layer).weight);
//   files.read("model.layers.0.mlp.up_proj.weight", transpose(up.weight));  // stored (out, in)
//   // GPT-2 keeps the maps of query, key and value side by side, (in, 3 width): the second of them
//   files.read("h.0.attn.c_attn.weight", key.weight, {.axis = 1, .begin = width});
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

// A tensor in a file.
struct WeightEntry {
  std::string name;
  Shape shape;
  std::string dtype;  // as the format writes it: "F32", "BF16", ...
  std::string file;   // the name of the file that has it
};

// Which part of a tensor in a file is meant: its numbers seen as `shape`, and of these the
// positions from `begin` on along `axis`, as many as the tensor has that receives them.
struct WeightPart {
  Shape shape = {};  // of as many numbers as the file's; () stands for the file's own shape
  int axis = 0;
  Index begin = 0;
};

// The files are mapped into memory, so that nothing is read before it is asked for, and opening
// gigabytes takes milliseconds. Numbers go straight into the memory of the tensor that receives
// them, a few megabytes at a time, and the file's pages are given back at once: no second copy of
// the weights is ever in memory.
class WeightFiles {
 public:
  // Reads the headers. model.safetensors counts if it is there, otherwise the index, and only the
  // shards that it names. The files are not trusted: sizes, offsets and names are checked. Throws
  // Error for a folder that is missing or has no weights (of pytorch_model.bin the message tells
  // how to convert it), a file that is missing, cut off or malformed, an index that names a tensor
  // that its shard lacks or a file outside the folder, and a tensor that two shards have.
  explicit WeightFiles(const std::filesystem::path& folder);
  WeightFiles(WeightFiles&&) noexcept;
  ~WeightFiles();

  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<WeightEntry>& entries() const { return entries_; }  // in the order of the files
  [[nodiscard]] bool contains(std::string_view name) const { return places_.contains(name); }

  // Throws Error if there is no tensor of that name; the message names the closest one.
  [[nodiscard]] const WeightEntry& operator[](std::string_view name) const;

  // Copies the numbers into `into`, which may be a view, such as a transposed one. F32, F16 and
  // BF16 stay exact; all other types as in read_safetensors. Throws Error if there is no such
  // tensor, if its shape is not that of `into`, if its type is not read, and for a number that is
  // not exact.
  void read(std::string_view name, const Tensor& into) const;

  // The same for a part. Throws Error, too, if the part is not within the tensor.
  void read(std::string_view name, const Tensor& into, const WeightPart& part) const;

 private:
  struct Files;
  void add(const std::string& file, Files& to);

  std::filesystem::path folder_;
  std::vector<WeightEntry> entries_;
  std::map<std::string, std::size_t, std::less<>> places_;  // of a name among the entries
  std::unique_ptr<const Files> files_;
};

// Whether a folder has weights that WeightFiles would open, good ones or not.
[[nodiscard]] bool has_weight_files(const std::filesystem::path& folder);

// Writes tensors in the same layout: model.safetensors, or shards with an index if they take more
// than `shard_bytes` together. A shard has at most that many bytes of numbers, or a single tensor.
// The metadata is that which other programs demand, {"format": "pt"}. The folder is made if it is
// missing. Each file is written atomically; weights of both layouts that were there before are
// replaced, and at no moment does the folder hold an index of old and new files together. Throws
// Error as write_safetensors does.
void write_weight_files(const std::filesystem::path& folder, const Parameters& tensors,
                        std::uint64_t shard_bytes = 5'000'000'000);

}  // namespace tapestry
