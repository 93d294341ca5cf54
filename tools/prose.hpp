// The numbers in a lesson's prose, section by section. Used by check_lessons.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tolerance.hpp"

namespace prose {

using printed::Line, printed::Number;
using Numbers = std::vector<Number>;

// The step "13" of a heading "## 13 Why divide by √d_k", or nothing.
inline std::string step_of(const std::string& heading) {
  static const std::regex form("##+ ([0-9][0-9a-z]) .*");
  std::smatch part;
  return std::regex_match(heading, part, form) ? part[1].str() : "";
}

// The text without what is no prose: code spans, tags, the number of a list's item. The rest keeps
// its place.
inline std::string without_code(std::string text) {
  static const std::regex form("`[^`]*`|<[/a-z][^>]*>|^ *[0-9]+\\. ");
  std::smatch part;
  while (std::regex_search(text, part, form)) {
    const auto at = static_cast<std::size_t>(part.position());
    text.replace(at, part.length(), std::string(static_cast<std::size_t>(part.length()), ' '));
  }
  return text;
}

// A name and no quantity: "steps 23 and 26", "phase 5", "head 0.3", "x86-64" and the year of a
// publication: "(Vaswani et al., 2017)", "Bengio 2015)", a cell "| 2014 |".
inline bool is_name(const std::string& before, const Number& number, const std::string& after) {
  static const std::regex part(
      "(^|[^a-z])(steps?|phases?|heads?|layers?)( [0-9][0-9.a-z]*(,| and| to| or))* "
      "$|[a-z][0-9]*-$",
      std::regex::icase);
  static const std::regex author("(al\\.,? |\\()$"), end("[A-Za-z;|],? $"), stop(" ?[),.:;|].*");
  const bool is_year = number.text.size() == 4 && number.value >= 1900 && number.value < 2100;
  if (is_year && std::regex_search(before, author)) return true;
  if (is_year) return std::regex_search(before, end) && std::regex_match(after, stop);
  return number.text.size() == (number.has_point ? 3 : 2) && std::regex_search(before, part);
}

// A line of code without its comment, which may be out of date.
inline std::string code_of(std::string line) {
  line.resize(std::min(line.size(), line.find("//")));
  line.erase(std::remove(line.begin(), line.end(), '\''), line.end());  // 28'160
  return line;
}

// Numbers by the program that prints them, or in whose code they stand.
using Known = std::map<std::string, Numbers>;

// From one heading to the next.
struct Section {
  std::string heading, text;  // text: all its lines
  Numbers fixed, shown;       // shown: in its blocks, which are checked themselves
  std::vector<std::pair<std::size_t, std::string>> prose;  // lines, by their number

  // Its programs: that of the step in its heading and those that it names. Without a step: all.
  Known sources(const Known& all) const {
    const std::string step = step_of(heading);
    Known own;
    for (const auto& [program, numbers] : all) {
      if (step.empty() || program.starts_with(step + "_") || names(program)) own[program] = numbers;
    }
    own["a block"] = shown;
    return own;
  }

  bool names(const std::string& program) const {
    for (std::size_t at = 0; (at = text.find(program, at)) != std::string::npos; ++at) {
      const std::size_t end = at + program.size();
      if (end == text.size() || !printed::is_word(text[end])) return true;
    }
    return false;
  }

  // Calls report(line, problem) for each number that does not agree; how many were compared.
  template <class Report>
  int check(const Known& all, const Report& report) const {
    const Known known = sources(all);
    int compared = 0;
    std::string before;
    for (const auto& [line, text_of_line] : prose) {
      const std::string clean = without_code(text_of_line);
      for (const Number& number : printed::read_line(clean).numbers) {
        const std::size_t length = number.text.size() - number.text.starts_with('-');
        if (length < 2) continue;
        const std::string after = clean.substr(number.start + length);
        if (is_name(before + clean.substr(0, number.start), number, after)) continue;
        ++compared;
        const std::string problem = difference(number, known);
        if (!problem.empty()) report(line, problem);
      }
      before = clean + " ";
    }
    return compared;
  }

  // A whole number is not rounded: of the many that a section prints, too many would be near.
  static bool agree(const Number& number, const Number& other) {
    return number.has_point ? printed::agree(number, other) : number.value == other.value;
  }

  std::string difference(const Number& number, const Known& known) const {
    const auto same = [&](const Number& other) { return other.text == number.text; };
    if (std::any_of(fixed.begin(), fixed.end(), same)) return "";
    const Number* closest = nullptr;
    std::string source;
    for (const auto& [program, numbers] : known) {
      for (const Number& other : numbers) {
        if (agree(number, other)) return "";
        if (closest &&
            std::abs(closest->value - number.value) <= std::abs(other.value - number.value))
          continue;
        closest = &other;
        source = program;
      }
    }
    const std::string where = step_of(heading).empty() ? "phase" : "section";
    return "no program of this " + where + " prints " + number.text +
           (closest ? "; closest is " + closest->text + " (" + source + ")" : "");
  }
};

}  // namespace prose
