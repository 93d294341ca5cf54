#include "tapestry/io/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <vector>

#include "io/safetensors_header.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/unicode.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

using Json = nlohmann::ordered_json;

constexpr const char* metadata_key = "__metadata__";

[[noreturn]] void refuse(const std::string& problem) {
  throw Error("write_safetensors: " + problem);
}

std::string header_of(const Parameters& tensors, const std::map<std::string, std::string>& metadata,
                      Precision precision) {
  const bool is_half = precision == Precision::half;
  const char* const dtype = is_half ? "F16" : sizeof(real) == 4 ? "F32" : "F64";
  const Index bytes = is_half ? 2 : Index{sizeof(real)};
  Json header = Json::object();
  if (!metadata.empty()) header[metadata_key] = metadata;
  Index begin = 0;
  for (const Parameter& tensor : tensors) {
    const Shape& shape = tensor.value.shape();
    const Index end = begin + shape.numel() * bytes;
    header[tensor.name] = {{"dtype", dtype},
                           {"shape", std::vector<Index>(shape.begin(), shape.end())},
                           {"data_offsets", {begin, end}}};
    begin = end;
  }
  try {
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // the numbers begin at a multiple of 8
    return text;
  } catch (const nlohmann::json::type_error&) {
    refuse("a name or a metadata text is not UTF-8.");
  }
}

// In pieces, so that there is never a second copy of all the numbers in memory.
void append_halves(std::span<const real> numbers, const Append& append) {
  constexpr std::size_t most = 16384;
  std::vector<std::uint16_t> halves;
  while (!numbers.empty()) {
    const std::span<const real> piece = numbers.first(std::min(most, numbers.size()));
    halves.resize(piece.size());
    std::transform(piece.begin(), piece.end(), halves.begin(), half_of);
    append(std::as_bytes(std::span(halves)));
    numbers = numbers.subspan(piece.size());
  }
}

}  // namespace

void safetensors::check_names(const Parameters& tensors) {
  std::set<std::string> names;
  for (const Parameter& tensor : tensors) {
    if (tensor.name == metadata_key) {
      refuse("no tensor may be called " + in_quotes(tensor.name) +
             ": the format keeps that name for text.");
    }
    if (!names.insert(tensor.name).second) {
      refuse("two tensors are called " + in_quotes(tensor.name) + ". Give each a name of its own.");
    }
    if (!tensor.value.defined()) {
      refuse("tensor " + in_quotes(tensor.name) + " is undefined: it holds no numbers.");
    }
  }
}

void write_safetensors(const std::filesystem::path& path, const Parameters& tensors,
                       const std::map<std::string, std::string>& metadata, Precision precision) {
  safetensors::check_names(tensors);
  const std::string header = header_of(tensors, metadata, precision);
  const std::uint64_t length = header.size();
  write_file_atomically("write_safetensors", path, [&](const Append& append) {
    append(std::as_bytes(std::span(&length, 1)));
    append(std::as_bytes(std::span(header)));
    for (const Parameter& tensor : tensors) {  // one by one: together they may take half the memory
      const Tensor dense = tensor.value.contiguous();
      const std::span numbers(raw(dense), static_cast<std::size_t>(dense.numel()));
      if (precision == Precision::half) {
        append_halves(numbers, append);
      } else {
        append(std::as_bytes(numbers));
      }
    }
  });
}

// ---------------------------------------------------------------- using a file that was read

namespace {

template <class Named>
const Named* find(const std::vector<Named>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Named& one) { return one.name == name; });
  return found == list.end() ? nullptr : &*found;
}

// " Missing: 'a', 'b', 'c', 'd', 'e' and 7 more."; nothing for an empty list.
std::string listed(const std::string& title, const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  if (names.empty()) return "";
  std::string text = " " + title + ": ";
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text + ".";
}

void check_matching(const Parameters& model, const Safetensors& file) {
  std::vector<std::string> missing, unexpected, different, skipped;
  for (const auto& [name, why] : file.skipped) {
    skipped.push_back(in_quotes(name) + " (" + why + ")");
  }
  for (const Parameter& parameter : model) {
    const Parameter* found = find(file.tensors, parameter.name);
    const std::string name = in_quotes(parameter.name);
    if (found == nullptr) {
      if (find(file.skipped, parameter.name) == nullptr) missing.push_back(name);
    } else if (found->value.shape() != parameter.value.shape()) {
      different.push_back(name + " is " + to_string(found->value.shape()) + ", not " +
                          to_string(parameter.value.shape()));
    } else if (!parameter.value.is_contiguous()) {
      throw Error("load_parameters: " + name +
                  " is a strided view. List the tensor that owns the numbers.");
    }
  }
  for (const Parameter& tensor : file.tensors) {
    if (find(model, tensor.name) == nullptr) unexpected.push_back(in_quotes(tensor.name));
  }
  if (missing.empty() && unexpected.empty() && different.empty() && skipped.empty()) return;
  throw Error("load_parameters: the file does not fit the model." +
              listed("Missing in the file", missing) + listed("Not in the model", unexpected) +
              listed("Of another shape", different) + listed("Not read", skipped));
}

}  // namespace

Tensor Safetensors::operator[](std::string_view name) const {
  if (const Parameter* found = find(tensors, name)) return found->value;
  if (const Skipped* found = find(skipped, name)) {
    throw Error("safetensors: tensor " + in_quotes(found->name) + " was not read: " + found->why +
                ".");
  }
  std::vector<std::string> names, quoted;
  for (const Parameter& tensor : tensors) {
    names.push_back(tensor.name);
    quoted.push_back(in_quotes(tensor.name));
  }
  const std::string similar = closest(name, names);
  throw Error("safetensors: there is no tensor " + in_quotes(name) + "." +
              (similar.empty() ? listed("There are", quoted)
                               : " Did you mean " + in_quotes(similar) + "?"));
}

void load_parameters(const Parameters& model, const Safetensors& file) {
  check_matching(model, file);
  for (const Parameter& parameter : model) {
    const Tensor numbers = find(file.tensors, parameter.name)->value.contiguous();
    std::copy_n(raw(numbers), numbers.numel(), raw_to_change(parameter.value));
  }
}

}  // namespace tapestry
