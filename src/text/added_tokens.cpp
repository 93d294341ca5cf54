#include "text/added_tokens.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

std::uint64_t child_key(std::uint32_t node, char byte) {
  return std::uint64_t{node} << 8 | static_cast<unsigned char>(byte);
}

std::size_t before_blanks(std::string_view text, std::size_t begin, std::size_t end) {
  std::string_view part = text.substr(begin, end - begin);
  while (!part.empty() && is_blank(last_character(part).point)) {
    part.remove_suffix(last_character(part).bytes);
  }
  return begin + part.size();
}

std::size_t behind_blanks(std::string_view text, std::size_t begin) {
  std::string_view rest = text.substr(begin);
  while (!rest.empty() && is_blank(first_character(rest).point)) {
    rest.remove_prefix(first_character(rest).bytes);
  }
  return text.size() - rest.size();
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  const bool before = is_word_character(last_character(text.substr(0, begin)).point);
  const bool behind =
      end < text.size() && is_word_character(first_character(text.substr(end)).point);
  return !before && !behind;
}

}  // namespace

void TokenFinder::add(const AddedToken& token, const std::string& spelling) {
  if (spelling.empty()) return;
  ends_[static_cast<unsigned char>(spelling.back())] = true;
  std::uint32_t node = 0;
  for (auto byte = spelling.rbegin(); byte != spelling.rend(); ++byte) {
    const auto fresh = static_cast<std::uint32_t>(nodes_.size());
    const auto [child, is_new] = children_.emplace(child_key(node, *byte), fresh);
    if (is_new)
      nodes_.push_back({.parent = node, .length = nodes_[node].length + 1, .byte = *byte});
    node = child->second;
  }
  if (const std::int32_t known = nodes_[node].token; known >= 0) {
    const AddedToken& other = tokens_[static_cast<std::size_t>(known)].token;
    if (other.id != token.id) {
      throw Error("added tokens " + in_quotes(other.content) + " and " + in_quotes(token.content) +
                  " are the same after normalising, " + in_quotes(spelling) + ".");
    }
  }
  nodes_[node].token = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back({token, spelling.size()});
}

void TokenFinder::finish() {
  std::vector<std::uint32_t> order(nodes_.size());  // shorter ones first
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::less(),
                           [&](std::uint32_t each) { return nodes_[each].length; });
  for (const std::uint32_t each : order) {
    Node& node = nodes_[each];
    if (node.length > 1) node.shorter = next(nodes_[node.parent].shorter, node.byte);
    if (node.token < 0) node.token = nodes_[node.shorter].token;
  }
}

// The node after one more byte, from right to left.
std::uint32_t TokenFinder::next(std::uint32_t node, char byte) const {
  while (node != 0 || ends_[static_cast<unsigned char>(byte)]) {
    const auto child = children_.find(child_key(node, byte));
    if (child != children_.end()) return child->second;
    node = nodes_[node].shorter;
  }
  return 0;
}

// The places where a token begins, the last one first, each with its longest.
std::vector<TokenFinder::Match> TokenFinder::matches(std::string_view text) const {
  std::vector<Match> found;
  std::uint32_t node = 0;
  for (std::size_t at = empty() ? 0 : text.size(); at > 0; --at) {
    node = next(node, text[at - 1]);
    if (nodes_[node].token >= 0) found.push_back({at - 1, nodes_[node].token});
  }
  return found;
}

std::vector<TextPart> TokenFinder::cut(std::string_view text) const {
  std::vector<TextPart> parts;
  const std::vector<Match> found = matches(text);
  std::size_t from = 0, done = 0;
  for (auto match = found.rbegin(); match != found.rend(); ++match) {
    if (match->begin < from) continue;
    const auto& [token, length] = tokens_[static_cast<std::size_t>(match->token)];
    std::size_t begin = match->begin, end = begin + length;
    from = end;
    if (token.single_word && !stands_alone(text, begin, end)) continue;
    if (token.lstrip) begin = before_blanks(text, done, begin);
    if (token.rstrip) end = behind_blanks(text, std::max(end, done));
    if (begin > done) parts.push_back({text.substr(done, begin - done)});
    parts.push_back({text.substr(begin, end - begin), token.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done)});
  return parts;
}

}  // namespace tapestry
