#include <cmath>
#include <map>

#include "course/exercise.hpp"
#include "phase5.hpp"
#include "tapestry/analysis/patterns.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::keys_behind) keys_behind;
decltype(learn::score_behind) score_behind;
}  // namespace solution

namespace {

using Keys = std::function<decltype(learn::keys_behind)>;
using Score = std::function<decltype(learn::score_behind)>;

Indices words_of(const Tensor& x) {
  Indices words;
  words.shape = x.shape();
  for (const real one : x.values()) words.values.push_back(std::int32_t(one));
  return words;
}

Attempt both(const Keys& keys, const Score& score) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor &weights = in[0].value, &control = in[2].value;  // (n, n) each
    const Indices words = words_of(in[1].value);
    const std::vector<Index> found = keys(words);
    Tensor as_numbers = Tensor::zeros({Index(found.size())});  // (n)
    for (std::size_t i = 0; i < found.size(); ++i) as_numbers.set({Index(i)}, double(found[i]));
    const Indices without = words_of(Tensor::arange(weights.size(0)));
    return {{"keys", as_numbers},
            {"score", score(weights, words)},
            {"control", score(control, words)},
            {"score of a text without repetition", score(control, without)}};
  };
}

enum Kind { right, the_word, first_one, by_place, all_rows, sum_only, no_number, columns };

// Of each position: forwards, with a table of where each word stood.
Keys keys_by_table(Kind kind) {
  return [=](const Indices& words) {
    std::map<std::int32_t, Index> seen;
    std::vector<Index> keys;
    Index back = -1;  // by_place: the distance of the first repetition
    for (const std::int32_t word : words.values) {
      const auto at = Index(keys.size());
      const auto place = seen.find(word);
      Index key = place == seen.end() ? -1 : place->second + (kind != the_word);
      if (key >= 0 && back < 0) back = at - key;
      if (key >= 0 && kind == by_place) key = at - back;
      keys.push_back(key);
      if (kind != first_one || place == seen.end()) seen[word] = at;
    }
    return keys;
  };
}

// By the library, or backwards from each position.
Keys keys_backwards(Kind kind) {
  return [=](const Indices& words) {
    const std::vector<std::int32_t>& w = words.values;
    const Indices library = induction_keys(words);
    std::vector<Index> keys(library.values.begin(), library.values.end());
    std::size_t first = 0;  // by_place: the first position that has a key
    while (first < w.size() && keys[first] < 0) ++first;
    const Index back = first < w.size() ? Index(first) - keys[first] : 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (keys[i] < 0) continue;
      if (kind == by_place) keys[i] = Index(i) - back;
      if (kind == the_word) keys[i] -= 1;
      for (std::size_t j = i; j-- > 0 && kind == first_one;) {
        if (w[j] == w[i]) keys[i] = Index(j) + 1;
      }
    }
    return keys;
  };
}

Score score_by_loop(Kind kind, const Keys& keys_of) {
  return [=](const Tensor& weights, const Indices& words) {
    const std::vector<Index> keys = keys_of(words);
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto query = Index(i);
      if (kind == all_rows) ++count;
      if (keys[i] < 0) continue;
      sum += double{kind == columns ? weights.at({keys[i], query}) : weights.at({query, keys[i]})};
      if (kind != all_rows) ++count;
    }
    if (kind == sum_only) return sum;
    return count == 0 && kind != no_number ? 0 : sum / count;
  };
}

// By a matrix that has 1 at each query's key.
Score score_by_matrix(Kind kind, const Keys& keys_of) {
  return [=](const Tensor& weights, const Indices& words) {
    const std::vector<Index> keys = keys_of(words);
    Tensor marks = Tensor::zeros(weights.shape());  // (n, n)
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] >= 0) marks.set({Index(i), keys[i]}, 1);
    }
    const Tensor of = kind == columns ? transpose(weights) : weights;  // (n, n)
    const double all = double{sum(of * marks).item()};
    const double rows = kind == all_rows ? double(keys.size()) : double{sum(marks).item()};
    if (kind == sum_only) return all;
    return rows == 0 && kind == no_number ? double{NAN} : all / std::max(rows, 1.0);
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, both(keys_by_table(kind), score_by_loop(kind, keys_by_table(kind))),
          both(keys_backwards(kind), score_by_matrix(kind, keys_backwards(kind)))};
}

// Few words, so that one of them comes three times in the longest texts. The weights look at later
// keys, too, so that each place tells.
NamedTensors inputs(Random& random, Index size) {
  const Index n = 2 * size + 2, kinds = size < 2 ? 2 : size;
  Tensor words = Tensor::zeros({n});  // (n)
  for (Index i = 0; i < n; ++i) words.set({i}, double(random.randint(kinds)));
  words.set({n - 1}, double{words.at({0})});
  return {{"weights", softmax(random.normal({n, n}))},
          {"words", words},
          {"weights on a text without repetition", softmax(random.normal({n, n}))}};
}

const std::vector<KnownMistake> mistakes = {
    known(the_word, "the earlier word itself",
          "The key is the earlier occurrence, j. The word behind it, j + 1, is what would come "
          "next; a head that looks at the same word finds it, but learns nothing about what "
          "follows."),
    known(first_one, "the first occurrence",
          "The key is behind the first occurrence of the word. It has to be the last one before i: "
          "where a word comes three times, the two differ."),
    known(by_place, "counted by place",
          "All keys have the distance of the first repetition. That measures a head that looks a "
          "fixed number of places back, whatever the words are. Look for the same word at each "
          "position anew."),
    known(all_rows, "the mean over all positions",
          "The sum is divided by n. Positions whose word is new have no such key and do not count; "
          "with them the score depends on how much of the text is repeated."),
    known(sum_only, "no mean", "The weights are added up, but not divided by how many there are."),
    known(no_number, "0 / 0",
          "Where no word comes twice, the score is 0 / 0, no number. It is 0 there."),
    known(columns, "queries and keys exchanged",
          "The weight was read at row k, column i. Rows are queries: it stands at row i, column "
          "k.")};

}  // namespace

int main(int count, char** arguments) {
  const Keys table = keys_by_table(right), backwards = keys_backwards(right);
  return judge({.inputs = inputs,
                .learner = both(learn::keys_behind, learn::score_behind),
                .right = {both(solution::keys_behind, solution::score_behind),
                          both(table, score_by_loop(right, table)),
                          both(backwards, score_by_matrix(right, backwards))},
                .mistakes = mistakes,
                .hints = {"keys_behind: for each i, go through all j < i and remember the last one "
                          "with the same word. score_behind: add up, and count.",
                          "key = -1; for (j = 0; j < i; ++j) if (words.values[j] == "
                          "words.values[i]) key = j + 1;",
                          "For each i with keys[i] >= 0: sum += weights.at({i, keys[i]}), ++count. "
                          "At the end count == 0 ? 0 : sum / count."}},
               count, arguments);
}
