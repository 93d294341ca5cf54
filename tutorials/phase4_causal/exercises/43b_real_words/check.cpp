#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::loss_of_words) loss_of_words;
}

namespace {

// The loss of the batch, that of logits which are all 0, and that of a batch of padding.
Attempt lost(std::function<decltype(learn::loss_of_words)> loss) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor& logits = in.at(0).value;
    const Indices targets = ids_of(in.at(1).value);
    const Indices padding = ids_of(Tensor::full(targets.shape, -1));
    return {{"loss", loss(logits, targets)},
            {"loss of logits 0", loss(Tensor::zeros(logits.shape()), targets)},
            {"loss of padding", loss(logits, padding)}};
  };
}

enum Way {
  right,
  all_places,
  as_word_0,
  by_rows,
  not_divided,
  plus,
  nothing,
  without_0,
  bits,
  plain
};

double divided(double sum, double count) { return count > 0 ? sum / count : 0; }

// Place by place, in double.
Attempt by_loops(Way way) {
  return lost([=](const Tensor& logits, const Indices& targets) {
    const Index rows = logits.size(0), n = logits.size(1), vocabulary = logits.size(2);
    double total = 0, count = 0, rows_total = 0;
    for (Index r = 0; r < rows; ++r) {
      double row = 0, in_row = 0;
      for (Index i = 0; i < n; ++i) {
        Index target = targets.values[static_cast<std::size_t>(r * n + i)];
        if (target < 0 && way == as_word_0) target = 0;
        if (target < 0 || (target == 0 && way == without_0)) continue;
        double share = 0;  // 1 / the probability of the target
        for (Index w = 0; w < vocabulary; ++w) {
          share += std::exp(double{logits.at({r, i, w})} - double{logits.at({r, i, target})});
        }
        row += way == plain  ? -double{logits.at({r, i, target})}
               : way == bits ? std::log2(share)
                             : std::log(share);
        in_row += 1;
      }
      total += row;
      count += in_row;
      rows_total += divided(row, in_row) / double(rows);
    }
    if (way == by_rows) return rows_total;
    if (way == not_divided) return total;
    if (way == nothing) return total / count;
    return divided(way == plus ? -total : total, way == all_places ? double(rows * n) : count);
  });
}

// The same with tensors.
Attempt by_library(Way way) {
  return lost([=](const Tensor& logits, const Indices& ids) {
    Tensor targets = tensor_of(ids);  // (rows, n)
    if (way == as_word_0) targets = maximum(targets, 0);
    const Tensor words = Tensor::arange(logits.size(2));  // (vocabulary)
    const Tensor chosen = unsqueeze(targets, 2) == words;
    const Tensor real = targets >= (way == without_0 ? 1. : 0.);  // (rows, n)
    Tensor losses = -sum((way == plain ? logits : log_softmax(logits)) * chosen, -1) *
                    real;  // (rows, n): 0 for padding
    if (way == bits) losses = losses / std::log(2.);
    if (way == all_places) return double{mean(losses).item()};
    if (way == not_divided) return double{sum(losses).item()};
    if (way == nothing) return double{(sum(losses) / sum(real)).item()};
    if (way == by_rows) {
      return double{mean(sum(losses, -1) / maximum(sum(real, -1), 1)).item()};
    }
    const double loss = double{(sum(losses) / maximum(sum(real), 1)).item()};
    return way == plus ? -loss : loss;
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index rows = 2 + random.randint(size), n = size + 1, vocabulary = size + 2;
  Tensor targets = Tensor::full({rows, n}, -1);  // (rows, n)
  for (Index r = 0; r < rows; ++r) {             // the first row is full, the second has one word
    const Index words = r == 0 ? n : r == 1 ? 1 : 1 + random.randint(n);
    for (Index i = 0; i < words; ++i)
      targets.set({r, i}, double(1 + random.randint(vocabulary - 1)));
  }
  targets.set({0, 0}, 0);
  Tensor logits = random.normal({rows, n, vocabulary});  // (rows, n, vocabulary)
  // Large losses: word 0, and the only word of the second row, so that a mean of means differs.
  logits.set({0, 0, 0}, -16);
  logits.set({1, 0, static_cast<Index>(targets.at({1, 0}))}, -30);
  return {{"logits", logits}, {"targets", targets}};
}

KnownMistake mistake(const char* name, const char* sentence, Way way) {
  return {name, sentence, by_loops(way), by_library(way)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("mean over padding",
            "The sum is right, but it is divided by the number of all places, padding included. "
            "The more padding a batch has, the smaller this loss is, whatever the model says.",
            all_places),
    mistake("padding counts as word 0",
            "Places with the target -1 count, with word 0 as their target. The model then learns "
            "to say that word after the end of a text.",
            as_word_0),
    mistake("mean of the rows' means",
            "Each row was averaged by itself, then the rows. A word of a short text then counts "
            "more than one of a long text; all real words have to count alike.",
            by_rows),
    mistake("not divided",
            "This is the sum over real words; divide it by their number. Else the loss grows with "
            "the batch, and those of two batches cannot be compared.",
            not_divided),
    mistake("sign forgotten",
            "This is the mean logarithm of the probabilities. The loss is its negative: training "
            "makes the loss small, and the probability has to become large.",
            plus),
    mistake("0 / 0",
            "A batch in which all is padding gives 0 / 0, which is not a number. Its loss is 0.",
            nothing),
    mistake("word 0 left out",
            "Places where word 0 has to be said do not count. Only -1 means that there is "
            "nothing to say; 0 is a word like any other.",
            without_0),
    mistake("in bits",
            "The logarithm is to the base 2, so the loss is 1.44 times as large. Here it is the "
            "natural one, std::log.",
            bits),
    mistake("logits taken for logarithms",
            "The mean of the targets' logits was taken, with a minus. A logit alone says nothing: "
            "ln p is the logit minus ln of the sum of exp of all logits at that place.",
            plain)};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = lost(learn::loss_of_words),
       .right = {lost(solution::loss_of_words), by_loops(right), by_library(right),
                 lost([](const Tensor& logits, const Indices& targets) {
                   return double{cross_entropy(logits, targets).item()};
                 })},
       .mistakes = mistakes,
       .hints = {"Two loops over rows and places. Keep two numbers: the sum of the losses and how "
                 "many places count.",
                 "Where the target is negative, go on to the next place. At the end divide, if the "
                 "number is not 0.",
                 "total += std::log(sum) - double{logits.at({r, i, target})}; ++count; and at the "
                 "end: return count == 0 ? 0 : total / count;"}},
      count, arguments);
}
