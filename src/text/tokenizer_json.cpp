// tokenizer.json, as Hugging Face's tokenizers write it.
#include <algorithm>
#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "text/byte_letters.hpp"
#include "text/fields.hpp"
#include "text/tokenizer_components.hpp"
#include "text/tokenizer_config.hpp"
#include "text/tokenizer_parts.hpp"

namespace tapestry {
namespace {

// "a b", or ["a", "b"], which allows blanks in tokens.
Merge merge_of(const Json& json, std::size_t place) {
  if (json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string()) {
    return {json[0].get<std::string>(), json[1].get<std::string>()};
  }
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  const std::size_t blank = text.find(' ');
  if (blank == text.npos || text.find(' ', blank + 1) != text.npos) {
    throw Error("merge " + std::to_string(place) + " is not two tokens with a blank between.");
  }
  return {text.substr(0, blank), text.substr(blank + 1)};
}

// "<0x0A>"
std::string byte_token(unsigned char byte) {
  constexpr const char* digits = "0123456789ABCDEF";
  return std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">";
}

std::int32_t unknown_token(const TokenTable& table, Fields& model, const std::string& fallback) {
  const std::string token = model.text("unk_token", fallback);
  if (token.empty()) return -1;
  const std::int32_t id = table.find(token);
  if (id < 0)
    model.refuse("has unk_token " + in_quotes(token) + ", which is not in its vocabulary");
  return id;
}

// Pieces that are tokens as they are.
TokenMap whole_pieces(const TokenTable& table, bool by_bytes) {
  if (!by_bytes) return table.ids();
  TokenMap pieces;
  for (const auto& [token, id] : table.ids()) {
    if (const auto bytes = bytes_of_letters(token)) pieces.emplace(*bytes, id);
  }
  return pieces;
}

bool at_byte_level(const TokenizerParts& parts) {
  return !parts.pre_tokenizer.empty() &&
         parts.pre_tokenizer.back().kind == PreTokenizerStep::Kind::byte_level;
}

// At byte level it matters only for a byte without a token.
void read_byte_fallback(const TokenizerParts& parts, Fields& model, BytePairModel& bytes) {
  if (!model.flag("byte_fallback", false)) return;
  for (const unsigned char byte : bytes_by_letter()) {
    const std::string letter = letters_of(std::string(1, static_cast<char>(byte)));
    if (!bytes.by_bytes) {
      bytes.byte_symbols[byte] = parts.table.find(byte_token(byte));
    } else if (!parts.table.contains(letter)) {
      model.refuse(
          "has byte_fallback, but at byte level that is not supported unless each byte "
          "has a token: " +
          in_quotes(letter) + " is not in its vocabulary");
    }
  }
}

void read_byte_pairs(TokenizerParts& parts, Fields& model) {
  for (const char* absent : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.text(absent, "").empty()) {
      model.refuse("has a " + std::string(absent) + ", which is not supported");
    }
  }
  if (const Json* dropout = model.find("dropout"); dropout && *dropout != 0) {
    model.refuse("has a dropout, which is not supported: tokens would depend on chance");
  }
  BytePairModel bytes;
  bytes.by_bytes = at_byte_level(parts);
  bytes.unknown = unknown_token(parts.table, model, "");
  bytes.fuse_unknown = model.flag("fuse_unk", false);
  read_byte_fallback(parts, model, bytes);
  if (model.flag("ignore_merges", false)) bytes.whole = whole_pieces(parts.table, bytes.by_bytes);
  std::vector<Merge> merges;
  for (const Json& merge : model.list("merges")) {
    merges.push_back(merge_of(merge, merges.size() + 1));
  }
  set_merges(parts, std::move(bytes), merges);
}

void read_word_pieces(TokenizerParts& parts, Fields& model) {
  WordPieceModel pieces{unknown_token(parts.table, model, "[UNK]")};
  const std::string prefix = model.text("continuing_subword_prefix", "##");
  if (model.find("max_input_chars_per_word")) {
    pieces.most_characters = static_cast<std::size_t>(model.count("max_input_chars_per_word"));
  }
  if (pieces.unknown < 0) model.refuse("has an empty unk_token: WordPiece needs one, as [UNK]");
  if (at_byte_level(parts)) {
    model.refuse("is WordPiece behind a pre_tokenizer ByteLevel: only BPE is read there");
  }
  set_word_pieces(parts, std::move(pieces), prefix);
}

void read_model(TokenizerParts& parts, const Json& json) {
  Fields model(json, "its model");
  const std::string type =
      model.text("type", model.find("merges") ? "BPE" : "WordPiece");  // old files have no type
  if (type != "BPE" && type != "WordPiece") {
    model.refuse("is " + in_quotes(type) + ": only BPE and WordPiece are read");
  }
  parts.table.add_all(model.at("vocab"));
  type == "BPE" ? read_byte_pairs(parts, model) : read_word_pieces(parts, model);
  model.finish();
}

// Can a text begin with something else after this step because its beginning is gone?
bool may_remove_beginning(const NormalizerStep& step) {
  using Kind = NormalizerStep::Kind;
  if (step.kind == Kind::replace) {
    return step.content.empty() || code_point_bytes(step.pattern) != step.pattern.size();
  }
  return step.kind == Kind::strip_accents || (step.kind == Kind::strip && step.left) ||
         (step.kind == Kind::bert && (step.clean || step.accents));
}

// A prepend_scheme "first" is about the beginning of the text as it was before normalising.
void check_beginning(const TokenizerParts& parts) {
  const auto asks = [](const PreTokenizerStep& step) {
    return step.kind == PreTokenizerStep::Kind::metaspace &&
           step.prepend == PreTokenizerStep::Prepend::first;
  };
  const auto removes =
      std::find_if(parts.normalizer.begin(), parts.normalizer.end(), may_remove_beginning);
  if (removes == parts.normalizer.end() ||
      std::none_of(parts.pre_tokenizer.begin(), parts.pre_tokenizer.end(), asks)) {
    return;
  }
  throw Error("its pre_tokenizer Metaspace has prepend_scheme 'first', which is not supported " +
              ("behind a normalizer " + removes->name) +
              ": that may remove the beginning of a text.");
}

// A special token with its id: ["[SEP]", 102].
std::int32_t pair_of(const TokenTable& table, Fields& fields, const char* name) {
  const Json& pair = fields.list(name);
  if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_unsigned()) {
    fields.refuse("has a \"" + std::string(name) + "\" that is not a token and its id");
  }
  const std::int32_t id = table.find(pair[0].get<std::string>());
  if (id < 0 || pair[1] != id) {
    fields.refuse("names " + in_quotes(pair[0].get<std::string>()) + " with id " + pair[1].dump() +
                  ", which the vocabulary has not");
  }
  return id;
}

