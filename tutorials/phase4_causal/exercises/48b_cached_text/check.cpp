#include <algorithm>
#include <memory>
#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::write_words) write_words;
}

namespace {

using Writer = std::function<decltype(learn::write_words)>;
using Text = std::vector<Index>;

// A head with a cache of its own; words (vocabulary, d) and weights (d, d). A word's position is
// added to it as sin(7 t + c) in column c. The sine behind the head makes small differences large,
// so that a wrong cache soon writes other words.
ReadWord new_reader(const NamedTensors& in) {
  const Tensor words = in.at(0).value, weights = in.at(1).value, output = in.at(2).value;
  const auto kept = std::make_shared<std::vector<Tensor>>();  // (1, d) each
  return [=](Index word) {
    const Tensor place = sin(Tensor::arange(words.size(1)) + 7 * double(std::ssize(*kept)));
    kept->push_back(slice(words, 0, word, word + 1) + place);  // (1, d)
    const Tensor all = concat(*kept, 0);                       // (words read, d)
    const Tensor mixed = attention(matmul(kept->back(), weights), all, all).output;  // (1, d)
    return squeeze(matmul(sin(10 * mixed), output), 0);                              // (vocabulary)
  };
}

Text prompt_of(const NamedTensors& in) {
  Text prompt;
  for (const real word : in.at(3).value.values()) prompt.push_back(static_cast<Index>(word));
  return prompt;
}

NamedTensors as_result(const Text& text) {
  const std::vector<real> ids(text.begin(), text.end());
  return {{"text", Tensor({std::ssize(ids)}, ids)}};
}

Attempt written(Writer write) {
  return [=](const NamedTensors& in) {
    return as_result(write(new_reader(in), prompt_of(in), whole(in.at(4))));
  };
}

Index likeliest(const Tensor& logits) { return argmax(logits).values.at(0); }

// Without a cache: a new reader reads the whole text for each word.
NamedTensors uncached(const NamedTensors& in) {
  Text text = prompt_of(in);
  for (Index i = 0; i < whole(in.at(4)); ++i) {
    const ReadWord read = new_reader(in);
    Tensor logits;  // (vocabulary)
    for (const Index word : text) logits = read(word);
    text.push_back(likeliest(logits));
  }
  return as_result(text);
}

// What is read before the first new word: so many words of the prompt are left out in front and
// behind; and what before each other one.
struct Schedule {
  Index from = 0, without = 0;
  bool last_again = false;  // the last word of the text, before each new word
  bool all_again = false;   // the whole text, before each new word
  bool nothing = false;     // new words are not read
  Index more = 0;           // so many words are written more than asked for
  bool new_only = false;    // the prompt is no part of the result
};

Attempt by_schedule(Schedule how) {
  return written([=](const ReadWord& read, const Text& prompt, Index count) {
    Text text = prompt;
    const Index size = std::ssize(prompt), end = size - how.without;
    std::vector<real> logits;
    const auto take = [&](Index word) { logits = read(word).values(); };
    for (Index i = how.from < 0 ? size + how.from : 0; i < end && !how.all_again; ++i) {
      take(prompt[static_cast<std::size_t>(i)]);
    }
    while (std::ssize(text) < size + count + how.more) {
      const bool first = std::ssize(text) == size;
      if (how.all_again) std::for_each(text.begin(), text.end(), take);
      if (!how.all_again && (how.last_again || (!first && !how.nothing))) take(text.back());
      text.push_back(std::max_element(logits.begin(), logits.end()) - logits.begin());
    }
    if (how.new_only) text.erase(text.begin(), text.begin() + size);
    return text;
  });
}

Text read_twice(const ReadWord& read, const Text& prompt, Index count) {
  Text text = prompt;
  for (const Index word : prompt) read(word);
  for (Index i = 0; i < count; ++i) text.push_back(likeliest(read(text.back())));
  return text;
}

Text read_again(const ReadWord& read, const Text& prompt, Index count) {
  Text text = prompt;
  for (Index i = 0; i < count; ++i) {
    Tensor logits;  // (vocabulary)
    for (const Index word : text) logits = read(word);
    text.push_back(likeliest(logits));
  }
  return text;
}

Text not_read(const ReadWord& read, const Text& prompt, Index count) {
  Text text = prompt;
  Tensor logits;  // (vocabulary)
  for (const Index word : prompt) logits = read(word);
  text.insert(text.end(), static_cast<std::size_t>(count), likeliest(logits));
  return text;
}

Text last_only(const ReadWord& read, const Text& prompt, Index count) {
  Text text = prompt;
  for (Index i = 0; i < count; ++i) text.push_back(likeliest(read(text.back())));
  return text;
}

// The word is chosen by what was said before the last word of the text was read.
Text too_early(const ReadWord& read, const Text& prompt, Index count) {
  Text text = prompt;
  Tensor logits;  // (vocabulary)
  for (std::size_t i = 0; i + 1 < prompt.size(); ++i) logits = read(prompt[i]);
  for (Index i = 0; i < count; ++i) {
    text.push_back(likeliest(logits));
    logits = read(text.back());
  }
  return text;
}

Text one_more(const ReadWord& read, const Text& prompt, Index count) {
  Text text = prompt;
  Tensor logits;  // (vocabulary)
  for (const Index word : prompt) logits = read(word);
  for (Index i = 0; i <= count; ++i) {
    text.push_back(likeliest(logits));
    logits = read(text.back());
  }
  return text;
}

Text new_only(const ReadWord& read, const Text& prompt, Index count) {
  Text text;
  Tensor logits;  // (vocabulary)
  for (const Index word : prompt) logits = read(word);
  while (std::ssize(text) < count) {
    text.push_back(likeliest(logits));
    logits = read(text.back());
  }
  return text;
}

const std::vector<KnownMistake> mistakes = {
    {"last word of the prompt read twice",
     "The last word of the prompt was read with the others, and again for the first new "
     "word. It stands in the cache twice, and all later words one place too far.",
     written(read_twice), by_schedule({.last_again = true})},
    {"the whole text read again",
     "The whole text was read for each new word, as without a cache. But the cache still "
     "holds what was read before, so the text stands in it many times.",
     written(read_again), by_schedule({.all_again = true})},
    {"new words not read",
     "The new words were not read, so the logits stay the same, and the same word comes "
     "again and again.",
     written(not_read), by_schedule({.nothing = true})},
    {"only the last word of the prompt read",
     "Of the prompt only the last word was read. The model cannot know what stood before "
     "it: read all of them, in order.",
     written(last_only), by_schedule({.from = -1})},
    {"last word of the prompt not read",
     "The first new word was chosen before the last word of the prompt was read, and that "
     "word was never read.",
     written(too_early), by_schedule({.without = 1})},
    {"one word too many", "count + 1 words were written: the loop runs once too often.",
     written(one_more), by_schedule({.more = 1})},
    {"without the prompt", "The new words are right, but the prompt has to stand before them.",
     written(new_only), by_schedule({.new_only = true})}};

NamedTensors inputs(Random& random, Index size) {
  const Index d = 4, vocabulary = 20 * size, length = size + 1;
  Tensor prompt = Tensor::zeros({length});  // (length)
  for (Index i = 0; i < length; ++i) prompt.set({i}, double(random.randint(vocabulary)));
  return {{"words", random.normal({vocabulary, d})},
          {"weights", random.normal({d, d}, 0, 0.2)},
          {"output", random.normal({d, vocabulary})},
          {"prompt", prompt},
          {"count", double(2 * size + 1)}};
}

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = written(learn::write_words),
                .right = {written(solution::write_words), uncached, by_schedule({})},
                .mistakes = mistakes,
                .hints = {"The logits that read returned last belong to the next word. Keep them "
                          "in a variable.",
                          "First a loop that reads each word of the prompt. Then a loop: take the "
                          "likeliest word, put it behind the text, read it.",
                          "for (word : prompt) logits = read(word); then count times: next = "
                          "argmax(logits).values[0]; text.push_back(next); logits = read(next);"}},
               count, arguments);
}
