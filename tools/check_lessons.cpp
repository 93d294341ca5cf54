// check_lessons [--links | --texts FOLDER]: compares the lessons with what their programs printed
// (kept in out/text/, or in FOLDER, by tools/run_tutorials), so that every number in a text stays
// right. Run it from the repository root. It checks, for every tutorials/phase*/README.md:
// - a block opened by "```text 13_why_scale", or by "```" right below the comment
//   <!-- output: 13_why_scale -->: its lines stand in out/text/13_why_scale.txt, in that order
//   (others may lie between them; a line "..." and empty lines are skipped). Numbers agree when
//   the program's rounds to the digits shown, or within the tolerance if "tolerance 0.05" follows
//   the name: |difference| <= 0.05, or 0.05 times the program's number;
// - prose: every number with a decimal point was printed by a program of that phase, to the
//   digits shown or within <!-- prose tolerance 0.05 -->; <!-- fixed: 0.02 1.414 --> names numbers
//   that no program prints: definitions, citations;
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

#include "printed.hpp"

namespace fs = std::filesystem;

namespace {

using printed::agree, printed::distance, printed::Line, printed::Number, printed::read_line;
using Lines = std::vector<Line>;

Lines read_file(const fs::path& path) {
  Lines lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) lines.push_back(read_line(text));
  return lines;
}

// The value behind `key` in the comment `text`, or `otherwise`.
double option(const std::string& text, const std::string& key, double otherwise) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? otherwise : std::strtod(text.c_str() + at + key.size(), nullptr);
}

// One text and its errors.
class Document {
 public:
  // texts: the folder of the programs' output; empty: only links are checked.
  Document(fs::path path, fs::path texts)
      : path_(std::move(path)), texts_(std::move(texts)), lines_(read_file(path_)) {
    const fs::path folder = path_.parent_path();
    if (folder.parent_path() != "tutorials") return;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".cpp") programs_.push_back(entry.path().stem().string());
    }
    std::sort(programs_.begin(), programs_.end());
  }

  // True if there are no errors.
  bool check() {
    const bool links_only = texts_.empty();
    if (!links_only) read_outputs();
    for (line_ = 0; line_ < lines_.size(); ++line_) {
      const std::string& text = lines_[line_].text;
      if (text.starts_with("```")) {
        check_block(links_only);
      } else {
        std::string prose = without_comments(text);
        check_links(prose);
        if (!links_only && !programs_.empty()) prose_.emplace_back(line_, read_line(prose));
      }
    }
    for (const auto& [line, prose] : prose_) check_prose(line, prose);
    std::cout << path_.string() << ": " << blocks_ << " printed lines, " << numbers_
              << " numbers in prose, " << links_ << " links: " << problems_ << " wrong\n";
    return problems_ == 0;
  }

 private:
  void problem(std::size_t line, const std::string& what) {
    std::cout << path_.string() << ":" << line + 1 << ": " << what << "\n";
    ++problems_;
  }

  void read_outputs() {
    for (const std::string& program : programs_) {
      const fs::path path = texts_ / (program + ".txt");
      if (fs::exists(path))
        outputs_[program] = read_file(path);
      else
        problem(0, path.string() + " is missing: run `make tutorials` first");
    }
  }

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
    tolerance_ = option(comment, "prose tolerance", tolerance_);
    if (const std::size_t at = comment.find("fixed:"); at != std::string::npos) {
      const Line line = read_line(comment.substr(at));
      fixed_.insert(fixed_.end(), line.numbers.begin(), line.numbers.end());
    }
  }

  // The block that opens at line_, which is left at its closing line.
  void check_block(bool links_only) {
    std::string order = lines_[line_].text.substr(3);
    if (order.starts_with("text "))
      order.erase(0, 5);
    else if (line_ > 0 && lines_[line_ - 1].text.starts_with("<!-- output:"))
      order = lines_[line_ - 1].text.substr(12);
    else
      order.clear();
    std::istringstream words(order);
    std::string program;
    words >> program;
    const std::size_t opened = line_++;
    const bool compare = !program.empty() && !links_only;
    const Lines* output = compare ? find_output(program, opened) : nullptr;
    std::size_t next = 0;
    for (; line_ < lines_.size() && !lines_[line_].text.starts_with("```"); ++line_) {
      if (output) check_printed(*output, program, next, option(order, "tolerance", -1));
    }
    if (line_ == lines_.size()) problem(opened, "this block has no end");
  }

  const Lines* find_output(const std::string& program, std::size_t opened) {
    const auto found = outputs_.find(program);
    if (found != outputs_.end()) return &found->second;
    if (std::find(programs_.begin(), programs_.end(), program) == programs_.end()) {
      problem(opened, "no program of this phase is called " + program);
    }
    return nullptr;
  }

  // The shown line line_ must be among the printed ones from `next` on, which moves behind it.
  void check_printed(const Lines& output, const std::string& program, std::size_t& next,
                     double tolerance) {
    const Line& shown = lines_[line_];
    if (shown.words.empty() || shown.text == "...") return;
    ++blocks_;
    for (std::size_t i = next; i < output.size(); ++i) {
      if (!agree(shown, output[i], tolerance)) continue;
      next = i + 1;
      return;
    }
    const auto closest =
        std::min_element(output.begin(), output.end(), [&](const Line& a, const Line& b) {
          return distance(shown.text, a.text) < distance(shown.text, b.text);
        });
    problem(line_, program + " does not print (here)\n    " + shown.text +
                       "\n  closest to it is\n    " +
                       (closest == output.end() ? "(nothing)" : closest->text));
  }

  void check_prose(std::size_t line, const Line& prose) {
    for (const Number& number : prose.numbers) {
      if (!number.has_point) continue;
      ++numbers_;
      const auto same = [&](const Number& other) { return other.text == number.text; };
      if (std::any_of(fixed_.begin(), fixed_.end(), same)) continue;
      check_number(line, number);
    }
  }

  void check_number(std::size_t line, const Number& number) {
    const Number* closest = nullptr;
    std::string printed_by;
    for (const auto& [program, output] : outputs_) {
      for (const Line& printed : output) {
        for (const Number& other : printed.numbers) {
          if (agree(number, other, tolerance_)) return;
          if (closest &&
              std::abs(closest->value - number.value) <= std::abs(other.value - number.value)) {
            continue;
          }
          closest = &other;
          printed_by = program;
        }
      }
    }
    problem(line, "no program of this phase prints " + number.text +
                      (closest ? "; closest is " + closest->text + " (" + printed_by + ")" : ""));
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
  std::vector<std::pair<std::size_t, Line>> prose_;  // by line number
  std::vector<Number> fixed_;
  double tolerance_ = -1;
  bool in_comment_ = false;
  std::size_t line_ = 0;
  int blocks_ = 0, numbers_ = 0, links_ = 0, problems_ = 0;
};

std::vector<fs::path> documents() {
  std::vector<fs::path> paths;
  for (const fs::path path : {"README.md", ".github/CONTRIBUTING.md"}) {
    if (fs::exists(path)) paths.push_back(path);
  }
  if (!fs::exists("tutorials")) return paths;
  for (const auto& folder : fs::directory_iterator("tutorials")) {
    if (fs::exists(folder.path() / "README.md")) paths.push_back(folder.path() / "README.md");
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
