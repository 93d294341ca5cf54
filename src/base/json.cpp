#include "base/json.hpp"

#include <unordered_set>
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

Json parsed(const std::string& what, const std::string& text,
            const Json::parser_callback_t& visit) {
  if (const std::size_t at = text.find('\0'); at != text.npos) {  // the parser would end there
    throw Error(what + " has a NUL byte, at byte " + std::to_string(at) + ": it is not JSON.");
  }
  std::string problem;
  try {
    return Json::parse(text, visit);
  } catch (const Json::parse_error& error) {
    problem = " is not valid JSON near byte " + std::to_string(error.byte) + " of " +
              std::to_string(text.size()) + ".";
  } catch (const Json::exception&) {
    problem = " has a number that is out of range.";
  }
  throw Error(what + problem);
}

}  // namespace

Json parse_json(const std::string& text) {
  Watcher watcher;
  return parsed("it", text, [&](int depth, Json::parse_event_t event, Json& value) {
    return watcher(depth, event, value);
  });
}

void visit_json(const std::string& what, const std::string& text,
                const Json::parser_callback_t& visit) {
  if (!text.starts_with('{')) throw Error(what + " is not a JSON object.");
  (void)parsed(what, text, visit);
}

}  // namespace tapestry
