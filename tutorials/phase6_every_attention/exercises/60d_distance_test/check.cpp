#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "course/exercise.hpp"
#include "phase6.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::depends_on_distance_only) depends_on_distance_only;
}

namespace {

using Test = std::function<decltype(learn::depends_on_distance_only)>;
using Row = std::array<double, 8>;

// The row, each pair (c, c + apart) rotated by m times a speed of its own; base 1: none is.
Row turned(const Tensor& x, Index m, double base, bool halves = false) {
  Row y{};
  for (Index i = 0; i < 4; ++i) {
    const Index one = halves ? i : 2 * i, other = halves ? i + 4 : one + 1;
    const double t = base == 1 ? 0 : double(m) * std::pow(base, -double(i) / 4);
    const double a = double{x.at({one})}, b = double{x.at({other})};
    y[std::size_t(one)] = a * std::cos(t) - b * std::sin(t);
    y[std::size_t(other)] = a * std::sin(t) + b * std::cos(t);
  }
  return y;
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t c = 0; c < 8; ++c) sum += a[c] * b[c];
  return sum;
}

double plain(const Tensor& q, const Tensor& k) { return dot(turned(q, 0, 1), turned(k, 0, 1)); }

// dot(q, k) and a number that depends on the positions.
PairScore biased(const std::function<double(Index m, Index n)>& bias) {
  return
      [=](const Tensor& q, Index m, const Tensor& k, Index n) { return plain(q, k) + bias(m, n); };
}

PairScore rotary_score(double base, Index table = 1000) {
  return [=](const Tensor& q, Index m, const Tensor& k, Index n) {
    return dot(turned(q, std::min(m, table), base), turned(k, std::min(n, table), base));
  };
}

std::vector<PairScore> keep_the_promise(double base) {
  return {rotary_score(base),
          biased([](Index m, Index n) { return -0.1 * double(std::abs(m - n)); }),
          biased([](Index m, Index n) { return std::sin(1.7 * double(m - n)); })};
}

const std::vector<std::string> faults = {
    "sinusoids are added to query and key",
    "queries are rotated, keys are not",
    "queries are rotated in one layout, keys in the other",
    "from some position on all are rotated alike (a table that is too short)",
    "a key after its query is punished by its place, not by its distance",
    "distances are counted in pairs of places: place / 2, a whole number",
    "a key at place 0 gets a bonus",
    "at distances above 16 the place counts, not the distance"};

// In the order of their names.
std::vector<PairScore> break_the_promise(double base, Index table) {
  const auto sinusoids = [base](const Tensor& x, Index m) {
    Row y = turned(x, 0, 1);
    for (std::size_t c = 0; c < 8; ++c) {
      const double t = double(m) * std::pow(base, -double(c / 2) / 4);
      y[c] += c % 2 == 0 ? std::sin(t) : std::cos(t);
    }
    return y;
  };
  const PairScore right = rotary_score(base);
  return {[=](const Tensor& q, Index m, const Tensor& k, Index n) {
            return dot(sinusoids(q, m), sinusoids(k, n));
          },
          [=](const Tensor& q, Index m, const Tensor& k, Index) {
            return dot(turned(q, m, base), turned(k, 0, 1));
          },
          [=](const Tensor& q, Index m, const Tensor& k, Index n) {
            return dot(turned(q, m, base), turned(k, n, base, true));
          },
          rotary_score(base, table),
          biased([](Index m, Index n) { return -0.1 * double(n > m ? n : m - n); }),
          biased([](Index m, Index n) { return -0.1 * double(std::abs(m / 2 - n / 2)); }),
          [=](const Tensor& q, Index m, const Tensor& k, Index n) {
            return right(q, m, k, n) + (n == 0 ? 1 : 0);
          },
          biased([](Index m, Index n) {
            const Index distance = std::abs(m - n);
            return -0.1 * double(distance > 16 ? std::max(m, n) : distance);
          })};
}

Attempt tried(const Test& test) {
  return [=](const NamedTensors& in) {
    const double base = in[0].value.item();
    return passes(test, keep_the_promise(base), break_the_promise(base, Index(in[1].value.item())));
  };
}

// What a test looks at.
struct Look {
  Index low = 0, high = 32, step = 1;  // the positions, and by how many places they are moved
  bool causal = false, neighbours = false, once = false;
  double tolerance = 1e-3;

