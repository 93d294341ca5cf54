// The other files of tokenizers: vocab.json with merges.txt, vocab.txt, llama2.c's tokenizer.bin.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "text/fields.hpp"
#include "text/tokenizer_components.hpp"
#include "text/tokenizer_config.hpp"
#include "text/tokenizer_parts.hpp"
#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

// The lines of a text; a carriage return before a line end is part of it.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string& line = lines.emplace_back(text, at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    at = end + 1;
  }
  return lines;
}

std::vector<Merge> merges_of(const std::string& text) {
  std::vector<Merge> merges;
  std::size_t number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const std::size_t blank = line.find(' ');
    if (blank == line.npos || blank == 0 || blank + 1 == line.size() ||
        line.find(' ', blank + 1) != line.npos) {
      throw Error("line " + std::to_string(number) + " of merges.txt, " + in_quotes(line) +
                  ", is not two tokens with a blank between.");
    }
    merges.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  }
  return merges;
}

AddedToken named(const char* content) { return {.content = content, .special = true}; }

enum class Family { gpt2, qwen2, roberta };

Family family_of(const TokenizerConfig& config) {
  const std::string name = config.family({"GPT2", "Qwen2", "Roberta"});
  return name == "GPT2" ? Family::gpt2 : name == "Qwen2" ? Family::qwen2 : Family::roberta;
}

SpecialTokens special_tokens(Family family) {
  if (family != Family::roberta) return {{"eos_token", named("<|endoftext|>")}};
  AddedToken mask = named("<mask>");
  mask.lstrip = true;
  return {{"bos_token", named("<s>")},   {"eos_token", named("</s>")},
          {"unk_token", named("<unk>")}, {"sep_token", named("</s>")},
          {"pad_token", named("<pad>")}, {"cls_token", named("<s>")},
          {"mask_token", mask}};
}

// How the text is changed and cut, before bytes become tokens.
void set_steps(TokenizerParts& parts, const TokenizerConfig& config, Family family) {
  PreTokenizerStep step{PreTokenizerStep::Kind::byte_level, "ByteLevel"};
  if (family == Family::qwen2) {
    config.demand("add_prefix_space", false);
    parts.normalizer = {{NormalizerStep::Kind::nfc, "NFC"}};
    step.pattern = qwen2_pattern;
  } else {
    step.prefix_space = config.flag("add_prefix_space", false);
    step.pattern = gpt2_pattern;
  }
  parts.pre_tokenizer = {step};
  parts.decoder = {{DecoderStep::Kind::byte_level, "ByteLevel"}};
}

// The id of a special token that the vocabulary must have.
std::int32_t needed(const TokenizerParts& parts, const TokenizerConfig& config, const char* name,
                    const SpecialTokens& usual, const std::string& whose) {
  const std::string content = config.special(name, usual.at(name)).content;
  const std::int32_t id = parts.table.find(content);
  if (id >= 0) return id;
  throw Error("the vocabulary has no " + content + ": it is not one of " + whose + ".");
}

}  // namespace

SharedParts tokenizer_from_vocabulary(const std::string& vocab_json, const std::string& merges_txt,
                                      const SideFiles& beside) {
  const auto parts = std::make_shared<TokenizerParts>();
  const TokenizerConfig config(beside);
  const Family family = family_of(config);
  config.demand("split_special_tokens", false);
  parts->table.add_all(parse_json(vocab_json));
  if (parts->table.count() == 0) throw Error("the vocabulary is empty.");
  set_steps(*parts, config, family);
  BytePairModel model;
  model.by_bytes = true;
  set_merges(*parts, std::move(model), merges_of(merges_txt));
  const SpecialTokens usual = special_tokens(family);
  config.add_tokens(*parts, usual);
  config.set_ends(*parts);
  if (family == Family::roberta) {
    parts->front = {needed(*parts, config, "cls_token", usual, "RoBERTa's")};
    parts->back = {needed(*parts, config, "sep_token", usual, "RoBERTa's")};
  } else if (family == Family::gpt2 && config.flag("add_bos_token", false) && parts->bos) {
    parts->front = {*parts->bos};
  }
  parts->finish();
  return parts;
}

void set_word_pieces(TokenizerParts& parts, WordPieceModel model, const std::string& prefix) {
  for (const auto& [token, id] : parts.table.ids()) {
    model.longest = std::max(model.longest, token.size());
    model.beginnings.emplace(token, id);
    if (token.starts_with(prefix)) model.continuations.emplace(token.substr(prefix.size()), id);
  }
  parts.model = std::move(model);
}

namespace {

NormalizerStep bert_normalizer_of(const TokenizerConfig& config) {
  config.demand("do_basic_tokenize", true);
  config.demand("never_split", Json::array());
  config.demand("wordpieces_prefix", "##");
  const bool lower = config.flag("do_lower_case", true);
  return bert_normalizer(config.flag("clean_text", true),
                         config.flag("tokenize_chinese_chars", true),
                         config.flag("strip_accents", lower), lower);
}

// Blank lines at the end are no tokens.
void read_lines(TokenTable& table, const std::string& vocab_txt) {
  check_utf8(vocab_txt);
  std::vector<std::string> lines = lines_of(vocab_txt);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (std::size_t i = 0; i < lines.size(); ++i) table.add(lines[i], static_cast<std::int64_t>(i));
}

}  // namespace

SharedParts tokenizer_from_word_pieces(const std::string& vocab_txt, const SideFiles& beside) {
  const auto parts = std::make_shared<TokenizerParts>();
  const TokenizerConfig config(beside);
  config.family({"Bert", "DistilBert", "Electra"});
  config.demand("split_special_tokens", false);
  read_lines(parts->table, vocab_txt);
  parts->normalizer = {bert_normalizer_of(config)};
  parts->pre_tokenizer = bert_pre_tokenizer();
  parts->decoder = {
      {.kind = DecoderStep::Kind::word_piece, .name = "WordPiece", .content = "##", .clean = true}};
  const SpecialTokens usual = {{"unk_token", named("[UNK]")},
                               {"cls_token", named("[CLS]")},
                               {"sep_token", named("[SEP]")},
                               {"pad_token", named("[PAD]")},
                               {"mask_token", named("[MASK]")}};
  config.add_tokens(*parts, usual);
  WordPieceModel model{needed(*parts, config, "unk_token", usual, "BERT's WordPiece")};
  parts->front = {needed(*parts, config, "cls_token", usual, "BERT's WordPiece")};
  parts->back = {needed(*parts, config, "sep_token", usual, "BERT's WordPiece")};
  set_word_pieces(*parts, std::move(model), "##");
  parts->finish();
  return parts;
}

}  // namespace tapestry
