// Parsing JSON that may be malicious: the one place that calls nlohmann's parser for files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tapestry {

using Json = nlohmann::json;

// The whole value. Throws Error ("it is not ...") for text that is not JSON, is nested more than 64
// deep, or has a name twice in one object.
Json parse_json(const std::string& text);

// As parse_json, of a text that must be an object; for texts so long and deep that their value
// could exhaust memory. Calls `visit` for each event while the text is parsed; its result says
// whether to keep the value, and what it checks and drops at once takes none. It has to refuse
// depth and names that stand twice itself. Throws Error, which begins with `what` ("its header").
void visit_json(const std::string& what, const std::string& text,
                const Json::parser_callback_t& visit);

}  // namespace tapestry
