// What must hold of every tokenizer that a file gave, with any text.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz.hpp"
#include "text/tokenizer_parts.hpp"

namespace tapestry::fuzz {

// An input is several texts with a zero byte between them; missing ones are empty.
inline std::vector<std::string> texts_of(const std::string& input, std::size_t count) {
  std::vector<std::string> texts(count);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count && at <= input.size(); ++i) {
    const std::size_t end =
        i + 1 == count ? input.size() : std::min(input.find('\0', at), input.size());
    texts[i] = input.substr(at, end - at);
    at = end + 1;
  }
  return texts;
}

inline void holds(const Tokenizer& tokenizer, std::string_view text) {
  const Indices ids = tokenizer.encode(text);
  std::string joined;
  bool first = true;
  for (const std::int32_t id : ids.values) {
    require(tokenizer.contains(id) && id < tokenizer.size(), "ids are in the vocabulary");
    joined += tokenizer.bytes_of(id, first);
    first = first && tokenizer.is_special(id);
  }
  const std::string all = tokenizer.decode(ids.values);
  require(joined.size() >= all.size(), "single ids give no less than all");  // it may be stripped
  (void)tokenizer.decode(ids.values, false);
  if (text.size() > 300) return;
  require(tokenizer.explain(text).ids.values == ids.values, "an explanation ends with the ids");
}

// Reads with `read`, and encodes `text` if that gave a tokenizer.
template <class Read>
void try_tokenizer(Read read, const std::string& text) {
  SharedParts parts;
  if (done([&] { parts = read(); })) holds(Tokenizer(parts), text);
}

}  // namespace tapestry::fuzz
