#include <algorithm>
#include <cmath>
#include <numeric>

#include "course/exercise.hpp"
#include "phase5.hpp"
#include "tapestry/analysis/patterns.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::is_induction_score) is_induction_score;
}

namespace {

using Test = std::function<decltype(learn::is_induction_score)>;
using Keys = std::vector<Index>;

enum Fault {
  none,
  same_word,
  two_behind,
  first_one,
  by_place,
  all_of_them,
  all_rows,
  greatest,
  columns,
  no_number
};

const std::vector<std::string> faults = {
    "looks at the earlier word itself, not behind it",
    "looks two places behind the earlier word",
    "takes the first occurrence of the word, not the last one before it",
    "takes the distance of the first repetition for all others (counts places)",
    "adds up the weights behind all earlier occurrences",
    "divides by the number of all positions",
    "takes the greatest weight in place of the mean",
    "exchanges queries and keys",
    "is 0 / 0 where no word comes twice"};

// The keys of each position that count.
std::vector<Keys> keys_of(Fault fault, const std::vector<std::int32_t>& words) {
  std::vector<Keys> keys(words.size());
  Index back = -1;  // by_place
  for (std::size_t i = 0; i < words.size(); ++i) {
    Keys found;
    for (std::size_t j = 0; j < i; ++j) {
      if (words[j] == words[i]) found.push_back(Index(j) + 1);
    }
    if (found.empty()) continue;
    if (fault == first_one) found.resize(1);
    if (fault != all_of_them) found = {found.back()};
    if (back < 0) back = Index(i) - found[0];
    if (fault == by_place) found = {Index(i) - back};
    if (fault == same_word) found[0] -= 1;
    if (fault == two_behind) found[0] = std::min(found[0] + 1, Index(words.size()) - 1);
    keys[i] = found;
  }
  return keys;
}

InductionScore score_with(Fault fault) {
  return [=](const Tensor& weights, const Indices& words) {
    const std::vector<Keys> keys = keys_of(fault, words.values);
    double sum = 0, count = 0, most = -INFINITY;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto query = Index(i);
      for (const Index k : keys[i]) {
        const double w = double{fault == columns ? weights.at({k, query}) : weights.at({query, k})};
        sum += w;
        most = std::max(most, w);
      }
      count += fault == all_rows || !keys[i].empty();
    }
    if (count == 0 || std::isinf(most)) return fault == no_number ? double{NAN} : 0.0;
    return fault == greatest ? most : sum / count;
  };
}

// By the library, and number by number backwards, in 32 bits.
const std::vector<InductionScore> right_ones = {
    [](const Tensor& weights, const Indices& words) {
      return double{weight_on(weights, induction_keys(words)).item()};
    },
    [](const Tensor& weights, const Indices& words) {
      const std::vector<Keys> keys = keys_of(none, words.values);
      real sum = 0, count = 0;
      for (std::size_t i = keys.size(); i-- > 0;) {
        if (keys[i].empty()) continue;
        sum += weights.at({Index(i), keys[i][0]});
        count += 1;
      }
      return count == 0 ? 0.0 : double{sum / count};
    }};

Attempt tried(const Test& test) {
  return [=](const NamedTensors&) {
    std::vector<InductionScore> wrong_ones;
    for (std::size_t i = 1; i <= faults.size(); ++i) wrong_ones.push_back(score_with(Fault(i)));
    return passes(test, right_ones, wrong_ones);
  };
}

// The texts of a test.
enum Texts { any, periodic, at_most_twice, repeated };

Indices text_of(Texts kind, Index number) {
  Random random(3, std::uint64_t(number));
  const Index n = 6 + random.randint(7);
  std::vector<std::int32_t> words;
  for (Index i = 0; i < n; ++i) words.push_back(std::int32_t(random.randint(4)));
  if (kind == periodic) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = std::int32_t(i % 3);
  }
  if (kind == at_most_twice || (kind == any && number % 3 == 0)) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = std::int32_t(i);
  }
  if (kind == at_most_twice) words[5] = words[1], words[4] = words[2], words[3] = words[0];
  return {{n}, words};
}

bool is_near(double found, double wanted, double most) { return std::abs(found - wanted) <= most; }

