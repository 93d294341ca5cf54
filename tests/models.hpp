// Real models, which the project does not contain: tests tagged [models] use the folder that the
// environment variable MODELS names, and pass without it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "catch.hpp"

// The folder of this name; none if MODELS is not set, which one line says. Fails the test if MODELS
// names a folder that lacks it.
inline std::optional<std::filesystem::path> model_folder(const std::string& name) {
  const char* const models = std::getenv("MODELS");
  static bool said = false;
  if (models == nullptr) {
    if (!said) std::cout << "tests of real models are left out: MODELS names no folder\n";
    said = true;
    SUCCEED("left out");
    return std::nullopt;
  }
  const std::filesystem::path folder = std::filesystem::path(models) / name;
  INFO("MODELS=" << models << ": " << folder);
  REQUIRE(std::filesystem::is_directory(folder));
  return folder;
}
