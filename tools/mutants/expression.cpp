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

// The first of these tokens from i on, outside brackets.
std::size_t next_sign(const Source& s, std::size_t i, const char* sign) {
  for (; i < s.tokens.size() && !s.is(i, sign); ++i) {
    if (s.opens(i)) i = s.partner[i];
    if (s.closes(i) && s.partner[i] > i) break;
  }
  return i;
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

void fix(std::vector<bool>& fixed, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i <= to && i < fixed.size(); ++i) fixed[i] = true;
}

bool size_of_array(const Source& s, std::size_t i) {
  if (!s.is(i, "[") || i < 2) return false;
  if (s.is(i - 1, "]")) return size_of_array(s, s.partner[i - 1]);
  if (s.is(i - 1, ")")) return s.is(s.partner[i - 1] + 1, "&");  // an array argument
  if (!s.is_word(i - 1)) return false;
  if (s.closes(i - 2) && s.is(i - 2, ">")) return true;
  if (s.is(i - 2, "return") || s.is(i - 2, "throw") || s.is(i - 2, "else") || s.is(i - 2, "do") ||
      s.is(i - 2, "case")) {
    return false;
  }
  return s.is_word(i - 2) && s.tokens[i - 1].space_before;
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

std::vector<Constant> constants_of(const Source& s) {
  std::vector<Constant> all;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    if (!s.is(i, "constexpr") || s.is(i - 1, "if")) continue;
    Constant constant{i, i, false, ""};
    for (std::size_t j = i + 1; j < s.tokens.size() && !s.is(j, ";"); ++j) {
      constant.to = j + 1;
      const bool value = s.is(j, "=") || s.is(j, "{");
      const bool function = s.is(j, "(") || s.is(j, "operator");
      if (constant.name.empty() && (value || function)) {
        std::size_t name = j - 1;
        while (s.closes(name)) name = s.partner[name] - 1;  // the size of an array
        constant.function = function;
        constant.name = s.tokens[name].text;
      }
      if (constant.function && s.is(j, "{") && s.braces[j] == Braces::block) {
        constant.to = s.partner[j];
        break;
      }
      if (s.opens(j)) {
        j = s.partner[j];
        constant.to = j + 1;
      }
    }
    all.push_back(constant);
  }
  return all;
}

std::vector<bool> fixed_tokens(const Source& s) {
  std::vector<bool> fixed(s.tokens.size());
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    const bool braces = s.is(i, "{") && s.braces[i] == Braces::enumerators;
    const bool attribute = s.is(i, "[") && s.is(i + 1, "[");
    if (s.opens(i) && (s.is(i, "<") || braces || attribute || size_of_array(s, i))) {
      fix(fixed, i, s.partner[i]);
    }
    if (s.is(i, "using") || s.is(i, "typedef") || s.is(i, "static_assert") || s.is(i, "concept") ||
        s.is(i, "friend")) {
      fix(fixed, i, next_sign(s, i, ";"));
    }
    if (s.is(i, "case")) fix(fixed, i, next_sign(s, i, ":"));
    // What a test asks of a function of the kernels, and the library never reads
    if (s.is(i, "Claim") && s.is(i + 1, "claim")) fix(fixed, i, next_sign(s, i, ";"));
    const bool computed = s.is(i, "alignas") || s.is(i, "noexcept") || s.is(i, "sizeof") ||
                          s.is(i, "decltype") || s.is(i, "requires") ||
                          (s.is(i, "constexpr") && s.is(i - 1, "if"));
    // The numbers in calls of intrinsics are part of the instruction.
    const bool instruction = s.is_word(i) && (s.tokens[i].text.starts_with("_mm") ||
                                              s.tokens[i].text.starts_with("__builtin_shuffle"));
    if (!(computed || instruction) || !s.is(i + 1, "(")) continue;
    for (std::size_t j = i + 2; j < s.partner[i + 1]; ++j) {
      if (computed || s.tokens[j].kind == Kind::number || s.is(j, "?")) fixed[j] = true;
    }
  }
  return fixed;
}

std::vector<bool> tokens_for_speed(const Source& s) {
  std::vector<bool> found(s.tokens.size());
  for (const Constant& constant : constants_of(s)) {
    if (constant.name.ends_with("_grain")) fix(found, constant.from, constant.to);
  }
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    if (s.is(i, "struct") && s.is(i + 1, "Blocking")) fix(found, i, s.partner[i + 2]);
    if ((s.is(i, "parallel_parts") || s.is(i, "parallel_tasks")) && s.is(i + 1, "(")) {
      const std::size_t grain = next_sign(s, i + 2, ",") + 1;  // the second argument
      fix(found, grain, next_sign(s, grain, ",") - 1);
    }
    // By their names: multiply-adds of a part, and how many make a part worth a thread
    const bool share = s.is(i, "work") || s.is(i, "grain");
    if (share && s.is(i - 1, "Index") && s.is(i + 1, "=")) fix(found, i, next_sign(s, i, ";"));
    const bool ahead = s.is(i, "fetch") || s.is(i, "fetch_distance") || s.is(i, "prefetch_row") ||
                       s.is(i, "__builtin_prefetch");
    if (!(ahead || s.is(i, "reserve") || s.is(i, "row_grain")) || !s.is(i + 1, "(")) continue;
    const std::size_t close = s.partner[i + 1];
    const bool body = s.is(close + 1, "{") && s.opens(close + 1);
    fix(found, left_end(s, i, choice_rank), body ? s.partner[close + 1] : close);
  }
  return found;
}

}  // namespace mutants
