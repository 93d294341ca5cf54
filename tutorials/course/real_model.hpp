// The real model of phase 7, which others trained. The project does not contain it; what
// needs it is left out where it is not there.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace tapestry {

// The folder of this name in the folder that the environment variable MODELS names, or else in
// out/models. None where neither has a config.json.
inline std::optional<std::filesystem::path> real_model(const std::string& name = "stories260K") {
  const char* const models = std::getenv("MODELS");
  for (const std::filesystem::path place : {models == nullptr ? "" : models, "out/models"}) {
    std::error_code none;
    if (!place.empty() && std::filesystem::exists(place / name / "config.json", none)) {
      return place / name;
    }
  }
  return std::nullopt;
}

// One line, which says what is left out and how to get the model.
inline void print_left_out(const char* what) {
  std::printf(
      "%s: left out, for stories260K is not here. Get stories260K.bin and tok512.bin (1 MB) from "
      "huggingface.co/karpathy/tinyllamas, then: build/release/tools/tapestry convert "
      "stories260K.bin out/models/stories260K --tokenizer tok512.bin\n",
      what);
}

}  // namespace tapestry
