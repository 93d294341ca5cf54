// Code that a lesson shows, compared with its source. Used by check_lessons.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace shown_code {

using Texts = std::vector<std::string>;

// Adds the line without its indentation; an empty one is left out.
inline void add(Texts& lines, const std::string& line) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start != std::string::npos) lines.push_back(line.substr(start));
}

inline Texts read_source(const std::filesystem::path& path) {
  Texts lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) add(lines, line);
  return lines;
}

inline std::string message(const std::string& path, const Texts& source, const Texts& part) {
  for (const std::string& line : part) {
    if (std::find(source.begin(), source.end(), line) == source.end()) {
      return path + " has no line\n    " + line;
    }
  }
  return path + " has these lines elsewhere, or not in a row\n    " + part.front();
}

// What is wrong with the block, or nothing: its lines must stand in the file one below the other;
// a line "..." skips any number.
inline std::string difference(Texts block, const std::filesystem::path& path) {
  const Texts source = read_source(path);
  if (source.empty()) return "there is no code in " + path.string();
  block.push_back("...");  // ends the last part
  auto from = source.begin();
  Texts part;
  for (const std::string& line : block) {
    if (line != "...") {
      add(part, line);
      continue;
    }
    const auto found = std::search(from, source.end(), part.begin(), part.end());
    if (found == source.end() && !part.empty()) return message(path.string(), source, part);
    from = found + static_cast<std::ptrdiff_t>(part.size());
    part.clear();
  }
  return "";
}

}  // namespace shown_code
