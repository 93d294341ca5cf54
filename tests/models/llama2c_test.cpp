// llama2.c's files become folders as Hugging Face lays them out.
#include "tapestry/models/llama2c.hpp"

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "models.hpp"
#include "ops/expect.hpp"
#include "tapestry/io/weight_files.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

using Json = nlohmann::json;
using Numbers = std::vector<std::int32_t>;

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

// Width 8, 2 heads on 1 key/value head, feed-forward 7, 3 layers, 5 words, 6 positions; the numbers
// are 0, 1, 2, ... in the order of the file.
const Numbers sizes = {8, 7, 3, 2, 1, 5, 6};
constexpr int numbers_in_all = 5 * 8 + 3 * (2 * 8 + 2 * 64 + 2 * 32 + 3 * 56) + 8 + 6 * 4;

std::string model_file(const Numbers& header = sizes, int count = numbers_in_all) {
  std::vector<float> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i));
  return bytes_of(header) + bytes_of(numbers);
}

std::string token(const std::string& text, float score) {
  return bytes_of(std::vector<float>{score}) +
         bytes_of(Numbers{static_cast<std::int32_t>(text.size())}) + text;
}

void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Tensor read(const WeightFiles& files, const std::string& name) {
  const Tensor tensor = Tensor::empty(files[name].shape);
  files.read(name, tensor);
  return tensor;
}

// True if the conversion throws Error with these words and writes nothing.
bool refuses(const std::string& model, const std::string& words,
             const std::string& tokens = "none") {
  const TemporaryFolder folder;
  put(folder / "m.bin", model);
  if (tokens != "none") put(folder / "t.bin", tokens);
  const std::string problem = complaint(
      [&] {
        convert_llama2c(folder / "m.bin", tokens == "none" ? "" : folder / "t.bin", folder / "out");
      },
      {words.c_str()});
  CAPTURE(problem);
  CHECK(problem == "");
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
  return problem == "";
}

}  // namespace

TEST_CASE("the tensors of a llama2.c file get the names of a llama folder", "[phase7][models]") {
  const TemporaryFolder folder;
  put(folder / "m.bin", model_file());
  convert_llama2c(folder / "m.bin", "", folder / "out");
  CHECK_FALSE(std::filesystem::exists(folder / "out" / "tokenizer.json"));
  const WeightFiles files(folder / "out");
  CHECK(files.entries().size() == 2 + 3 * 9);
  CHECK(read(files, "model.embed_tokens.weight").at({1, 0}) == 8);
  CHECK(read(files, "model.layers.1.input_layernorm.weight").at({0}) == 48);
  CHECK(read(files, "model.layers.0.self_attn.v_proj.weight").shape() == Shape{4, 8});
  // After embedding, norms, three maps of queries and three of keys.
  const Tensor value = read(files, "model.layers.1.self_attn.v_proj.weight");
  CHECK(value.at({0, 0}) == 40 + 24 + 192 + 96 + 32);
  CHECK(value.at({1, 0}) == 40 + 24 + 192 + 96 + 32 + 8);
  CHECK(read(files, "model.layers.0.mlp.down_proj.weight").shape() == Shape{8, 7});
  CHECK(read(files, "model.norm.weight").at({7}) == numbers_in_all - 6 * 4 - 1);
  CHECK_FALSE(files.contains("lm_head.weight"));
  const std::string text = content(folder / "out" / "config.json");
  CHECK(text.starts_with("{\n  \"architectures\""));
  CHECK(Json::parse(text) == Json{{"architectures", Json::array({"LlamaForCausalLM"})},
                                  {"model_type", "llama"},
                                  {"hidden_size", 8},
                                  {"intermediate_size", 7},
                                  {"num_hidden_layers", 3},
                                  {"num_attention_heads", 2},
                                  {"num_key_value_heads", 1},
                                  {"vocab_size", 5},
                                  {"max_position_embeddings", 6},
                                  {"rms_norm_eps", 1e-5},
                                  {"rope_theta", 10000.0},
                                  {"hidden_act", "silu"},
                                  {"tie_word_embeddings", true},
                                  {"attention_bias", false},
                                  {"bos_token_id", 1},
                                  {"eos_token_id", 2},
                                  {"torch_dtype", "float32"}});
}

