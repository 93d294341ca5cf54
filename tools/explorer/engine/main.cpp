// The engine as a program. In the browser: functions that a script calls. Else: it reads a request
// on each line, writes an answer on each line, with its blocks in base64 as "blocks".
#include <iostream>
#include <string>

#include "engine.hpp"
#ifndef __EMSCRIPTEN__
#include "page_file.hpp"
#endif

namespace {

tapestry::engine::Engine engine;
tapestry::engine::Answer answer;
std::string text;

void call(const std::string& request) {
  using tapestry::engine::Json;
  const Json parsed = Json::parse(request, nullptr, false);
  if (parsed.is_object()) {
    answer = engine.call(parsed);
  } else {
    answer = {{{"error", "the request is no JSON object."}}};
  }
  text = answer.json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

#ifdef __EMSCRIPTEN__
extern "C" {
// The answer's JSON; it, and the blocks, stay until the next call.
const char* tapestry_call(const char* request) {
  call(request);
  return text.c_str();
}
int tapestry_block_count() { return static_cast<int>(answer.blocks.size()); }
const std::byte* tapestry_block(int i) { return answer.blocks[static_cast<std::size_t>(i)].data(); }
int tapestry_block_size(int i) {
  return static_cast<int>(answer.blocks[static_cast<std::size_t>(i)].size());
}
}
#else
int main() {
  for (std::string line; std::getline(std::cin, line);) {
    call(line);
    tapestry::engine::Json blocks = tapestry::engine::Json::array();
    for (const auto& block : answer.blocks) blocks.push_back(tapestry::command::base64(block));
    std::cout << text.substr(0, text.size() - 1) << (text == "{}" ? "" : ",")
              << "\"blocks\":" << blocks.dump() << "}" << std::endl;
  }
}
#endif
