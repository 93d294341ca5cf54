#include <cmath>
#include <vector>

#include "course/exercise.hpp"
#include "phase3.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::lost_without_links) lost_without_links;
}

namespace {

using Lost = std::function<decltype(learn::lost_without_links)>;

Attempt lost(Lost lose) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto right = static_cast<Index>(std::lround(double{in.at(3).value.item()}));
    return {{"lost", lose(in.at(0).value, in.at(1).value, in.at(2).value, right)}};
  };
}

// What is done; the defaults are right.
struct How {
  bool shared = false;      // what is left of the weights is divided by its sum
  bool cut_before = false;  // links that were cut stay cut
  bool alone = false;       // the others are cut, not this one
  bool plain_logit = false, plain_p = false;
  double sign = 1;
};

// All cuts at once: a row of weights for each, (n, n).
Attempt by_library(How how) {
  return lost([=](const Tensor& weights, const Tensor& values, const Tensor& output, Index right) {
    const Index n = weights.size(0);
    const Tensor i = unsqueeze(Tensor::arange(n), 1), j = Tensor::arange(n);  // (n, 1), (n)
    const Tensor stays = how.cut_before ? j > i : how.alone ? i == j : i != j;
    Tensor rows = weights * stays;  // (n, n): row i without link i
    if (how.shared) rows = rows / sum(rows, -1, true);
    const Tensor all = concat({unsqueeze(weights, 0), rows}, 0);  // (n + 1, n)
    const Tensor logits = matmul(matmul(all, values), output);    // (n + 1, vocabulary)
    const Tensor said = how.plain_logit ? logits
                        : how.plain_p   ? softmax(logits)
                                        : log_softmax(logits);
    const Tensor of_right = squeeze(slice(said, 1, right, right + 1), 1);  // (n + 1)
    return (slice(of_right, 0, 0, 1) - slice(of_right, 0, 1, n + 1)) * how.sign;
  });
}

// Number by number. row: the weights, after the cut.
double said_with(const std::vector<double>& row, const Tensor& values, const Tensor& output,
                 Index right, How how) {
  double powers = 0, mine = 0;
  for (Index w = 0; w < output.size(1); ++w) {
    double logit = 0;
    for (Index c = 0; c < output.size(0); ++c) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        logit += row[j] * double{values.at({Index(j), c})} * double{output.at({c, w})};
      }
    }
    powers += std::exp(logit);
    if (w == right) mine = logit;
  }
  const double log_p = mine - std::log(powers);
  return how.plain_logit ? mine : how.plain_p ? std::exp(log_p) : log_p;
}

Attempt by_loops(How how) {
  return lost([=](const Tensor& weights, const Tensor& values, const Tensor& output, Index right) {
    std::vector<double> row;
    for (const real x : weights.values()) row.push_back(double{x});
    const std::vector<double> whole = row;
    const double with = said_with(whole, values, output, right, how);
    Tensor result = Tensor::zeros(weights.shape());  // (n)
    for (std::size_t cut = 0; cut < row.size(); ++cut) {
      if (!how.cut_before) row = whole;
      double left = 0;
      for (std::size_t j = 0; j < row.size(); ++j) {
        if ((j == cut) != how.alone) row[j] = 0;
        left += row[j];
      }
      if (how.shared) {
        for (double& x : row) x /= left;
      }
      const double without = said_with(row, values, output, right, how);
      result.set({Index(cut)}, (with - without) * how.sign);
    }
    return result;
  });
}

KnownMistake mistake(const char* name, const char* sentence, How how) {
  return {name, sentence, by_loops(how), by_library(how)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("the other weights made larger",
            "After the cut the other weights were divided by their sum. That asks another question "
            "(as in step 18): part of what you see is what the others gained. Here they stay.",
            {.shared = true}),
    mistake("the other weights made larger, and the sign",
            "Two things: the other weights were divided by their sum after the cut, but they have "
            "to stay as they are; and the sign is the other way round.",
            {.shared = true, .sign = -1}),
    mistake("links stay cut",
            "Links that were cut before were not put back, so each number has the loss of all cuts "
            "up to it. Begin each cut with a fresh copy of the weights.",
            {.cut_before = true}),
    mistake("only this link left",
            "All other links were cut, and this one stayed. What a link can do alone is another "
            "question than what is lost without it.",
            {.alone = true}),
    mistake("sign",
            "The sign is the other way round: what is lost is ln p with the link minus ln p "
            "without it.",
            {.sign = -1}),
    mistake("the logit, not ln p",
            "This is what the logit of the right word loses. It can fall while that of all other "
            "words falls as much: only ln p says what becomes of the answer.",
            {.plain_logit = true}),
    mistake("the probability, not its logarithm",
            "This is what the probability loses. Asked for is its logarithm, of which the loss is "
            "made.",
            {.plain_p = true}),
    mistake("the logit, and the sign",
            "Two things: this is the change of the logit, not of ln p; and it is without minus "
            "with.",
            {.plain_logit = true, .sign = -1}),
};

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 1, vocabulary = size + 2;
  return {{"weights", softmax(random.normal({n}))},
          {"values", random.normal({n, d}, 0, 1.5)},
          {"output", random.normal({d, vocabulary})},
          {"right", double(random.randint(vocabulary))}};
}

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = lost(learn::lost_without_links),
                .right = {lost(solution::lost_without_links), by_library({}), by_loops({})},
                .mistakes = mistakes,
                .hints = {"First a lambda that makes ln p of a row of weights (n). Then a loop "
                          "over the links.",
                          "In the loop: a copy of the weights, its number j set to 0, ln p of it, "
                          "and the difference to ln p of the whole.",
                          "log_softmax(matmul(matmul(unsqueeze(row, 0), values), output)).at({0, "
                          "right}) is ln p; lost.set({j}, whole - without)."}},
               count, arguments);
}