TEST_CASE("rows of pairs become rows of halves, in each head", "[phase7][models]") {
  const TemporaryFolder folder;
  put(folder / "m.bin", model_file());
  convert_llama2c(folder / "m.bin", "", folder / "out");
  const WeightFiles files(folder / "out");
  const Tensor query = read(files, "model.layers.0.self_attn.q_proj.weight");
  const Tensor key = read(files, "model.layers.1.self_attn.k_proj.weight");
  const std::vector<Index> rows = {0, 2, 1, 3, 4, 6, 5, 7};  // the stored row of each
  for (Index row = 0; row < 8; ++row) {
    CHECK(query.at({row, 3}) == real(40 + 24 + 8 * rows[std::size_t(row)] + 3));
    if (row < 4) CHECK(key.at({row, 0}) == real(40 + 24 + 192 + 32 + 8 * rows[std::size_t(row)]));
  }
}

TEST_CASE("a negative number of words means a matrix of its own for the logits",
          "[phase7][models]") {
  const TemporaryFolder folder;
  Numbers header = sizes;
  header[5] = -5;
  put(folder / "m.bin", model_file(header, numbers_in_all + 40));
  convert_llama2c(folder / "m.bin", "", folder / "out");
  CHECK(read(WeightFiles(folder / "out"), "lm_head.weight").at({0, 0}) == numbers_in_all);
  CHECK(Json::parse(content(folder / "out" / "config.json"))["tie_word_embeddings"] == false);
}

TEST_CASE("files that are no models of llama2.c are refused, and nothing is written",
          "[phase7][models]") {
  const auto with = [](std::size_t place, std::int32_t value) {
    Numbers header = sizes;
    header[place] = value;
    return model_file(header);
  };
  CHECK(refuses("", "too short to be a model of llama2.c"));
  CHECK(refuses(model_file(sizes, 0), "fewer numbers than its sizes say: cut off?"));
  CHECK(
      refuses(model_file(sizes, numbers_in_all - 1), "fewer numbers than its sizes say: cut off?"));
  CHECK(refuses(model_file(sizes, numbers_in_all + 1), "has 4 bytes more than its sizes say"));
  CHECK(refuses(with(0, 7), "width 7 and heads 2 make no heads of even width"));
  CHECK(refuses(with(0, 6), "make no heads of even width"));
  CHECK(refuses(with(4, 3), "key/value heads 3 do not divide heads 2"));
  CHECK(refuses(with(2, -1), "one of its sizes is -1"));
  CHECK(refuses(with(5, 0), "one of its sizes is 0"));
  CHECK(refuses(with(5, -2147483647 - 1), "fewer numbers"));
  CHECK(refuses(with(2, 2147483647), "fewer numbers"));
  CHECK(refuses(with(6, 2147483646), "fewer numbers"));
  CHECK(refuses(model_file({2147483646, 2147483647, 2, 1, 1, 2147483647, 2}), "more elements"));
  CHECK(refuses("24ka" + bytes_of(Numbers{2}) + std::string(300, '\0'),
                "it is llama2.c's version 2. Export the model again with --version 0."));
  CHECK(refuses("PK\3\4" + std::string(300, '\0'), "it is a checkpoint of PyTorch."));
  CHECK(refuses("GGUF" + std::string(300, '\0'), "it is a GGUF file."));
  const TemporaryFolder folder;
  put(folder / "m.bin", model_file());
  put(folder / "config.json", "{}");
  CHECK(complaint([&] { convert_llama2c(folder / "m.bin", "", folder / ""); },
                  {"has a model already: name another folder, or remove it."}) == "");
  CHECK(complaint([&] { convert_llama2c(folder / "none", "", folder / "out"); },
                  {"there is no such file"}) == "");
}

TEST_CASE("a tokenizer gets merges in the order of the scores", "[phase7][models]") {
  const TemporaryFolder folder;
  put(folder / "m.bin", model_file({8, 7, 3, 2, 1, 266, 6}, numbers_in_all + 261 * 8));
  std::string tokens =
      bytes_of(Numbers{7}) + token("<unk>", 0) + token("\n<s>\n", 0) + token("\n</s>\n", 0);
  for (int i = 0; i < 256; ++i) tokens += token("<" + std::to_string(i) + ">", 0);
  tokens += token(" ab", -1) + token("a", -9) + token("b", -9) + token(" ", -9) + token(" a", -1) +
            token("ab", 0) + token("", 0);  // the empty one is a part of none
  put(folder / "t.bin", tokens);
  convert_llama2c(folder / "m.bin", folder / "t.bin", folder / "out");
  const std::string text = content(folder / "out" / "tokenizer.json");
  CHECK(text.starts_with("{\n \"version\""));
  const Json json = Json::parse(text);
  CHECK(json["model"]["vocab"].size() == 266);
  CHECK(json["model"]["vocab"]["<unk>"] == 0);
  CHECK(json["model"]["vocab"]["<s>"] == 1);
  CHECK(json["model"]["vocab"]["</s>"] == 2);
  CHECK(json["model"]["vocab"]["<0>"] == 3);
  CHECK(json["model"]["vocab"]["▁ab"] == 259);
  CHECK(json["model"]["merges"] == Json({"a b", "▁a b", "▁ ab", "▁ a"}));
}

