// Which files a tokenizer is read from.
#include <fstream>
#include <string>
#include <system_error>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "text/tokenizer_config.hpp"
#include "text/tokenizer_parts.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

constexpr const char* operation = "read_tokenizer";

std::string content_of(const fs::path& path) {
  constexpr std::uint64_t most = 100'000'000;
  std::string text;
  read_file(operation, path, [&](std::ifstream& file, std::uint64_t bytes) {
    if (bytes > most) throw Error("it has more than 100 MB, which no tokenizer has.");
    if (bytes == 0) throw Error("it is empty.");
    text.resize(static_cast<std::size_t>(bytes));
    read_bytes(file, text.data(), bytes);
  });
  return text;
}

std::string content_if_there(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? content_of(path) : "";
}

SharedParts parts_of(const fs::path& path) {
  const std::string name = path.filename().string();
  const fs::path folder = path.parent_path();
  if (name == "merges.txt") return parts_of(folder / "vocab.json");
  const SideFiles beside = {content_if_there(folder / "tokenizer_config.json"),
                            content_if_there(folder / "added_tokens.json")};
  const std::string text = content_of(path);
  if (name.ends_with(".bin")) return tokenizer_from_llama2c(text);
  if (name.ends_with(".txt")) return tokenizer_from_word_pieces(text, beside);
  if (name == "vocab.json") {
    return tokenizer_from_vocabulary(text, content_of(folder / "merges.txt"), beside);
  }
  if (!name.ends_with(".json")) {
    throw Error("it is none of tokenizer.json, vocab.json, vocab.txt and tokenizer.bin.");
  }
  SharedParts parts = tokenizer_from_json(text);
  TokenizerConfig({beside.config, ""}).set_ends(*parts);  // the file has all tokens itself
  return parts;
}

fs::path file_in(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "vocab.json", "vocab.txt", "tokenizer.bin"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  const bool sentence_piece = fs::exists(folder / "tokenizer.model");
  throw Error(
      std::string("it has none of tokenizer.json, vocab.json, vocab.txt and tokenizer.bin") +
      (sentence_piece ? ". Its tokenizer.model is not read: convert it to tokenizer.json, "
                        "as transformers' save_pretrained does."
                      : "."));
}

}  // namespace

Tokenizer read_tokenizer(const fs::path& folder_or_file) {
  fs::path path = folder_or_file;
  try {
    if (!fs::exists(path)) throw Error("there is no such file or folder.");
    if (fs::is_directory(path)) path = file_in(path);
    return Tokenizer(parts_of(path));
  } catch (const fs::filesystem_error& error) {
    throw Error(std::string(operation) + ": " + path.string() + ": " + error.code().message() +
                ".");
  } catch (const Error& error) {
    const std::string words = error.what();
    if (words.starts_with(operation)) throw;  // it names the file
    const fs::path folder = path.parent_path() / "";
    for (const char* beside : {"tokenizer_config.json", "added_tokens.json"}) {
      if (words.starts_with(std::string(beside) + ": ")) {
        throw Error(std::string(operation) + ": " + folder.string() + words);
      }
    }
    throw Error(std::string(operation) + ": " + path.string() + ": " + words);
  }
}

}  // namespace tapestry
