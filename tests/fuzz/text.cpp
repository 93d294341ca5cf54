// Texts as training data: as words, as characters, as sentences of the toy languages.
#include "course/grammar.hpp"
#include "course/translation.hpp"
#include "fuzz.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/material.hpp"
#include "tapestry/text/input_format.hpp"
#include "tapestry/unicode.hpp"

using namespace tapestry;

namespace {

void is_kept(const Vocabulary& vocabulary) {
  const Vocabulary again =
      vocabulary_in(to_metadata(vocabulary, next_word_batch(vocabulary, {{}})));
  fuzz::require(again.words() == vocabulary.words(), "a vocabulary comes back out of a file");
  fuzz::require(again.by_characters() == vocabulary.by_characters(), "and so does its unit");
}

void by_words(const std::string& text) {
  const Words words = split_words(text);
  const Vocabulary vocabulary(words);
  is_kept(vocabulary);
  fuzz::require(split_words(vocabulary.decode(vocabulary.encode(text))) == words,
                "words come back");
  fuzz::done([&] { Grammar().log_probability(words); });
  fuzz::done([&] { Grammar().next_word(words); });
  fuzz::done([&] { TranslationTask().batch({translate(words)}); });
  for (const std::string& word : words) (void)closest(word, Grammar().words());
}

void by_characters(const std::string& text) {
  const Vocabulary vocabulary = Vocabulary::of_characters(text);
  is_kept(vocabulary);
  fuzz::require(vocabulary.decode(vocabulary.encode(text)) == text, "a text comes back");
}

void learned_from(const std::string& text) {
  const fuzz::File input(text);
  const command::Material material = command::material(input.path(), 8);
  Random random(1);
  material.train(2, random);
  material.test(2, random);
}

}  // namespace

// Counts all sentences of the grammar once, which takes a second: more than an input may.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  Grammar().next_word({});
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size), shown = in_quotes(text);
  const bool utf8 = fuzz::done([&] { check_utf8(text); });
  fuzz::require(fuzz::done([&] { check_utf8(shown); }), "what is shown is UTF-8");
  fuzz::require(shown.size() <= 68, "what is shown is short");
  fuzz::require(display_width(cut_to_width(text, 10)) <= 10, "what is cut is narrow");
  fuzz::done([&] { by_words(text); });
  fuzz::require(fuzz::done([&] { by_characters(text); }) == utf8, "characters are those of UTF-8");
  fuzz::done([&] { learned_from(text); });
  return 0;
}
