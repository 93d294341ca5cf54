#include "tapestry/io/idx.hpp"

#include <cmath>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/memory.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

using Ids = std::vector<std::int32_t>;

// "00 ff 2a" as bytes, so that the tests show files as the format's page does.
std::string bytes(const std::string& hexadecimal) {
  std::string text;
  for (std::size_t at = 0; at + 1 < hexadecimal.size(); at += 3) {
    text += static_cast<char>(std::stoi(hexadecimal.substr(at, 2), nullptr, 16));
  }
  return text;
}

std::filesystem::path written(const TemporaryFolder& folder, const std::string& content) {
  std::ofstream(folder / "a-idx", std::ios::binary) << content;
  return folder / "a-idx";
}

Tensor read(const std::string& hexadecimal) {
  const TemporaryFolder folder;
  return read_idx(written(folder, bytes(hexadecimal)));
}

Indices read_indices(const std::string& hexadecimal) {
  const TemporaryFolder folder;
  return read_idx_indices(written(folder, bytes(hexadecimal)));
}

std::string refused(const std::string& hexadecimal, std::initializer_list<const char*> words) {
  const TemporaryFolder folder;
  const auto path = written(folder, bytes(hexadecimal));
  const std::string problem = complaint([&] { read_idx(path); }, words);
  return problem.empty() ? complaint([&] { read_idx(path); }, {"read_idx: ", "a-idx: "}) : problem;
}

const std::string labels = "00 00 08 01 00 00 00 03 05 00 ff ";
const std::string images = "00 00 08 03 00 00 00 02 00 00 00 01 00 00 00 03 00 01 02 fd fe ff ";

}  // namespace

TEST_CASE("each byte of a length counts", "[phase2][io]") {
  const TemporaryFolder folder;
  const std::string numbers(0x010203, '\7');
  const Tensor many = read_idx(written(folder, bytes("00 00 08 01 00 01 02 03 ") + numbers));
  CHECK(many.shape() == Shape{0x010203});
  CHECK(many.at({0x010202}) == 7);
}

TEST_CASE("images and labels of an MNIST file are read", "[phase2][io]") {
  CHECK(difference(read(images), {2, 1, 3}, {0, 1, 2, 253, 254, 255}) == "");
  CHECK(difference(read(labels), {3}, {5, 0, 255}) == "");
  const Indices ids = read_indices(labels);
  CHECK(ids.shape == Shape{3});
  CHECK(ids.values == Ids{5, 0, 255});
  CHECK(read_indices(images).shape == Shape{2, 1, 3});
  CHECK(read("00 00 08 02 00 00 00 00 00 00 00 1c ").shape() == Shape{0, 28});
  const std::string one = "00 00 00 01 ";
  CHECK(read("00 00 08 06 " + one + one + one + one + one + one + "07 ").shape() ==
        Shape{1, 1, 1, 1, 1, 1});
}

TEST_CASE("each type of number of IDX is read, big-endian", "[phase2][io]") {
  CHECK(difference(read("00 00 09 01 00 00 00 03 7f 80 ff "), {3}, {127, -128, -1}) == "");
  CHECK(difference(read("00 00 0b 01 00 00 00 02 01 02 ff fe "), {2}, {258, -2}) == "");
  CHECK(difference(read("00 00 0c 01 00 00 00 02 00 01 02 03 ff ff ff fd "), {2}, {66051, -3}) ==
        "");
  CHECK(difference(read("00 00 0d 01 00 00 00 02 3f c0 00 00 ff 80 00 00 "), {2},
                   {1.5, -infinity}) == "");
  CHECK(difference(read("00 00 0e 01 00 00 00 01 c0 04 00 00 00 00 00 00 "), {1}, {-2.5}) == "");
  CHECK(read_indices("00 00 09 01 00 00 00 02 7f 80 ").values == Ids{127, -128});
  CHECK(read_indices("00 00 0b 01 00 00 00 01 ff fe ").values == Ids{-2});
  CHECK(read_indices("00 00 0c 01 00 00 00 01 80 00 00 00 ").values == Ids{-2147483647 - 1});
}

TEST_CASE("numbers of IDX that would change are refused", "[phase2][io]") {
  const std::string odd = "00 00 0c 01 00 00 00 01 01 00 00 01 ";  // 2^24 + 1
  if (!in_double) {
    CHECK(refused(odd, {"its number 16777217 is not exact", "read_idx_indices"}) == "");
  }
  CHECK(read_indices(odd).values == Ids{16777217});
  CHECK(complaint([] { read_indices("00 00 0d 01 00 00 00 01 3f c0 00 00 "); },
                  {"read_idx_indices: ", "a-idx: indices must be whole numbers. Use read_idx"}) ==
        "");
}

TEST_CASE("what is no IDX file is refused in one line", "[phase2][io]") {
  CHECK(refused("", {"too short"}) == "");
  CHECK(refused("00 00 08 ", {"too short"}) == "");
  CHECK(refused("1f 8b 08 08 00 00 ", {"compressed", "gunzip"}) == "");
  CHECK(refused("50 4b 03 04 00 00 ", {"compressed", "unzip"}) == "");
  CHECK(refused("00 01 08 01 00 00 00 00 ", {"not an IDX file"}) == "");
  CHECK(refused("01 00 08 01 00 00 00 00 ", {"not an IDX file"}) == "");
  CHECK(refused("00 00 08 01 ", {"its sizes are cut off"}) == "");
  CHECK(refused("89 50 4e 47 0d 0a ", {"not an IDX file"}) == "");
  CHECK(refused("00 00 0a 01 00 00 00 00 ", {"of type 10", "8, 9, 11, 12, 13 and 14"}) == "");
  CHECK(refused("00 00 08 00 05 ", {"it has 0 axes: from 1 to 6"}) == "");
  CHECK(refused("00 00 08 07 00 00 ", {"it has 7 axes"}) == "");
  CHECK(refused("00 00 08 02 00 00 00 01 00 00 00 ", {"its sizes are cut off"}) == "");
  CHECK(refused("00 00 08 01 00 00 00 03 05 00 ", {"its shape (3) asks for 3 numbers of 1 bytes",
                                                   "there are 2 bytes", "cut off"}) == "");
  CHECK(refused(labels + "07 ", {"there are 4 bytes: something follows"}) == "");
  CHECK(refused("00 00 0c 01 00 00 00 01 00 00 00 01 07 ", {"5 bytes: something follows"}) == "");
  CHECK(complaint([] { read_idx("/nowhere/a-idx"); }, {"there is no such file"}) == "");
}

TEST_CASE("absurd sizes in an IDX file ask for no memory", "[phase2][io]") {
  const std::size_t before = memory_stats().peak_bytes;
  CHECK(refused("00 00 08 01 ff ff ff ff 05 ", {"asks for 4294967295 numbers", "cut off"}) == "");
  CHECK(refused("00 00 0e 03 ff ff ff ff ff ff ff ff ff ff ff ff 05 ",
                {"more elements than memory"}) == "");
  CHECK(refused("00 00 08 02 00 00 00 00 ff ff ff ff 05 ", {"something follows"}) == "");
  CHECK(memory_stats().peak_bytes - before < 1'000'000);
}
