#include "spared.hpp"

#include <algorithm>
#include <array>

#include "expression.hpp"

namespace mutants {
namespace {

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

// Whether the body of this type opens here: one whose name ends in Options or Settings.
bool opens_options(const Source& s, std::size_t open) {
  std::size_t i = open;
  while (i > 0 && !s.is(i, "struct") && !s.is(i, "class")) --i;
  const std::string& name = s.tokens[i + 1].text;
  return name.ends_with("Options") || name.ends_with("Settings");
}

// The 0 or false that a member has before it is set: `int a = 0, b = 0;`, `std::atomic<int> a{0};`
bool unset_value(const Source& s, std::size_t i) {
  if (!s.is(i, "0") && !s.is(i, "0.0") && !s.is(i, "0.0f") && !s.is(i, "false")) return false;
  const bool braces = s.is(i - 1, "{") && s.is(i + 1, "}");
  const std::size_t around = braces ? s.outer[i - 1] : s.outer[i];
  if (around == nowhere || s.braces[around] != Braces::type) return false;
  const bool value = braces || (s.is(i - 1, "=") && (s.is(i + 1, ";") || s.is(i + 1, ",")));
  return value && !opens_options(s, around);
}

}  // namespace

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
    // What a test asks of a function of the kernels; beside that it decides what is prefetched
    const bool asked = (s.is(i, "Claim") && s.is(i + 1, "claim")) || s.is(i, "slope_error");
    if (asked) fix(fixed, i, next_sign(s, i, ";"));
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

// Functions that reserve memory or ask for it before its turn, or that say how much work is a part
// or how large a cache is
constexpr std::array calls_for_speed = {
    "reserve",        "row_grain",         "fetch",      "fetch_beginnings", "fetch_beginning",
    "fetch_distance", "prefetch_row",      "prefetch",   "ask_ahead",        "announce",
    "announce_rows",  "announce_keys",     "fetch_near", "worth_asking",     "l2_cache",
    "first_row",      "__builtin_prefetch"};

std::vector<bool> tokens_for_speed(const Source& s) {
  std::vector<bool> found(s.tokens.size());
  for (const Constant& constant : constants_of(s)) {
    if (constant.name.ends_with("_grain")) fix(found, constant.from, constant.to);
  }
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    const bool sizes = s.is(i + 1, "Blocking") || s.is(i + 1, "Later");
    if (s.is(i, "struct") && sizes) fix(found, i, s.partner[i + 2]);
    // `later` is what a tile asks for before its turn; other files use that word, too.
    const auto& member = s.tokens[std::min(i + 2, s.tokens.size() - 1)].text;
    const bool asked =
        member == "c" || member == "a" || member == "first" || member.starts_with("ask_for_");
    const bool later = s.is(i, "later") && ((s.is(i + 1, ".") && asked) || s.is(i - 1, "Later"));
    if (later || (s.is(i, "asks_for_a") && s.is(i + 1, "="))) fix(found, i, next_sign(s, i, ";"));
    if ((s.is(i, "parallel_parts") || s.is(i, "parallel_tasks")) && s.is(i + 1, "(")) {
      const std::size_t grain = next_sign(s, i + 2, ",") + 1;  // the second argument
      fix(found, grain, next_sign(s, grain, ",") - 1);
    }
    // By their names: multiply-adds of a part, how many make a part worth a thread, and where a
    // tile asks for numbers before their turn
    const bool share =
        s.is(i, "work") || s.is(i, "grain") || s.is(i, "next_row") || s.is(i, "next_column");
    if (share && s.is(i - 1, "Index") && s.is(i + 1, "=")) fix(found, i, next_sign(s, i, ";"));
    const auto named = [&](const char* name) { return s.is(i, name); };
    if (!std::ranges::any_of(calls_for_speed, named) || !s.is(i + 1, "(")) continue;
    const std::size_t close = s.partner[i + 1];
    const bool body = s.is(close + 1, "{") && s.opens(close + 1);
    fix(found, left_end(s, i, choice_rank), body ? s.partner[close + 1] : close);
  }
  return found;
}

std::vector<bool> arbitrary_tokens(const Source& s) {
  std::vector<bool> found(s.tokens.size());
  for (std::size_t i = 1; i < s.tokens.size(); ++i) {
    if (unset_value(s, i)) found[i] = true;
    if (s.is(i, "seed") && s.is(i - 1, ".") && s.is(i + 1, "=")) {
      fix(found, i, std::min(next_sign(s, i, ","), next_sign(s, i, ";")) - 1);
    }
    const std::size_t open = s.is_word(i + 1) ? i + 2 : i + 1;  // Random random(1), Random(1)
    if (s.is(i, "Random") && s.opens(open) && !s.is(open, "<")) fix(found, open, s.partner[open]);
  }
  return found;
}

bool is_of_lessons(const Source& s) { return s.path.starts_with("tutorials/course/"); }

}  // namespace mutants
