#include "text/json.hpp"

#include <unordered_set>
#include <utility>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

// Sees a file while it is parsed.
class Watcher {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    if (depth > 64) throw Error("it is nested more than 64 deep.");
    if (event == Event::object_start) {
      names_.emplace_back();
    } else if (event == Event::object_end) {
      names_.pop_back();
    } else if (event == Event::key) {
      const auto& name = value.get_ref<const std::string&>();
      if (!names_.back().insert(name).second) {
        throw Error("the name " + in_quotes(name) + " stands twice in one object.");
      }
    }
    return true;
  }

 private:
  std::vector<std::unordered_set<std::string>> names_;  // of each open object
};

}  // namespace

Json parse_json(const std::string& text) {
  if (text.empty()) return Json::object();
  if (const std::size_t at = text.find('\0'); at != text.npos) {  // the parser would end there
    throw Error("it has a NUL byte, at byte " + std::to_string(at) + ": it is not JSON.");
  }
  try {
    Watcher watcher;
    return Json::parse(text, [&](int depth, Json::parse_event_t event, Json& value) {
      return watcher(depth, event, value);
    });
  } catch (const Json::parse_error& error) {
    throw Error("it is not valid JSON near byte " + std::to_string(error.byte) + " of " +
                std::to_string(text.size()) + ".");
  } catch (const Json::exception&) {
    throw Error("it has a number that is out of range.");
  }
}

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

std::int64_t Fields::count(const std::string& name, std::int64_t fallback) {
  return find(name) ? count(name) : fallback;
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
