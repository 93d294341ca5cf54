// Weights in several files with an index; folders that hold none; and writing them.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catch.hpp"
#include "io/raw_safetensors.hpp"
#include "models.hpp"
#include "ops/expect.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/io/weight_files.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// True if opening the folder throws Error with these words, on one line.
bool refuses(const std::filesystem::path& folder, const std::string& words) {
  std::string message = "no error";
  try {
    const WeightFiles files(folder);
  } catch (const Error& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.starts_with("read_weights: " + folder.string().substr(0, folder.string().size())));
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.find(words) != std::string::npos);
  return message.find(words) != std::string::npos;
}

// A folder with tensors "a" and "b" in a file each, and an index.
struct Shards {
  TemporaryFolder folder;

  Shards() {
    write_safetensors(folder / "1.safetensors", {{"a", Tensor({2}, {1, 2})}});
    write_safetensors(folder / "2.safetensors", {{"b", Tensor({1}, {3})}});
    index(R"({"a":"1.safetensors","b":"2.safetensors"})");
  }
  void index(const std::string& map) const {
    put(folder / "model.safetensors.index.json",
        R"({"metadata":{"x":[1]},"weight_map":)" + map + "}");
  }
  std::filesystem::path path() const { return folder / ""; }
};

}  // namespace

TEST_CASE("shards are read as one, and only those that the index names", "[phase7][io]") {
  const Shards shards;
  put(shards.folder / "3.safetensors", "not opened");
  const WeightFiles files(shards.path());
  REQUIRE(files.entries().size() == 2);
  CHECK(files["b"].file == "2.safetensors");
  const Tensor a = Tensor::zeros({2}), b = Tensor::zeros({1});
  files.read("a", a);
  files.read("b", b);
  CHECK(difference(a, {2}, {1, 2}) == "");
  CHECK(difference(b, {1}, {3}) == "");
  write_safetensors(shards.folder / "model.safetensors", {{"c", Tensor(1)}});
  CHECK(WeightFiles(shards.path()).contains("c"));  // one file counts before an index
  CHECK(WeightFiles(shards.path()).entries().size() == 1);
}

TEST_CASE("shards that do not fit their index are refused", "[phase7][io]") {
  const Shards shards;
  const auto& folder = shards.folder;
  shards.index(R"({"a":"2.safetensors","b":"2.safetensors"})");
  CHECK(refuses(shards.path(),
                "model.safetensors.index.json: it says that 'a' is in 2.safetensors, which has no "
                "such tensor."));
  shards.index(R"({"a":"1.safetensors","b":"1.safetensors","c":"2.safetensors"})");
  CHECK(refuses(shards.path(), "it says that 'b' is in 1.safetensors"));
  shards.index(R"({"a":"1.safetensors","b":"3.safetensors"})");
  CHECK(refuses(shards.path(), "3.safetensors: there is no such file."));
  std::filesystem::create_directory(folder / "3.safetensors");
  CHECK(refuses(shards.path(), "3.safetensors: it is not a regular file."));
  write_safetensors(folder / "4.safetensors", {{"a", Tensor(1)}, {"b", Tensor(2)}});
  shards.index(R"({"a":"1.safetensors","b":"4.safetensors"})");
  CHECK(refuses(shards.path(), "4.safetensors: its tensor 'a' is in 1.safetensors, too."));
}

TEST_CASE("a weight file cut off anywhere is refused", "[phase7][io]") {
  const Shards shards;
  const std::string whole = content(shards.folder / "2.safetensors");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    put(shards.folder / "2.safetensors", whole.substr(0, length));
    const std::string why = length < 8                             ? "it is too short"
                            : length < whole.size() - sizeof(real) ? "its header should have"
                                                                   : "its tensors take";
    CHECK(refuses(shards.path(), "2.safetensors: " + why));
  }
}

