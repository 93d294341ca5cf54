// How does one layer answer induction (step 26)? It has to say what stood behind the letter that is
// read again, and that letter stood at any place of the prompt but the last.
//
// Models with 1, 2, 3, 4 and 8 heads, ten seeds: how often is the first letter of the answer right,
// and at which places? Then a head is made *blind*: it gets the weights that it has when the letter
// just read is another one, which the prompt does not have. Which places fall? As a control the
// head is cut. Takes about 6 minutes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/task_models.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr Index shortest = 4, longest = 6;

// Of a prompt: its number of letters, and the place of the one that is read again behind it. Place
// 0 holds <bos>.
struct Prompt {
  Index text, letters, place;
  Index row() const { return letters + 1; }  // where the first letter of the answer is said
};

struct Test {
  Batch batch;    // (1000, length)
  Indices other;  // the same inputs, but the letter read again is one that the prompt does not have
  std::vector<Prompt> prompts;
};

Test held_out(const TinyTask& task) {
  Random random(77);
  const Batch batch = task.batch(Part::held_out, 1000, random);
  Test test{batch, batch.inputs, {}};
  const std::int32_t a = task.vocabulary().id("a"), last = task.vocabulary().id("p");
  const Index length = batch.inputs.shape[1];
  for (Index text = 0; text < 1000; ++text) {
    const auto word = test.other.values.begin() + text * length;
    Index row = 2, place = 1;
    while ((place = std::find(word + 1, word + row, word[row]) - word) == row) ++row;
    test.prompts.push_back({text, row - 1, place});
    do {
      word[row] = word[row] == last ? a : word[row] + 1;
    } while (std::find(word + 1, word + row, word[row]) != word + row);
  }
  return test;
}

Transformer one_layer(const TinyTask& task, Index heads, Index width, std::uint64_t seed,
                      Index steps) {
  Transformer model = task_model(task, init::lecun_normal, 41 + seed, 1, heads, width);
  teach(model, task, seed, steps, "training");
  return model;
}

// Means, as [letters][place]; [0][0] is that of all prompts.
using Shares = std::array<std::array<double, longest>, longest + 1>;

Shares by_place(const Test& test, const std::function<double(const Prompt&)>& number) {
  Shares sums{}, counts{};
  for (const Prompt& p : test.prompts) {
    const double one = number(p);
    sums[p.letters][p.place] += one;
    counts[p.letters][p.place] += 1;
    sums[0][0] += one / static_cast<double>(test.prompts.size());
  }
  for (Index n = shortest; n <= longest; ++n) {
    for (Index place = 1; place < n; ++place) sums[n][place] /= counts[n][place];
  }
  return sums;
}

// What a model does with the test, while some heads, or none, have the weights of `other`.
struct Run {
  const Test& test;
  const Transformer& model;
  Tensor weights = weights_of(model, test.batch.inputs)[0];  // (texts, heads, length, length)
  Tensor others = weights_of(model, test.other)[0];          // (texts, heads, length, length)

  // Cut: the output of these heads is its mean over the prompts.
  Indices said(const std::vector<Index>& blind, const std::vector<HeadOf>& cut = {}) const {
    Tensor keep = Tensor::ones({weights.size(1), 1, 1});  // (heads, 1, 1)
    for (const Index head : blind) keep.set({head, 0, 0}, 0);
    Capture reach;
    replace_heads(reach, model, test.batch, cut, Replacement::mean);
    reach.replace("blocks.0.attention.weights", [&](const Tensor& now) {
      return now * keep + others * (1.0 - keep);  // (texts, heads, length, length)
    });
    return argmax(model(test.batch.inputs, {}, {.need_weights = true}));  // (texts, length)
  }

  Shares right(const std::vector<Index>& blind, const std::vector<HeadOf>& cut = {}) const {
    const Indices words = said(blind, cut);  // (texts, length)
    return by_place(test, [&](const Prompt& p) {
      const auto at = static_cast<std::size_t>(p.text * words.shape[1] + p.row());
      return words.values[at] == test.batch.targets.values[at] ? 1.0 : 0.0;
    });
  }

  // How much of its weight a head moves elsewhere because of the letter just read.
  Shares moved(Index head) const {
    return by_place(test, [&](const Prompt& p) {
      double sum = 0;
      for (Index key = 0; key <= p.row(); ++key) {
        sum += std::abs(double{weights.at({p.text, head, p.row(), key})} -
                        double{others.at({p.text, head, p.row(), key})});
      }
      return sum / 2;
    });
  }

