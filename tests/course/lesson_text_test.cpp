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

TEST_CASE("a text is cut at nine tenths, but never within a character", "[phase7][course]") {
  const TextParts parts = parts_of("0123456789abcdefghij");
  CHECK(parts.learned == "0123456789abcdefgh");
  CHECK(parts.held_out == "ij");
  CHECK(parts_of("0123456789abcdefghi").learned == "012345678");
  const TextParts signs = parts_of("01234567→9");  // the cut would be within the arrow
  CHECK(signs.learned == "01234567→");
  CHECK(signs.held_out == "9");
  CHECK(parts_of("0123456é").learned == "");
  CHECK(parts_of("0123456é").held_out == "0123456é");
  CHECK(parts_of("01234567é").learned == "01234567é");  // nothing is left
  CHECK(parts_of("").held_out == "");
}

TEST_CASE("words take the blank in front of them, and all else is a sign", "[phase7][course]") {
  using Units = std::vector<std::string>;
  CHECK(words_and_signs("The cat, 2  x") == Units{"The", " cat", ",", " 2", " ", " x"});
  CHECK(words_and_signs(" é→ -") == Units{" é→", " ", "-"});
  CHECK(words_and_signs("a_b\n ") == Units{"a", "_", "b", "\n", " "});
  CHECK(words_and_signs("").empty());
}
