#include "tapestry/text/text_stream.hpp"

#include <algorithm>
#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

// Whether these bytes begin a character and lack its last ones. The smallest and the largest byte
// that can follow are enough to try: every range of second bytes begins or ends with one of them.
bool lacks_bytes(std::string_view begin) {
  for (std::size_t bytes = begin.size() + 1; bytes <= 4; ++bytes) {
    for (const char next : {'\x80', '\xBF'}) {
      const std::string whole = std::string(begin) + std::string(bytes - begin.size(), next);
      if (code_point_bytes(whole) == bytes) return true;
    }
  }
  return false;
}

// How many bytes at the end begin a character of which more may follow.
std::size_t incomplete(std::string_view text) {
  for (std::size_t count = 1; count <= std::min<std::size_t>(3, text.size()); ++count) {
    if (lacks_bytes(text.substr(text.size() - count))) return count;
  }
  return 0;
}

std::string in_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t bytes = code_point_bytes(text);
    valid += bytes > 0 ? text.substr(0, bytes) : std::string_view("\uFFFD");
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return valid;
}

}  // namespace

TextStream::TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_) {
    if (stop.empty()) throw Error("a stop word is empty: it would end every text at once.");
  }
}

// How many of the bytes held back may be shown.
std::size_t TextStream::ready() const {
  std::size_t begin = held_.size();  // of what may be a stop word
  for (const std::string& stop : stops_) {
    std::size_t count = std::min(stop.size(), held_.size());
    while (!held_.ends_with(std::string_view(stop).substr(0, count))) --count;
    begin = std::min(begin, held_.size() - count);
  }
  return begin - incomplete(std::string_view(held_).substr(0, begin));
}

std::string TextStream::add(std::string_view bytes) {
  if (stopped_) return "";
  held_ += bytes;
  std::size_t first = held_.npos;
  for (const std::string& stop : stops_) first = std::min(first, held_.find(stop));
  stopped_ = first != held_.npos;
  const std::size_t count = stopped_ ? first : ready();
  const std::string shown = in_utf8(std::string_view(held_).substr(0, count));
  held_.erase(0, stopped_ ? held_.npos : count);
  return shown;
}

std::string TextStream::finish() { return in_utf8(std::exchange(held_, "")); }

}  // namespace tapestry