// Random weights, and the score that is expected.
Test with_random_weights(Texts kind, double most = 1e-4) {
  return [=](const InductionScore& score) {
    Random random(4);
    for (Index number = 0; number < 20; ++number) {
      const Indices words = text_of(kind, number);
      const Tensor weights = random.normal({words.shape[0], words.shape[0]});  // (n, n)
      if (!is_near(score(weights, words), score_with(none)(weights, words), most)) return false;
    }
    return true;
  };
}

// A whole number at one place and 0 elsewhere, or random ones there: which places count?
Test place_by_place(Texts kind, double most = 1e-4) {
  return [=](const InductionScore& score) {
    for (Index number = 0; number < 9; ++number) {
      const Indices words = text_of(kind, number);
      const Index n = words.shape[0];
      const std::vector<Keys> keys = keys_of(none, words.values);
      const auto counts = [](const Keys& k) { return !k.empty(); };
      const auto count = double(std::count_if(keys.begin(), keys.end(), counts));
      for (Index place = 0; place < n * n; ++place) {
        const Index i = place / n, k = place % n;
        Tensor weights = Tensor::zeros({n, n});  // (n, n)
        weights.set({i, k}, 0.7);
        const Keys& of = keys[std::size_t(i)];
        const double wanted = !of.empty() && of[0] == k ? double{real(0.7)} / count : 0;
        if (!is_near(score(weights, words), wanted, most)) return false;
      }
    }
    return true;
  };
}

// A head that puts all its weight where it should must get 1, on a text that repeats a piece.
Test of_a_perfect_head(Index piece) {
  return [=](const InductionScore& score) {
    const Index n = 2 * piece;
    Indices words({n}, std::vector<std::int32_t>(std::size_t(n)));
    Tensor weights = Tensor::zeros({n, n});  // (n, n)
    for (Index i = 0; i < n; ++i) {
      words.values[std::size_t(i)] = std::int32_t(i % piece);
      weights.set({i, i < piece ? i : i - piece + 1}, 1);
    }
    return is_near(score(weights, words), 1, 1e-4);
  };
}

KnownMistake known(const char* name, const char* sentence, const Test& wrong, const Test& also) {
  return {name, sentence, tried(wrong), tried(also)};
}

NamedTensors inputs(Random& random, Index) { return {{"nothing", random.uniform()}}; }

const std::vector<KnownMistake> mistakes = {
    known(
        "nothing is compared",
        "The test lets everything pass. It compares nothing, or a score with itself: a test that "
        "cannot fail says nothing.",
        [](const InductionScore&) { return true; },
        [](const InductionScore& score) {
          const Indices words({4}, {1, 2, 1, 2});
          const Tensor even = Tensor::full({4, 4}, 0.25);  // (4, 4)
          return score(even, words) == score(even, words);
        }),
    known("no room for rounding",
          "The test refuses functions that are right. They add in another order or in 32 bits, and "
          "differ in the last digits: allow 1e-4 or so.",
          with_random_weights(any, 0), place_by_place(any, 0)),
    known("a perfect head only",
          "The only head that was tried puts all its weight on the right keys, on a text like "
          "\"abcabc\". Many wrong functions give it 1, too. Try heads that do something else, and "
          "texts without a period.",
          of_a_perfect_head(3), of_a_perfect_head(5)),
    known("texts with a period only",
          "All texts repeat a piece, like \"abcabcabc\". There the distance to the key is the same "
          "everywhere, so that a function that counts places looks right. And no text is without "
          "repetition.",
          with_random_weights(periodic), place_by_place(periodic)),
    known("no word comes three times",
          "In each text a word comes twice at most, and some word does. So first, last and all "
          "earlier occurrences are the same, and a text without repetition is never seen.",
          with_random_weights(at_most_twice), place_by_place(at_most_twice)),
    known("no text without repetition",
          "In all texts some word comes twice. What does the function say if none does?",
          with_random_weights(repeated), place_by_place(repeated))};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = tried(learn::is_induction_score),
       .right = {tried(solution::is_induction_score), tried(with_random_weights(any)),
                 tried(place_by_place(any))},
       .mistakes = mistakes,
       .hints = {"Write the right score once more, plainly, inside your test; then compare "
                 "on many random texts and random weights.",
                 "Draw texts of few different words, so that some come three times, and "
                 "add one in which all words differ.",
                 "if (!(std::abs(score(weights, words) - expected) < 1e-4)) return false; "
                 "written with ! and <, so that NaN fails, too."},
       .faults = faults},
      count, arguments);
}
