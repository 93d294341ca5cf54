#include "io/safetensors_header.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::safetensors {
namespace {

constexpr std::uint64_t longest_header = 100'000'000;
constexpr std::size_t most_keys = 10'000;  // of one entry; a tensor has 3, metadata any number

// All types of the format.
constexpr Dtype dtypes[] = {
    {"F64", 64, NumberType::f64},
    {"F32", 32, NumberType::f32},
    {"F16", 16, NumberType::f16},
    {"I64", 64, NumberType::i64},
    {"I32", 32, NumberType::i32},
    {"I16", 16, NumberType::i16},
    {"I8", 8, NumberType::i8},
    {"U64", 64, NumberType::u64},
    {"U32", 32, NumberType::u32},
    {"U16", 16, NumberType::u16},
    {"U8", 8, NumberType::u8},
    {"BF16", 16, NumberType::bf16},
    {"BOOL", 8, NumberType::boolean},
    {"C64", 64},
    {"F8_E5M2", 8},
    {"F8_E4M3", 8},
    {"F8_E8M0", 8},
    {"F6_E2M3", 6},
    {"F6_E3M2", 6},
    {"F4", 4},
};

std::vector<Index> whole_numbers(const std::string& tensor, const Json& entry, const char* key) {
  std::vector<Index> numbers;
  const Json& list = entry.at(key);
  bool good = list.is_array();
  for (std::size_t i = 0; good && i < list.size(); ++i) {
    good = list[i].is_number_unsigned() &&
           list[i].get<std::uint64_t>() <= std::numeric_limits<Index>::max();
    if (good) numbers.push_back(list[i].get<Index>());
  }
  if (!good) throw Error(tensor + ": \"" + key + "\" must be a list of whole numbers from 0 on.");
  return numbers;
}

Dtype dtype_of(const std::string& tensor, const Json& name) {
  for (const Dtype& dtype : dtypes) {
    if (name == dtype.name) return dtype;
  }
  throw Error(tensor + " has dtype " +
              (name.is_string() ? in_quotes(name.get<std::string>()) : "that is no text") +
              ": the format has none of that name. Convert the file first.");
}

void check_size(const std::string& tensor, const Entry& entry) {
  // Shapes have less than 2^60 elements, so that nothing overflows.
  const auto count = static_cast<std::uint64_t>(entry.shape.numel());
  const std::uint64_t rest = count % 8 * entry.dtype.bits;
  const std::uint64_t needed = count / 8 * entry.dtype.bits + rest / 8;
  if (rest % 8 != 0) {
    throw Error(tensor + " " + to_string(entry.shape) + " of " + std::string(entry.dtype.name) +
                " does not end where a byte does.");
  }
  if (entry.end - entry.begin != needed) {
    throw Error(tensor + " " + to_string(entry.shape) + " needs " + std::to_string(needed) +
                " bytes, but its offsets hold " + std::to_string(entry.end - entry.begin) + ".");
  }
}

Entry read_entry(const std::string& name, const Json& object) {
  const std::string tensor = "tensor " + in_quotes(name);
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!object.contains(key)) throw Error(tensor + " has no \"" + key + "\".");
  }
  if (object.size() != 3) {
    throw Error(tensor + " has more than \"dtype\", \"shape\" and \"data_offsets\".");
  }
  const Dtype dtype = dtype_of(tensor, object.at("dtype"));
  const std::vector<Index> offsets = whole_numbers(tensor, object, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw Error(tensor + ": \"data_offsets\" must be [begin, end] with begin <= end.");
  }
  const std::vector<Index> sizes = whole_numbers(tensor, object, "shape");
  Shape shape;
  try {
    shape = Shape(std::span<const Index>(sizes));
  } catch (const Error& error) {  // more axes or elements than possible
    throw Error(tensor + ": " + error.what());
  }
  const Entry entry{name, shape, dtype, static_cast<std::uint64_t>(offsets[0]),
                    static_cast<std::uint64_t>(offsets[1])};
  check_size(tensor, entry);
  return entry;
}

// Reads the header while it is parsed: every entry is checked and dropped as soon as it is
// complete, so that neither depth nor length of the JSON can exhaust memory.
class HeaderReader {
 public:
  Header read(const std::string& text) {
    visit_json("its header", text, [this](int depth, Json::parse_event_t event, Json& value) {
      return visit(depth, event, value);
    });
    return std::move(header_);
  }

