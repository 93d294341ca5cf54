#include "text/fields.hpp"

#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
Fields::Fields(const Json& json, std::string what) : json_(json), what_(std::move(what)) {
  if (!json.is_object()) throw Error(what_ + " must be a JSON object.");
}

const Json* Fields::find(const std::string& name) {
  known_.insert(name);
  const auto found = json_.find(name);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const Json& Fields::at(const std::string& name) {
  const Json* found = find(name);
  if (!found) refuse("has no \"" + name + "\"");
  return *found;
}

std::string Fields::text(const std::string& name) {
  const Json& value = at(name);
  if (!value.is_string()) refuse("has a \"" + name + "\" that is not text");
  return value.get<std::string>();
}

std::string Fields::text(const std::string& name, const std::string& fallback) {
  return find(name) ? text(name) : fallback;
}

bool Fields::flag(const std::string& name, bool fallback) {
  const Json* value = find(name);
  if (!value) return fallback;
  if (!value->is_boolean()) refuse("has a \"" + name + "\" that is not true or false");
  return value->get<bool>();
}

std::int64_t Fields::count(const std::string& name) {
  const Json& value = at(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 1'000'000'000'000) {
    refuse("has a \"" + name + "\" that is not a whole number from 0 on");
  }
  return value.get<std::int64_t>();
}

const Json& Fields::list(const std::string& name) {
  const Json& value = at(name);
  if (!value.is_array()) refuse("has a \"" + name + "\" that is not a list");
  return value;
}

void Fields::finish() const {
  for (const auto& [name, value] : json_.items()) {
    if (!known_.count(name)) {
      refuse("has an option that is not known, " + in_quotes(name));
    }
  }
}

void Fields::refuse(const std::string& complaint) const {
  throw Error(what_ + " " + complaint + ".");
}

}  // namespace tapestry
