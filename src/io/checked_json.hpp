// Parsing JSON that nobody vouches for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tapestry {

// Calls `visit` for each event, as nlohmann::json::parse does, while the text is parsed. The result
// of `visit` says whether to keep the value: what is checked and dropped at once exhausts no
// memory, however long and deep the text is. Throws Error, which begins with `what` ("its header"),
// unless the text is one JSON object.
void visit_json(const std::string& what, const std::string& text,
                const nlohmann::json::parser_callback_t& visit);

}  // namespace tapestry
