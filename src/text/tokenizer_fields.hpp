// For the readers of components.
#pragma once

#include <string>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "text/fields.hpp"

namespace tapestry {

// Calls `read` for the component, or for each one of a Sequence, whose list has this name.
template <class Read>
void for_each_component(const Json& json, const std::string& what, const char* list, Read read) {
  Fields fields(json, what);
  const std::string type = fields.text("type");
  if (type != "Sequence") {
    Fields own(json, what + " " + type);
    own.text("type");
    read(type, own);
    return own.finish();
  }
  for (const Json& each : fields.list(list)) for_each_component(each, what, list, read);
  fields.finish();
}

[[noreturn]] inline void refuse_type(const std::string& what, const std::string& type,
                                     const std::string& known) {
  throw Error(what + " is " + in_quotes(type) + ", which is not known. There are " + known + ".");
}

// A pattern that is a plain text; "" if it is a regular expression, which goes to `expression`.
inline std::string literal_pattern(Fields& fields, std::string& expression) {
  Fields pattern(fields.at("pattern"), fields.what() + "'s pattern");
  const bool literal = pattern.find("String") != nullptr;
  const std::string text = literal ? pattern.text("String") : "";
  if (literal && text.empty()) pattern.refuse("is empty");
  if (!literal) expression = pattern.text("Regex");
  pattern.finish();
  return text;
}

inline std::string one_character(Fields& fields, const std::string& name) {
  const std::string text = fields.text(name);
  if (text.empty() || code_point_bytes(text) != text.size()) {
    fields.refuse("has a \"" + name + "\" that is not one character");
  }
  return text;
}

}  // namespace tapestry
