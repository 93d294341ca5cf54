#include "sites.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "expression.hpp"
#include "spared.hpp"
#include "tapestry/format.hpp"

namespace mutants {
namespace {

std::string decimal(double value, const std::string& suffix) {
  std::string result = tapestry::formatted("%.9g", value);
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return result + suffix;
}

std::string integer(unsigned long long value, bool hexadecimal, const std::string& suffix) {
  return tapestry::formatted(hexadecimal ? "0x%llX" : "%llu", value) + suffix;
}

// The mutations of a number: one more, one less; a fraction twice and half as large.
std::vector<std::string> neighbours(std::string number) {
  number.erase(std::remove(number.begin(), number.end(), '\''), number.end());
  const bool hexadecimal = number.starts_with("0x") || number.starts_with("0X");
  if (number.starts_with("0b")) return {};
  const bool fraction = number.find_first_of(hexadecimal ? "pP." : "eE.") != std::string::npos;
  const std::size_t end =
      number.find_last_not_of(hexadecimal ? (fraction ? "fFlL" : "uUlLzZ") : "uUlLzZfF");
  const std::string suffix = number.substr(end + 1), digits = number.substr(0, end + 1);
  char* stopped = nullptr;
  if (fraction) {
    const double value = std::strtod(digits.c_str(), &stopped);
    if (*stopped != '\0') return {};
    if (value == 0) return {decimal(1, suffix)};
    return {decimal(2 * value, suffix), decimal(value / 2, suffix)};
  }
  const unsigned long long value = std::strtoull(digits.c_str(), &stopped, 0);
  if (*stopped != '\0') return {};
  if (value == 0) return {integer(1, hexadecimal, suffix)};
  return {integer(value + 1, hexadecimal, suffix), integer(value - 1, hexadecimal, suffix)};
}

class Finder {
 public:
  Finder(const Source& source, const std::set<std::string>& needed)
      : s_(source), fixed_(fixed_tokens(source)) {
    for (const auto& spared : {tokens_for_speed(source), arbitrary_tokens(source)}) {
      std::transform(fixed_.begin(), fixed_.end(), spared.begin(), fixed_.begin(),
                     std::logical_or<>());
    }
    for (const Constant& constant : constants_of(source)) {
      if (needed.count(constant.name) == 0) continue;
      for (std::size_t i = constant.from; i < constant.to; ++i) fixed_[i] = true;
    }
    for (std::size_t i = 0; i + 1 < fixed_.size(); ++i) {
      const bool type = s_.is(i, "struct") && s_.is(i + 2, "{");
      if (type && needed.count("struct " + s_.tokens[i + 1].text) > 0) fix_default_values(i + 2);
    }
  }

  std::vector<Site> all() {
    for (std::size_t i = 0; i < s_.tokens.size(); ++i) {
      statement(i);
      note_operands(i);
      if (fixed_[i]) continue;
      constant(i);
      index(i);
      choice(i);
      binary(i);
      compound(i);
      passed(i);
    }
    return std::move(sites_);
  }

 private:
  void add(Rule rule, std::size_t from, std::size_t to, std::vector<Edit> edits) {
    if (from >= to) return;
    for (std::size_t i = from; i < to; ++i) {
      if (i > from && s_.after_a_line.count(i) > 0) return;
      if (s_.tokens[i].text.find('\n') != std::string::npos) return;
      if (s_.conditional && s_.compiled.count(s_.tokens[i].line) == 0) return;
    }
    if (s_.after_a_line.count(to) > 0 && edits.front().to == edits.front().from) return;
    Site site{rule, from, to, std::move(edits), 0, "", ""};
    std::size_t first = site.edits.front().from, last = std::max(first + 1, site.edits.back().to);
    site.line = s_.tokens[first].line;
    const int last_line = s_.tokens[last - 1].line;
    while (first > 0 && s_.tokens[first - 1].line >= site.line) --first;
    while (last < s_.tokens.size() && s_.tokens[last].line <= last_line) ++last;
    site.original = s_.joined(first, last);
    site.mutated = edited(s_, first, last, site.edits);
    sites_.push_back(std::move(site));
  }

  // Of the members of the type whose body opens here
  void fix_default_values(std::size_t open) {
    for (std::size_t i = open + 1; i < s_.partner[open]; ++i) {
      if (s_.opens(i)) i = s_.partner[i];
      if (!s_.is(i, "=")) continue;
      for (; !s_.is(i, ";"); ++i) fixed_[i] = true;
    }
  }

