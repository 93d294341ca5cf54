#include "tapestry/io/weight_files.hpp"

#include <bit>
#include <set>
#include <span>
#include <utility>

#include "io/mapped_file.hpp"
#include "io/safetensors_header.hpp"
#include "io/weight_copy.hpp"
#include "io/weight_index.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

constexpr const char* convert =
    ": only files of safetensors are read. Convert it there: python3 -c \"import torch, "
    "safetensors.torch as s; s.save_file({k: v.clone() for k, v in "
    "torch.load('pytorch_model.bin', weights_only=True).items()}, 'model.safetensors', "
    "{'format': 'pt'})\"";

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error("read_weights: " + path.string() + ": " + why);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Why a folder without weights has none.
[[noreturn]] void refuse_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!is_there(folder)) refuse(folder, "there is no such folder.");
  if (!fs::is_directory(folder, ignored)) {
    refuse(folder, "it is no folder. Give the folder that " + std::string(weight_file) + " is in.");
  }
  for (const char* name : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (is_there(folder / name)) {
      refuse(folder, "its weights are in " + std::string(name) + convert);
    }
  }
  refuse(folder, "it has no weights: there is neither " + std::string(weight_file) + " nor " +
                     weight_index + ".");
}

}  // namespace

// What the entries do not say: where the numbers are.
struct WeightFiles::Files {
  struct Place {
    const std::byte* begin;
    std::optional<NumberType> type;  // none: such numbers are not read
  };
  std::vector<MappedFile> mapped;
  std::vector<Place> places;  // one for each entry
};

bool has_weight_files(const fs::path& folder) {
  return is_there(folder / weight_file) || is_there(folder / weight_index);
}

WeightFiles::WeightFiles(WeightFiles&&) noexcept = default;
WeightFiles::~WeightFiles() = default;

WeightFiles::WeightFiles(const fs::path& folder) : folder_(folder) {
  std::map<std::string, std::string> named;  // by an index
  std::set<std::string> files = {weight_file};
  if (!has_weight_files(folder)) refuse_folder(folder);
  if (!is_there(folder / weight_file)) {
    named = read_weight_index(folder / weight_index);
    files.clear();
    for (const auto& [tensor, file] : named) files.insert(file);
  }
  auto opened = std::make_unique<Files>();
  for (const std::string& file : files) {
    try {
      add(file, *opened);
    } catch (const Error& error) {
      refuse(folder / file, error.what());
    }
  }
  files_ = std::move(opened);
  for (const auto& [tensor, file] : named) {
    if (contains(tensor) && (*this)[tensor].file == file) continue;
    refuse(folder / weight_index,
           "it says that " + in_quotes(tensor) + " is in " + file + ", which has no such tensor.");
  }
}

void WeightFiles::add(const std::string& file, Files& to) {
  const MappedFile& mapped = to.mapped.emplace_back(folder_ / file);
  std::span<const std::byte> data;
  for (safetensors::Entry& entry : safetensors::parse_header(mapped.bytes(), data).entries) {
    if (!places_.emplace(entry.name, entries_.size()).second) {
      throw Error("its tensor " + in_quotes(entry.name) + " is in " +
                  entries_[places_.find(entry.name)->second].file + ", too.");
    }
    to.places.push_back({data.data() + entry.begin, entry.dtype.type});
    entries_.push_back({std::move(entry.name), entry.shape, std::string(entry.dtype.name), file});
  }
}

const WeightEntry& WeightFiles::operator[](std::string_view name) const {
  const auto found = places_.find(name);
  if (found != places_.end()) return entries_[found->second];
  std::vector<std::string> names;
  for (const WeightEntry& entry : entries_) names.push_back(entry.name);
  const std::string similar = closest(name, names);
  refuse(folder_, "there is no tensor " + in_quotes(name) +
                      (similar.empty() ? "." : ". Did you mean " + in_quotes(similar) + "?"));
}

void WeightFiles::read(std::string_view name, const Tensor& into) const {
  const WeightEntry& entry = (*this)[name];
  if (into.shape() == entry.shape) return read(name, into, {});
  refuse(folder_ / entry.file, "tensor " + in_quotes(name) + " is " + to_string(entry.shape) +
                                   ", but " + to_string(into.shape()) + " was asked for.");
}

void WeightFiles::read(std::string_view name, const Tensor& into, const WeightPart& part) const {
  const WeightEntry& entry = (*this)[name];
  const Files::Place& place = files_->places[places_.find(name)->second];
  try {
    if (!place.type) throw Error("numbers of its dtype, " + entry.dtype + ", are not read.");
    const WeightBox box = box_of(entry.shape, part, into);
    copy_weights(place.begin, *place.type, box, into);
  } catch (const InexactNumber& error) {
    refuse(folder_ / entry.file, "tensor " + in_quotes(name) + ": " + error.what() + ".");
  } catch (const Error& error) {
    refuse(folder_ / entry.file, "tensor " + in_quotes(name) + ": " + error.what());
  }
}

}  // namespace tapestry
