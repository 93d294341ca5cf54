#include "course/lesson_text.hpp"

#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

TEST_CASE("the text of the lessons is that of phases 0 to 6, page by page", "[phase7][course]") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  };
  write("phase6_last/README.md", "four.");
  write("phase6_last/1_part.md", "three ");
  write("phase0_first/README.md", "one ");
  write("phase3/README.md", "two ");
  write("phase3/33_step.cpp", "code");
  write("phase7_real/README.md", "left out");
  write("phase61/README.txt", "left out");
  write("phase-1/README.md", "left out");
  write("course/README.md", "left out");
  write("README.md", "left out");
  CHECK(lessons_text(folder / "") == "one two three four.");
}

TEST_CASE("a program reads the lessons, or the one file it is given", "[phase7][course]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.txt") << "my own text";
  const std::string path = (folder / "mine.txt").string();
  const char* const values[] = {"program", path.c_str(), "another"};
  const RealText mine = real_text(2, values);
  CHECK(mine.name == path);
  CHECK(mine.bytes == "my own text");
  CHECK(complaint([&] { real_text(3, values); },
                  {"give one text file, or none to read these lessons."}) == "");
  CHECK(complaint(
            [&] { lessons_text(folder / "none"); },
            {"none has no lessons", "in the root of the repository", "give it a text file"}) == "");
  CHECK(real_text(1, values).bytes == lessons_text());
  CHECK(lessons_text().size() > 100'000);
}
