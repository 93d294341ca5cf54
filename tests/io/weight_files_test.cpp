// Weights in folders as Hugging Face lays them out.
#include "tapestry/io/weight_files.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "io/raw_safetensors.hpp"
#include "models.hpp"
#include "ops/expect.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/ops.hpp"
#include "temporary_folder.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// One tensor "w" of the given type, whose header ends at an odd byte, so that the numbers are not
// aligned, unless `aligned`.
std::string with_tensor(const std::string& dtype, const std::string& shape, const std::string& data,
                        bool aligned = false) {
  std::string header = R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape +
                       R"(,"data_offsets":[0,)" + std::to_string(data.size()) + "]}}";
  header.resize(aligned ? (header.size() + 7) / 8 * 8 : header.size() / 8 * 8 + 9, ' ');
  return with_length(header, data);
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::vector<float> counted(Index count) {
  std::vector<float> numbers;
  for (Index i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i));
  return numbers;
}

}  // namespace

TEST_CASE("weights are read whole, and into a transposed view", "[phase7][io]") {
  for (const bool aligned : {false, true}) {
    const TemporaryFolder folder;
    put(folder / "model.safetensors", with_tensor("F32", "[2,3]", bytes_of(counted(6)), aligned));
    const WeightFiles files(folder / "");
    REQUIRE(files.entries().size() == 1);
    CHECK(files.entries()[0].name == "w");
    CHECK(files["w"].shape == Shape{2, 3});
    CHECK(files["w"].dtype == "F32");
    CHECK(files["w"].file == "model.safetensors");
    CHECK(files.contains("w"));
    CHECK_FALSE(files.contains("v"));
    const Tensor whole = Tensor::zeros({2, 3}), turned = Tensor::zeros({3, 2});
    files.read("w", whole);
    files.read("w", transpose(turned));
    CHECK(difference(whole, {2, 3}, {0, 1, 2, 3, 4, 5}) == "");
    CHECK(difference(turned, {3, 2}, {0, 3, 1, 4, 2, 5}) == "");
  }
}

TEST_CASE("parts of a tensor are read: columns, rows, and those of every head", "[phase7][io]") {
  const TemporaryFolder folder;
  put(folder / "model.safetensors", with_tensor("F32", "[12,2]", bytes_of(counted(24)), true));
  const WeightFiles files(folder / "");
  const Tensor column = Tensor::zeros({12, 1}), rows = Tensor::zeros({2, 2});
  files.read("w", column, {.axis = 1, .begin = 1});
  CHECK(column.at({0, 0}) == 1);
  CHECK(column.at({11, 0}) == 23);
  files.read("w", rows, {.begin = 10});
  CHECK(difference(rows, {2, 2}, {20, 21, 22, 23}) == "");
  // Two heads, each with query, key and value of two rows: the keys of both, as (in, out).
  const Tensor key = Tensor::zeros({2, 4});  // (in, heads * width)
  files.read("w", permute(reshape(key, {2, 2, 1, 2}), {1, 2, 3, 0}),
             {.shape = {2, 3, 2, 2}, .axis = 1, .begin = 1});
  CHECK(difference(key, {2, 4}, {4, 6, 16, 18, 5, 7, 17, 19}) == "");
}

TEST_CASE("weights of 16 bits and doubles are converted, whole and in parts", "[phase7][io]") {
  const std::vector<std::uint16_t> half = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x8000};
  const std::vector<std::uint16_t> brain = {0x3f80, 0xc000, 0x0001, 0x7f7f, 0x7f80, 0x8000};
  const TemporaryFolder folder;
  const auto read = [&](const std::string& dtype, const std::string& data) {
    const Tensor whole = Tensor::zeros({2, 3}), turned = Tensor::zeros({3, 2});
    const Tensor last = Tensor::zeros({2, 1}), again = Tensor::zeros({2, 3});
    put(folder / "model.safetensors", with_tensor(dtype, "[2,3]", data, true));
    WeightFiles(folder / "").read("w", again);
    put(folder / "model.safetensors", with_tensor(dtype, "[2,3]", data));
    const WeightFiles files(folder / "");
    files.read("w", whole);
    files.read("w", transpose(turned));
    files.read("w", last, {.axis = 1, .begin = 2});
    CHECK(largest_difference(again, whole) == 0);
    CHECK(largest_difference(transpose(turned), whole) == 0);
    CHECK(largest_difference(last, slice(whole, 1, 2, 3)) == 0);
    return whole.values();
  };
  CHECK(read("F16", bytes_of(half)) ==
        std::vector<real>{1, -2, real{0x1p-24}, 65504, real(infinity), 0});
  CHECK(read("BF16", bytes_of(brain)) ==
        std::vector<real>{1, -2, real{0x1p-133}, real{0x1.fep127}, real(infinity), 0});
  CHECK(read("F64", bytes_of(std::vector<double>{0.1, -2, 3, 4, 5, 6})) ==
        std::vector<real>{real(0.1), -2, 3, 4, 5, 6});
  CHECK(read("I16", bytes_of(std::vector<std::int16_t>{-1, -2, 3, 4, 5, 6})) ==
        std::vector<real>{-1, -2, 3, 4, 5, 6});
}

