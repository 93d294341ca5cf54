// What a tokenizer is made of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tapestry/text/tokenizer.hpp"
#include "text/added_tokens.hpp"
#include "text/decoder.hpp"
#include "text/normalizer.hpp"
#include "text/pre_tokenizer.hpp"
#include "text/token_models.hpp"

namespace tapestry {

// Tokens and their ids, both ways.
class TokenTable {
 public:
  static constexpr std::int64_t most_ids = 1 << 22;

  // Throws Error if the token or the id is there already, or the id is not within 0 and most_ids.
  void add(const std::string& token, std::int64_t id);

  // Of an object of ids by their tokens. Throws Error also for what is none.
  void add_all(const nlohmann::json& vocabulary);

  std::int32_t find(std::string_view token) const;  // -1: it is not there
  bool contains(std::string_view token) const { return ids_.contains(token); }
  bool contains(std::int64_t id) const {
    return id >= 0 && id < size() && tokens_[static_cast<std::size_t>(id)];
  }
  const std::string& token(std::int32_t id) const { return *tokens_[static_cast<std::size_t>(id)]; }
  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  std::size_t count() const { return ids_.size(); }
  const TokenMap& ids() const { return ids_; }

 private:
  TokenMap ids_;
  std::vector<const std::string*> tokens_;  // by id: keys of ids_, which stay where they are
};

struct TokenizerParts {
  TokenizerParts() = default;
  TokenizerParts(const TokenizerParts&) = delete;  // the table points into itself
  TokenizerParts& operator=(const TokenizerParts&) = delete;

  TokenTable table;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  TokenModel model;
  std::vector<DecoderStep> decoder;
  TokenFinder added, added_normalised;     // added tokens to find before and after normalising
  std::vector<bool> is_special, is_added;  // by id
  std::vector<bool> is_in_vocabulary;      // by id, of added tokens: they were there before
  std::map<std::int32_t, std::string> normal_spelling;  // of added tokens that normalising changes
  TokenIds front, back;
  std::optional<std::int32_t> bos, eos;

  // After the normalizer is set. A token that is not in the table is added to it.
  void add_token(const AddedToken& token);
  void fit_flags();  // is_special, is_added and is_in_vocabulary get the table's size
  // At the end, and before anything is encoded: bos and eos are the tokens put in front and behind,
  // if nothing else named them.
  void finish();
};

// Each sets the model, filled from the table; the merges are (left, right) in the order of their
// ranks. Throws Error for a merge of, or into, a token that the table has not.
using Merge = std::pair<std::string, std::string>;
void set_merges(TokenizerParts& parts, BytePairModel model, const std::vector<Merge>& merges);
void set_rules(TokenizerParts& parts, BytePairModel model,
               const std::vector<PairMerges::Rule>& rules);
void set_word_pieces(TokenizerParts& parts, WordPieceModel model, const std::string& prefix);

// The contents of what may stand beside a vocabulary; empty: it is not there.
struct SideFiles {
  std::string config = {};        // tokenizer_config.json
  std::string added_tokens = {};  // added_tokens.json
};

// What the contents of files say. Each throws Error without naming the file.
using SharedParts = std::shared_ptr<TokenizerParts>;
SharedParts tokenizer_from_json(const std::string& json);
SharedParts tokenizer_from_vocabulary(const std::string& vocab_json, const std::string& merges_txt,
                                      const SideFiles& beside);
SharedParts tokenizer_from_word_pieces(const std::string& vocab_txt, const SideFiles& beside);
SharedParts tokenizer_from_llama2c(std::string_view bytes);

}  // namespace tapestry
