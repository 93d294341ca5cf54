#include <algorithm>
#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::causality_passes) causality_passes;
}

namespace {

using Test = std::function<decltype(learn::causality_passes)>;

// One layer with these weights (d, d).
Tensor layer(const Tensor& x, const Tensor& weight, const Mask& mask) {
  return attention(matmul(x, weight), x, x, mask).output;  // (n, d)
}

// What row `to` adds from row `from`, times a factor.
Tensor added(const Tensor& y, const Tensor& x, Index to, Index from, double factor = 1) {
  const Index n = x.size(0);
  if (to < 0 || from >= n) return y;
  Tensor link = Tensor::zeros({n, n});  // (n, n)
  link.set({to, from}, factor);
  return y + matmul(link, x);
}

// x moved up by one row: each row is the next one, the last is zeros.
Tensor next_rows(const Tensor& x) {
  return concat({slice(x, 0, 1, x.size(0)), Tensor::zeros({1, x.size(1)})}, 0);  // (n, d)
}

std::vector<SequenceFunction> right_ones(const Tensor& w) {
  const Mask causal = Mask::causal();
  return {[=](const Tensor& x) { return layer(x, w, causal); },
          [=](const Tensor& x) { return layer(layer(x, w, causal), w, causal); },
          [=](const Tensor& x) { return tanh(matmul(x, w)); },
          [=](const Tensor& x) { return x + layer(x, w, causal & Mask::local(1)); }};
}

const std::vector<std::string> faults = {"the mask is off by one: each row sees the next",
                                         "only the last row but one sees a row too many",
                                         "two layers, and only the second has no mask",
                                         "each row gets the mean over all rows",
                                         "a normalisation over rows, not over columns",
                                         "no mask where n is even",
                                         "only the first row sees a later one, the second",
                                         "a thousandth of the next row is added",
                                         "each row sees what is above 4 in the next row"};

std::vector<SequenceFunction> wrong_ones(const Tensor& w) {
  const Mask causal = Mask::causal();
  const auto good = [=](const Tensor& x) { return layer(x, w, causal); };
  return {
      [=](const Tensor& x) { return layer(x, w, Mask::causal(1)); },
      [=](const Tensor& x) { return added(good(x), x, x.size(0) - 2, x.size(0) - 1); },
      [=](const Tensor& x) { return layer(good(x), w, {}); },
      [=](const Tensor& x) { return good(x) + mean(x, 0, true); },
      [=](const Tensor& x) { return good((x - mean(x, 0, true)) / sqrt(var(x, 0, true) + 1e-5)); },
      [=](const Tensor& x) { return layer(x, w, x.size(0) % 2 == 0 ? Mask() : causal); },
      [=](const Tensor& x) { return added(good(x), x, 0, 1); },
      [=](const Tensor& x) { return good(x) + next_rows(x) * 1e-3; },
      [=](const Tensor& x) { return good(x) + maximum(next_rows(x) - 4, 0); }};
}

// Which functions the test lets pass, all right ones first, as one number.
Attempt tried(Test test) {
  return [=](const NamedTensors& in) {
    const Tensor& w = in.at(0).value;
    return passes([&](const SequenceFunction& f) { return test(f, w.size(0)); }, right_ones(w),
                  wrong_ones(w));
  };
}

// What a test does: it changes the rows from one on, and compares those before it.
struct Kind {
  std::vector<Index> lengths = {4, 5, 6};
  double deviation = 10, allowed = 1e-5;
  bool every_row = true;    // changes from each row on, else the last row only
  bool first_only = false;  // compares the first row only
  Index more = 0;           // compares so many rows of the changed ones, too
};

Test by_replacing(Kind kind) {
  return [=](const SequenceFunction& f, Index d) {
    Random random(3);
    for (const Index n : kind.lengths) {
      const Tensor x = random.normal({n, d}), before = f(x);  // (n, d)
      for (Index past = kind.every_row ? 1 : n - 1; past < n; ++past) {
        const Tensor future = random.normal({n - past, d}, 0, kind.deviation);
        const Tensor after = f(concat({slice(x, 0, 0, past), future}, 0));  // (n, d)
        const Index end = kind.first_only ? 1 : std::min(n, past + kind.more);
        if (largest_difference(slice(before, 0, 0, end), slice(after, 0, 0, end)) > kind.allowed) {
          return false;
        }
      }
    }
    return true;
  };
}

// The same by loops: one row is changed at a time, number by number.
Test by_rows(Kind kind) {
  return [=](const SequenceFunction& f, Index d) {
    Random random(4);
    for (const Index n : kind.lengths) {
      const Tensor x = random.normal({n, d}), before = f(x);  // (n, d)
      for (Index row = kind.every_row ? 1 : n - 1; row < n; ++row) {
        Tensor changed = x.clone();  // (n, d)
        for (Index c = 0; c < d; ++c) changed.set({row, c}, random.normal() * kind.deviation);
        const Tensor after = f(changed);  // (n, d)
        for (Index i = 0; i < (kind.first_only ? 1 : std::min(n, row + kind.more)); ++i) {
          for (Index c = 0; c < d; ++c) {
            const double moved = double{after.at({i, c})} - double{before.at({i, c})};
            if (std::abs(moved) > kind.allowed) return false;
          }
        }
      }
    }
    return true;
  };
}

// Swaps the last two rows.
Test by_swap(std::vector<Index> lengths) {
  return [=](const SequenceFunction& f, Index d) {
    Random random(5);
    return std::all_of(lengths.begin(), lengths.end(), [&](Index n) {
      const Tensor x = random.normal({n, d}), past = slice(x, 0, 0, n - 2);  // (n, d), (n - 2, d)
      const Tensor swapped = concat({past, slice(x, 0, -1, n - 3 - n, -1)}, 0);  // (n, d)
      return largest_difference(slice(f(x), 0, 0, n - 2), slice(f(swapped), 0, 0, n - 2)) < 1e-5;
    });
  };
}

KnownMistake mistake(const char* name, const char* sentence, Kind kind) {
  return {name, sentence, tried(by_replacing(kind)), tried(by_rows(kind))};
}

const std::vector<KnownMistake> mistakes = {
    {"a test that nothing can fail",
     "Your test lets everything pass. A right shape says nothing about leaks, and f(x) is "
     "always equal to f(x): later rows of x have to change between two calls.",
     tried([](const SequenceFunction& f, Index d) {
       return f(Tensor::ones({3, d})).shape() == Shape({3, d});
     }),
     tried([](const SequenceFunction& f, Index d) {
       const Tensor x = Random(1).normal({4, d});
       return largest_difference(f(x), f(x)) == 0;
     })},
    mistake("the changed row is compared, too",
            "Your test refuses every function. The rows that you changed may change in the "
            "result: compare only those before the first changed one.",
            {.more = 1}),
    {"the last two rows are swapped",
     "Your test swaps rows. Attention without a mask treats rows as a set, so a swap moves "
     "nothing, and a mean hides it as well. Replace the rows by others.",
     tried(by_swap({5, 6})), tried(by_swap({4, 7, 8}))},
    mistake("one length only",
            "Your test lets pass what leaks for even n only. Try several lengths.",
            {.lengths = {5}}),
    mistake("numbers too small",
            "Your test lets pass what leaks only if the next row has large numbers. One "
            "small change is one example: put large numbers there, too.",
            {.deviation = 0.5}),
    mistake("last row only",
            "Your test changes the last row only. A leak from a row in the middle is not "
            "found: change each row but the first.",
            {.every_row = false}),
    mistake("first row only",
            "Your test compares the first row only. A leak between later rows is not found: "
            "compare all rows before the changed ones.",
            {.first_only = true}),
    mistake("too much allowed",
            "Your test lets a small leak pass: a thousandth of the next row. The next layer can "
            "make it large again. Where nothing leaks, nothing moves by more than rounding.",
            {.allowed = 0.3})};

NamedTensors inputs(Random& random, Index size) {
  const Index d = size + 1;
  return {{"weights", random.normal({d, d}, 0, 1 / std::sqrt(double(d)))}};
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = tried(learn::causality_passes),
       .right = {tried(solution::causality_passes), tried(by_replacing({})), tried(by_rows({}))},
       .mistakes = mistakes,
       .hints = {"Two calls of f: with x, and with other numbers in the rows behind some "
                 "row. What must be the same in both results?",
                 "Three loops, one in the other: several n, even and odd; every row at "
                 "which the future may begin; and the comparison of the rows before.",
                 "changed = concat({slice(x, 0, 0, past), random.normal({n - past, d}, 0, "
                 "10)}, 0); then compare slice(f(x), 0, 0, past) with slice(f(changed), "
                 "0, 0, past): return false for more than 1e-5."},
       .faults = faults},
      count, arguments);
}
