#include "text_lines.hpp"

#include <algorithm>
#include <sstream>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {

std::string place_of(const Path& file, const TextLine& line) {
  return file.string() + ", line " + std::to_string(line.number) + ": ";
}

namespace {

std::string content_of(const Path& file) {
  constexpr std::uint64_t most = 16'000'000;
  std::string text;
  read_file("--texts", file, [&](std::ifstream& stream, std::uint64_t bytes) {
    if (bytes > most) throw Error("it has " + std::to_string(bytes) + " bytes; 16 MB are enough.");
    text.resize(static_cast<std::size_t>(bytes));
    read_bytes(stream, text.data(), bytes);
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    check_utf8(text);
  });
  return text;
}

Words columns_of(const std::string& line) {
  Words columns(1);
  for (const char c : line) {
    if (c == '\t') {
      columns.emplace_back();
    } else {
      columns.back().push_back(c);
    }
  }
  return columns;
}

void check_columns(const Path& file, const TextLine& line, std::size_t texts,
                   std::size_t in_first) {
  const std::size_t count = line.columns.size();
  const std::string form =
      texts == 1 ? "TEXT, or TEXT, TOKEN, OTHER" : "FROM, TEXT, or FROM, TEXT, TOKEN, OTHER";
  if (count < texts || count > texts + 2) {
    throw Error(place_of(file, line) + std::to_string(count) +
                (count == 1 ? " column" : " columns") + "; a line is " + form +
                ", with tabs between.");
  }
  if (count != in_first) {
    throw Error(place_of(file, line) + std::to_string(count) + " columns, but the first line has " +
                std::to_string(in_first) + ": give all lines the same.");
  }
  const auto empty = std::find(line.columns.begin(), line.columns.end(), "");
  if (empty == line.columns.end()) return;
  throw Error(place_of(file, line) + "column " + std::to_string(empty - line.columns.begin() + 1) +
              " is empty.");
}

}  // namespace

std::vector<TextLine> lines_of(const Path& file, std::size_t texts) {
  std::istringstream stream(content_of(file));
  std::vector<TextLine> lines;
  Index number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++number;
    if (text.ends_with('\r')) text.pop_back();
    if (!text.empty()) lines.push_back({number, columns_of(text)});
  }
  if (lines.empty()) throw Error(file.string() + ": there is no text in it: give one a line.");
  for (const TextLine& line : lines) {
    check_columns(file, line, texts, lines.front().columns.size());
  }
  if (lines.size() == 1) {
    throw Error(file.string() + " has one line, and a mean is taken of two or more: add some, or " +
                (texts == 1 ? "give it as --text." : "give the two texts as --from and --text."));
  }
  return lines;
}

}  // namespace tapestry::command