  void constant(std::size_t i) {
    if (s_.is(i, "true")) add(Rule::constant, i, i + 1, {{i, i + 1, "false"}});
    if (s_.is(i, "false")) add(Rule::constant, i, i + 1, {{i, i + 1, "true"}});
    if (s_.tokens[i].kind != Kind::number || is_of_lessons(s_)) return;
    if (s_.is(i - 1, "=") && s_.is(i + 1, ";") && s_.closes(i - 2)) return;  // a pure function
    for (const std::string& other : neighbours(s_.tokens[i].text)) {
      add(Rule::constant, i, i + 1, {{i, i + 1, other}});
    }
  }

  void index(std::size_t i) {
    if (!s_.is(i, "[") || i == 0 || !s_.ends_operand(i - 1) || s_.tokens[i].space_before) return;
    const std::size_t from = i + 1, to = s_.partner[i];
    if (to == nowhere || from == to || s_.tokens[from].kind == Kind::text) return;
    for (const char* step : {" + 1", " - 1"}) {
      std::vector<Edit> edits = {{to, to, step}};
      for (std::size_t j = from; j < to; ++j) {
        if (!s_.is(j, "?")) continue;
        edits = {{from, from, "("}, {to, to, std::string(")") + step}};
        break;
      }
      add(Rule::index, from, to, std::move(edits));
    }
  }

  // a ? b : c
  void choice(std::size_t i) {
    if (!s_.is(i, "?")) return;
    const std::size_t colon = colon_of(s_, i);
    if (colon == nowhere) return;
    const std::size_t from = left_end(s_, i, choice_rank), to = right_end(s_, colon, choice_rank);
    for (std::size_t j = i; j < to; ++j) {
      if (s_.is(j, "throw") || s_.is(j, "{")) return;
    }
    if (s_.is(from, "{") || to <= colon + 1) return;
    add(Rule::swapped, from, to,
        {{i + 1, colon, s_.joined(colon + 1, to)}, {colon + 1, to, s_.joined(i + 1, colon)}});
  }

  void binary(std::size_t i) {
    static const std::map<std::string, std::string> others = {
        {"<", "<="},  {"<=", "<"},  {">", ">="}, {">=", ">"},
        {"==", "!="}, {"!=", "=="}, {"+", "-"},  {"-", "+"}};
    const int rank = rank_of(s_, i);
    if (rank <= choice_rank) return;
    const std::string sign = s_.tokens[i].text;
    const std::size_t from = left_end(s_, i, rank), to = right_end(s_, i, rank);
    if (from >= i || to <= i + 1) return;
    const bool sum = sign == "+" || sign == "-";
    const bool same = (sum && texts(from, to)) || chooses_an_operand(from, i, to);
    if (const auto other = others.find(sign); other != others.end() && !same) {
      add(sum ? Rule::sign : Rule::comparison, from, to, {{i, i + 1, other->second}});
    }
    if (has_order(i)) swap(i, from, to);
  }

  // Whether this operator's result depends on the order of its operands.
  bool has_order(std::size_t i) const {
    for (const char* sign : {"-", "/", "%", "<", ">", "<=", ">="}) {
      if (s_.is(i, sign)) return true;
    }
    return false;
  }

  // Whether this is `a < b ? a : b` or the like, where `a <= b` gives an equal number.
  bool chooses_an_operand(std::size_t from, std::size_t i, std::size_t to) const {
    const std::size_t colon = s_.is(to, "?") ? colon_of(s_, to) : nowhere;
    if (colon == nowhere || s_.is(i, "==") || s_.is(i, "!=")) return false;
    const std::string left = s_.joined(from, i), right = s_.joined(i + 1, to);
    const std::string one = s_.joined(to + 1, colon),
                      other = s_.joined(colon + 1, right_end(s_, colon, choice_rank));
    return (one == left && other == right) || (one == right && other == left);
  }

  // Whether tokens [from, to) are an argument of an even function.
  bool unsigned_argument(std::size_t from, std::size_t to) const {
    const std::size_t open = s_.outer[from];
    if (open == nowhere || open == 0 || !(s_.is(open - 1, "abs") || s_.is(open - 1, "hypot"))) {
      return false;
    }
    return (from == open + 1 || s_.is(from - 1, ",")) && (s_.is(to, ",") || to == s_.partner[open]);
  }

  // The operands of an operator, in parentheses where they are more than a chain of calls.
  void swap(std::size_t i, std::size_t from, std::size_t to) {
    if (s_.is(i, "-") && unsigned_argument(from, to)) return;
    const auto operand = [&](std::size_t first, std::size_t last) {
      for (std::size_t j = first; j < last; ++j) {
        if (rank_of(s_, j) > choice_rank) return "(" + s_.joined(first, last) + ")";
        if (s_.opens(j)) j = s_.partner[j];
      }
      return s_.joined(first, last);
    };
    add(Rule::swapped, from, to, {{from, i, operand(i + 1, to)}, {i + 1, to, operand(from, i)}});
  }

