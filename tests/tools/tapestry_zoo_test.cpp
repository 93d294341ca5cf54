// `tapestry zoo`: lists, draws and explains what tutorials/course/zoo.hpp holds.
#include "catch.hpp"
#include "course/zoo.hpp"
#include "process.hpp"

using namespace tapestry;

TEST_CASE("tapestry zoo lists all broken models, and none of the answers", "[phase6][tools]") {
  const TemporaryFolder folder;
  const Result made = tapestry_in(folder / "", "zoo");
  CHECK(wrong(made) == "");
  CHECK(folder.files() == 0);
  for (const ZooCase& one : zoo()) {
    CAPTURE(one.name);
    CHECK(has(unfolded(made.out), one.name + " " + one.question + " "));
    CHECK(!has(unfolded(made.out), one.mistake));
  }
}

TEST_CASE("tapestry zoo draws a broken model, and tells the answer if it is asked",
          "[phase6][tools]") {
  const TemporaryFolder folder;
  const Result asked = tapestry_in(folder / "", "zoo map6");
  const Result told = tapestry_in(folder / "", "zoo jacobian3 --answer --out o --format svg");
  CHECK(wrong(asked) == "");
  CHECK(wrong(told) == "");
  CHECK(is_picture(folder / "out/plots/zoo_map6.png"));
  CHECK(content(folder / "o/zoo_jacobian3.svg").starts_with("<svg xmlns="));
  for (const ZooCase& one : zoo()) {
    const bool is_told = one.name == "jacobian3";
    CAPTURE(one.name);
    CHECK(has(unfolded(asked.out), one.question) == (one.name == "map6"));
    CHECK(!has(unfolded(asked.out), one.mistake));
    CHECK(has(unfolded(told.out), one.mistake + " " + one.sign + " ") == is_told);
  }
}

TEST_CASE("tapestry zoo refuses what it does not hold", "[phase6][tools]") {
  const TemporaryFolder folder;
  const Result unknown = tapestry_in(folder / "", "zoo mpa1");
  const Result nameless = tapestry_in(folder / "", "zoo --answer");
  CHECK(unknown.status == 1);
  CHECK(has(unknown.err, "'mpa1' is not in the zoo"));
  CHECK(has(unknown.err, "Did you mean map1?"));
  CHECK(nameless.status == 1);
  CHECK(has(nameless.err, "--answer needs a name"));
  CHECK(unknown.out + nameless.out == "");
  CHECK(folder.files() == 0);
}
