// What one model did with one text, for the explorer's page (recording.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "changes.hpp"
#include "subject.hpp"

namespace tapestry::command {

using Json = nlohmann::ordered_json;

// Numbers as bytes, one list after the other.
class Block {
 public:
  // {"at": ..., "shape": ...} of what it appended.
  Json add(const Tensor& numbers);  // as 32-bit floats
  Json add(std::span<const std::int32_t> numbers, const Shape& shape);

  std::vector<std::byte> bytes = {};
};

// Printable words, each once; at() gives their places, and appends new ones.
struct WordList {
  std::int32_t at(const std::string& word);

  Words words = {};
  std::map<std::string, std::int32_t> places = {};
};

// "layers", "next" and "lens" of a run. With `baselines` each pattern is compared with models that
// learned nothing, which takes many times as long; these read the text without the changes. No
// Capture may be active.
Json recorded_run(const Subject& subject, const Reading& reading, const Changes& changes,
                  bool baselines, Block& block, WordList& words);

}  // namespace tapestry::command