  bool takes(Index m, Index n) const {
    if (std::min(m, n) < low || std::max(m, n) >= high) return false;
    return (!causal || n <= m) && (!neighbours || m == n + 1) && (!once || (m <= 4 && m == n + 3));
  }
};

// Each pair and the pair one step further.
Test step_by_step(const Look& look) {
  return [=](const PairScore& score) {
    Random random(5);
    const Tensor q = random.normal({8}) * 3, k = random.normal({8});  // (8) each
    for (Index m = 0; m < 32; ++m) {
      for (Index n = 0; n < 32; ++n) {
        if (!look.takes(m, n) || !look.takes(m + look.step, n + look.step)) continue;
        const double other = score(q, m + look.step, k, n + look.step);
        if (!(std::abs(score(q, m, k, n) - other) <= look.tolerance)) return false;
      }
    }
    return true;
  };
}

// All pairs of a distance: the range of their scores.
Test by_range(const Look& look) {
  return [=](const PairScore& score) {
    Random random(6);
    const Tensor q = random.normal({8}) * 4, k = random.normal({8});  // (8) each
    for (Index offset = -31; offset < 32 * look.step; ++offset) {
      for (Index rest = 0; rest < look.step; ++rest) {
        double low = INFINITY, high = -INFINITY;
        for (Index n = rest; n < 32; n += look.step) {
          if (offset > 31 || n + offset < 0 || !look.takes(n + offset, n)) continue;
          low = std::min(low, score(q, n + offset, k, n));
          high = std::max(high, score(q, n + offset, k, n));
        }
        if (high - low > look.tolerance) return false;
      }
    }
    return true;
  };
}

KnownMistake known(const Look& look, const char* name, const char* sentence) {
  return {name, sentence, tried(step_by_step(look)), tried(by_range(look))};
}

NamedTensors inputs(Random& random, Index) {
  return {{"base", 50 + 100 * random.uniform()}, {"table", double(12 + random.randint(5))}};
}

const std::vector<KnownMistake> mistakes = {
    {"nothing is compared",
     "The test lets everything pass: it compares nothing, or a score with itself. A test that "
     "cannot fail says nothing.",
     tried([](const PairScore&) { return true; }), tried([](const PairScore& f) {
       const Tensor x = Tensor::ones({8});  // (8)
       return f(x, 2, x, 1) == f(x, 2, x, 1);
     })},
    known({.tolerance = 0}, "no room for rounding",
          "The test refuses functions that are right: rotated numbers are rounded, so that two "
          "scores which ought to be equal differ in their last digits. Allow 1e-3 or so."),
    known({.once = true}, "one pair at the start",
          "One pair was moved once, at the start of the text. Whatever happens at far places, far "
          "distances and with keys after their query goes unseen: walk through all places."),
    known({.causal = true}, "no key after its query",
          "All keys stand before their query or at it. A function may be right there and wrong for "
          "keys after it, and one that is not causal asks for these."),
    known({.high = 12}, "near the start only",
          "The test looks at the first places of the text. A table that ends, and a rule for long "
          "distances, show only further on: positions go up to 31."),
    known({.neighbours = true}, "neighbours only",
          "The key always stands one place before its query. Every distance makes a promise of "
          "its own, in both directions."),
    known({.step = 2}, "moved by even numbers only",
          "Query and key were moved by even numbers of places. What is counted in pairs of places "
          "then looks right; move by 1, too."),
    known({.low = 1}, "place 0 left out",
          "Place 0 was never used. First and last places are where programs are wrong most "
          "often.")};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = tried(learn::depends_on_distance_only),
                .right = {tried(solution::depends_on_distance_only), tried(step_by_step({})),
                          tried(by_range({}))},
                .mistakes = mistakes,
                .hints = {"Go through all pairs of positions, and compare each score with that of "
                          "another pair at the same distance.",
                          "Two loops, m and n from 0 to 31. The same distance again: m - b and "
                          "n - b, where b is the smaller of the two.",
                          "if (std::abs(score(q, m, k, n) - score(q, m - b, k, n - b)) > 1e-3) "
                          "return false; after the loops return true."},
                .faults = faults},
               count, arguments);
}
