#include <algorithm>
#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::top_p_only) top_p_only;
}

namespace {

using Kept = std::function<decltype(learn::top_p_only)>;

// Twice: p between two sums, and p exactly a sum.
Attempt kept(Kept keep) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"result", keep(in.at(0).value, double{in.at(1).value.item()})},
            {"result for p exact", keep(in.at(2).value, double{in.at(3).value.item()})}};
  };
}

enum Order { likeliest, unlikeliest, by_id };
enum Last { at_p, beyond_p, below_p };

// What is done; the defaults are right.
struct How {
  Order order = likeliest;
  Last last = at_p;
  bool shared = true;  // divided by the new sum
};

// One word after the other, until the sum says so.
Kept by_steps(How how) {
  return [=](const Tensor& probabilities, double p) {
    std::vector<real> from = probabilities.values(), to(from.size(), 0);
    double sum = 0;
    for (std::size_t step = 0; step < from.size(); ++step) {
      std::size_t word = how.order == by_id ? step : 0;
      for (std::size_t j = 0; how.order != by_id && j < from.size(); ++j) {
        const bool free = to[j] == 0,
                   better = how.order == likeliest ? from[j] > from[word] : from[j] < from[word];
        if (free && (better || to[word] != 0)) word = j;
      }
      const double with = sum + double{from[word]};
      if (how.last == below_p ? with > p : how.last == beyond_p ? sum > p : sum >= p) break;
      to[word] = from[word];
      sum = with;
    }
    for (real& x : to) x = static_cast<real>(how.shared ? double{x} / sum : double{x});
    return Tensor(probabilities.shape(), to);
  };
}

// Word j is kept or not by the sum of all words before it in the order; pairs are compared.
Kept by_pairs(How how) {
  return [=](const Tensor& probabilities, double p) {
    const Tensor ids = Tensor::arange(probabilities.size(0));                    // (words)
    const Tensor mine = unsqueeze(probabilities, 1), my_id = unsqueeze(ids, 1);  // (words, 1)
    const Tensor lower = (mine == probabilities) * (ids < my_id);                // (words, words)
    const Tensor first = how.order == by_id       ? ids < my_id                  // (words, words)
                         : how.order == likeliest ? (probabilities > mine) + lower
                                                  : (probabilities < mine) + lower;
    const Tensor before = sum(first * probabilities, 1);  // (words)
    const Tensor stays = how.last == below_p    ? before + probabilities <= p
                         : how.last == beyond_p ? before <= p
                                                : before < p;  // (words)
    const Tensor result = probabilities * stays;               // (words)
    return how.shared ? result / sum(result) : result;
  };
}

// Sixteenths in random order, whose sums are exact.
Tensor sixteenths(Random& random) {
  const double shares[] = {7, 4, 3, 2};
  Tensor result = Tensor::zeros({4});  // (4)
  const std::vector<Index> order = random.permutation(4);
  for (Index j = 0; j < 4; ++j) result.set({j}, shares[order[static_cast<std::size_t>(j)]] / 16);
  return result;
}

// p lies in the middle between two sums, above the likeliest word. Word 0 is the likeliest and the
// last word the second: added up in the order of the ids, the sum reaches p without it.
NamedTensors inputs(Random& random, Index size) {
  const Index words = size + 2;
  const std::size_t kept = size == 1 ? 2 : 2 + static_cast<std::size_t>(random.randint(2));
  std::vector<double> weights;
  for (Index j = 0; j < words; ++j) {
    weights.push_back(std::pow(0.77, double(j)) * (1 + 0.1 * random.uniform()));
  }
  double all = 0, sum = 0;
  for (const double x : weights) all += x;
  for (std::size_t j = 0; j + 1 < kept; ++j) sum += weights[j];
  const double p = (sum + weights[kept - 1] / 2) / all;
  std::swap(weights[1], weights.back());
  for (std::size_t j = weights.size() - 2; j > 1; --j) {
    std::swap(weights[j], weights[1 + static_cast<std::size_t>(random.randint(Index(j)))]);
  }
  std::vector<real> shares;
  for (const double x : weights) shares.push_back(static_cast<real>(x / all));
  return {{"probabilities", Tensor({words}, shares)},
          {"p", p},
          {"probabilities for p exact", sixteenths(random)},
          {"p exact", (random.randint(2) == 0 ? 11 : 14) / 16.0}};
}

KnownMistake mistake(const char* name, const char* sentence, How how) {
  return {name, sentence, kept(by_steps(how)), kept(by_pairs(how))};
}

const std::vector<KnownMistake> mistakes = {
    mistake("the word that reaches p is left out",
            "The words kept add up to less than p. The word at which the sum reaches p belongs "
            "to them: without it, a word with a probability above p would leave nothing.",
            {.last = below_p}),
    mistake("one more where p is reached exactly",
            "Where the sum is exactly p, one word more was kept. Stop as soon as the sum is p or "
            "more: while (sum < p), not <=.",
            {.last = beyond_p}),
    mistake("not shared out again",
            "The right words are kept, but they do not sum to 1: divide them by their sum.",
            {.shared = false}),
    mistake("left out, and not shared out again",
            "Two things: the word at which the sum reaches p is missing, and what is kept was "
            "not divided by its sum.",
            {.last = below_p, .shared = false}),
    mistake("in the order of the ids",
            "The words were added up in the order of their ids. Likely words then are lost: go "
            "from the likeliest down.",
            {.order = by_id}),
    mistake("unlikeliest first",
            "The words were added up from the unlikeliest up, which keeps the errors that top p "
            "is to remove: sort downwards.",
            {.order = unlikeliest})};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = kept(learn::top_p_only),
       .right = {kept(solution::top_p_only), kept(by_steps({})), kept(by_pairs({})),
                 kept([](const Tensor& probabilities, double p) {
                   return sampling_probabilities(log(probabilities), {.top_p = p - 1e-6});
                 })},
       .mistakes = mistakes,
       .hints = {"Make a list of the ids and sort it by probability, the likeliest first.",
                 "Go through the list with a sum. Before each word: if the sum is p or more, stop. "
                 "At the end divide what is kept by the sum.",
                 "for (const Index word : order) { if (sum >= p) break; sum += "
                 "probabilities.at({word}); result.set({word}, probabilities.at({word})); }"}},
      count, arguments);
}