  // The function of such an operator begins here: notes the names of its two parameters.
  void note_operands(std::size_t i) {
    if (!s_.is(i, "operator") || !has_order(i + 1) || !s_.is(i + 2, "(")) return;
    const std::size_t comma = next_sign(s_, i + 3, ","), close = s_.partner[i + 2];
    if (!s_.is(comma, ",") || comma > close || !s_.is(close + 1, "{")) return;
    left_ = s_.tokens[comma - 1].text;
    right_ = s_.tokens[close - 1].text;
    body_end_ = s_.partner[close + 1];
  }

  // f(..., a, b) in that function
  void passed(std::size_t i) {
    if (i > body_end_ || !s_.is(i + 1, ",")) return;
    const std::string first = s_.tokens[i].text, second = s_.tokens[i + 2].text;
    if (!(first == left_ && second == right_) && !(first == right_ && second == left_)) return;
    const std::size_t open = s_.outer[i];
    if (!s_.is(open, "(") || !s_.ends_operand(open - 1)) return;
    if (!(i == open + 1 || s_.is(i - 1, ",")) || !(s_.is(i + 3, ",") || s_.is(i + 3, ")"))) return;
    add(Rule::swapped, left_end(s_, open, call_rank), s_.partner[open] + 1,
        {{i, i + 1, second}, {i + 2, i + 3, first}});
  }

  // a += b
  void compound(std::size_t i) {
    if (!s_.is(i, "+=") && !s_.is(i, "-=")) return;
    const std::size_t from = left_end(s_, i, assignment_rank),
                      to = right_end(s_, i, assignment_rank);
    if (from >= i || to <= i + 1 || texts(from, to)) return;
    add(Rule::sign, from, to, {{i, i + 1, s_.is(i, "+=") ? "-=" : "+="}});
  }

  void statement(std::size_t i) {
    const std::size_t end = end_of_statement(s_, i);
    if (end != nowhere && !fixed_[i]) add(Rule::dropped, i, end + 1, {{i, end + 1, ";"}});
  }

  // Strings are joined by + and have no -.
  bool texts(std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i) {
      if (s_.tokens[i].kind == Kind::text && s_.tokens[i].text.back() == '"') return true;
      if (s_.is(i, "to_string") || s_.is(i, "string")) return true;
      if (s_.opens(i) && s_.is(i, "[")) i = s_.partner[i];
    }
    return false;
  }

  const Source& s_;
  std::vector<bool> fixed_;
  std::vector<Site> sites_;
  std::string left_, right_;  // operands of the operator whose function ends here:
  std::size_t body_end_ = 0;
};

}  // namespace

std::string edited(const Source& source, std::size_t from, std::size_t to,
                   const std::vector<Edit>& edits) {
  std::string all;
  std::size_t at = from;
  const auto append = [&](const std::string& text, bool space) {
    if (!all.empty() && space && !text.empty()) all += ' ';
    all += text;
  };
  for (const Edit& edit : edits) {
    append(source.joined(at, edit.from), at > from && source.tokens[at].space_before);
    append(edit.text, edit.to > edit.from && source.tokens[edit.from].space_before);
    at = edit.to;
  }
  append(source.joined(at, to), at < to && source.tokens[at].space_before);
  return all;
}

std::set<std::string> needed_names(const std::vector<Source>& sources) {
  std::set<std::string> names;
  const auto take = [&](const Source& source, std::size_t i) {
    return source.is_word(i) && names.insert(source.tokens[i].text).second;
  };
  for (const Source& source : sources) {
    const std::vector<bool> fixed = fixed_tokens(source);
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      if (fixed[i]) take(source, i);
    }
  }
  for (const Source& source : sources) {
    for (const Constant& constant : constants_of(source)) {
      if (constant.function) continue;
      for (std::size_t i = constant.from + 1; source.is_word(i) && source.is_word(i + 1); ++i) {
        names.insert("struct " + source.tokens[i].text);
      }
    }
  }
  // And the names that these are computed from.
  for (bool more = true; std::exchange(more, false);) {
    for (const Source& source : sources) {
      for (const Constant& constant : constants_of(source)) {
        if (names.count(constant.name) == 0) continue;
        for (std::size_t i = constant.from; i < constant.to; ++i) more |= take(source, i);
      }
    }
  }
  return names;
}

std::vector<Site> sites_of(const Source& source, const std::set<std::string>& needed) {
  return Finder(source, needed).all();
}

}  // namespace mutants
