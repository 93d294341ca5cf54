// vocab.txt, tokenizer_config.json, and a text.
#include "tokenizer.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto texts = fuzz::texts_of(fuzz::text_of(data, size), 3);
  fuzz::try_tokenizer([&] { return tokenizer_from_word_pieces(texts[0], {texts[1]}); }, texts[2]);
  return 0;
}