  std::vector<Index> heads() const {
    std::vector<Index> all;
    for (Index head = 0; head < weights.size(1); ++head) all.push_back(head);
    return all;
  }
};

// The sum of the shares of the places: how many places are right.
double places(const Shares& shares, Index letters) {
  double sum = 0;
  for (Index place = 1; place < letters; ++place) sum += shares[letters][place];
  return sum;
}

struct Range {
  double sum = 0, lowest = 1e9, highest = -1e9, count = 0;
  void add(double number) {
    sum += number;
    lowest = std::min(lowest, number);
    highest = std::max(highest, number);
    count += 1;
  }
  double mean() const { return sum / count; }
  std::string text() const { return formatted("%4.2f (%4.2f-%4.2f)", mean(), lowest, highest); }
};

// What is told of ten models with as many heads. The first three by the number of letters less 4.
struct Tables {
  Index heads;
  std::array<Range, 3> places = {};
  std::array<Range, 3> vote = {}, followed = {};  // % of prompts; of those where the vote is wrong
  int between = 0, shares = 0;
  std::array<Range, 3> own = {}, rest = {};  // % right before, with a head blind, with it cut
  Range all_blind = {};
};

void add_places(Tables& tables, const Shares& right) {
  for (Index n = shortest; n <= longest; ++n) {
    tables.places[n - shortest].add(places(right, n));
    for (Index place = 1; place < n; ++place) {
      tables.between += right[n][place] > 0.1 && right[n][place] < 0.9;
      ++tables.shares;
    }
  }
}

// Of the places that are mostly right, in prompts with so many letters that each head is needed. A
// head's own place is the one that moves most of its weight.
void add_blind(Tables& tables, const Run& run, const Shares& right) {
  const Index fewest = std::max(shortest, tables.heads + 2);
  const Shares none = run.right(run.heads());
  for (Index n = fewest; n <= longest; ++n) tables.all_blind.add(places(none, n));
  for (const Index head : run.heads()) {
    const Shares moved = run.moved(head);
    const std::array<Shares, 3> shares = {right, run.right({head}), run.right({}, {{0, head}})};
    for (Index n = fewest; n <= longest; ++n) {
      std::vector<Index> served;
      for (Index place = 1; place < n; ++place) {
        if (right[n][place] > 0.5) served.push_back(place);
      }
      if (served.empty()) continue;
      const Index own = *std::max_element(served.begin(), served.end(), [&](Index a, Index b) {
        return moved[n][a] < moved[n][b];
      });
      for (const Index place : served) {
        std::array<Range, 3>& ranges = place == own ? tables.own : tables.rest;
        for (std::size_t i = 0; i < 3; ++i) ranges[i].add(100 * shares[i][n][place]);
      }
    }
  }
}

// The vote: the place with the most weight, all heads added.
void add_votes(Tables& tables, const Run& run) {
  const Tensor all = sum(run.weights, 1);  // (texts, length, length)
  const Indices& read = run.test.batch.inputs;
  const Indices said = run.said({});  // (texts, length)
  for (const Prompt& p : run.test.prompts) {
    Index most = 1;
    for (Index key = 2; key <= p.letters; ++key) {
      if (all.at({p.text, p.row(), key}) > all.at({p.text, p.row(), most})) most = key;
    }
    const auto first = static_cast<std::size_t>(p.text * read.shape[1]);
    const bool right = most == p.place + 1;
    const bool same = said.values[first + p.row()] == read.values[first + most];
    tables.vote[p.letters - shortest].add(right ? 100 : 0);
    if (!right) tables.followed[p.letters - shortest].add(same ? 100 : 0);
  }
}

// Prints a row for the first letters, and adds one for whole answers to `wholly`.
Tables test_ten(const TinyTask& task, const Test& test, std::array<Index, 2> sizes, Index steps,
                std::string& wholly) {
  const auto [heads, width] = sizes;
  Tables tables{heads};
  const std::string name = formatted("%5td %6td %6td  ", heads, width, steps);
  std::printf("%s", name.c_str());
  wholly += name;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = one_layer(task, heads, width, seed, steps);
    const Run run{test, model};
    const Shares right = run.right({});
    std::printf(" %5.1f", 100 * right[0][0]);
    wholly += formatted(" %5.1f", 100 * said_without(model, test.batch, {}).right);
    if (steps == 1000) continue;
    add_places(tables, right);
    add_blind(tables, run, right);
    add_votes(tables, run);
  }
  std::printf("\n");
  wholly += "\n";
  return tables;
}

