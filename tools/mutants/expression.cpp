#include "expression.hpp"

#include <map>

namespace mutants {
namespace {

bool heads_a_statement(const Source& s, std::size_t parenthesis) {
  if (parenthesis == 0 || !s.is(parenthesis, "(")) return false;
  const std::size_t word = parenthesis - 1;
  return s.is(word, "if") || s.is(word, "for") || s.is(word, "while") || s.is(word, "switch") ||
         s.is(word, "catch") || s.is(word, "constexpr");
}

bool begins_statement(const Source& s, std::size_t i) {
  if (i == 0 || !s.in_block(i) || s.closes(i)) return false;
  const std::size_t before = i - 1;
  if (s.is(before, "else") || s.is(before, "do") || s.is(before, ";") || s.is(before, "{")) {
    return true;
  }
  if (s.is(before, "}")) {
    const std::size_t open = s.partner[before];
    return open != nowhere && s.braces[open] == Braces::block;
  }
  if (s.is(before, ")")) return heads_a_statement(s, s.partner[before]);
  if (!s.is(before, ":")) return false;
  for (std::size_t j = before; j-- > 0 && !s.is(j, ";") && !s.is(j, "{") && !s.is(j, "}");) {
    // The first : behind it; one more is that of a choice.
    if (s.is(j, "case") || s.is(j, "default")) return next_sign(s, j, ":") == before;
  }
  return false;
}

// `Type name ...`: a name directly after a name, after the > of a template or after a & or * that
// stands at the end of a type.
bool declares(const Source& s, std::size_t i) {
  for (; i < s.tokens.size(); ++i) {
    if (s.is(i, "<") && s.opens(i))
      i = s.partner[i];
    else if (!s.is_word(i) && !s.is(i, "::"))
      break;
    const std::size_t next = i + 1;
    if (s.is_word(i) || s.closes(i)) {
      std::size_t name = next;
      while (s.is(name, "&") || s.is(name, "*") || s.is(name, "&&")) ++name;
      if (s.is_word(name) && (name == next || !s.tokens[next].space_before)) return true;
    }
  }
  return s.is(i, "[") && !s.ends_operand(i - 1);
}

// Whether the statement [i, end] is a function's last one, without a condition.
bool ends_function(const Source& s, std::size_t i, std::size_t end) {
  if (!s.is(end + 1, "}") || !(s.is(i - 1, "{") || s.is(i - 1, ";") || s.is(i - 1, "}"))) {
    return false;
  }
  const std::size_t before = s.partner[end + 1] - 1;
  if (s.is(before, ")")) return !heads_a_statement(s, s.partner[before]);
  return s.is(before, "const") || s.is(before, "noexcept");
}

}  // namespace

std::size_t next_sign(const Source& s, std::size_t i, const char* sign) {
  for (; i < s.tokens.size() && !s.is(i, sign); ++i) {
    if (s.opens(i)) i = s.partner[i];
    if (s.closes(i) && s.partner[i] > i) break;
  }
  return i;
}

int rank_of(const Source& s, std::size_t i) {
  static const std::map<std::string, int> ranks = {
      {"=", 1},   {"+=", 1},  {"-=", 1},  {"*=", 1}, {"/=", 1}, {"%=", 1}, {"&=", 1},   {"|=", 1},
      {"^=", 1},  {"<<=", 1}, {">>=", 1}, {"||", 3}, {"&&", 4}, {"|", 5},  {"^", 6},    {"&", 7},
      {"==", 8},  {"!=", 8},  {"<", 9},   {">", 9},  {"<=", 9}, {">=", 9}, {"<=>", 10}, {"<<", 11},
      {">>", 11}, {"+", 12},  {"-", 12},  {"*", 13}, {"/", 13}, {"%", 13}};
  if (i == 0 || i + 1 >= s.tokens.size() || s.partner[i] != nowhere) return 0;
  const auto found = ranks.find(s.tokens[i].text);
  if (found == ranks.end() || s.is(i - 1, "operator")) return 0;
  if (found->second == assignment_rank) return assignment_rank;
  if (!s.ends_operand(i - 1)) return 0;
  return s.tokens[i].space_before && s.tokens[i + 1].space_before ? found->second : 0;
}

std::size_t left_end(const Source& s, std::size_t i, int rank) {
  while (i > 0) {
    const std::size_t before = i - 1;
    if (s.closes(before)) {
      const std::size_t open = s.partner[before];
      const bool block = s.is(open, "{") && s.braces[open] == Braces::block;
      if (block || heads_a_statement(s, open)) return i;
      i = open;
      continue;
    }
    const int other = rank_of(s, before);
    if (other > 0 && other < rank) return i;
    if (s.is_keyword(before) && s.is(i, "(") && !s.tokens[i].space_before) {  // float(x)
      i = before;
      continue;
    }
    if (s.opens(before) || s.is(before, ",") || s.is(before, ";") || s.is(before, "?") ||
        s.is(before, ":") || s.is(before, "...") || s.is_keyword(before)) {
      return i;
    }
    i = before;
  }
  return 0;
}

std::size_t right_end(const Source& s, std::size_t i, int rank) {
  for (++i; i < s.tokens.size(); ++i) {
    if (s.opens(i)) {
      if (s.is(i, "{") && s.tokens[i].space_before && s.is(i - 1, ")")) {
        // a lambda's body belongs to the operand, the body of an `if` does not
        const std::size_t open = s.partner[i - 1];
        if (!s.is(open - 1, "]")) return i;
      }
      i = s.partner[i];
      continue;
    }
    const int other = rank_of(s, i);
    if (other > 0 && (rank == assignment_rank ? other < rank : other <= rank)) return i;
    if (s.closes(i) || s.is(i, ",") || s.is(i, ";") || s.is(i, ":") || s.is(i, "...")) return i;
    if (s.is(i, "?")) {
      if (rank > choice_rank) return i;
      const std::size_t colon = colon_of(s, i);
      if (colon == nowhere) return i;
      i = colon;
    }
  }
  return i;
}

std::size_t colon_of(const Source& s, std::size_t i) {
  int open = 0;
  for (++i; i < s.tokens.size(); ++i) {
    if (s.opens(i))
      i = s.partner[i];
    else if (s.closes(i) || s.is(i, ";"))
      return nowhere;
    else if (s.is(i, "?"))
      ++open;
    else if (s.is(i, ":") && open-- == 0)
      return i;
  }
  return nowhere;
}

std::size_t end_of_statement(const Source& s, std::size_t i) {
  if (!begins_statement(s, i) || s.is(i, ";") || s.is(i, "}") || s.is(i, "{")) return nowhere;
  const bool leaves = s.is(i, "throw") || s.is(i, "break") || s.is(i, "continue");
  if (s.is_keyword(i) && !leaves && !s.is(i, "delete")) return nowhere;
  if (s.is(i + 1, ":") || (!leaves && !s.is(i, "delete") && declares(s, i))) return nowhere;
  const std::size_t end = next_sign(s, i, ";");
  if (s.is(i, "throw") && ends_function(s, i, end)) return nowhere;
  return s.is(end, ";") ? end : nowhere;
}

}  // namespace mutants
