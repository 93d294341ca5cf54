#include "tapestry/io/safetensors.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "memory_limit.hpp"
#include "ops/expect.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

TEST_CASE("a safetensors file has exactly the bytes of the format", "[phase1][io]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "a.safetensors", {{"w", Tensor({2}, {1, -2})}}, {{"step", "7"}});
  const std::string bytes = content(folder / "a.safetensors");
  std::string header = R"({"__metadata__":{"step":"7"},"w":{"dtype":)" +
                       std::string(in_double ? R"("F64","shape":[2],"data_offsets":[0,16]}})"
                                             : R"("F32","shape":[2],"data_offsets":[0,8]}})");
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string expected(8, '\0');
  expected[0] = static_cast<char>(header.size());
  const real numbers[] = {1, -2};
  expected += header + std::string(reinterpret_cast<const char*>(numbers), sizeof numbers);
  CHECK(bytes == expected);
  for (std::size_t letters = 1; letters <= 8; ++letters) {  // the numbers begin at a multiple of 8
    const std::string name(letters, 'n');
    write_safetensors(folder / "b", {{name, Tensor({2}, {1, -2})}});
    const std::string text = content(folder / "b");
    const std::size_t length = static_cast<unsigned char>(text[0]), end = text.find("}}") + 2 - 8;
    CHECK(text.size() == 8 + length + sizeof numbers);
    CHECK(length == (end + 7) / 8 * 8);
  }
}

TEST_CASE("16 bits a number: the bytes of the format, and what is read back", "[phase2][io]") {
  const TemporaryFolder folder;
  const Tensor matrix({2, 2}, {1, -2, real{0.1}, 1e6});
  write_safetensors(folder / "a", {{"w", matrix}}, {}, Precision::half);
  std::string header = R"({"w":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  CHECK(content(folder / "a").substr(8) ==
        header + std::string("\x00\x3c\x00\xc0\x66\x2e\xff\x7b", 8));
  const std::vector<real> read = read_safetensors(folder / "a")["w"].values();
  CHECK(read == std::vector<real>{1, -2, real{0x1.998p-4}, 65504});

  Random random(5);
  const Tensor large = random.normal({201, 203});  // more than are converted at once
  write_safetensors(folder / "b", {{"t", transpose(large)}, {"w", matrix}, {"e", Tensor({0}, {})}},
                    {{"step", "7"}}, Precision::half);
  const Safetensors file = read_safetensors(folder / "b");
  CHECK(largest_difference(file["t"], transpose(large)) <= 0x1p-9);  // half a digit of 4 to 8
  CHECK(file["w"].values() == read);
  CHECK(file["e"].numel() == 0);
  CHECK(file.metadata.at("step") == "7");
}

TEST_CASE("what is written is read back: names, order, shapes, numbers, text", "[phase1][io]") {
  const TemporaryFolder folder;
  const Tensor matrix({2, 3}, {1, 2, 3, 4, 5, 6});
  const Parameters tensors = {{"z.weight", matrix},
                              {"a \"quoted\" n\xc3\xa4me", transpose(matrix)},
                              {"number", Tensor(0.25)},
                              {"empty", Tensor::zeros({3, 0})},
                              {"odd", Tensor({3}, {infinity, -infinity, 0})}};
  const std::map<std::string, std::string> metadata = {{"text", "line\nline"}, {"", ""}};
  write_safetensors(folder / "deep/er/a.safetensors", tensors, metadata);
  const Safetensors file = read_safetensors(folder / "deep/er/a.safetensors");
  CHECK(file.metadata == metadata);
  REQUIRE(file.tensors.size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CAPTURE(i);
    CHECK(file.tensors[i].name == tensors[i].name);
    CHECK(file.tensors[i].value.shape() == tensors[i].value.shape());
    CHECK(file.tensors[i].value.values() == tensors[i].value.values());
  }
  CHECK(file["number"].item() == real{0.25});
}

TEST_CASE("every bit of a number survives a file, so that training can go on", "[phase2][io]") {
  const TemporaryFolder folder;
  const Tensor x = random_tensor({1000});
  write_safetensors(folder / "a", {{"optimizer.mean.w", x}});
  CHECK(difference(read_safetensors(folder / "a")["optimizer.mean.w"], {1000}, doubles(x), 0) ==
        "");
}

TEST_CASE("NaN survives a file, and so does a file without tensors", "[phase1][io]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{"nan", Tensor(std::numeric_limits<double>::quiet_NaN())}});
  CHECK(std::isnan(read_safetensors(folder / "a")["nan"].item()));
  write_safetensors(folder / "a", {});
  CHECK(read_safetensors(folder / "a").tensors.empty());
  CHECK(read_safetensors(folder / "a").metadata.empty());
}