TEST_CASE("a tokenizer.json that is there already is not replaced", "[phase7][models]") {
  const TemporaryFolder folder;
  put(folder / "m.bin", model_file());
  put(folder / "t.bin", "not read");
  put(folder / "tokenizer.json", "mine");
  CHECK(complaint([&] { convert_llama2c(folder / "m.bin", folder / "t.bin", folder / ""); },
                  {"has a tokenizer.json already: name another folder, or remove it."}) == "");
  CHECK(content(folder / "tokenizer.json") == "mine");
  CHECK_FALSE(std::filesystem::exists(folder / "config.json"));
  convert_llama2c(folder / "m.bin", "", folder / "");
  CHECK(content(folder / "tokenizer.json") == "mine");
}

TEST_CASE("files that are no tokenizers of llama2.c are refused", "[phase7][models]") {
  const std::string longest = bytes_of(Numbers{7});
  const auto refuses_tokens = [](const std::string& tokens, const std::string& words) {
    return refuses(model_file(), words, tokens);
  };
  CHECK(refuses_tokens("", "it ends before the longest token's length"));
  CHECK(refuses_tokens(longest, "it has 0 tokens, but the model has 5"));
  CHECK(refuses_tokens(longest + "abc", "it ends before a token's score"));
  CHECK(refuses_tokens(longest + token("abc", 0).substr(0, 10), "token 0 has a length of 3 bytes"));
  CHECK(refuses_tokens(longest + bytes_of(Numbers{0, -1}), "token 0 has a length of -1 bytes"));
  CHECK(refuses_tokens(longest + token("a", std::numeric_limits<float>::infinity()),
                       "token 0 has a score that is not a number"));
  const std::string others = token("s", 0) + token("e", 0) + token("x", 0) + token("y", 0);
  CHECK(refuses_tokens(longest + token("u n", 0) + others, "its token 0 is 'u▁n', not <unk>"));
  const std::string three = longest + token("<unk>", 0) + token("s", 0) + token("e", 0);
  CHECK(refuses_tokens(three + token("x", 0) + token("x", 0), "its tokens 3 and 4 are both 'x'."));
  CHECK(refuses_tokens(three + token("\xff", 0) + token("x", 0), "is not UTF-8"));
}

TEST_CASE("a tokenizer of llama2.c may have 100 MB", "[phase7][models]") {
  const TemporaryFolder folder;
  put(folder / "m.bin", model_file());
  put(folder / "t.bin", bytes_of(Numbers{7, 0, -1}));
  const auto said = [&](std::uintmax_t bytes, const char* words) {
    std::filesystem::resize_file(folder / "t.bin", bytes);  // with a hole: it takes no room
    return complaint([&] { convert_llama2c(folder / "m.bin", folder / "t.bin", folder / "out"); },
                     {words});
  };
  CHECK(said(100'000'000, "t.bin: token 0 has a length of -1 bytes") == "");
  CHECK(said(100'000'001, "t.bin: it is larger than 100 MB") == "");
}

TEST_CASE("the published stories260K converts to what others made of it", "[phase7][models]") {
  const auto given = model_folder("stories260K");
  if (!given) return;
  const TemporaryFolder folder;
  convert_llama2c(*given / "llama2c.bin", *given / "llama2c-tokenizer.bin", folder / "out");
  const WeightFiles expected(*given), found(folder / "out");
  CHECK(found.entries().size() == expected.entries().size());
  for (const WeightEntry& entry : expected.entries()) {
    CHECK(largest_difference(read(found, entry.name), read(expected, entry.name)) == 0);
  }
  for (const char* file : {"tokenizer.json", "config.json"}) {
    CHECK(Json::parse(content(folder / "out" / file)) == Json::parse(content(*given / file)));
  }
}
