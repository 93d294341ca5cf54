// tokenizer.json, and a text behind it.
#include "tokenizer.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto texts = fuzz::texts_of(fuzz::text_of(data, size), 2);
  fuzz::try_tokenizer([&] { return tokenizer_from_json(texts[0]); }, texts[1]);
  return 0;
}