TEST_CASE("an index that is none is refused", "[phase7][io]") {
  const Shards shards;
  const auto refuses_map = [&](const std::string& map, const std::string& words) {
    shards.index(map);
    return refuses(shards.path(), words);
  };
  CHECK(refuses_map("{}", "has no \"weight_map\" that names a file"));
  CHECK(refuses_map("[]", "a \"weight_map\" that is not a JSON object"));
  CHECK(refuses_map("[\"1.safetensors\"]", "that is not a JSON object"));
  CHECK(refuses_map("\"1.safetensors\"", "that is not a JSON object"));
  CHECK(refuses_map("{\"a\":1}", "the index has no file's name for 'a'"));
  CHECK(refuses_map("{\"a\":{}}", "no file's name for 'a'"));
  CHECK(refuses_map("{\"a\":[\"1.safetensors\"]}", "no file's name for 'a'"));
  CHECK(refuses_map(R"({"a":"1.safetensors","a":"1.safetensors"})", "tensor 'a' twice"));
  for (const char* name : {"../1.safetensors", "/1.safetensors", "x/1.safetensors", "1.bin", "",
                           "1\\u0000.safetensors"}) {
    CHECK(
        refuses_map(R"({"a":")" + std::string(name) + "\"}", "must be a .safetensors file beside"));
  }
  CHECK(refuses_map("{\"a\"", "the index is not valid JSON near byte"));
  CHECK(refuses_map("1e999", "out of range"));
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"a\":";
  CHECK(refuses_map("{},\"b\":" + deep, "nested too deeply"));
  const auto nested = [](std::size_t times) {
    return std::string(times, '[') + std::string(times, ']');
  };
  CHECK(refuses_map("{},\"b\":" + nested(8), "has no \"weight_map\" that names a file"));
  CHECK(refuses_map("{},\"b\":" + nested(9), "nested too deeply"));
  put(shards.folder / "model.safetensors.index.json", "[]");
  CHECK(refuses(shards.path(), "the index is not a JSON object."));
  std::filesystem::resize_file(shards.folder / "model.safetensors.index.json", 100'000'001);
  CHECK(refuses(shards.path(), "the index is larger than 100 MB."));
  std::filesystem::resize_file(shards.folder / "model.safetensors.index.json", 100'000'000);
  CHECK(refuses(shards.path(), "the index is not a JSON object."));
}

TEST_CASE("a folder without weights is refused, with the way out", "[phase7][io]") {
  const TemporaryFolder folder;
  CHECK(refuses(folder / "none", "there is no such folder."));
  CHECK(refuses(folder / "",
                "it has no weights: there is neither model.safetensors nor "
                "model.safetensors.index.json."));
  CHECK_FALSE(has_weight_files(folder / ""));
  put(folder / "pytorch_model.bin", "");
  CHECK(refuses(folder / "",
                "its weights are in pytorch_model.bin: only files of safetensors are "
                "read. Convert it there: python3 -c \"import torch"));
  CHECK(refuses(folder / "pytorch_model.bin", "it is no folder. Give the folder that"));
  std::filesystem::remove(folder / "pytorch_model.bin");
  put(folder / "pytorch_model.bin.index.json", "{}");
  CHECK(refuses(folder / "", "its weights are in pytorch_model.bin.index.json"));
  std::filesystem::create_directory(folder / "model.safetensors");
  CHECK(refuses(folder / "", "model.safetensors: it is not a regular file."));
}

TEST_CASE("weights are written as one file that others accept", "[phase7][io]") {
  const TemporaryFolder folder;
  write_weight_files(folder / "new", {{"a", Tensor({2}, {1, 2})}, {"b", Tensor(3)}});
  const Safetensors file = read_safetensors(folder / "new" / "model.safetensors");
  CHECK(file.metadata == std::map<std::string, std::string>{{"format", "pt"}});
  CHECK(difference(file["a"], {2}, {1, 2}) == "");
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "new"), {}) == 1);
}

