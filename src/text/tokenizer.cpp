#include "tapestry/text/tokenizer.hpp"

#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "text/byte_letters.hpp"
#include "text/tokenizer_parts.hpp"

namespace tapestry {
namespace {

constexpr std::size_t longest_explained = 1000;

Indices to_indices(TokenIds ids) {
  const Shape shape = {static_cast<Index>(ids.size())};
  return Indices(shape, std::move(ids));
}

bool at_byte_level(const TokenizerParts& parts) {
  return !parts.decoder.empty() && parts.decoder.front().kind == DecoderStep::Kind::byte_level;
}

// Is it an added token that is spelled as text, where the vocabulary spells bytes as letters?
bool is_text(const TokenizerParts& parts, std::int32_t id) {
  return parts.is_added[static_cast<std::size_t>(id)] &&
         !parts.is_in_vocabulary[static_cast<std::size_t>(id)];
}

// The string that the decoder reads. For an added token it is what was found in the normalised
// text, spelled in the letters of bytes where the decoder takes them to be bytes.
std::string to_decode(const TokenizerParts& parts, std::int32_t id) {
  if (at_byte_level(parts) && !is_text(parts, id)) return parts.table.token(id);
  const auto normal = parts.normal_spelling.find(id);
  const std::string& token =
      normal == parts.normal_spelling.end() ? parts.table.token(id) : normal->second;
  return at_byte_level(parts) ? letters_of(token) : token;
}

// For people: bytes where the vocabulary spells bytes as letters.
std::string spelled(const TokenizerParts& parts, std::int32_t id) {
  const std::string& token = parts.table.token(id);
  const auto* model = std::get_if<BytePairModel>(&parts.model);
  if (!model || !model->by_bytes || is_text(parts, id)) return token;
  return bytes_of_letters(token).value_or(token);
}

// Encodes a text; with a trace, every step is kept in it.
class Encoder {
 public:
  Encoder(const TokenizerParts& parts, TokenizerTrace* trace) : parts_(parts), trace_(trace) {}

  TokenIds encode(std::string_view text) {
    if (trace_) trace_->steps.push_back({"text", {std::string(text)}});
    const std::vector<TextPart> outer = parts_.added.cut(text);
    if (trace_ && !parts_.added.empty()) keep("added tokens cut out", outer);
    for (const TextPart& part : outer) {
      if (part.id >= 0) {
        ids_.push_back(part.id);
      } else {
        encode_part(part.text, part.text.data() == text.data());
      }
    }
    return std::move(ids_);
  }

 private:
  void keep(const std::string& name, const std::vector<TextPart>& found) {
    trace_->steps.push_back({name, {}});
    for (const TextPart& part : found) trace_->steps.back().pieces.emplace_back(part.text);
  }

  void encode_part(std::string_view text, bool at_start) {
    std::string changed;
    if (!parts_.normalizer.empty()) {
      changed = std::string(text);
      for (const NormalizerStep& step : parts_.normalizer) {
        changed = normalised(step, changed);
        if (trace_) trace_->steps.push_back({"normalizer " + step.name, {changed}});
      }
      text = changed;
    }
    const std::vector<TextPart> inner = parts_.added_normalised.cut(text);
    if (trace_ && inner.size() > 1) keep("added tokens cut out", inner);
    for (const TextPart& part : inner) {
      if (part.id >= 0) {
        ids_.push_back(part.id);
      } else {
        encode_pieces(part.text, at_start && part.text.data() == text.data());
      }
    }
  }

  void encode_pieces(std::string_view text, bool at_start) {
    Pieces pieces{{text}, {}};
    for (const PreTokenizerStep& step : parts_.pre_tokenizer) {
      const std::vector<std::string_view> before = std::exchange(pieces.views, {});
      for (const std::string_view view : before) {
        pre_tokenize(step, view, at_start && view.data() == text.data(), pieces);
      }
      if (trace_) {
        trace_->steps.push_back(
            {"pre-tokenizer " + step.name, {pieces.views.begin(), pieces.views.end()}});
      }
    }
    for (const std::string_view piece : pieces.views) {
      if (trace_) explain_piece(piece);
      std::visit([&](const auto& model) { model.encode(piece, ids_, memory_); }, parts_.model);
    }
  }

