#include "course/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

namespace tapestry {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// -> as in distance(), of one tensor
double distance(const Tensor& found, const Tensor& expected) {
  if (found.defined() != expected.defined()) return infinity;
  if (!expected.defined()) return 0;
  if (found.shape() != expected.shape()) return infinity;
  const std::vector<real> a = found.values(), b = expected.values();
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return infinity;
    difference = std::max(difference, std::abs(double{a[i]} - double{b[i]}));
  }
  return difference / allowed_difference(expected, 1);
}

double distance(const Outcome& found, const Outcome& expected) {
  if (found.kind != expected.kind || found.text != expected.text) return infinity;
  return distance(found.results, expected.results);
}

// How many cases agree before the first that does not.
std::size_t agreeing(const Exercise& exercise, const Apart& found, const Apart& expected) {
  const std::size_t both = std::min(found.outcomes.size(), expected.outcomes.size());
  std::size_t i = 0;
  while (i < both && distance(found.outcomes[i], expected.outcomes[i]) <= exercise.tolerance) {
    ++i;
  }
  return i;
}

bool agree(const Exercise& exercise, const Apart& found, const Apart& expected) {
  return found.ending == expected.ending && found.outcomes.size() == expected.outcomes.size() &&
         agreeing(exercise, found, expected) == found.outcomes.size();
}

// Two cases of the same size, not the smallest, have the same results although the right ones
// differ.
bool always_the_same(const Exercise& exercise, const std::vector<Case>& cases, const Apart& found,
                     const Apart& expected) {
  for (std::size_t i = 1; i < found.outcomes.size(); ++i) {
    if (cases[i].size == 1 || cases[i].size != cases[i - 1].size) continue;
    const Outcome &now = found.outcomes[i], &before = found.outcomes[i - 1];
    if (now.kind != Outcome::returned || distance(now, before) > exercise.tolerance) return false;
    const double apart = distance(expected.outcomes[i], expected.outcomes[i - 1]);
    if (!(apart > 10 * exercise.tolerance)) return false;
  }
  return found.outcomes.size() > 1;
}

Apart expected_of(const Exercise& exercise, const std::vector<Case>& cases) {
  Apart expected = run_apart(exercise, exercise.right.at(0), cases);
  if (expected.ending != Apart::finished) throw Error("the solution does not finish");
  for (const Outcome& one : expected.outcomes) {
    if (one.kind == Outcome::not_written) throw Error("the solution is not written");
    if (one.kind == Outcome::threw) throw Error("the solution throws: " + one.text);
    if (one.kind == Outcome::changed_input) throw Error("the solution changes " + one.text);
  }
  return expected;
}

}  // namespace

double allowed_difference(const Tensor& expected, double tolerance) {
  double largest = 1e-3;
  for (const real x : expected.values()) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(double{x}));
  }
  return tolerance * largest;
}

double distance(const NamedTensors& found, const NamedTensors& expected) {
  if (found.size() != expected.size()) return infinity;
  double greatest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].name != expected[i].name) return infinity;
    greatest = std::max(greatest, distance(found[i].value, expected[i].value));
  }
  return greatest;
}

std::vector<Case> cases_of(std::uint64_t seed) {
  std::vector<Case> cases;
  for (Index size = 1; size <= Exercise::sizes; ++size) {
    for (std::uint64_t i = 0; i < 4; ++i) cases.push_back({seed + i, size});
  }
  return cases;
}

Judgement judge_attempt(const Exercise& exercise, const Attempt& attempt, std::uint64_t seed) {
  const std::vector<Case> cases = cases_of(seed);
  Judgement result;
  result.run = run_apart(exercise, attempt, cases);
  const Apart& found = result.run;
  for (const Outcome& one : found.outcomes) {
    if (one.kind == Outcome::not_written) return result.verdict = Judgement::not_written, result;
  }
  const Apart expected = expected_of(exercise, cases);
  if (agree(exercise, found, expected)) return result;
  for (std::size_t i = 0; i < exercise.mistakes.size(); ++i) {
    if (!agree(exercise, found, run_apart(exercise, exercise.mistakes[i].wrong, cases))) continue;
    result.verdict = Judgement::known;
    result.mistake = i;
    return result;
  }
  result.verdict = Judgement::unknown;
  result.is_always_the_same = always_the_same(exercise, cases, found, expected);
  const std::size_t i = agreeing(exercise, found, expected);
  result.at = cases[std::min(i, cases.size() - 1)];
  result.expected = expected.outcomes[std::min(i, cases.size() - 1)].results;
  if (i < found.outcomes.size()) result.found = found.outcomes[i];
  if (i >= found.outcomes.size() || result.found.kind != Outcome::returned) {
    result.verdict = Judgement::unreadable;
  }
  return result;
}

