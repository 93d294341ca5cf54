#include "course/lesson_text.hpp"

#include <algorithm>
#include <cctype>

#include "tapestry/error.hpp"
#include "tapestry/text/corpus.hpp"

namespace tapestry {

namespace fs = std::filesystem;

namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 128;
}

}  // namespace

std::string lessons_text(const fs::path& tutorials) {
  std::vector<fs::path> pages;
  std::error_code none;
  for (const fs::directory_entry& folder : fs::directory_iterator(tutorials, none)) {
    const std::string name = folder.path().filename().string();
    if (name.size() < 6 || !name.starts_with("phase") || name[5] < '0' || name[5] > '6') continue;
    for (const fs::directory_entry& page : fs::directory_iterator(folder.path(), none)) {
      if (page.path().extension() == ".md") pages.push_back(page.path());
    }
  }
  if (pages.empty()) {
    throw Error(tutorials.string() +
                " has no lessons: start the program in the root of the repository, or give it a "
                "text file to read.");
  }
  std::sort(pages.begin(), pages.end());
  std::string text;
  for (const fs::path& page : pages) text += read_text(page);
  return text;
}

RealText real_text(int count, const char* const* values) {
  if (count > 2) throw Error("give one text file, or none to read these lessons.");
  if (count == 2) return {values[1], read_text(values[1])};
  return {"the lessons of phases 0 to 6", lessons_text()};
}

TextParts parts_of(const std::string& text) {
  std::size_t cut = text.size() / 10 * 9;
  while (cut < text.size() && (text[cut] & 0xC0) == 0x80) ++cut;
  return {text.substr(0, cut), text.substr(cut)};
}

std::vector<std::string> words_and_signs(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = at + 1;
    if (is_of_word(text[at]) || (text[at] == ' ' && end < text.size() && is_of_word(text[end]))) {
      while (end < text.size() && is_of_word(text[end])) ++end;
    }
    all.push_back(text.substr(at, end - at));
  }
  return all;
}

}  // namespace tapestry
