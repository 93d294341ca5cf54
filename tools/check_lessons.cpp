// check_lessons [--links | --texts FOLDER]: compares the lessons with what their programs printed
// (kept in out/text/, or in FOLDER, by tools/run_tutorials), so that every number in a text stays
// right. Run it from the repository root. It checks, for every page tutorials/phase*/*.md:
// - a block opened by "```text 13_why_scale", or by "```" right below the comment
//   <!-- output: 13_why_scale -->: its lines stand in out/text/13_why_scale.txt, in that order
//   (others may lie between them; empty lines are skipped; where rows of the same table are left
//   out, a line "..." says so). The text of experiments/NAME stands in the lesson's folder, where
//   `make experiments` keeps it. Numbers
//   agree when the program's rounds to the digits shown, or within a tolerance behind the name:
//     tolerance 0.02             of numbers with a decimal point: |difference| <= 0.02
//     tolerance 5 %              of all numbers: |difference| <= 5 % of the program's number
//     tolerance 0.02, whole 5 %  the first of numbers with a decimal point, 5 % of the others
//   "needs stories260K" before it: the block is compared only where that model is (see
//   tutorials/course/real_model.hpp), and otherwise counted as left out.
//   An absolute one is at most 10 % of the range, the greatest minus the least number with a
//   decimal point in the block (one number: its size), a relative one at most 10 %; or else
//   "reason: ..." follows it and says why;
// - a block opened by "```cpp 13_why_scale": its lines stand in 13_why_scale.cpp of that phase, or,
//   if the name is a path such as src/ops/softmax.cpp, in that file: one below the other, in that
//   order (a line "..." skips any number; indentation and empty lines do not count);
// - prose: every number with a decimal point (to the digits shown) and every whole one of two and
//   more digits (as it is) stands in what the programs of that section print, in their code, or in
//   a block of the section. Its programs are that of the step in the heading and those that it
//   names; in a section without a step, all of the phase. Left out are headings, code, years of
//   publications and the numbers of steps, phases, heads and layers. <!-- fixed: 0.02 28160 -->
//   names numbers of that section that no program has: definitions, citations, sums in the text;
// - links to files and pictures, also those of README.md and .github/CONTRIBUTING.md; --links
//   checks these alone.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "course/real_model.hpp"
#include "printed.hpp"
#include "prose.hpp"
#include "shown_code.hpp"
#include "tolerance.hpp"

namespace fs = std::filesystem;

namespace {

using printed::distance, printed::Line, printed::read_line, printed::Tolerance;
using Lines = std::vector<Line>;

Lines read_file(const fs::path& path) {
  Lines lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) lines.push_back(read_line(text));
  return lines;
}

