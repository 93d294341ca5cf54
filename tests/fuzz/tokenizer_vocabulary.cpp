// vocab.json, merges.txt, tokenizer_config.json, added_tokens.json, and a text.
#include "tokenizer.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto texts = fuzz::texts_of(fuzz::text_of(data, size), 5);
  fuzz::try_tokenizer(
      [&] { return tokenizer_from_vocabulary(texts[0], texts[1], {texts[2], texts[3]}); },
      texts[4]);
  return 0;
}