TEST_CASE("a failed write leaves the old checkpoint as it was", "[phase1][io]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{"w", Tensor(1)}});
  const std::string before = content(folder / "a");
  const auto refused = [&](const Parameters& tensors, const char* words,
                           const std::map<std::string, std::string>& metadata = {}) {
    return complaint([&] { write_safetensors(folder / "a", tensors, metadata); }, {words});
  };
  CHECK(refused({{"w", Tensor()}}, "tensor 'w' is undefined") == "");
  CHECK(refused({{"w", Tensor(1)}, {"w", Tensor(2)}}, "two tensors are called 'w'") == "");
  CHECK(refused({{"__metadata__", Tensor(1)}}, "may be called '__metadata__'") == "");
  CHECK(refused({{"\xff", Tensor(1)}}, "not UTF-8") == "");
  CHECK(refused({}, "not UTF-8", {{"key", "\xc3"}}) == "");
  CHECK(content(folder / "a") == before);
  CHECK(folder.files() == 1);
  CHECK(complaint([] { write_safetensors("/dev/full", {{"w", Tensor(1)}}); },
                  {"write_safetensors: cannot write /dev/full: No space left on device"}) == "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("saving takes no memory of its own, however large the tensors", "[phase2][io]") {
  // Never touched, it costs no real memory; more than the heap may have free from other tests.
  const Tensor large = Tensor::empty({128 << 20});
  release_pooled_memory();  // what other tests have left could hold the copy
  const MemoryLimit limit(large.buffer().bytes() / 4);
  CHECK_THROWS_AS(large.clone(), Error);
  CHECK_NOTHROW(write_safetensors("/dev/null", {{"a", large}, {"b", large}}));
  CHECK_NOTHROW(write_npy("/dev/null", large));
}
#endif

TEST_CASE("a tensor that a file lacks is named, with the closest there is", "[phase1][io]") {
  const Safetensors file = {{{"query.weight", Tensor(1)}, {"key.weight", Tensor(2)}}, {}};
  CHECK(file["key.weight"].item() == 2);
  CHECK(complaint([&] { file["qeury.weight"]; },
                  {"no tensor 'qeury.weight'", "Did you mean 'query.weight'?"}) == "");
  CHECK(complaint([&] { file["x"]; }, {"There are: 'query.weight', 'key.weight'."}) == "");
}

TEST_CASE("loading copies numbers into the model's own tensors", "[phase1][io]") {
  const Tensor w = Tensor::zeros({2}), b = Tensor::zeros({});
  const Tensor shares = w;
  load_parameters({{"w", w}, {"b", b}}, {{{"b", Tensor(3)}, {"w", Tensor({2}, {1, 2})}}, {}});
  CHECK(shares.values() == std::vector<real>{1, 2});
  CHECK(b.item() == 3);
}

TEST_CASE("loading what does not fit lists all that is wrong and changes nothing", "[phase1][io]") {
  const Parameters model = {
      {"w", Tensor::zeros({2})}, {"b", Tensor::zeros({3})}, {"gain", Tensor::zeros({1})}};
  const Safetensors file = {
      {{"w", Tensor({2}, {1, 2})}, {"b", Tensor({1}, {1})}, {"bias", Tensor(1)}}, {}};
  CHECK(complaint(
            [&] { load_parameters(model, file); },
            {"load_parameters: the file does not fit the model.", "Missing in the file: 'gain'.",
             "Not in the model: 'bias'.", "Of another shape: 'b' is (1), not (3)."}) == "");
  CHECK(model[0].value.values() == std::vector<real>{0, 0});

  Safetensors many;
  for (int i = 0; i < 8; ++i) many.tensors.push_back({"t" + std::to_string(i), Tensor(1)});
  CHECK(complaint([&] { load_parameters({}, many); },
                  {"Not in the model: 't0', 't1', 't2', 't3', 't4' and 3 more."}) == "");
  many.tensors.resize(5);
  CHECK(complaint([&] { load_parameters({}, many); },
                  {"Not in the model: 't0', 't1', 't2', 't3', 't4'."}) == "");
}

TEST_CASE("loading into a strided view is refused", "[phase1][io]") {
  const Tensor view = transpose(Tensor::zeros({2, 3}));
  const Safetensors file = {{{"w", Tensor::zeros({3, 2})}}, {}};
  CHECK(complaint([&] { load_parameters({{"w", view}}, file); }, {"'w' is a strided view"}) == "");
}
