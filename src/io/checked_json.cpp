#include "io/checked_json.hpp"

#include "tapestry/error.hpp"

namespace tapestry {

void visit_json(const std::string& what, const std::string& text,
                const nlohmann::json::parser_callback_t& visit) {
  if (!text.starts_with('{')) throw Error(what + " is not a JSON object.");
  if (const std::size_t at = text.find('\0'); at != text.npos) {  // the parser would end there
    throw Error(what + " has a NUL byte, at byte " + std::to_string(at) + ".");
  }
  try {
    [[maybe_unused]] const nlohmann::json rest = nlohmann::json::parse(text, visit);
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(what + " is not valid JSON near byte " + std::to_string(error.byte) + ".");
  } catch (const nlohmann::json::exception&) {
    throw Error(what + " has a number that is out of range.");
  }
}

}  // namespace tapestry
