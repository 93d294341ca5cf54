// What a live page carries of a model's files.
#include "weights_alone.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ops/expect.hpp"
#include "process.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"

using namespace tapestry;
using command::bytes_of;
using command::weights_alone;

namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Of a safetensors file: the JSON, and the numbers as bytes.
struct Parts {
  nlohmann::json header;
  std::string numbers;

  explicit Parts(const std::string& file) {
    std::uint64_t length = 0;
    REQUIRE(file.size() > sizeof length);
    std::memcpy(&length, file.data(), sizeof length);
    REQUIRE(length % 8 == 0);  // so that the numbers are aligned
    header = nlohmann::json::parse(file.substr(8, static_cast<std::size_t>(length)));
    numbers = file.substr(8 + static_cast<std::size_t>(length));
  }
};

// Some weights, not in the order of their names, and an Adam that has made two steps.
struct Trained {
  TemporaryFolder folder;
  Parameters weights;
  std::map<std::string, std::string> metadata = {{"words", "a \"b\" é"}, {"adam", "no number"}};

  Trained() {
    Random random(4);
    weights = {{"z.weight", random.normal({2, 3})},
               {"adamant", random.normal({5})},
               {"one", Tensor(0.25)}};
    Adam adam(weights);
    for (int step = 0; step < 2; ++step) {
      Tape tape(weights);
      Tensor loss = Tensor(0.0);
      for (const Parameter& one : weights) loss = loss + sum(one.value * one.value);
      adam.step(tape.backward(loss));
    }
    save_checkpoint(folder / "c", weights, adam, metadata);
    write_safetensors(folder / "alone", weights, metadata);
  }
};

}  // namespace

TEST_CASE("weights alone are those of the checkpoint, byte for byte", "[tools]") {
  const Trained trained;
  CHECK(read_checkpoint(trained.folder / "c").steps == 2);
  const std::string alone = text_of(weights_alone(trained.folder / "c"));
  CHECK(alone.size() < content(trained.folder / "c").size() / 2);
  // The same numbers, names and texts as in the file that the library writes of them.
  const Parts own(alone), right(content(trained.folder / "alone"));
  CHECK(own.numbers == right.numbers);
  CHECK(own.header == right.header);
  CHECK(own.header.size() == 4);
  // It opens again, and has nothing of the optimizer.
  std::ofstream(trained.folder / "again", std::ios::binary) << alone;
  const Checkpoint again = read_checkpoint(trained.folder / "again");
  CHECK(again.kind == "");
  CHECK(again.optimizer.tensors.empty());
  CHECK(again.weights.metadata == trained.metadata);
  REQUIRE(again.weights.tensors.size() == trained.weights.size());
  for (std::size_t i = 0; i < trained.weights.size(); ++i) {
    CHECK(again.weights.tensors[i].name == trained.weights[i].name);  // in the same order
    CHECK(again.weights.tensors[i].value.shape() == trained.weights[i].value.shape());
    CHECK(again.weights.tensors[i].value.values() == trained.weights[i].value.values());
  }
  CHECK(text_of(weights_alone(trained.folder / "again")) == alone);
}

TEST_CASE("a file of weights alone stays as it is", "[tools]") {
  const Trained trained;
  CHECK(text_of(weights_alone(trained.folder / "alone")) == content(trained.folder / "alone"));
  write_safetensors(trained.folder / "half", trained.weights, {}, Precision::half);
  CHECK(text_of(weights_alone(trained.folder / "half")) == content(trained.folder / "half"));
}

TEST_CASE("files that are no weights are refused, and any bytes can be read", "[tools]") {
  const Trained trained;
  const auto refused = [](const auto& read, const std::filesystem::path& path) {
    try {
      read(path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  CHECK(has(refused(weights_alone, trained.folder / "missing"), "missing"));
  CHECK(has(refused(bytes_of, trained.folder / "missing"), "missing"));
  CHECK(has(refused(bytes_of, trained.folder / ""), "explore"));
  const std::string whole = content(trained.folder / "c");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{60}, whole.size() - 1}) {
    std::ofstream(trained.folder / "cut", std::ios::binary) << whole.substr(0, size);
    CHECK(has(refused(weights_alone, trained.folder / "cut"), "cut: "));
    CHECK(text_of(bytes_of(trained.folder / "cut")) == whole.substr(0, size));
  }
}
