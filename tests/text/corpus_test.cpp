#include "tapestry/text/corpus.hpp"

#include <fstream>
#include <numeric>
#include <set>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

using Ids = std::vector<std::int32_t>;

Indices counted(Index count) {
  Ids values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return Indices({count}, std::move(values));
}

std::string read(const std::string& bytes) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.txt", std::ios::binary) << bytes;
  return read_text(folder / "a.txt");
}

}  // namespace

TEST_CASE("a text file is read as it is, without a byte order mark", "[phase2][text]") {
  CHECK(read("To be,\r\nor not \xE2\x80\xA6") == "To be,\r\nor not \xE2\x80\xA6");
  CHECK(read("\xEF\xBB\xBFtext") == "text");
  CHECK(read(" ") == " ");
}

TEST_CASE("files that are no text are refused by name", "[phase2][text]") {
  const TemporaryFolder folder;
  const std::string place = (folder / "").string();
  CHECK(complaint([&] { read_text(folder / "none"); },
                  {"read_text: ", "none: there is no such file."}) == "");
  CHECK(complaint([&] { read_text(folder / ""); }, {place.c_str(), "not a regular file"}) == "");
  CHECK(complaint([] { read_text("/dev/zero"); }, {"not a regular file"}) == "");
  CHECK(complaint([] { read(""); }, {"a.txt: it is empty"}) == "");
  CHECK(complaint([] { read("\xEF\xBB\xBF"); }, {"a.txt: it is empty"}) == "");
  CHECK(complaint([] { read("caf\xE9"); }, {"a.txt: ", "not UTF-8 at byte 3 of 4", "iconv"}) == "");
  std::ofstream(folder / "large") << "a";
  std::filesystem::resize_file(folder / "large", 256'000'001);  // sparse: takes no room
  CHECK(complaint([&] { read_text(folder / "large"); }, {"256000001 bytes", "the limit"}) == "");
  std::filesystem::resize_file(folder / "large", 0);
  std::ofstream(folder / "large") << "\xFF";
  std::filesystem::resize_file(folder / "large", 256'000'000);
  CHECK(complaint([&] { read_text(folder / "large"); }, {"not UTF-8 at byte 0 of 256000000"}) ==
        "");
}

TEST_CASE("the end of a text is held out", "[phase2][text]") {
  const SplitText text = split_text(counted(25), 0.2);
  CHECK(text.train.shape == Shape{20});
  CHECK(text.held_out.values == Ids{20, 21, 22, 23, 24});
  CHECK(split_text(counted(25)).held_out.shape == Shape{3});
  CHECK(split_text(counted(3), 0).train.values == Ids{0, 1, 2});
  CHECK(split_text(counted(3), 1).train.shape == Shape{0});
  CHECK(split_text(counted(0)).held_out.shape == Shape{0});
  CHECK(complaint([] { split_text(counted(3), 1.5); }, {"held_out is 1.5", "0 and 1"}) == "");
  CHECK(complaint([] { split_text(counted(3), -1e-9); }, {"held_out is -1e-09"}) == "");
  CHECK(complaint([] { split_text(counted(3), std::nan("")); }, {"split_text: held_out"}) == "");
  CHECK(complaint([] { split_text(Indices({1, 2}, {1, 2})); }, {"ids are (1, 2)"}) == "");
  Indices lacking = counted(3);
  lacking.values.pop_back();
  CHECK(complaint([&] { split_text(lacking); }, {"split_text: ", "(3)"}) == "");
}

TEST_CASE("windows are pieces of the text, each with the id behind as target", "[phase2][text]") {
  Random random(1);
  const Batch batch = random_windows(counted(10), 500, 4, random);
  CHECK(batch.inputs.shape == Shape{500, 4});
  CHECK(batch.targets.shape == Shape{500, 4});
  CHECK(batch.lengths == std::vector<Index>(500, 4));
  std::set<std::int32_t> first;
  bool good = true;
  for (std::size_t i = 0; i < batch.inputs.values.size(); ++i) {
    if (i % 4 == 0) first.insert(batch.inputs.values[i]);
    good &= batch.targets.values[i] == batch.inputs.values[i] + 1;
    good &= i % 4 == 0 || batch.inputs.values[i] == batch.inputs.values[i - 1] + 1;
  }
  CHECK(good);
  CHECK(first == std::set<std::int32_t>{0, 1, 2, 3, 4, 5});  // all that there are
  Random again(1);
  CHECK(random_windows(counted(10), 500, 4, again).inputs.values == batch.inputs.values);
  CHECK(random_windows(counted(2), 1, 1, random).targets.values == Ids{1});
}

TEST_CASE("a text that is too short for its windows is refused", "[phase2][text]") {
  Random random(1);
  CHECK(complaint([&] { random_windows(counted(4), 2, 4, random); },
                  {"2 rows of 4 from a text of 4", "longer than a row"}) == "");
  CHECK(random_windows(counted(2), 1, 1, random).targets.values == Ids{1});
  CHECK(random_windows(counted(4), 1, 3, random).targets.values == Ids{1, 2, 3});
  CHECK(complaint([&] { random_windows(counted(4), 0, 2, random); }, {"1 or more"}) == "");
  CHECK(complaint([&] { random_windows(counted(4), 2, 0, random); }, {"1 or more"}) == "");
  CHECK(complaint([&] { random_windows(Indices({2, 2}, Ids(4)), 1, 1, random); },
                  {"random_windows: ids are (2, 2)"}) == "");
}
