#include "text/tokenizer_parts.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "text/byte_letters.hpp"
#include "text/fields.hpp"
#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

constexpr PairMerges::Ends no_ends = {-1, -1};

// Which symbols a token begins and ends with, for PairMerges.
class EndsOfTokens {
 public:
  EndsOfTokens(const TokenTable& table, const BytePairModel& model)
      : table_(table), model_(model), is_symbol_(static_cast<std::size_t>(table.size())) {
    for (const std::int32_t id : model.byte_symbols) mark(id);
    mark(model.unknown);
  }

  bool is_symbol(std::int32_t id) const { return is_symbol_[static_cast<std::size_t>(id)]; }

  PairMerges::Ends operator()(std::int32_t id) const {
    if (is_symbol(id)) return {id, id};
    const std::string& token = table_.token(id);
    if (model_.by_bytes) {
      const auto bytes = bytes_of_letters(token);
      if (!bytes || bytes->empty()) return no_ends;
      return {model_.byte_symbols[static_cast<unsigned char>(bytes->front())],
              model_.byte_symbols[static_cast<unsigned char>(bytes->back())]};
    }
    if (token.empty()) return no_ends;
    return {model_.symbol_of(first_character(token).point),
            model_.symbol_of(last_character(token).point)};
  }

 private:
  void mark(std::int32_t id) {
    if (id >= 0 && !model_.by_bytes) is_symbol_[static_cast<std::size_t>(id)] = true;
  }

  const TokenTable& table_;
  const BytePairModel& model_;
  std::vector<bool> is_symbol_;  // by id: a byte or the unknown token, which no merge makes
};

std::int32_t id_for_merge(const TokenTable& table, const std::string& token, const Merge& merge,
                          std::size_t place) {
  const std::int32_t id = table.find(token);
  if (id >= 0) return id;
  throw Error("merge " + std::to_string(place) + ", " +
              in_quotes(merge.first + " " + merge.second) + ": there is no token " +
              in_quotes(token) + " in the vocabulary.");
}

void set_symbols(const TokenTable& table, BytePairModel& model) {
  for (const auto& [token, id] : table.ids()) {
    if (model.by_bytes) {
      const auto bytes = bytes_of_letters(token);
      if (bytes && bytes->size() == 1) {
        model.byte_symbols[static_cast<unsigned char>(bytes->front())] = id;
      }
    } else if (!token.empty() && first_character(token).bytes == token.size()) {
      const char32_t point = first_character(token).point;
      if (point < 128) {
        model.ascii_symbols[point] = id;
      } else {
        model.symbols[point] = id;
      }
    }
  }
}

// The first of these names that is a special token.
std::optional<std::int32_t> special_of(const TokenizerParts& parts,
                                       std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::int32_t id = parts.table.find(name);
    if (id >= 0 && parts.is_special[static_cast<std::size_t>(id)]) return id;
  }
  return std::nullopt;
}

}  // namespace

void TokenTable::add(const std::string& token, std::int64_t id) {
  if (id < 0 || id >= most_ids) {
    throw Error("token " + in_quotes(token) + " has id " + std::to_string(id) +
                ": ids must be within 0 and " + std::to_string(most_ids - 1) + ".");
  }
  const auto place = static_cast<std::size_t>(id);
  const auto number = static_cast<std::int32_t>(id);
  const auto [added, is_new] = ids_.emplace(token, number);
  if (!is_new) {
    throw Error("token " + in_quotes(token) + " stands twice in the vocabulary, with ids " +
                std::to_string(added->second) + " and " + std::to_string(id) + ".");
  }
  if (place >= tokens_.size()) tokens_.resize(place + 1);
  if (tokens_[place]) {
    throw Error("tokens " + in_quotes(*tokens_[place]) + " and " + in_quotes(token) +
                " have the same id, " + std::to_string(id) + ".");
  }
  tokens_[place] = &added->first;
}

void TokenTable::add_all(const Json& vocabulary) {
  if (!vocabulary.is_object()) throw Error("its vocabulary must be a JSON object.");
  ids_.reserve(vocabulary.size());
  for (const auto& [token, id] : vocabulary.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > 1'000'000'000) {
      throw Error("token " + in_quotes(token) + " has an id that is not a whole number from 0 on.");
    }
    add(token, id.get<std::int64_t>());
  }
}

std::int32_t TokenTable::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? -1 : found->second;
}

void TokenizerParts::add_token(const AddedToken& token) {
  const std::int32_t known = table.find(token.content);
  if (known >= 0 && known != token.id) {
    throw Error("added token " + in_quotes(token.content) + " has id " + std::to_string(token.id) +
                ", but the vocabulary gives it id " + std::to_string(known) + ".");
  }
  if (known < 0) table.add(token.content, token.id);
  fit_flags();
  const auto place = static_cast<std::size_t>(token.id);
  is_special[place] = token.special;
  if (!is_added[place]) is_in_vocabulary[place] = known >= 0;
  is_added[place] = true;
  if (token.normalized) {
    const std::string spelling = normalised(normalizer, token.content);
    added_normalised.add(token, spelling);
    if (spelling != token.content) normal_spelling[token.id] = spelling;
  } else {
    added.add(token, token.content);
  }
}

void TokenizerParts::fit_flags() {
  is_special.resize(static_cast<std::size_t>(table.size()));
  is_added.resize(static_cast<std::size_t>(table.size()));
  is_in_vocabulary.resize(static_cast<std::size_t>(table.size()));
}

void TokenizerParts::finish() {
  added.finish();
  added_normalised.finish();
  fit_flags();
  if (!bos && !front.empty()) bos = front.front();
  if (!eos && !back.empty()) eos = back.back();
  if (!bos) bos = special_of(*this, {"<s>", "<|begin_of_text|>", "<bos>"});
  if (!eos) eos = special_of(*this, {"</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>"});
}

void set_merges(TokenizerParts& parts, BytePairModel model, const std::vector<Merge>& merges) {
  const TokenTable& table = parts.table;
  std::vector<PairMerges::Rule> rules;
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const Merge& merge = merges[i];
    const auto id = [&](const std::string& t) { return id_for_merge(table, t, merge, i + 1); };
    rules.push_back({id(merge.first), id(merge.second), static_cast<std::int32_t>(i + 1),
                     id(merge.first + merge.second)});
  }
  set_rules(parts, std::move(model), rules);
}

void set_rules(TokenizerParts& parts, BytePairModel model,
               const std::vector<PairMerges::Rule>& rules) {
  set_symbols(parts.table, model);
  const EndsOfTokens ends(parts.table, model);
  const bool cut = std::none_of(rules.begin(), rules.end(), [&](const PairMerges::Rule& rule) {
    return ends.is_symbol(rule.id);  // a merge that spells <0x0A>: nobody's, but possible
  });
  model.merges = cut ? PairMerges(rules, ends) : PairMerges(rules, nullptr);
  parts.model = std::move(model);
}

}  // namespace tapestry
