#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::mean_of_words) mean_of_words;
}

namespace {

Attempt averaged(const std::function<decltype(learn::mean_of_words)>& function) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const std::vector<real> values = in[1].value.values();
    const Indices lengths(in[1].value.shape(), {values.begin(), values.end()});
    return {{"result", function(in[0].value, lengths)}};
  };
}

// Of how many places a sentence's rows are added up, and by what the sum is divided.
struct Form {
  enum Count { words, one_more, one_less, places, words_of_first };
  Count adds = words, divides_by = words;
};

Index count(Form::Count what, const Indices& lengths, Index b, Index places) {
  const Index length = lengths.values[static_cast<std::size_t>(b)];
  switch (what) {
    case Form::words:
      return length;
    case Form::one_more:
      return length + 1;
    case Form::one_less:
      return length - 1;
    case Form::places:
      return places;
    case Form::words_of_first:
      break;
  }
  return lengths.values[0];
}

Attempt by_loops(Form form) {
  return averaged([=](const Tensor& x, const Indices& lengths) {
    const Index sentences = x.size(0), places = x.size(1);
    const Numbers rows(x);  // (sentences places, d)
    return matrix(sentences, x.size(2),
                  [&](Index b, Index c) {
                    return total(count(form.adds, lengths, b, places),
                                 [&](Index i) { return rows(b * places + i, c); }) /
                           static_cast<double>(count(form.divides_by, lengths, b, places));
                  })
        .tensor();
  });
}

// 1 at a place that counts, else 0; then a product and sums.
Attempt by_mask(Form form) {
  return averaged([=](const Tensor& x, const Indices& lengths) {
    const Index sentences = x.size(0), places = x.size(1);
    Tensor ends = Tensor::zeros({sentences, 1, 1}), divisors = Tensor::zeros({sentences, 1});
    for (Index b = 0; b < sentences; ++b) {
      ends.set({b, 0, 0}, static_cast<double>(count(form.adds, lengths, b, places)));
      divisors.set({b, 0}, static_cast<double>(count(form.divides_by, lengths, b, places)));
    }
    const Tensor mask =
        reshape(Tensor::arange(places), {places, 1}) < ends;  // (sentences, places, 1)
    return sum(x * mask, 1) / divisors;                       // (sentences, d)
  });
}

Tensor by_slices(const Tensor& x, const Indices& lengths) {
  std::vector<Tensor> rows;  // (d) each
  for (Index b = 0; b < x.size(0); ++b) {
    const Tensor sentence = squeeze(slice(x, 0, b, b + 1), 0);  // (places, d)
    rows.push_back(mean(slice(sentence, 0, 0, lengths.values[static_cast<std::size_t>(b)]), 0));
  }
  return stack(rows, 0);  // (sentences, d)
}

// No two neighbours are equally long; the last place is always padding.
NamedTensors inputs(Random& random, Index size) {
  const Index sentences = size > 1 ? 3 : 2, places = size + 3, d = size + random.randint(2);
  const Index first = random.randint(places - 2);
  Tensor lengths = Tensor::zeros({sentences});  // (sentences)
  for (Index b = 0; b < sentences; ++b) {
    lengths.set({b}, static_cast<double>(2 + (first + b) % (places - 2)));
  }
  return {{"x", random.normal({sentences, places, d}) + 1}, {"lengths", lengths}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_loops(form), by_mask(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("the mean over the padding, too",
            "All places are counted, padding as well. A sentence then gets another row when it "
            "stands beside a longer one.",
            {.adds = Form::places, .divides_by = Form::places}),
    mistake("divided by all places",
            "Only words are added up, but the sum is divided by the number of places. The "
            "shorter a sentence, the smaller its row: divide by its number of words.",
            {.divides_by = Form::places}),
    mistake("padding in the sum",
            "The division is right, but the sum runs over all places, padding as well.",
            {.adds = Form::places}),
    mistake("one place too many",
            "The sum takes one row of padding: places are counted from 0, so the last word of a "
            "sentence stands at length - 1. Write i < length.",
            {.adds = Form::one_more}),
    mistake("the last word left out",
            "The sum ends one word too early: the last word stands at the place length - 1.",
            {.adds = Form::one_less}),
    mistake("the first sentence's length for all",
            "Every sentence is taken to be as long as the first. Each has its own length: "
            "lengths.values[b].",
            {.adds = Form::words_of_first, .divides_by = Form::words_of_first})};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = averaged(learn::mean_of_words),
                .right = {averaged(solution::mean_of_words), by_mask({}), averaged(by_slices)},
                .mistakes = mistakes,
                .hints = {"Three loops: over sentences, over columns, and over the words of that "
                          "sentence.",
                          "The innermost loop ends at lengths.values[b], not at x.size(1), and the "
                          "sum is divided by the same number.",
                          "for (Index i = 0; i < lengths.values[b]; ++i) sum += x.at({b, i, c}); "
                          "then result.set({b, c}, sum / lengths.values[b])."}},
               count, arguments);
}