void print_right(const Shares& right, const std::string& blind) {
  for (Index place = 1; place < longest; ++place) {
    std::printf(" %4.0f", 100 * right[longest][place]);
  }
  std::printf("  %s\n", blind.c_str());
}

// The place where a head looks most, and its mean weight there, in prompts of six letters.
std::string looks(const Run& run, Index head, Index place) {
  std::array<double, longest + 2> sums = {};
  double count = 0;
  for (const Prompt& p : run.test.prompts) {
    if (p.letters != longest || p.place != place) continue;
    for (Index key = 0; key <= p.row(); ++key) {
      sums[key] += run.weights.at({p.text, head, p.row(), key});
    }
    count += 1;
  }
  const auto most = std::max_element(sums.begin(), sums.end());
  return formatted("  %td %4.2f", most - sums.begin(), *most / count);
}

void print_model(const Run& run) {
  std::printf(
      "             1       2       3       4       5       1    2    3    4    5  blind\n");
  std::printf("%48s", "");
  print_right(run.right({}), "none");
  for (const Index head : run.heads()) {
    std::printf("head %td ", head);
    for (Index place = 1; place < longest; ++place) {
      std::printf("%s", looks(run, head, place).c_str());
    }
    std::printf(" ");
    print_right(run.right({head}), formatted("head %td", head));
  }
  std::printf("%48s", "");
  print_right(run.right(run.heads()), "all");
}

void print_places(const std::vector<Tables>& all) {
  std::printf(
      "\n2. 3000 steps: at how many places the first letter is right, the sum of their shares; "
      "mean\n"
      "   of ten seeds (lowest-highest). Between: shares of 10 to 90 %%, of all seeds and places\n"
      "heads   4 letters, 3 places   5 letters, 4 places   6 letters, 5 places   between\n");
  for (const Tables& one : all) {
    std::printf("%5td", one.heads);
    for (const Range& range : one.places) std::printf("%22s", range.text().c_str());
    std::printf("%5d of %d\n", one.between, one.shares);
  }
}

std::string means(const std::array<Range, 3>& ranges) {
  return formatted("%7.1f%7.1f%7.1f", ranges[0].mean(), ranges[1].mean(), ranges[2].mean());
}

void print_blind(const std::vector<Tables>& all) {
  std::printf(
      "\n3. The same models, one head blind or cut, in prompts that need each head: %% right; and\n"
      "   with all heads blind how many places are right\n"
      "               its own place              other places   all blind\n"
      "heads   before  blind    cut    before  blind    cut\n");
  for (const Tables& one : all) {
    std::printf("%5td  %s   %s   %s\n", one.heads, means(one.own).c_str(), means(one.rest).c_str(),
                one.all_blind.text().c_str());
  }
}

void print_votes(const std::vector<Tables>& all) {
  std::printf(
      "\n4. The same models: in how many prompts the place with the most weight, all heads added,\n"
      "   is right, %%; and in how many of the others the model says the letter of that place\n"
      "         right               says its letter\n"
      "letters      4      5      6      4      5      6\n");
  for (const Tables& one : all) {
    std::printf("%td heads%s%s\n", one.heads, means(one.vote).c_str(), means(one.followed).c_str());
  }
}

}  // namespace

int main() try {
  const TinyTask task(TaskKind::induction, {.longest = longest});
  const Test test = held_out(task);
  std::printf(
      "1. Induction by one layer, 1000 held-out prompts, by seed: %% of first letters right\n");
  std::string wholly = "heads  width  steps  ";
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    wholly += formatted(" %5d", static_cast<int>(seed));
  }
  wholly += "\n";
  std::printf("%s", wholly.c_str());
  const std::vector<std::array<Index, 2>> sizes = {{1, 64}, {2, 32}, {3, 21}, {4, 16}};
  for (const auto& size : sizes) test_ten(task, test, size, 1000, wholly);
  for (const Index width : {8, 16}) test_ten(task, test, {8, width}, 1000, wholly);
  std::vector<Tables> all;
  for (const auto& size : sizes) all.push_back(test_ten(task, test, size, 3000, wholly));
  std::printf("\n   %% of answers wholly right\n%s", wholly.c_str());
  print_places(all);
  print_blind(all);
  print_votes(all);
  std::printf(
      "\n5. Four heads, 3000 steps, seed 1, prompts of six letters, by the place where the letter\n"
      "   just read stood: where each head looks most, and its weight; then %% right\n");
  print_model({test, one_layer(task, 4, 16, 1, 3000)});
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
