// A tokenizer from merges, and its files.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/unicode.hpp"
#include "text/byte_letters.hpp"
#include "text/tokenizer_parts.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

constexpr const char* end_of_text = "<|endoftext|>";

std::vector<Merge> in_letters(std::span<const BytePair> merges) {
  std::vector<Merge> result;
  for (const BytePair& merge : merges) {
    result.emplace_back(letters_of(merge.first), letters_of(merge.second));
  }
  return result;
}

void fill_table(TokenTable& table, const std::vector<Merge>& merges) {
  for (const unsigned char byte : bytes_by_letter()) {
    table.add(letters_of(std::string(1, static_cast<char>(byte))), table.size());
  }
  for (std::size_t i = 0; i < merges.size(); ++i) {
    for (const std::string& token : {merges[i].first, merges[i].second}) {
      if (!table.contains(token)) {
        throw Error("byte_pair_tokenizer: merge " + std::to_string(i + 1) + " is of " +
                    in_quotes(token) + ", which no earlier merge makes.");
      }
    }
    const std::string made = merges[i].first + merges[i].second;
    if (!table.contains(made)) table.add(made, table.size());
  }
}

std::shared_ptr<TokenizerParts> parts_of(const std::vector<Merge>& merges) {
  const auto parts = std::make_shared<TokenizerParts>();
  fill_table(parts->table, merges);
  PreTokenizerStep step{PreTokenizerStep::Kind::byte_level, "ByteLevel"};
  step.pattern = gpt2_pattern;
  parts->pre_tokenizer = {step};
  parts->decoder = {{DecoderStep::Kind::byte_level, "ByteLevel"}};
  BytePairModel model;
  model.by_bytes = true;
  set_merges(*parts, std::move(model), merges);
  parts->add_token({.id = parts->table.size(), .content = end_of_text, .special = true});
  parts->finish();
  return parts;
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

// {"!": 0, ...}: by id, which a JSON object of the library would not keep.
std::string vocabulary_json(const TokenTable& table) {
  std::string json = "{";
  for (std::int32_t id = 0; id < table.size(); ++id) {
    json += (id > 0 ? ", " : "") + quoted(table.token(id)) + ": " + std::to_string(id);
  }
  return json + "}";
}

std::string tokenizer_json(const TokenTable& table, const std::vector<Merge>& merges) {
  const std::string byte_level =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, )"
      R"("use_regex": true})";
  std::string json = R"({"version": "1.0", "truncation": null, "padding": null,)"
                     "\n";
  json += R"("added_tokens": [{"id": )" + std::to_string(table.find(end_of_text)) +
          R"(, "content": )" + quoted(end_of_text) +
          R"(, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, )"
          R"("special": true}],)"
          "\n";
  json += R"("normalizer": null, "pre_tokenizer": )" + byte_level + R"(, "post_processor": )" +
          byte_level + R"(, "decoder": )" + byte_level + ",\n";
  json += R"("model": {"type": "BPE", "dropout": null, "unk_token": null, )"
          R"("continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false, )"
          R"("byte_fallback": false, "ignore_merges": false,)"
          "\n";
  json += R"("vocab": )" + vocabulary_json(table) + ",\n" + R"("merges": [)";
  for (std::size_t i = 0; i < merges.size(); ++i) {
    json += (i > 0 ? ", " : "") + quoted(merges[i].first + " " + merges[i].second);
  }
  return json + "]}}\n";
}

void write_text(const fs::path& path, const std::string& text) {
  write_file_atomically("write_byte_pairs", path, std::as_bytes(std::span(text)));
}

// A new folder beside the target, which finally becomes it, or is removed.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& target) : target_(target) {
    std::error_code problem;
    if (target.has_parent_path()) fs::create_directories(target.parent_path(), problem);
    if (problem) fail(problem.message());
    if (fs::exists(target, problem)) {
      if (!fs::is_directory(target)) fail("it is there, and is no folder");
      if (!fs::is_empty(target)) fail("it is not empty. Name a new folder");
    }
    std::string name = target.string() + ".XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) fail(std::strerror(errno));
    path_ = name;
    fs::permissions(path_, fs::perms{0755}, problem);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);  // not there any more if it has become the target
  }

  fs::path operator/(const char* name) const { return path_ / name; }

  void become_target() {
    std::error_code problem;
    fs::rename(path_, target_, problem);
    if (problem) fail(problem.message());
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error("write_byte_pairs: cannot write the folder " + target_.string() + ": " + why + ".");
  }
  fs::path target_, path_;
};

}  // namespace

Tokenizer byte_pair_tokenizer(std::span<const BytePair> merges) {
  return Tokenizer(parts_of(in_letters(merges)));
}

void write_byte_pairs(const fs::path& folder, std::span<const BytePair> merges) {
  const std::vector<Merge> letters = in_letters(merges);
  const auto parts = parts_of(letters);
  std::string lines = "#version: 0.2\n";
  for (const Merge& merge : letters) lines += merge.first + " " + merge.second + "\n";
  NewFolder files(folder.has_filename() ? folder : folder.parent_path());
  write_text(files / "vocab.json", vocabulary_json(parts->table) + "\n");
  write_text(files / "merges.txt", lines);
  write_text(files / "tokenizer.json", tokenizer_json(parts->table, letters));
  files.become_target();
}

}  // namespace tapestry
