#include "token_text.hpp"

#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {

std::string shown(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = std::max<std::size_t>(code_point_bytes(bytes), 1);
    const std::string_view point = bytes.substr(0, length);
    const bool prints = code_point_bytes(bytes) > 0 && display_width(point) > 0;
    if (point == " ") {
      text += "␣";
    } else if (prints) {
      text += point;
    } else {
      for (const char byte : point) {
        text += formatted("<0x%02X>", unsigned{static_cast<unsigned char>(byte)});
      }
    }
    bytes.remove_prefix(length);
  }
  return text;
}

std::string special_in_front(const Tokenizer& tokenizer, const Indices& ids) {
  std::string names;
  for (const std::int32_t id : ids.values) {
    if (!tokenizer.is_special(id)) break;
    names += (names.empty() ? "" : " ") + tokenizer.token(id);
  }
  return names;
}

void check_belongs(const Tokenizer& tokenizer, const Indices& ids, Index words) {
  for (const std::int32_t id : ids.values) {
    if (id < words) continue;
    throw Error("the tokenizer gives " + in_quotes(tokenizer.token(id)) + " the id " +
                std::to_string(id) + ", but the model has " + std::to_string(words) +
                " words: they do not belong together.");
  }
}

}  // namespace tapestry::command
