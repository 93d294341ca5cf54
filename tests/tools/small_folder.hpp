// A small model in a folder, as `tapestry convert` writes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "process.hpp"
#include "tapestry/random.hpp"

namespace tapestry {

template <class Number>
inline void put(std::ofstream& file, const std::vector<Number>& numbers) {
  file.write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
}

// A random llama of llama2.c with 32 positions, and a tokenizer of a few letters. Greedily it only
// writes these: the embeddings of all other tokens, and so their logits, are 0.
inline void write_llama2c(const std::filesystem::path& folder) {
  const std::int32_t words = 264;
  std::ofstream model(folder / "m.bin", std::ios::binary);
  put(model, std::vector<std::int32_t>{8, 3, 1, 2, 1, words, 32});
  Random random(7);
  const Index count = words * 8 + 8 + 128 + 64 + 8 + 72 + 8 + 32 * 4;
  std::vector<real> numbers = random.normal({count}, 0, 0.5).values();
  std::fill_n(numbers.begin(), 259 * 8, real{0});
  put(model, std::vector<float>(numbers.begin(), numbers.end()));
  std::ofstream tokens(folder / "tokenizer.bin", std::ios::binary);
  put(tokens, std::vector<std::int32_t>{6});
  const auto token = [&](const std::string& text, float score) {
    put(tokens, std::vector<float>{score});
    put(tokens, std::vector<std::int32_t>{static_cast<std::int32_t>(text.size())});
    tokens << text;
  };
  for (const char* special : {"<unk>", "\n<s>\n", "\n</s>\n"}) token(special, 0);
  for (int byte = 0; byte < 256; ++byte) {
    const char* digits = "0123456789ABCDEF";
    token(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", 0);
  }
  for (const char* text : {" ", "a", "b", "é", "ab"}) token(text, -1);
}

// A folder with the model "m", as convert has written it.
inline const std::filesystem::path& small_desk() {
  static const TemporaryFolder folder;
  static const bool ready = [] {
    write_llama2c(folder / "");
    const Result made = tapestry_in(folder / "", "convert m.bin m");
    CHECK(wrong(made) == "");
    CHECK(has(made.out, "m: config.json, model.safetensors, tokenizer.json\n"));
    return true;
  }();
  (void)ready;
  static const std::filesystem::path path = folder / "";
  return path;
}

}  // namespace tapestry
