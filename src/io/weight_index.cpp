#include "io/weight_index.hpp"

#include <utility>

#include "base/json.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

constexpr std::uint64_t longest = 100'000'000;  // as of a safetensors header
constexpr int deepest = 8;                      // the map is at 1

class IndexReader {
 public:
  std::map<std::string, std::string> read(const std::string& text) {
    visit_json("the index", text, [this](int depth, Json::parse_event_t event, Json& value) {
      return visit(depth, event, value);
    });
    if (files_.empty()) throw Error("the index has no \"weight_map\" that names a file.");
    return std::move(files_);
  }

 private:
  // Sections are keys at depth 1; the names of the map are those at depth 2, below "weight_map".
  // Only what has to be entered is kept, and no key or value in it, so that memory stays small.
  bool visit(int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (begins && depth > deepest) throw Error("the index is nested too deeply.");
    if (event == Event::key && depth == 1) section_ = value.get<std::string>();
    if (depth == 0) return true;
    if (section_ != "weight_map") return false;
    if (event == Event::key && depth == 2) name_ = value.get<std::string>();
    if (depth == 1 && (event == Event::value || event == Event::array_start)) {
      throw Error("the index has a \"weight_map\" that is not a JSON object.");
    }
    if (depth == 2 && (event == Event::value || begins)) see(value);
    return depth == 1 && event == Event::object_start;
  }

  void see(const Json& file) {
    if (!file.is_string())
      throw Error("the index has no file's name for " + in_quotes(name_) + ".");
    const std::string name = file.get<std::string>();
    if (name.find_first_of(std::string{'/', '\0'}) != name.npos ||
        !name.ends_with(".safetensors")) {
      throw Error("the index names the file " + in_quotes(name) +
                  ": it must be a .safetensors file beside the index.");
    }
    if (files_.emplace(name_, name).second) return;
    throw Error("the index names the tensor " + in_quotes(name_) + " twice.");
  }

  std::map<std::string, std::string> files_;
  std::string section_, name_;
};

}  // namespace

std::map<std::string, std::string> read_weight_index(const std::filesystem::path& path) {
  std::map<std::string, std::string> files;
  read_file("read_weights", path, [&](std::ifstream& file, std::uint64_t bytes) {
    if (bytes > longest) throw Error("the index is larger than 100 MB.");
    std::string text(static_cast<std::size_t>(bytes), '\0');
    read_bytes(file, text.data(), bytes);
    files = IndexReader().read(text);
  });
  return files;
}

}  // namespace tapestry