TEST_CASE("large weights are written as shards with an index", "[phase7][io]") {
  const TemporaryFolder folder;
  const Parameters tensors = {{"a", Tensor::arange(4)},
                              {"b", Tensor::ones({2})},
                              {"c", Tensor::zeros({9})},
                              {"d", Tensor(1)},
                              {"e", Tensor::arange(5)}};  // d and e fill a shard, too
  write_weight_files(folder / "", tensors, 6 * sizeof(real));
  const std::string text = content(folder / "model.safetensors.index.json");
  CHECK(text.starts_with("{\n  \"metadata\": {\n    \"total_size\""));  // as others lay it out
  const auto index = nlohmann::json::parse(text);
  CHECK(index["metadata"]["total_size"] == 21 * sizeof(real));
  CHECK(index["weight_map"]["b"] == "model-00001-of-00003.safetensors");
  CHECK(index["weight_map"]["c"] == "model-00002-of-00003.safetensors");
  CHECK(index["weight_map"]["d"] == "model-00003-of-00003.safetensors");
  CHECK(index["weight_map"]["e"] == "model-00003-of-00003.safetensors");
  CHECK(folder.files() == 4);
  CHECK(read_safetensors(folder / "model-00002-of-00003.safetensors").metadata.at("format") ==
        "pt");
  const WeightFiles files(folder / "");
  for (const auto& [name, value] : tensors) {
    const Tensor read = Tensor::empty(value.shape());
    files.read(name, read);
    CHECK(largest_difference(read, value) == 0);
  }
}

TEST_CASE("written weights replace those of before, whatever their layout", "[phase7][io]") {
  const TemporaryFolder folder;
  const Parameters tensors = {{"a", Tensor(1)}, {"b", Tensor(2)}, {"c", Tensor(3)}};
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "")) {
      found.insert(entry.path().filename());
    }
    return found;
  };
  write_weight_files(folder / "", tensors, 1);
  CHECK(names().size() == 4);
  put(folder / "mine.safetensors", "");
  write_weight_files(folder / "", tensors);
  CHECK(names() == std::set<std::string>{"mine.safetensors", "model.safetensors"});
  write_weight_files(folder / "", tensors, 2 * sizeof(real));
  CHECK(names() == std::set<std::string>{"mine.safetensors", "model.safetensors.index.json",
                                         "model-00001-of-00002.safetensors",
                                         "model-00002-of-00002.safetensors"});
  const Parameters twice = {{"a", Tensor(1)}, {"b", Tensor(2)}, {"a", Tensor(3)}};
  CHECK(complaint([&] { write_weight_files(folder / "", twice, 1); },
                  {"two tensors are called 'a'"}) == "");
  CHECK(WeightFiles(folder / "").contains("c"));  // all as before
}

TEST_CASE("while shards are replaced no index names them", "[phase7][io]") {
  const TemporaryFolder folder;
  const Parameters tensors = {{"a", Tensor(1)}, {"b", Tensor(2)}};
  write_weight_files(folder / "", tensors, 1);
  std::filesystem::remove(folder / "model-00002-of-00002.safetensors");
  std::filesystem::create_directory(folder / "model-00002-of-00002.safetensors");
  CHECK(complaint([&] { write_weight_files(folder / "", tensors, 1); }, {"it is a folder"}) == "");
  CHECK_FALSE(std::filesystem::exists(folder / "model.safetensors.index.json"));
}

TEST_CASE("the shards of a real folder are read", "[phase7][models]") {
  const auto folder = model_folder("qwen2-random-bf16-shards");
  if (!folder) return;
  const WeightFiles files(*folder);
  std::set<std::string> shards;
  for (const WeightEntry& entry : files.entries()) {
    shards.insert(entry.file);
    CHECK(entry.dtype == "BF16");
    const Tensor read = Tensor::empty(entry.shape);
    files.read(entry.name, read);
    CHECK(largest_difference(read, read_safetensors(*folder / entry.file)[entry.name]) == 0);
  }
  CHECK(shards.size() == 3);
}