// One text and its errors.
class Document {
 public:
  // texts: the folder of the programs' output; empty: only links are checked.
  Document(fs::path path, fs::path texts)
      : path_(std::move(path)), texts_(std::move(texts)), lines_(read_file(path_)) {
    const fs::path folder = path_.parent_path();
    if (folder.parent_path() != "tutorials") return;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      fs::path name = fs::relative(entry.path(), folder);
      if (name.extension() != ".cpp" || *name.begin() == "exercises") continue;
      programs_.push_back(name.replace_extension().string());
    }
    std::sort(programs_.begin(), programs_.end());
  }

  // True if there are no errors.
  bool check() {
    if (!texts_.empty()) read_outputs();
    for (line_ = 0; line_ < lines_.size(); ++line_) check_line(lines_[line_].text);
    if (!texts_.empty() && !programs_.empty()) {
      for (const prose::Section& section : sections_) {
        numbers_ += section.check(known_, [&](auto... wrong) { problem(wrong...); });
      }
    }
    std::cout << path_.string() << ": " << blocks_ << " printed lines, " << left_out() << code_
              << " lines of code, " << numbers_ << " numbers in prose, " << links_
              << " links: " << problems_ << " wrong\n";
    return problems_ == 0;
  }

 private:
  // "12 left out (no stories260K), ", or nothing.
  std::string left_out() const {
    std::string text;
    for (const auto& [model, lines] : left_out_) {
      text += std::to_string(lines) + " left out (no " + model + "), ";
    }
    return text;
  }

  void problem(std::size_t line, const std::string& what) {
    std::cout << path_.string() << ":" << line + 1 << ": " << what << "\n";
    ++problems_;
  }

  void check_line(const std::string& text) {
    if (text.starts_with("## ") || !prose::step_of(text).empty()) {
      sections_.emplace_back().heading = text;
    }
    section().text += text + "\n";
    if (is_fence()) return check_block();
    std::string prose = without_comments(text);
    check_links(prose);
    if (!text.starts_with("#")) section().prose.emplace_back(line_, prose);
  }

  // Does line_ open or end a block? In a list it is indented.
  bool is_fence() const {
    const std::string& text = lines_[line_].text;
    return text.find("```") == std::min(text.size(), text.find_first_not_of(' '));
  }

  void read_outputs() {
    for (const std::string& program : programs_) {
      const bool experiment = program.starts_with("experiments/");
      const fs::path path = (experiment ? path_.parent_path() : texts_) / (program + ".txt");
      if (fs::exists(path))
        outputs_[program] = read_file(path);
      else
        problem(0, path.string() + " is missing: run `make " +
                       (experiment ? "experiments UPDATE=1" : "tutorials") + "` first");
      if (fs::exists(path))
        for (const Line& line : outputs_[program]) add(line.numbers, known_[program]);
      for (const Line& line : read_file(path_.parent_path() / (program + ".cpp"))) {
        add(read_line(prose::code_of(line.text)).numbers, known_[program]);
      }
    }
  }

  static void add(const prose::Numbers& more, prose::Numbers& numbers) {
    numbers.insert(numbers.end(), more.begin(), more.end());
  }

  prose::Section& section() { return sections_.back(); }

  // The text of a line without its comments, which are obeyed.
  std::string without_comments(const std::string& text) {
    std::string prose = text;
    while (true) {
      const std::size_t start = in_comment_ ? 0 : prose.find("<!--");
      if (start == std::string::npos) return prose;
      const std::size_t end = prose.find("-->", start);
      follow(prose.substr(start, end - start));
      in_comment_ = end == std::string::npos;
      prose.erase(start, in_comment_ ? end : end + 3 - start);
      if (in_comment_) return prose;
    }
  }

  void follow(const std::string& comment) {
    const std::size_t at = comment.find("fixed:");
    if (at != std::string::npos) add(read_line(comment.substr(at)).numbers, section().fixed);
  }

  // The block that opens at line_, which is left at its closing line.
  void check_block() {
    const std::size_t opened = line_;
    std::string order = lines_[line_].text.substr(lines_[line_].text.find("```") + 3);
    Lines block;
    for (++line_; line_ < lines_.size() && !is_fence(); ++line_) block.push_back(lines_[line_]);
    if (line_ == lines_.size()) problem(opened, "this block has no end");
    if (order.starts_with("cpp ")) return check_code(block, order.substr(4), opened);
    order = order.starts_with("text ") ? order.substr(5)
                                       : commented_order(lines_[opened - (opened > 0)].text);
    std::istringstream words(order);
    std::string program, rest;
    std::getline(words >> program, rest);
    if (!program.empty() && !texts_.empty()) check_text(block, program, rest, opened);
  }

  // What stands in a comment <!-- output: ... -->, or nothing.
  static std::string commented_order(const std::string& text) {
    const std::string start = "<!-- output:";
    const std::size_t at = text.find(start);
    if (at == std::string::npos) return "";
    return text.substr(at + start.size(), text.find("-->") - at - start.size());
  }

  void check_code(const Lines& block, const std::string& name, std::size_t opened) {
    const bool is_path = name.find('/') != std::string::npos;
    const fs::path path = is_path ? fs::path(name) : path_.parent_path() / (name + ".cpp");
    shown_code::Texts texts;
    for (const Line& line : block) {
      texts.push_back(line.text);
      add(read_line(prose::code_of(line.text)).numbers, section().shown);
    }
    const std::string difference = shown_code::difference(texts, path);
    if (!difference.empty()) problem(opened, difference);
    code_ += static_cast<int>(block.size());
  }

  void check_text(const Lines& block, const std::string& program, std::string allowed,
                  std::size_t opened) {
    const Lines* output = find_output(program, opened);
    if (!output) return;
    const std::string missing = take_missing_model(allowed);
    const Tolerance tolerance = printed::read_tolerance(allowed);
    prose::Numbers shown;
    std::size_t next = 0, at = opened;
    bool skips = true;  // rows may be left out here: before the first line, and at "..."
    for (const Line& line : block) {
      add(line.numbers, shown);
      ++at;
      skips |= line.text == "...";
      if (!missing.empty()) {
        left_out_[missing] += is_compared(line);
        continue;
      }
      if (!is_compared(line)) continue;
      const std::size_t before = next;
      std::string wrong = difference(line, *output, next, tolerance);
      if (wrong.empty() && !skips) wrong = left_out(*output, before, next - 1);
      if (!wrong.empty()) problem(at, program + wrong);
      skips = false;
    }
    add(shown, section().shown);
    if (!missing.empty()) add(shown, known_[program]);  // as if it had printed them
    const std::string mistake = printed::mistake(tolerance, shown);
    if (!mistake.empty()) problem(opened, mistake);
  }

  // Takes "needs MODEL" from the begin of `allowed`. Returns the model if it is not there.
  static std::string take_missing_model(std::string& allowed) {
    std::istringstream words(allowed);
    std::string needs, model;
    if (!(words >> needs >> model) || needs != "needs") return "";
    allowed.clear();
    std::getline(words, allowed);
    return tapestry::real_model(model) ? "" : model;
  }

  static bool is_compared(const Line& line) { return !line.words.empty() && line.text != "..."; }

  const Lines* find_output(const std::string& program, std::size_t opened) {
    const auto found = outputs_.find(program);
    if (found != outputs_.end()) return &found->second;
    if (std::find(programs_.begin(), programs_.end(), program) == programs_.end()) {
      problem(opened, "no program of this phase is called " + program);
    }
    return nullptr;
  }

  // Nothing if the shown line is among the printed ones from `next` on, which moves behind it.
  std::string difference(const Line& shown, const Lines& output, std::size_t& next,
                         const Tolerance& tolerance) {
    ++blocks_;
    for (std::size_t i = next; i < output.size(); ++i) {
      if (!printed::agree(shown, output[i], tolerance)) continue;
      next = i + 1;
      return "";
    }
    const auto closest =
        std::min_element(output.begin(), output.end(), [&](const Line& a, const Line& b) {
          return distance(shown.text, a.text) < distance(shown.text, b.text);
        });
    return " does not print (here)\n    " + shown.text + "\n  closest to it is\n    " +
           (closest == output.end() ? "(nothing)" : closest->text);
  }

  // Nothing if the lines of the output from `first` to before `last` are no rows of one table: one
  // is empty, or they have no numbers.
  static std::string left_out(const Lines& output, std::size_t first, std::size_t last) {
    std::string row;
    for (std::size_t i = first; i < last; ++i) {
      if (output[i].words.empty()) return "";
      if (row.empty() && !output[i].numbers.empty()) row = output[i].text;
    }
    return row.empty() ? "" : " prints rows above this one; write \"...\" for them:\n    " + row;
  }

  // Removes the targets of links from `prose` and checks that they exist.
  void check_links(std::string& prose) {
    for (const auto& [before, after] : {std::pair{"](", ')'}, {"src=\"", '"'}, {"href=\"", '"'}}) {
      const std::string start = before;
      for (std::size_t at = 0; (at = prose.find(start, at)) != std::string::npos;) {
        at += start.size();
        const std::size_t end = std::min(prose.find(after, at), prose.size());
        check_link(prose.substr(at, end - at));
        prose.erase(at, end - at);
      }
    }
  }

  void check_link(const std::string& link) {
    const std::string target = link.substr(0, link.find_first_of("# "));
    if (target.empty() || target.find(':') != std::string::npos) return;  // an anchor, the web
    ++links_;
    if (!fs::exists(path_.parent_path() / target)) problem(line_, "there is no file " + target);
  }

  fs::path path_, texts_;
  Lines lines_;
  std::vector<std::string> programs_;  // of this lesson's phase; none for other texts
  std::map<std::string, Lines> outputs_;
  prose::Known known_;
  std::vector<prose::Section> sections_ = std::vector<prose::Section>(1);
  bool in_comment_ = false;
  std::size_t line_ = 0;
  std::map<std::string, int> left_out_;  // lines, by the model that they need
  int blocks_ = 0, code_ = 0, numbers_ = 0, links_ = 0, problems_ = 0;
};

std::vector<fs::path> documents() {
  std::vector<fs::path> paths;
  for (const fs::path path : {"README.md", ".github/CONTRIBUTING.md"}) {
    if (fs::exists(path)) paths.push_back(path);
  }
  if (!fs::exists("tutorials")) return paths;
  for (const auto& entry : fs::directory_iterator("tutorials")) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
    if (!entry.is_directory()) continue;
    for (const auto& page : fs::directory_iterator(entry)) {
      if (page.path().extension() == ".md") paths.push_back(page.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> words(values + 1, values + count);
  fs::path texts = "out/text";
  if (words.size() == 1 && words[0] == "--links") {
    texts.clear();
  } else if (words.size() == 2 && words[0] == "--texts") {
    texts = words[1];
  } else if (!words.empty()) {
    std::cerr << "usage: check_lessons [--links | --texts FOLDER]\n";
    return 2;
  }
  int passed = 0, failed = 0;
  for (const fs::path& path : documents()) {
    (Document(path, texts).check() ? passed : failed) += 1;
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
