// Any bytes as a text to learn from: what was learned encodes it, and gives it back.
#include "tapestry/text/byte_pairs.hpp"

#include "tokenizer.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  const std::vector<BytePair> merges = learn_byte_pairs(text, 40);
  fuzz::require(merges.size() <= 40, "no more merges than wanted");
  const Tokenizer tokenizer = byte_pair_tokenizer(merges);
  const Indices ids = tokenizer.encode(text);
  fuzz::require(tokenizer.decode(ids.values, false) == text, "a text comes back");
  fuzz::holds(tokenizer, text);
  return 0;
}
