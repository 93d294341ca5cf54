#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::next_words) next_words;
}

namespace {

Attempt made(std::function<decltype(learn::next_words)> make) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const NextWords made = make(ids_of(in.at(0).value));
    return {{"inputs", tensor_of(made.inputs)}, {"targets", tensor_of(made.targets)}};
  };
}

// Which id stands where, in rows of n: a place in text.values; -1: no word.
using Place = Index (*)(Index row, Index i, Index n);

Index here(Index row, Index i, Index n) { return row * n + i; }
Index next(Index row, Index i, Index n) { return row * n + i + 1; }

Attempt by_places(Place input, Place target, bool padding_counts = false) {
  return made([=](const Indices& text) {
    const Index rows = text.shape[0], n = text.shape[1];
    NextWords result;
    result.inputs.shape = result.targets.shape = {rows, n - 1};
    for (Index row = 0; row < rows; ++row) {
      for (Index i = 0; i < n - 1; ++i) {
        const Index at = target(row, i, n);
        const std::int32_t word = at < 0 ? -1 : text.values[static_cast<std::size_t>(at)];
        const auto from = static_cast<std::size_t>(input(row, i, n));
        result.inputs.values.push_back(text.values[from]);
        result.targets.values.push_back(word == 0 && !padding_counts ? -1 : word);
      }
    }
    return result;
  });
}

// The same of whole columns: both (rows, n - 1), padding still 0.
Attempt by_columns(NamedTensors (*cut)(const Tensor& text, Index n), bool padding_counts = false) {
  return [=](const NamedTensors& in) {
    NamedTensors result = cut(in.at(0).value, in.at(0).value.size(1));
    Tensor& targets = result.at(1).value;
    if (!padding_counts) targets = where(targets, targets, -1);
    return result;
  };
}

Tensor columns(const Tensor& text, Index begin, Index end) { return slice(text, 1, begin, end); }

NamedTensors shifted(const Tensor& text, Index n) {
  return {{"inputs", columns(text, 0, n - 1)}, {"targets", columns(text, 1, n)}};
}

NamedTensors not_shifted(const Tensor& text, Index n) {
  return {{"inputs", columns(text, 0, n - 1)}, {"targets", columns(text, 0, n - 1)}};
}

NamedTensors backwards(const Tensor& text, Index n) {
  return {{"inputs", columns(text, 1, n)}, {"targets", columns(text, 0, n - 1)}};
}

NamedTensors round_again(const Tensor& text, Index n) {
  return {{"inputs", columns(text, 0, n - 1)},
          {"targets", concat({columns(text, 1, n - 1), columns(text, 0, 1)}, 1)}};
}

NamedTensors shifted_twice(const Tensor& text, Index n) {
  const Tensor nothing = Tensor::full({text.size(0), 1}, -1);  // (rows, 1)
  return {{"inputs", columns(text, 0, n - 1)},
          {"targets", concat({columns(text, 2, n), nothing}, 1)}};
}

// All rows as one list, cut every n - 1 words.
NamedTensors one_list(const Tensor& text, Index n) {
  const Index rows = text.size(0);
  const Tensor list = reshape(text, {rows * n});  // (rows n)
  const auto cut = [&](Index begin) {
    return reshape(slice(list, 0, begin, begin + rows * (n - 1)), {rows, n - 1});
  };
  return {{"inputs", cut(0)}, {"targets", cut(1)}};
}

// <bos> is 1, <eos> 2; the first row is full, the second has padding.
NamedTensors inputs(Random& random, Index size) {
  const Index rows = size + 1, n = size + 4 + random.randint(2);
  Tensor text = Tensor::zeros({rows, n});  // (rows, n)
  for (Index row = 0; row < rows; ++row) {
    const Index end = row == 0 ? n - 1 : row == 1 ? n - 3 : 2 + random.randint(n - 2);
    text.set({row, 0}, 1);
    for (Index i = 1; i < end; ++i) text.set({row, i}, double(3 + random.randint(20)));
    text.set({row, end}, 2);
  }
  return {{"text", text}};
}

Index none_or(Index row, Index i, Index n) { return i + 2 < n ? row * n + i + 2 : -1; }
Index first_again(Index row, Index i, Index n) { return row * n + (i + 1) % (n - 1); }
Index short_row(Index row, Index i, Index n) { return row * (n - 1) + i; }
Index short_row_next(Index row, Index i, Index n) { return row * (n - 1) + i + 1; }

const std::vector<KnownMistake> mistakes = {
    {"not shifted",
     "The targets are the inputs themselves. The model learns to repeat the word it reads, with "
     "a loss of nearly 0, and cannot write.",
     by_places(here, here), by_columns(not_shifted)},
    {"shifted the wrong way",
     "Inputs and targets are exchanged: the model reads a word and has to say the one before it.",
     by_places(next, here), by_columns(backwards)},
    {"round again",
     "The last target of each row is its first word. It has to be the word that follows in the "
     "text, <eos> for instance.",
     by_places(here, first_again), by_columns(round_again)},
    {"shifted twice",
     "The targets are two places ahead: the model has to say the word after the next. This "
     "happens when two functions each shift the targets.",
     by_places(here, none_or), by_columns(shifted_twice)},
    {"padding as a target",
     "The shift is right, but <pad> is a target. Such targets have to be -1, or the model learns "
     "to say <pad> as if it were a word.",
     by_places(here, next, true), by_columns(shifted, true)},
    {"not shifted, and padding as a target",
     "Two things: the targets are not shifted, they are the inputs themselves; and <pad> stands "
     "among them, where -1 belongs.",
     by_places(here, here, true), by_columns(not_shifted, true)},
    {"rows run on",
     "Only the first row is right. The others begin in the row before: rows of text have n "
     "words, those of the results n - 1.",
     by_places(short_row, short_row_next), by_columns(one_list)}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = made(learn::next_words),
                .right = {made(solution::next_words), by_places(here, next), by_columns(shifted)},
                .mistakes = mistakes,
                .hints = {"Two loops: over the rows, and over the places 0 to n - 2 of a row.",
                          "The input is the word at place i, the target the word at i + 1. Put -1 "
                          "in place of a target of 0.",
                          "inputs.push_back(text.values[r * n + i]); the target is "
                          "text.values[r * n + i + 1], or -1 if that is 0."}},
               count, arguments);
}
