#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::top_k_only) top_k_only;
}

namespace {

using Kept = std::function<decltype(learn::top_k_only)>;

Attempt kept(Kept keep) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"probabilities", keep(in.at(0).value, whole(in.at(1)))}};
  };
}

enum Rest { hidden, zero_logit, cut_later };

// Words that are kept: 1, others: 0. Ranks are counted from the largest logit, from 0.
using Rule = bool (*)(Index rank, Index word, Index k, Index words);

// By sorted order, number by number.
Kept by_order(Rule rule, Rest rest = hidden, bool sorted = false) {
  return [=](const Tensor& logits, Index k) {
    std::vector<real> values = logits.values();
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    std::vector<double> powers(values.size(), 0.0);
    double sum = 0;
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const std::size_t word = order[rank], to = sorted ? rank : word;
      const bool stays = rule(Index(rank), Index(word), k, std::ssize(values));
      const double power = std::exp(double{values[word]});
      if (stays) powers[to] = power;
      if (!stays && rest == zero_logit) powers[to] = 1;
      sum += rest == cut_later ? power : powers[to];
    }
    for (double& power : powers) power /= sum;
    return Tensor(logits.shape(), std::vector<real>(powers.begin(), powers.end()));
  };
}

// By comparing each logit with each other: how many are larger, a tensor.
Kept by_counting(Tensor (*keep)(const Tensor& rank, const Tensor& word, double k, double words),
                 Rest rest = hidden) {
  return [=](const Tensor& logits, Index k) {
    const Tensor rank = sum(unsqueeze(logits, 0) > unsqueeze(logits, 1), 1);  // (vocabulary)
    const Tensor stays =
        keep(rank, Tensor::arange(logits.size(0)), double(k), double(logits.size(0)));
    if (rest == cut_later) return softmax(logits) * stays;
    const double other = rest == zero_logit ? 0 : -std::numeric_limits<double>::infinity();
    return softmax(where(stays, logits, other));
  };
}

bool best(Index rank, Index, Index k, Index) { return rank < k; }
Tensor best(const Tensor& rank, const Tensor&, double k, double) { return rank < k; }

NamedTensors inputs(Random& random, Index size) {
  const Index words = 2 * size + 1;
  Tensor logits = Tensor::zeros({words});  // (words): at least 0.4 apart, in random order
  std::vector<Index> order = random.permutation(words);  // but first the largest and the smallest
  std::swap(order[0], *std::find(order.begin(), order.end(), words - 1));
  std::swap(order[1], *std::find(order.begin(), order.end(), 0));
  for (Index j = 0; j < words; ++j) {
    const double place = double(order[static_cast<std::size_t>(j)]) - size;
    logits.set({j}, 0.6 * place + 0.2 * random.uniform() + 0.3);
  }
  const Index k = size == 1 || random.randint(2) == 0 ? 2 : words - 3;
  return {{"logits", logits}, {"k", double(k)}};
}

const std::vector<KnownMistake> mistakes = {
    {"not shared out again",
     "Softmax ran over all words, and the others were set to 0 afterwards. What is kept does "
     "not sum to 1: choose first, then softmax, or divide by the new sum.",
     kept(by_order(best, cut_later)), kept(by_counting(best, cut_later))},
    {"logit 0 for the others",
     "The other words got the logit 0, not the probability 0. exp(0) is 1, so they can still "
     "be drawn: their logit has to be -infinity.",
     kept(by_order(best, zero_logit)), kept(by_counting(best, zero_logit))},
    {"one too many", "k + 1 words are kept. A word stays if fewer than k words are likelier.",
     kept(by_order([](Index rank, Index, Index k, Index) { return rank <= k; })),
     kept(by_counting(
         [](const Tensor& rank, const Tensor&, double k, double) { return rank <= k; }))},
    {"one too few",
     "k - 1 words are kept: the last of the k best is lost, as by > in place of >= at a "
     "threshold.",
     kept(by_order([](Index rank, Index, Index k, Index) { return rank + 1 < k; })),
     kept(by_counting(
         [](const Tensor& rank, const Tensor&, double k, double) { return rank + 1 < k; }))},
    {"the smallest",
     "The k least likely words are kept: the order is upside down. std::sort puts the "
     "smallest first.",
     kept(by_order([](Index rank, Index, Index k, Index n) { return rank >= n - k; })),
     kept(by_counting(
         [](const Tensor& rank, const Tensor&, double k, double n) { return rank >= n - k; }))},
    {"counted from the wrong end",
     "All but k words are kept. In a list sorted upwards the kth largest stands k places before "
     "the end, not at place k.",
     kept(by_order([](Index rank, Index, Index k, Index n) { return rank < n - k; })),
     kept(by_counting(
         [](const Tensor& rank, const Tensor&, double k, double n) { return rank < n - k; }))},
    {"the first k",
     "The words 0 to k - 1 are kept, whatever their logits. An id says nothing about how "
     "likely a word is.",
     kept(by_order([](Index, Index word, Index k, Index) { return word < k; })),
     kept(by_counting(
         [](const Tensor&, const Tensor& word, double k, double) { return word < k; }))},
    {"in sorted order",
     "The right numbers, but sorted. The place of a probability says whose it is: word j's "
     "belongs at j.",
     kept(by_order(best, hidden, true)), kept([](const Tensor& logits, Index k) {
       const Tensor few = softmax(topk(logits, k).values);  // (k)
       return concat({few, Tensor::zeros({logits.size(0) - k})}, 0);
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = kept(learn::top_k_only),
       .right = {kept(solution::top_k_only), kept(by_order(best)), kept(by_counting(best)),
                 kept([](const Tensor& logits, Index k) {
                   return sampling_probabilities(logits, {.top_k = k});
                 })},
       .mistakes = mistakes,
       .hints = {"For each word: how many words have a larger logit? Fewer than k: it is kept.",
                 "Powers of the kept words only, and their sum; then divide by it. The others stay "
                 "0.",
                 "In the loop over j count larger; if (larger >= k) continue; then "
                 "probabilities.set({j}, std::exp(logit - largest)) and add it to the sum."}},
      count, arguments);
}