  TokenizerStep step_of(const std::string& name, const TokenIds& ids) const {
    TokenizerStep step{name, {}};
    for (const std::int32_t id : ids) step.pieces.push_back(spelled(parts_, id));
    return step;
  }

  void explain_piece(std::string_view piece) {
    std::vector<TokenizerStep>& steps = trace_->pieces.emplace_back();
    steps.push_back({"piece", {std::string(piece)}});
    const auto* model = std::get_if<BytePairModel>(&parts_.model);
    if (model && model->whole.find(piece) == model->whole.end()) {
      TokenIds symbols;
      model->append_symbols(piece, symbols);
      steps.push_back(step_of("symbols", symbols));
      for (const PairMerges::Stage& stage : model->merges.stages(symbols)) {
        steps.push_back(step_of("merge " + std::to_string(stage.rule.rank), stage.ids));
      }
    } else {
      TokenIds ids;
      std::visit([&](const auto& any) { any.encode(piece, ids, memory_); }, parts_.model);
      steps.push_back(step_of(model ? "a token as a whole" : "longest tokens", ids));
    }
  }

  const TokenizerParts& parts_;
  TokenizerTrace* trace_;
  TokenIds ids_;
  EncodingMemory memory_;
};

TokenIds with_ends(const TokenizerParts& parts, TokenIds ids, bool add_special) {
  if (!add_special) return ids;
  ids.insert(ids.begin(), parts.front.begin(), parts.front.end());
  ids.insert(ids.end(), parts.back.begin(), parts.back.end());
  return ids;
}

void check_id(const TokenizerParts& parts, std::int32_t id) {
  if (parts.table.contains(id)) return;
  throw Error("tokenizer: id " + std::to_string(id) + " has no token: the vocabulary has " +
              std::to_string(parts.table.count()) + " tokens, with ids from 0 to " +
              std::to_string(parts.table.size() - 1) + ".");
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}

Indices Tokenizer::encode(std::string_view text, bool add_special) const {
  return to_indices(with_ends(*parts_, Encoder(*parts_, nullptr).encode(text), add_special));
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    if (!is_special(id) || !skip_special) tokens.push_back(to_decode(*parts_, id));
  }
  return decoded(parts_->decoder, std::move(tokens));
}

std::string Tokenizer::bytes_of(std::int32_t id, bool first) const {
  return is_special(id) ? "" : decoded(parts_->decoder, {to_decode(*parts_, id)}, first, false);
}

std::string Tokenizer::kind() const {
  const auto* model = std::get_if<BytePairModel>(&parts_->model);
  return !model ? "WordPiece" : model->by_bytes ? "byte-level BPE" : "BPE of characters";
}

Index Tokenizer::size() const { return parts_->table.size(); }

bool Tokenizer::contains(std::string_view token) const { return parts_->table.contains(token); }

bool Tokenizer::contains(std::int32_t id) const { return parts_->table.contains(id); }

std::int32_t Tokenizer::id(std::string_view token) const {
  const std::int32_t id = parts_->table.find(token);
  if (id < 0) throw Error("tokenizer: " + in_quotes(token) + " is not one of its tokens.");
  return id;
}

const std::string& Tokenizer::token(std::int32_t id) const {
  check_id(*parts_, id);
  return parts_->table.token(id);
}

bool Tokenizer::is_special(std::int32_t id) const {
  check_id(*parts_, id);
  return parts_->is_special[static_cast<std::size_t>(id)];
}

const std::vector<std::int32_t>& Tokenizer::front() const { return parts_->front; }
const std::vector<std::int32_t>& Tokenizer::back() const { return parts_->back; }
std::optional<std::int32_t> Tokenizer::bos() const { return parts_->bos; }
std::optional<std::int32_t> Tokenizer::eos() const { return parts_->eos; }

TokenizerTrace Tokenizer::explain(std::string_view text, bool add_special) const {
  if (text.size() > longest_explained) {
    throw Error("tokenizer: a text of " + std::to_string(text.size()) +
                " bytes has too many steps to show: " + std::to_string(longest_explained) +
                " bytes are the limit. Take a part of it.");
  }
  TokenizerTrace trace;
  TokenIds ids = with_ends(*parts_, Encoder(*parts_, &trace).encode(text), add_special);
  trace.ids = to_indices(std::move(ids));
  return trace;
}

}  // namespace tapestry
