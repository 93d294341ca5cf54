// Tiny tokenizer files for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/text/tokenizer.hpp"
#include "temporary_folder.hpp"
#include "text/byte_letters.hpp"

namespace tapestry {

using SmallJson = nlohmann::json;
using Ids = std::vector<std::int32_t>;

inline void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline SmallJson vocabulary_of(const std::vector<std::string>& tokens) {
  SmallJson vocabulary = SmallJson::object();
  for (std::size_t i = 0; i < tokens.size(); ++i) vocabulary[tokens[i]] = i;
  return vocabulary;
}

// The 256 bytes as letters, and what the merges make of them.
inline std::vector<std::string> byte_tokens(const std::vector<std::string>& more) {
  std::vector<std::string> tokens;
  for (const unsigned char byte : bytes_by_letter()) {
    tokens.push_back(letters_of(std::string(1, static_cast<char>(byte))));
  }
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

inline SmallJson model_of(const std::vector<std::string>& tokens,
                          const std::vector<std::string>& merges) {
  return {{"type", "BPE"}, {"vocab", vocabulary_of(tokens)}, {"merges", merges}};
}

// Byte-level: "th", "the", " t", " the", and <|end|> as a special token, id 260.
inline SmallJson byte_level_json() {
  return {{"version", "1.0"},
          {"added_tokens", {{{"id", 260}, {"content", "<|end|>"}, {"special", true}}}},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           model_of(byte_tokens({"th", "the", "Ġt", "Ġthe"}), {"t h", "th e", "Ġ t", "Ġ the"})}};
}

// Characters a to e, "▁", "ab", "▁ab", bytes as a way out, <s> in front.
inline SmallJson character_json() {
  std::vector<std::string> tokens = {"<unk>", "<s>", "a", "b", "c", "d", "e", "▁", "ab", "▁ab"};
  constexpr const char* digits = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">");
  }
  SmallJson model = model_of(tokens, {"a b", "▁ ab"});
  model.update({{"unk_token", "<unk>"}, {"fuse_unk", true}, {"byte_fallback", true}});
  const SmallJson single = {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                            {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}};
  return {{"added_tokens", {{{"id", 1}, {"content", "<s>"}, {"special", true}}}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Prepend"}, {"prepend", "▁"}},
              {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}}}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", single},
            {"pair", single},
            {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}}},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
              {{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
          {"model", model}};
}

inline Tokenizer tokenizer_of(const SmallJson& json) {
  const TemporaryFolder folder;
  write(folder / "tokenizer.json", json.dump());
  return read_tokenizer(folder / "");
}

inline Tokenizer tokenizer_of(std::initializer_list<std::pair<const char*, std::string>> files) {
  const TemporaryFolder folder;
  for (const auto& [name, bytes] : files) write(folder / name, bytes);
  return read_tokenizer(folder / "");
}

// The tokens of a text, as they are spelled.
inline std::vector<std::string> tokens_of(const Tokenizer& tokenizer, const std::string& text,
                                          bool add_special = false) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : tokenizer.encode(text, add_special).values) {
    tokens.push_back(tokenizer.token(id));
  }
  return tokens;
}

}  // namespace tapestry