 private:
  // Depth counts the enclosing brackets: names are at 1, the keys of an entry and the texts of the
  // metadata at 2, the numbers of a shape at 3. The result says whether to keep the value.
  bool visit(int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::key) {
      see_key(depth, value.get_ref<const std::string&>());
    } else if (event == Event::object_end && depth == 1) {
      finish_entry(value);
      return false;
    } else if (event == Event::array_start && depth == 2) {
      numbers_ = 0;
    } else if (event == Event::object_start && depth == 1) {
      keys_.clear();
    } else if (event == Event::value && depth == 3) {
      constexpr int most = 64;  // far above the limit of axes
      if (++numbers_ > most) throw Error("tensor " + in_quotes(name_) + " has too long a list.");
    } else if ((event == Event::value || event == Event::array_start) && depth <= 1) {
      throw Error("entry " + in_quotes(name_) + " is not a JSON object.");
    } else if ((event == Event::object_start || event == Event::array_start) && depth >= 2) {
      throw Error("entry " + in_quotes(name_) + " is nested too deeply.");
    }
    return true;
  }

  void see_key(int depth, const std::string& key) {
    if (depth == 1) name_ = key;
    if (!(depth == 1 ? names_ : keys_).insert(key).second) {
      throw Error("the name " + in_quotes(key) + " stands twice" +
                  (depth == 1 ? " in the header." : " in entry " + in_quotes(name_) + "."));
    }
    if (keys_.size() > most_keys) {
      throw Error("entry " + in_quotes(name_) + " has more than " + std::to_string(most_keys) +
                  " keys.");
    }
  }

  void finish_entry(const Json& object) {
    if (name_ != "__metadata__") {
      header_.entries.push_back(read_entry(name_, object));
      return;
    }
    for (const auto& [key, text] : object.items()) {
      if (!text.is_string()) throw Error("metadata " + in_quotes(key) + " is not text.");
      header_.metadata[key] = text.get<std::string>();
    }
  }

  Header header_;
  std::string name_;                    // of the entry being read
  std::set<std::string> names_, keys_;  // seen in the header, in this entry
  int numbers_ = 0;                     // seen in this list
};

// The tensors must fill the rest of the file without gaps, in any order.
void check_layout(std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) {
      throw Error("tensor " + in_quotes(entry.name) + " begins at byte " +
                  std::to_string(entry.begin) + ", but the one before ends at " +
                  std::to_string(at) + (entry.begin < at ? ": they overlap." : ": a hole."));
    }
    at = entry.end;
  }
  if (at != data_bytes) {
    throw Error("its tensors take " + std::to_string(at) + " bytes, but there are " +
                std::to_string(data_bytes) +
                (at > data_bytes ? ": the file is cut off." : ": something follows them."));
  }
}

}  // namespace

std::uint64_t header_length(std::uint64_t stated, std::uint64_t file_bytes) {
  if (file_bytes < bytes_before_header) {
    throw Error("it is too short to be a safetensors file.");
  }
  const std::uint64_t rest = file_bytes - bytes_before_header;
  if (stated <= std::min(longest_header, rest)) return stated;
  throw Error("its header should have " + std::to_string(stated) + " bytes, but " +
              (stated > rest ? std::to_string(rest) + " follow" : "100 MB are the limit") +
              ": cut off, or not a safetensors file.");
}

Header parse_header(const std::string& json, std::uint64_t data_bytes) {
  Header header = HeaderReader().read(json);
  check_layout(header.entries, data_bytes);
  return header;
}

Header parse_header(std::span<const std::byte> file, std::span<const std::byte>& data) {
  std::uint64_t stated{};
  if (file.size() >= sizeof stated) std::memcpy(&stated, file.data(), sizeof stated);
  const auto length = static_cast<std::size_t>(header_length(stated, file.size()));
  const auto* const json = reinterpret_cast<const char*>(file.data()) + sizeof stated;
  data = file.subspan(sizeof stated + length);
  return parse_header(std::string(json, length), data.size());
}

}  // namespace tapestry::safetensors
