#include "text/tokenizer_config.hpp"

#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

constexpr const char *config_file = "tokenizer_config.json", *added_file = "added_tokens.json";

constexpr const char* names_of_special_tokens[] = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

// What `read` returns; puts the name of the file before what it complains about.
template <class Read>
auto about(const char* file, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(std::string(file) + ": " + error.what());
  }
}

Json object_of(const std::string& text, const char* name) {
  return about(name, [&] {
    Json json = text.empty() ? Json::object() : parse_json(text);  // no file: nothing is said
    if (!json.is_object()) throw Error("it is not a JSON object.");
    return json;
  });
}

bool is_added(const TokenizerParts& parts, std::int64_t id) {
  return parts.table.contains(id) && parts.is_added[static_cast<std::size_t>(id)];
}

// An id that is the name of a field.
std::int64_t id_of(const std::string& name) {
  std::int64_t id = -1;
  if (!read_number(name, id) || id < 0) {
    throw Error("an added token's id, " + in_quotes(name) + ", is not a whole number from 0 on.");
  }
  return id;
}

}  // namespace

AddedToken added_token_of(Fields& fields, std::int64_t id) {
  AddedToken token{.content = fields.text("content")};
  if (id >= TokenTable::most_ids) {
    fields.refuse("has id " + std::to_string(id) + ", which is too large");
  }
  if (token.content.empty() || token.content.size() > 1000) {
    fields.refuse("is empty or longer than 1000 bytes: id " + std::to_string(id));
  }
  token.id = static_cast<std::int32_t>(id);
  token.single_word = fields.flag("single_word", false);
  token.lstrip = fields.flag("lstrip", false);
  token.rstrip = fields.flag("rstrip", false);
  token.special = fields.flag("special", false);
  token.normalized = fields.flag("normalized", !token.special);
  fields.finish();
  return token;
}

namespace {

// A text, or an object whose "content" it is.
AddedToken special_of(const Json& json, const std::string& what, AddedToken usual) {
  if (json.is_string()) {
    usual.content = json.get<std::string>();
  } else {
    Fields fields(json, what);
    fields.find("__type");
    usual = added_token_of(fields, 0);
  }
  usual.special = true;
  return usual;
}

}  // namespace

TokenizerConfig::TokenizerConfig(const SideFiles& files)
    : config_(object_of(files.config, config_file)),
      added_(object_of(files.added_tokens, added_file)) {}

std::string TokenizerConfig::family(const std::vector<std::string>& known) const {
  const std::string name =
      about(config_file, [&] { return Fields(config_, "it").text("tokenizer_class", ""); });
  if (name.empty()) return known.front();
  std::string choices;
  for (const std::string& each : known) {
    if (name == each + "Tokenizer" || name == each + "TokenizerFast") return each;
    choices += (choices.empty() ? "" : ", ") + each + "Tokenizer";
  }
  throw Error(std::string(config_file) + ": its tokenizer_class is " + in_quotes(name) +
              ": beside this vocabulary only these are known: " + choices +
              ". Convert it to tokenizer.json, as transformers' save_pretrained does.");
}

AddedToken TokenizerConfig::special(const char* name, const AddedToken& usual) const {
  return about(config_file, [&] {
    const Json* found = Fields(config_, "it").find(name);
    return found ? special_of(*found, "its " + std::string(name), usual) : usual;
  });
}

bool TokenizerConfig::flag(const char* name, bool fallback) const {
  return about(config_file, [&] { return Fields(config_, "it").flag(name, fallback); });
}

void TokenizerConfig::demand(const char* name, const Json& only) const {
  const Json* found = Fields(config_, "it").find(name);
  if (!found || *found == only || (found->is_array() && found->empty())) return;
  throw Error(std::string(config_file) + ": its " + name + " is " + found->dump() +
              ", which is not supported: only " + only.dump() + " is.");
}

void TokenizerConfig::add_listed(TokenizerParts& parts,
                                 const std::vector<AddedToken>& special) const {
  about(config_file, [&] {
    const Json* list = Fields(config_, "it").find("added_tokens_decoder");
    if (!list) return;
    if (!list->is_object()) throw Error("its added_tokens_decoder is not a JSON object.");
    for (const auto& [id, token] : list->items()) {
      Fields fields(token, "an added token");
      parts.add_token(added_token_of(fields, id_of(id)));
    }
  });
  about(added_file, [&] {
    for (const auto& item : added_.items()) {
      const std::string& content = item.key();
      const Json& id = item.value();
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= TokenTable::most_ids) {
        throw Error("it gives " + in_quotes(content) + " the id " + id.dump() +
                    ", which is no id.");
      }
      if (is_added(parts, id.get<std::int64_t>())) continue;  // listed there, too
      const auto named = std::find_if(special.begin(), special.end(),
                                      [&](const AddedToken& t) { return t.content == content; });
      AddedToken token = named != special.end() ? *named : AddedToken{.content = content};
      if (named == special.end()) token.normalized = true;
      token.id = id.get<std::int32_t>();
      parts.add_token(token);
    }
  });
}

void TokenizerConfig::add_tokens(TokenizerParts& parts, const SpecialTokens& usual) const {
  std::vector<AddedToken> tokens;
  for (const char* name : names_of_special_tokens) {
    const auto found = usual.find(name);
    tokens.push_back(special(name, found == usual.end() ? AddedToken{} : found->second));
  }
  about(config_file, [&] {
    const Json* more = Fields(config_, "it").find("additional_special_tokens");
    if (more && !more->is_array()) throw Error("its additional_special_tokens are not a list.");
    for (std::size_t i = 0; more && i < more->size(); ++i) {
      tokens.push_back(special_of((*more)[i], "one of its additional_special_tokens", {}));
    }
  });
  std::erase_if(tokens, [](const AddedToken& token) { return token.content.empty(); });
  parts.fit_flags();
  add_listed(parts, tokens);
  for (const char* name : names_of_special_tokens) find_named(parts, name);
  for (AddedToken& token : tokens) {
    token.id = parts.table.find(token.content);
    if (token.id >= 0 && !is_added(parts, token.id)) parts.add_token(token);
  }
}

std::optional<std::int32_t> TokenizerConfig::find_named(const TokenizerParts& parts,
                                                        const char* name) const {
  const std::string content = special(name, {}).content;
  if (content.empty()) return std::nullopt;
  const std::int32_t id = parts.table.find(content);
  if (id >= 0) return id;
  throw Error(std::string(config_file) + ": its " + name + " is " + in_quotes(content) +
              ", which is not in the vocabulary. Name one that is, or remove the line.");
}

void TokenizerConfig::set_ends(TokenizerParts& parts) const {
  if (const auto bos = find_named(parts, "bos_token")) parts.bos = bos;
  if (const auto eos = find_named(parts, "eos_token")) parts.eos = eos;
}

}  // namespace tapestry
