// What stands beside a vocabulary: tokenizer_config.json and added_tokens.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text/fields.hpp"
#include "text/tokenizer_parts.hpp"

namespace tapestry {

// The content and the switches of an added token.
AddedToken added_token_of(Fields& fields, std::int64_t id);

// By their names in the file ("bos_token"); their ids are looked up.
using SpecialTokens = std::map<std::string, AddedToken>;

// Every complaint begins with the name of the file.
class TokenizerConfig {
 public:
  explicit TokenizerConfig(const SideFiles& files);

  // Whose tokenizer it is: "Qwen2" of the tokenizer_class Qwen2TokenizerFast; without one, the
  // first of the known. Throws Error for any other.
  std::string family(const std::vector<std::string>& known) const;

  // The special token of this name ("bos_token"), which the file may replace.
  AddedToken special(const char* name, const AddedToken& usual) const;

  bool flag(const char* name, bool fallback) const;
  // Throws Error unless the option is absent, null, empty, or this.
  void demand(const char* name, const Json& only) const;

  // Adds the tokens that the files list; then the special ones, as special(), if the table has
  // them. Throws Error if it has not one that the file names.
  void add_tokens(TokenizerParts& parts, const SpecialTokens& usual) const;

  // The tokens for beginning and end, which must be in the table.
  void set_ends(TokenizerParts& parts) const;

 private:
  void add_listed(TokenizerParts& parts, const std::vector<AddedToken>& special) const;
  std::optional<std::int32_t> find_named(const TokenizerParts& parts, const char* name) const;

  Json config_, added_;
};

}  // namespace tapestry
