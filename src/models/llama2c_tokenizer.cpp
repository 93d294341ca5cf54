#include "models/llama2c_tokenizer.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/unicode.hpp"
#include "text/llama2c_tokens.hpp"

namespace tapestry {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view blank = "\u2581";  // stands for a blank in tokens
constexpr std::uint64_t largest = 100'000'000;

using Places = std::unordered_map<std::string_view, std::size_t>;

// The text that stands for a token in tokenizer.json.
std::string spelled(const std::string& stored, std::size_t id) {
  if (id == 1) return "<s>";  // stored with line ends around them
  if (id == 2) return "</s>";
  std::string text;
  for (const char letter : stored) text += letter == ' ' ? blank : std::string_view(&letter, 1);
  return text;
}

// As tokenizer.json spells them.
std::vector<ScoredToken> read_tokens(std::ifstream& file, std::uint64_t bytes) {
  if (bytes > largest) throw Error("it is larger than 100 MB: it is no tokenizer of llama2.c.");
  std::string content(static_cast<std::size_t>(bytes), '\0');
  read_bytes(file, content.data(), bytes);
  std::vector<ScoredToken> tokens = llama2c_tokens(content);
  std::size_t id = 0;
  for (ScoredToken& token : tokens) token.text = spelled(token.text, id++);
  return tokens;
}

// Byte-pair encoding by ranks: all pairs of tokens that make a third, that with the highest score
// first; of the same token, the longest left part first.
Json merges_of(const std::vector<ScoredToken>& tokens, const Places& ids) {
  const auto merged = std::min<std::ptrdiff_t>(llama2c_first_merged, std::ssize(tokens));
  std::vector<ScoredToken> order(tokens.begin() + merged, tokens.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const ScoredToken& a, const ScoredToken& b) { return a.score > b.score; });
  Json merges = Json::array();
  for (const ScoredToken& token : order) {
    const std::string_view text = token.text;
    for (std::size_t cut = text.size(); cut-- > 1;) {
      const std::string_view left = text.substr(0, cut), right = text.substr(cut);
      if (!ids.contains(left) || !ids.contains(right)) continue;
      merges.push_back(std::string(left) + " " + std::string(right));
    }
  }
  return merges;
}

// All but the tokens: a blank is put in front, which decoding removes, and <s> before the text.
constexpr const char* frame = R"({
  "version": "1.0",
  "truncation": null,
  "padding": null,
  "added_tokens": [
    {"id": 0, "content": "<unk>", "single_word": false, "lstrip": false, "rstrip": false,
     "normalized": false, "special": true},
    {"id": 1, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
     "normalized": false, "special": true},
    {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false,
     "normalized": false, "special": true}
  ],
  "normalizer": {"type": "Sequence", "normalizers": [
    {"type": "Prepend", "prepend": "\u2581"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
  ]},
  "pre_tokenizer": null,
  "post_processor": {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}
  },
  "decoder": {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0}
  ]},
  "model": {"type": "BPE", "dropout": null, "unk_token": "<unk>",
            "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": true,
            "byte_fallback": true, "ignore_merges": false, "vocab": {}, "merges": []}
})";

std::string text_of(const std::vector<ScoredToken>& tokens) {
  Json json = Json::parse(frame);
  auto& vocabulary = json["model"]["vocab"].get_ref<Json::object_t&>();
  Places ids;
  for (const ScoredToken& token : tokens) {
    const std::size_t id = ids.size();
    const auto [other, is_new] = ids.emplace(token.text, id);
    if (!is_new) {
      throw Error("its tokens " + std::to_string(other->second) + " and " + std::to_string(id) +
                  " are both " + in_quotes(token.text) + ".");
    }
    vocabulary.emplace_back(token.text, id);  // known to be new: [] would look through all
  }
  if (!tokens.empty() && tokens.front().text != "<unk>") {
    throw Error("its token 0 is " + in_quotes(tokens.front().text) +
                ", not <unk>, which tokenizer.json has to name.");
  }
  json["model"]["merges"] = merges_of(tokens, ids);
  try {
    return json.dump(1) + "\n";
  } catch (const Json::type_error&) {
    throw Error("one of its tokens is not UTF-8.");
  }
}

}  // namespace

std::string llama2c_tokenizer(const std::filesystem::path& path, Index words) {
  std::string text;
  read_file("read_llama2c", path, [&](std::ifstream& file, std::uint64_t bytes) {
    const std::vector<ScoredToken> tokens = read_tokens(file, bytes);
    if (std::cmp_not_equal(tokens.size(), words)) {
      throw Error("it has " + std::to_string(tokens.size()) + " tokens, but the model has " +
                  std::to_string(words) + ".");
    }
    text = text_of(tokens);
  });
  return text;
}

}  // namespace tapestry