TEST_CASE("a tensor of more than a piece is read in pieces", "[phase7][io]") {
  const Index piece = 1 << 20;
  const TemporaryFolder folder;
  for (const Shape& shape : {Shape{2 * piece + 5}, Shape{1, 3, piece + 7}, Shape{1500, 1001}}) {
    std::string sizes;
    for (const Index size : shape) sizes += (sizes.empty() ? "[" : ",") + std::to_string(size);
    const std::vector<float> numbers = counted(shape.numel());
    put(folder / "model.safetensors",
        with_tensor("F32", sizes + "]", bytes_of(numbers), shape.ndim() == 2));
    const WeightFiles files(folder / "");
    const Tensor whole = Tensor::zeros(shape);
    files.read("w", whole);
    CHECK(whole.values() == std::vector<real>(numbers.begin(), numbers.end()));
    if (shape.ndim() == 1) continue;
    const Tensor turned = Tensor::zeros(transpose(whole).shape());
    files.read("w", transpose(turned));
    CHECK(largest_difference(turned, transpose(whole)) == 0);
    const Tensor half = Tensor::zeros(shape.with(-1, shape[-1] / 2));
    files.read("w", half, {.axis = -1, .begin = 3});
    CHECK(largest_difference(half, slice(whole, -1, 3, 3 + shape[-1] / 2)) == 0);
  }
}

TEST_CASE("threads convert a part of a tensor that ends between its rows", "[phase7][io]") {
  const TemporaryFolder folder;
  const SmallWorkShared shared;
  put(folder / "model.safetensors", with_tensor("F32", "[5,7]", bytes_of(counted(35))));
  const WeightFiles files(folder / "");
  for (const int threads : {1, 2, 3}) {
    use_threads(threads);
    const Tensor part = Tensor::zeros({5, 3});
    files.read("w", part, {.axis = 1, .begin = 2});
    CHECK(difference(part, {5, 3}, {2, 3, 4, 9, 10, 11, 16, 17, 18, 23, 24, 25, 30, 31, 32}) == "");
  }
}

TEST_CASE("the pages of the file do not stay in memory", "[phase7][io]") {
  const auto resident = [] {  // of files, in KB
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
      if (word == "RssFile:") return status >> word, std::stol(word);
    }
    return 0L;
  };
  const Index count = 10 << 20;
  const TemporaryFolder folder;
  put(folder / "model.safetensors", with_tensor("BF16", "[" + std::to_string(count) + "]",
                                                std::string(std::size_t(2 * count), '\0'), true));
  const WeightFiles files(folder / "");
  const Tensor numbers = Tensor::ones({count});
  const long before = resident();
  files.read("w", numbers);
  CHECK(before > 0);
  CHECK(resident() < before + 4000);  // the file has 20 MB
  CHECK(sum(numbers).item() == 0);
}

TEST_CASE("a wrong name, shape, part or type of a weight is named", "[phase7][io]") {
  const TemporaryFolder folder;
  put(folder / "model.safetensors", with_tensor("F32", "[2,3]", bytes_of(counted(6))));
  const WeightFiles files(folder / "");
  const Tensor x = Tensor::zeros({2, 3});
  CHECK(complaint([&] { files.read("v", x); }, {"there is no tensor 'v'."}) == "");
  CHECK(complaint([&] { files["ww"]; }, {"'ww'. Did you mean 'w'?"}) == "");
  CHECK(complaint([&] { files.read("w", transpose(x)); },
                  {"model.safetensors: tensor 'w' is (2, 3), but (3, 2) was asked for."}) == "");
  CHECK(complaint([&] { files.read("w", Tensor::zeros({1, 3})); }, {"(1, 3) was asked"}) == "");
  const auto refuses_part = [&](const Shape& into, const WeightPart& part, const char* words) {
    return complaint([&] { files.read("w", Tensor::zeros(into), part); }, {words}) == "";
  };
  CHECK(refuses_part({2, 3}, {.begin = 1},
                     "it is (2, 3), but positions 1 to 2 of axis 0 were asked for."));
  CHECK(refuses_part({2, 1}, {.axis = 1, .begin = -1}, "positions -1 to -1 of axis 1"));
  CHECK(refuses_part({2, 1}, {.axis = 1, .begin = Index(1) << 62}, "of axis 1 were asked"));
  CHECK(refuses_part({3, 3}, {}, "positions 0 to 2 of axis 0"));
  CHECK(refuses_part({2, 2}, {}, "it is (2, 3), but (2, 2) was asked for."));
  CHECK(refuses_part({7}, {.shape = {7}}, "seen as (7), but that is another count of numbers"));
  CHECK(refuses_part({2, 3}, {.axis = 2}, "tensor 'w': the part"));
  put(folder / "model.safetensors", with_tensor("F8_E4M3", "[2,3]", "abcdef"));
  CHECK(complaint(
            [&] { WeightFiles(folder / "").read("w", x); },
            {"model.safetensors: tensor 'w': numbers of its dtype, F8_E4M3, are not read."}) == "");
  put(folder / "model.safetensors", with_tensor("BOOL", "[2,3]", "\1\1\1\1\1\2"));
  CHECK(complaint([&] { WeightFiles(folder / "").read("w", x); },
                  {"model.safetensors: tensor 'w': its number 2 is neither false (0) nor true "
                   "(1)."}) == "");
  const SmallWorkShared shared;
  use_threads(3);
  put(folder / "model.safetensors",
      with_tensor("BOOL", "[1000]", std::string(999, '\1') + std::string(1, '\2')));
  CHECK(complaint([&] { WeightFiles(folder / "").read("w", Tensor::zeros({1000})); },
                  {"its number 2 is neither"}) == "");
}

TEST_CASE("the weights of real folders are those that read_safetensors finds", "[phase7][models]") {
  for (const char* name : {"stories260K", "gpt2-random-f16"}) {
    const auto folder = model_folder(name);
    if (!folder) continue;
    const WeightFiles files(*folder);
    const Safetensors all = read_safetensors(*folder / "model.safetensors");
    CHECK(files.entries().size() == all.tensors.size());
    for (const auto& [tensor, value] : all.tensors) {
      const Tensor read = Tensor::empty(value.shape());
      files.read(tensor, read);
      CHECK(largest_difference(read, value) == 0);
    }
  }
}