// The ids of a special token of a template.
void append_special(const TokenTable& table, Fields& processor, const std::string& name,
                    TokenIds& ids) {
  Fields all(processor.at("special_tokens"), "its post_processor's special_tokens");
  Fields token(all.at(name), "its post_processor's token " + in_quotes(name));
  for (const Json& id : token.list("ids")) {
    if (!id.is_number_unsigned() || !table.contains(id.get<std::int64_t>())) {
      token.refuse("has id " + id.dump() + ", which is outside the vocabulary");
    }
    ids.push_back(id.get<std::int32_t>());
  }
  for (const char* same : {"id", "tokens"}) token.find(same);  // the ids' names
  token.finish();
}

void read_template(TokenizerParts& parts, Fields& processor) {
  TokenIds front, back;
  bool text_seen = false;
  for (const Json& each : processor.list("single")) {
    Fields piece(each, "its post_processor's template");
    if (const Json* special = piece.find("SpecialToken")) {
      Fields fields(*special, "its post_processor's SpecialToken");
      append_special(parts.table, processor, fields.text("id"), text_seen ? back : front);
      fields.find("type_id");  // of pairs of texts
      fields.finish();
    } else {
      Fields sequence(piece.at("Sequence"), "its post_processor's Sequence");
      if (sequence.text("id") != "A" || std::exchange(text_seen, true)) {
        processor.refuse("must have the text, A, once in its template");
      }
      sequence.find("type_id");
      sequence.finish();
    }
    piece.finish();
  }
  if (!text_seen) processor.refuse("must have the text, A, once in its template");
  parts.front.insert(parts.front.begin(), front.begin(), front.end());
  parts.back.insert(parts.back.end(), back.begin(), back.end());
  for (const char* ignored : {"pair", "special_tokens"}) processor.find(ignored);
}

void read_processor(TokenizerParts& parts, const Json& json) {
  Fields fields(json, "its post_processor");
  const std::string type = fields.text("type");
  if (type == "Sequence") {
    for (const Json& each : fields.list("processors")) read_processor(parts, each);
  } else if (type == "TemplateProcessing") {
    read_template(parts, fields);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    parts.front.insert(parts.front.begin(), pair_of(parts.table, fields, "cls"));
    parts.back.push_back(pair_of(parts.table, fields, "sep"));
  } else if (type != "ByteLevel") {
    fields.refuse("is " + in_quotes(type) +
                  ", which is not known. There are TemplateProcessing, BertProcessing, "
                  "RobertaProcessing, ByteLevel and Sequence");
  }
  for (const char* about_places : {"trim_offsets", "add_prefix_space", "use_regex"}) {
    fields.flag(about_places, true);
  }
  fields.finish();
}

void read_added_tokens(TokenizerParts& parts, const Json& list) {
  if (!list.is_array()) throw Error("its added_tokens are not a list.");
  for (const Json& each : list) {
    Fields fields(each, "an added token");
    parts.add_token(added_token_of(fields, fields.count("id")));
  }
}

}  // namespace

SharedParts tokenizer_from_json(const std::string& text) {
  const auto parts = std::make_shared<TokenizerParts>();
  const Json json = parse_json(text);
  Fields file(json, "it");
  if (file.text("version", "1.0") != "1.0") file.refuse("is not of version 1.0");
  if (const Json* steps = file.find("normalizer")) parts->normalizer = normalizer_steps(*steps);
  if (const Json* steps = file.find("pre_tokenizer")) {
    parts->pre_tokenizer = pre_tokenizer_steps(*steps);
  }
  check_beginning(*parts);
  read_model(*parts, file.at("model"));
  if (const Json* tokens = file.find("added_tokens")) read_added_tokens(*parts, *tokens);
  if (const Json* processor = file.find("post_processor")) read_processor(*parts, *processor);
  if (const Json* steps = file.find("decoder")) {
    parts->decoder = decoder_steps(*steps);
  } else {
    parts->decoder = {{DecoderStep::Kind::blanks, "none"}};
  }
  for (const char* of_batches : {"truncation", "padding"}) file.find(of_batches);
  file.finish();
  parts->finish();
  return parts;
}

}  // namespace tapestry