// ---- The proof

namespace {

struct Proof {
  const Exercise& exercise;
  int wrong = 0;

  void want(bool is_so, const std::string& what) {
    if (is_so) return;
    std::printf("  wrong: %s\n", what.c_str());
    ++wrong;
  }

  void verdict(const Attempt& attempt, Judgement::Verdict expected, const std::string& what) {
    const Judgement found = judge_attempt(exercise, attempt, 1000);
    const std::string& text = found.found.text;
    want(found.verdict == expected, what + (text.empty() ? "" : " (" + text + ")"));
  }

  void named(const Attempt& attempt, std::size_t mistake, const std::string& how) {
    const Judgement found = judge_attempt(exercise, attempt, 1000);
    const bool is_named = found.verdict == Judgement::known && found.mistake == mistake;
    want(is_named, "'" + exercise.mistakes[mistake].name + "', written " + how + ", is " +
                       (found.verdict == Judgement::known
                            ? "named '" + exercise.mistakes[found.mistake].name + "'"
                            : "not named"));
  }

  // At the largest size everything is ten tolerances from everything else, with 20 seeds.
  void margins() {
    std::vector<Case> cases;
    for (std::uint64_t seed = 2000; seed < 2020; ++seed) cases.push_back({seed, Exercise::sizes});
    std::vector<std::pair<std::string, Apart>> all;
    all.emplace_back("the solution", run_apart(exercise, exercise.right.at(0), cases));
    for (const KnownMistake& one : exercise.mistakes) {
      all.emplace_back("'" + one.name + "'", run_apart(exercise, one.wrong, cases));
      const auto& outcomes = all.back().second.outcomes;
      const auto returns = [](const Outcome& o) { return o.kind == Outcome::returned; };
      const auto bad = std::find_if_not(outcomes.begin(), outcomes.end(), returns);
      want(bad == outcomes.end(), "'" + one.name + "' returns nothing" +
                                      (bad == outcomes.end() ? "" : " (" + bad->text + ")"));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) apart(all[i], all[j]);
    }
  }

  void apart(const std::pair<std::string, Apart>& one, const std::pair<std::string, Apart>& other) {
    const auto& [name, a] = one;
    const auto& [other_name, b] = other;
    double least = infinity;
    for (std::size_t i = 0; i < std::min(a.outcomes.size(), b.outcomes.size()); ++i) {
      least = std::min(least, distance(a.outcomes[i], b.outcomes[i]));
    }
    want(least >= 10 * exercise.tolerance,
         name + " and " + other_name + formatted(" differ by only %.2g", least));
  }
};

}  // namespace

int prove(const Exercise& exercise) {
  Proof proof{exercise};
  proof.verdict(exercise.learner, Judgement::not_written, "the task as given is not 'not written'");
  for (std::size_t i = 0; i < exercise.right.size(); ++i) {
    proof.verdict(exercise.right[i], Judgement::right,
                  "right form " + std::to_string(i) + " is refused");
  }
  const Attempt leaves = [](const NamedTensors&) -> NamedTensors { std::exit(0); };
  proof.verdict(leaves, Judgement::unreadable, "exit(0) is not noticed");
  for (std::size_t i = 0; i < exercise.mistakes.size(); ++i) {
    proof.named(exercise.mistakes[i].wrong, i, "as known");
    proof.named(exercise.mistakes[i].also, i, "in another way");
  }
  proof.margins();
  proof.want(exercise.hints.size() == 3, "there have to be three hints");
  std::printf("%zu right forms, %zu known mistakes, %d wrong\n", exercise.right.size(),
              exercise.mistakes.size(), proof.wrong);
  return proof.wrong;
}

}  // namespace tapestry
