// Where the lessons look for the real model.
#include "course/real_model.hpp"

#include <fstream>

#include "catch.hpp"
#include "printed_by.hpp"
#include "temporary_folder.hpp"

namespace fs = std::filesystem;

namespace {

// The current folder and MODELS, put back at the end of a test.
struct Place {
  fs::path folder = fs::current_path();
  std::optional<std::string> models;

  Place() {
    if (const char* const set = std::getenv("MODELS")) models = set;
    ::unsetenv("MODELS");
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    fs::current_path(folder);
    models ? ::setenv("MODELS", models->c_str(), 1) : ::unsetenv("MODELS");
  }
};

void make_model(const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream(folder / "config.json") << "{}";
}

}  // namespace

TEST_CASE("the real model is in the folder MODELS, or else in out/models", "[phase7][course]") {
  const Place place;
  const TemporaryFolder here, there;
  fs::current_path(here / "");
  CHECK(!tapestry::real_model());
  make_model("out/models/stories260K");
  CHECK(tapestry::real_model() == fs::path("out/models/stories260K"));
  CHECK(!tapestry::real_model("another"));
  ::setenv("MODELS", (there / "").c_str(), 1);
  CHECK(tapestry::real_model() == fs::path("out/models/stories260K"));
  fs::create_directories(there / "stories260K");  // without a config.json it is no model
  CHECK(tapestry::real_model() == fs::path("out/models/stories260K"));
  make_model(there / "stories260K");
  CHECK(tapestry::real_model() == there / "stories260K");
  ::setenv("MODELS", "", 1);
  CHECK(tapestry::real_model() == fs::path("out/models/stories260K"));
}

TEST_CASE("what is left out without the real model says how to get it", "[phase7][course]") {
  const std::string line = stdout_of([] { tapestry::print_left_out("the tree"); });
  CHECK(line.starts_with("the tree: left out, for stories260K is not here. "));
  CHECK(line.find("tapestry convert stories260K.bin out/models/stories260K ") != line.npos);
  CHECK(line.find('\n') == line.size() - 1);
}
