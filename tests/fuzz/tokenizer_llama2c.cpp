// llama2.c's tokenizer.bin; the last 20 bytes are the text.
#include "tokenizer.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input = fuzz::text_of(data, size);
  const std::size_t end = input.size() - std::min<std::size_t>(20, input.size());
  fuzz::try_tokenizer([&] { return tokenizer_from_llama2c(input.substr(0, end)); },
                      input.substr(end));
  return 0;
}
