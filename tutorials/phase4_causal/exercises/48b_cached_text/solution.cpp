#include "phase4.hpp"

namespace learn {

std::vector<Index> write_words(const ReadWord& read, const std::vector<Index>& prompt,
                               Index count) {
  std::vector<Index> text = prompt;
  Tensor logits;  // (vocabulary), of the word that follows the text
  for (const Index word : prompt) logits = read(word);
  for (Index i = 0; i < count; ++i) {
    const Index next = argmax(logits).values[0];
    text.push_back(next);
    if (i + 1 < count) logits = read(next);
  }
  return text;
}

}  // namespace learn
