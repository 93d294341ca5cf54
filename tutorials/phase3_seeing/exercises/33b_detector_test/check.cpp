#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "course/exercise.hpp"
#include "phase3.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::detector_passes) detector_passes;
}

namespace {

using Test = std::function<decltype(learn::detector_passes)>;

// The weights on the word before, of the rows 1 to n - 1.
std::vector<double> before(const Tensor& weights) {
  std::vector<double> list;
  for (Index i = 1; i < weights.size(0); ++i) list.push_back(double{weights.at({i, i - 1})});
  return list;
}

double total(const std::vector<double>& list) {
  return std::accumulate(list.begin(), list.end(), 0.0);
}

double mean_of_list(const std::vector<double>& list) { return total(list) / double(list.size()); }

// Mean of the diagonal that lies so far beside the main one, where it is inside.
double diagonal(const Tensor& weights, Index offset) {
  double sum = 0;
  for (Index i = 1; i < weights.size(0); ++i) {
    const Index key = i + offset;
    if (key >= 0 && key < weights.size(0)) sum += double{weights.at({i, key})};
  }
  return sum / double(weights.size(0) - 1);
}

// The share of rows whose largest weight lies on the word before.
double share_of_largest(const Tensor& weights) {
  const Indices best = argmax(weights);  // (n)
  double rows = 0;
  for (Index i = 1; i < weights.size(0); ++i) {
    rows += best.values[static_cast<std::size_t>(i)] == i - 1 ? 1 : 0;
  }
  return rows / double(weights.size(0) - 1);
}

double largest_of_rows(const Tensor& weights) {
  return double{mean(max(slice(weights, 0, 1, weights.size(0)), -1)).item()};
}

const std::vector<Detector> right_ones = {
    [](const Tensor& weights) { return mean_of_list(before(weights)); },
    [](const Tensor& weights) { return diagonal(weights, -1); }};

const std::vector<std::string> faults = {"it reads the weight on the next word",
                                         "it reads the weight on the word itself",
                                         "the sum is not divided",
                                         "the sum is divided by n: row 0 counts",
                                         "only the last row counts",
                                         "the largest row is taken, not the mean",
                                         "it counts the rows in which the word before gets most",
                                         "the largest weight of each row, wherever it lies",
                                         "rows behind the fifth are left out"};

const std::vector<Detector> wrong_ones = {
    [](const Tensor& weights) { return diagonal(weights, 1); },
    [](const Tensor& weights) { return diagonal(weights, 0); },
    [](const Tensor& weights) { return total(before(weights)); },
    [](const Tensor& weights) { return total(before(weights)) / double(weights.size(0)); },
    [](const Tensor& weights) { return before(weights).back(); },
    [](const Tensor& weights) {
      const std::vector<double> list = before(weights);
      return *std::max_element(list.begin(), list.end());
    },
    share_of_largest,
    largest_of_rows,
    [](const Tensor& weights) {
      const Index n = std::min(weights.size(0), Index{5});
      return mean_of_list(before(slice(weights, 0, 0, n)));
    }};

// Which functions the test lets pass; all right ones, first, are one number.
Attempt tried(Test test) {
  return [=](const NamedTensors&) { return passes(test, right_ones, wrong_ones); };
}

// Each query looks at one key: i + offset, or 0 where there is none.
Tensor looks_at(Index n, Index offset) {
  Tensor weights = Tensor::zeros({n, n});  // (n, n)
  for (Index i = 0; i < n; ++i) weights.set({i, i + offset >= 0 ? i + offset : 0}, 1);
  return weights;
}

Tensor even(Index n) { return Tensor::full({n, n}, 1 / double(n)); }

bool is_near(double a, double b) { return std::abs(a - b) < 1e-4; }

// Compares with the formula on random heads of these lengths.
Test by_formula(std::vector<Index> lengths) {
  return [=](const Detector& f) {
    Random random(3);
    return std::all_of(lengths.begin(), lengths.end(), [&](Index n) {
      const Tensor weights = softmax(random.normal({n, n}, 0, 2));  // (n, n)
      return is_near(f(weights), diagonal(weights, -1));
    });
  };
}

// With heads whose scores are known: half of the queries look back, the others half, and so on.
bool by_known_heads(const Detector& f) {
  const Tensor back = looks_at(8, -1), other = looks_at(8, 0), mixed = (back * 3 + other) / 4;
  const Tensor two = concat({slice(back, 0, 0, 4), slice(other, 0, 4, 8)}, 0);  // (8, 8)
  return is_near(f(back), 1) && is_near(f(other), 0) && is_near(f(mixed), 0.75) &&
         is_near(f(two), 3 / 7.) && is_near(f(even(6)), 1 / 6.);
}

bool none_fails(const Detector& f) { return f(even(4)) >= 0; }

bool is_the_same(const Detector& f) { return is_near(f(looks_at(5, -1)), f(looks_at(5, -1))); }

// Asks for the mean of all n rows: row 0 as 0.
bool wrong_formula(const Detector& f) {
  const Tensor weights = looks_at(4, -1);  // (4, 4)
  return is_near(f(weights), 0.75) && is_near(f(even(4)), 3 / 16.);
}

const std::vector<KnownMistake> mistakes = {
    {"a test that nothing can fail",
     "Your test lets everything pass. That a score is 0 or more, or equal to itself, is true of "
     "wrong detectors as well: compare it with a number that you know.",
     tried(none_fails), tried(is_the_same)},
    {"row 0 expected to count",
     "Your test refuses a right detector, and lets pass one that divides by n. Row 0 has no word "
     "before it: a head that always looks there has the score 1.",
     tried(wrong_formula), tried([](const Detector& f) {
       const Tensor weights = softmax(Random(8).normal({5, 5}));  // (5, 5)
       return is_near(f(weights), total(before(weights)) / 5);
     })},
    {"only the perfect head",
     "Your test has one head, which looks at the word before in each row. Much gives it the score "
     "1: one row, the largest row, or any narrow row. Try heads that do it in part.",
     tried([](const Detector& f) { return is_near(f(looks_at(5, -1)), 1); }),
     tried([](const Detector& f) {
       double score = 0;
       for (const Index n : {4, 6, 8}) score += f(looks_at(n, -1)) / 3;
       return is_near(score, 1);
     })},
    {"all or nothing",
     "Your test has heads that look at the word before always or never. Detectors that count one "
     "row only, or rows in which it gets most, are right on both. Try heads that do it in part.",
     tried([](const Detector& f) {
       return is_near(f(looks_at(5, -1)), 1) && is_near(f(looks_at(5, 0)), 0);
     }),
     tried([](const Detector& f) {
       double wrong = 0;
       for (const Index n : {4, 9}) {
         wrong += std::abs(f(Tensor::eye(n))) + std::abs(f(looks_at(n, -1)) - 1);
       }
       return wrong < 1e-4;
     })},
    {"only even weights",
     "Your test has even weights only. All keys have the same weight there, so a detector that "
     "reads the wrong key is not found.",
     tried([](const Detector& f) { return is_near(f(even(5)), 0.2); }),
     tried([](const Detector& f) {
       return is_near(4 * f(even(4)), 1) && is_near(f(even(6)), 1 / 6.);
     })},
    {"short texts only",
     "Your test has short texts only. One of the detectors leaves out later rows: try a longer "
     "one.",
     tried(by_formula({2, 4, 5})), tried(by_formula({4, 3, 5, 4}))},
};

NamedTensors inputs(Random&, Index size) { return {{"size", double(size)}}; }

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = tried(learn::detector_passes),
                .right = {tried(solution::detector_passes), tried(by_formula({3, 4, 7, 8})),
                          tried(by_known_heads)},
                .mistakes = mistakes,
                .hints = {"For which heads do you know the score without computing? Begin with a "
                          "head that always looks at the word before: 1.",
                          "Such heads are right for many wrong detectors, too. Add heads that do "
                          "it in some rows, or with a part of the weight, and a longer text.",
                          "For n of 3, 4, 7: weights = softmax(random.normal({n, n})); compute the "
                          "formula in a loop; return false if f(weights) is more than 1e-5 away."},
                .faults = faults},
               count, arguments);
}
