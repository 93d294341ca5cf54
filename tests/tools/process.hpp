// The `tapestry` command, run as a process in a folder of its own.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "plot/decoded.hpp"
#include "tapestry/unicode.hpp"
#include "temporary_folder.hpp"

namespace tapestry {

struct Result {
  int status;            // 0: all went well; 128 and more: it crashed
  std::string out, err;  // what it wrote
};

// The names of everything in a folder and below, sorted.
inline std::vector<std::string> all_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The program beside this test program, in the same mode of the build.
inline std::string command_path() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tools/tapestry")
      .string();
}

// Runs the shell command `before tapestry arguments` in `folder`. Its output goes to files outside
// the folder.
inline Result tapestry_in(const std::filesystem::path& folder, const std::string& arguments,
                          const std::string& before = "") {
  const TemporaryFolder words;
  const std::string line = "cd '" + folder.string() + "' && export OMP_NUM_THREADS=1 && " + before +
                           " '" + command_path() + "' </dev/null >'" + (words / "out").string() +
                           "' 2>'" + (words / "err").string() + "' " + arguments;
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 256, content(words / "out"),
          content(words / "err")};
}

// The widest line, in columns of a terminal.
inline int widest(const std::string& text) {
  int most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) most = std::max(most, display_width(line));
  return most;
}

// A folder with two small trained models, read-only for tests: "words" of the grammar, and "copy".
inline const std::filesystem::path& models() {
  static const TemporaryFolder folder;
  static const std::filesystem::path path = [] {
    const std::string small = " --steps 3 --batch 2 --width 8 --heads 2";
    tapestry_in(folder / "", "train grammar --checkpoint words" + small);
    tapestry_in(folder / "", "train copy --checkpoint copy" + small);
    return folder / "";
  }();
  return path;
}

// The tasks that `tapestry train` names when it is given another.
inline std::vector<std::string> tasks() {
  const TemporaryFolder folder;
  const std::string said = tapestry_in(folder / "", "train none").err;
  const std::size_t begin = said.find('(') + 1;
  std::istringstream list(said.substr(begin, said.find(')') - begin));
  std::vector<std::string> names;
  for (std::string name; std::getline(list >> std::ws, name, ',');) names.push_back(name);
  return names;
}

// Success, no line wider than 80 columns, no colour, and nothing on standard error, except for the
// progress that shows after a second on a slow machine ("reading 2/6 texts, ...").
inline std::string wrong(const Result& result) {
  if (result.status != 0) return std::to_string(result.status) + ": " + result.err;
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    static const std::regex progress("[a-z]+ [0-9]+/[0-9]+ [a-z]+, .*");
    if (!std::regex_match(line, progress)) return "on standard error: " + result.err;
  }
  if (widest(result.out) > 80) return "too wide: " + result.out;
  return result.out.find('\x1b') == std::string::npos ? "" : "colour: " + result.out;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// With single blanks in place of all breaks of lines.
inline std::string unfolded(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += word + " ";
  return all;
}

inline bool is_picture(const std::filesystem::path& path) {
  const plot::Decoded picture = plot::decode_png(plot::read_bytes(path));
  return plot::has_ink(picture, 0, 0, picture.width, picture.height);
}

inline std::string four_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

}  // namespace tapestry
