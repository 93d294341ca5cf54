// Each broken model of the zoo has a property, the one that its picture shows, that the right one
// lacks.
#include "course/zoo.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "course/grammar.hpp"
#include "ops/expect.hpp"
#include "plot/decoded.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

ZooPair pair_of(const std::string& name) {
  for (const ZooCase& one : zoo()) {
    if (one.name == name) return one.compute();
  }
  throw name;
}

double number(const Tensor& one) { return double{one.item()}; }

// Largest difference of the sums along an axis from 1.
double off_one(const Tensor& map, int axis) { return number(max(abs(sum(map, axis) - 1))); }

double above(const Tensor& map, Index offset = 0) {
  return number(max(map * Mask::causal(offset).to(MaskEncoding::drop, {6, 6})));
}

// Largest difference between rows, or columns, of words 0 to 2, and of 3 to 5; maps (n, 6, 6).
double unlike(const Tensor& maps, int axis) {
  double most = 0;
  for (const Index begin : {0, 3}) {
    const Tensor equal = slice(maps, axis, begin, begin + 3);
    most = std::max(most, number(max(max(equal, axis) - min(equal, axis))));
  }
  return most;
}

double at(const Tensor& x, Index step) { return double{x.at({step - 1})}; }

double mean_of(const Tensor& losses, Index begin, Index end) {
  return number(mean(slice(losses, 0, begin, end)));
}

// Greatest rise from one step to the next.
double rise(const Tensor& losses, Index begin, Index end) {
  double most = 0;
  for (Index i = begin; i < end; ++i) most = std::max(most, at(losses, i + 1) - at(losses, i));
  return most;
}

// How many inputs each output depends on.
std::vector<Index> seen(const Tensor& norms) {
  std::vector<Index> counts;
  for (const real count : sum(norms > 0, 1).values()) counts.push_back(std::lround(count));
  return counts;
}

// One number of many, in which each has its own share; of a training, the first three losses.
double print_of(const Tensor& x, ZooKind kind) {
  double sum = 0;
  const std::vector<real> values = x.values();
  const std::size_t count = kind == ZooKind::loss ? 3 : values.size();
  for (std::size_t i = 0; i < count; ++i) sum += double{values.at(i)} * std::cos(double(i));
  return sum;
}

// Of what is broken and what is right, as first computed, on any kernel set.
const std::map<std::string, std::pair<double, double>> prints = {
    {"map1", {-0.12742, 1.97161}},      {"map2", {-2.88493, -1.04176}},
    {"map3", {-0.15715, -1.04176}},     {"map4", {0.72803, 1.97161}},
    {"map5", {-3.19777, 1.97161}},      {"map6", {0.26847, 1.97161}},
    {"map7", {0.09179, 0.93656}},       {"map8", {-0.43401, -1.68716}},
    {"loss1", {5.84464, 5.50870}},      {"loss2", {5.54136, 5.51798}},
    {"loss3", {5.36397, 5.41572}},      {"loss4", {5.42922, 5.42922}},
    {"loss5", {5.29925, 5.50870}},      {"loss6", {5.52027, 5.50870}},
    {"jacobian1", {-2.15096, 5.82952}}, {"jacobian2", {3.59488, 7.77611}},
    {"jacobian3", {-1.40453, 5.82952}}, {"jacobian4", {-0.65330, 5.82952}},
    {"jacobian5", {6.09444, 5.82952}},
};

const std::vector<Index> triangle = {1, 2, 3, 4, 5, 6};

}  // namespace

TEST_CASE("softmax over the queries: the columns sum to 1, not the rows", "[course][phase6]") {
  const auto [broken, right] = pair_of("map1");
  CHECK(off_one(broken, -2) < 1e-5);
  CHECK(off_one(broken, -1) > 0.5);
  CHECK(off_one(right, -2) > 0.5);
  CHECK(off_one(right, -1) < 1e-5);
}

TEST_CASE("scores that are not scaled choose, scores divided by d_k hardly differ",
          "[course][phase6]") {
  const auto [broken, right] = pair_of("map2");
  const Tensor flat = pair_of("map3").broken;
  CHECK(largest_difference(right, pair_of("map3").right) == 0);
  CHECK(number(max(broken)) > 0.99);
  CHECK(number(max(right)) < 0.7);
  CHECK(number(min(flat)) == Approx(0.124).margin(0.001));
  CHECK(number(max(flat)) == Approx(0.228).margin(0.001));
  CHECK(number(max(abs(right - 1.0 / 6))) > 0.4);
  // The same scores behind all three: logarithms of weights, up to a number for each row.
  const auto scores = [](const Tensor& map) {
    return log(map) - slice(log(map), -1, 0, 1);  // (1, 6, 6)
  };
  CHECK(largest_difference(scores(broken), scores(right) * 8) < 1e-3);
  CHECK(largest_difference(scores(flat) * 8, scores(right)) < 1e-3);
}

TEST_CASE("a mask one too large shows the next word, and no other", "[course][phase6]") {
  const auto [broken, right] = pair_of("map4");
  CHECK(above(broken) > 0.5);
  CHECK(above(broken, 1) == 0);
  CHECK(above(right) == 0);
  CHECK(off_one(broken, -1) < 1e-5);
}

TEST_CASE("a mask turned over shows the future alone, and the last row is even",
          "[course][phase6]") {
  const auto [broken, right] = pair_of("map5");
  CHECK(broken.at({0, 0, 0}) == 0);
  CHECK(broken.at({0, 4, 5}) == 1);
  CHECK(number(max(abs(slice(broken, 1, 5, 6) - 1.0 / 6))) < 1e-6);
  CHECK(above(right) == 0);
}

TEST_CASE("a mask after softmax leaves rows that do not sum to 1", "[course][phase6]") {
  const auto [broken, right] = pair_of("map6");
  CHECK(above(broken) == 0);
  CHECK(double{broken.at({0, 0, 0})} < 0.2);
  CHECK(off_one(broken, -1) > 0.8);
  CHECK(off_one(right, -1) < 1e-5);
}

TEST_CASE("heads cut by reshape alone, and keys not transposed: equal words differ",
          "[course][phase6]") {
  const ZooPair heads = pair_of("map7"), keys = pair_of("map8");
  CHECK(heads.broken.shape() == Shape{2, 6, 6});
  for (const int axis : {1, 2}) {
    CHECK(unlike(heads.right, axis) < 1e-6);
    CHECK(unlike(keys.right, axis) < 1e-6);
  }
  CHECK(unlike(heads.broken, 2) > 0.2);
  CHECK(unlike(keys.broken, 1) < 1e-6);
  CHECK(unlike(keys.broken, 2) > 0.4);
  CHECK(off_one(heads.broken, -1) < 1e-5);
  CHECK(off_one(keys.broken, -1) < 1e-5);
}

TEST_CASE("what knows its target falls below the least possible loss", "[course][phase6]") {
  const double least = Grammar().entropy() / 7;
  const ZooPair unshifted = pair_of("loss1"), open = pair_of("loss5"), again = pair_of("loss6");
  for (const ZooPair& pair : {unshifted, open, again}) {
    CHECK(number(max(slice(pair.broken, 0, 140, 150))) < least / 2);
    CHECK(number(min(pair.right)) > least);
  }
  CHECK(at(unshifted.broken, 150) < 0.05);
  // One of 16 sentences, by seven words: no model that sees the words before can lose less.
  CHECK(at(again.broken, 150) > std::log(16.0) / 7);
  CHECK(at(again.broken, 150) < std::log(16.0) / 7 + 0.02);
  // Open to the future: at first like the right one.
  CHECK(std::abs(mean_of(open.broken, 1, 15) - mean_of(open.right, 1, 15)) < 0.1);
  CHECK(mean_of(open.broken, 135, 150) < mean_of(open.right, 135, 150) - 1);
  // The same batch again and again: nothing but the weights changes.
  CHECK(rise(again.broken, 10, 45) == 0);
  CHECK(rise(again.right, 10, 45) > 0.1);
  CHECK(rise(open.broken, 10, 45) > 0.05);
  CHECK(rise(unshifted.broken, 10, 45) > 0.05);
}

TEST_CASE("gradients that are never zeroed help at first, and then do harm", "[course][phase6]") {
  const auto [broken, right] = pair_of("loss2");
  CHECK(mean_of(broken, 5, 20) < mean_of(right, 5, 20) - 0.1);
  CHECK(number(max(broken > 10)) == 1);  // of numbers: it may end in NaN
  CHECK(rise(right, 2, 150) < 0.5);
  CHECK(at(right, 150) < 2.2);
}

TEST_CASE("Adam without its correction makes steps that are too long", "[course][phase6]") {
  const auto [broken, right] = pair_of("loss3");
  CHECK(at(broken, 1) == at(right, 1));
  CHECK(rise(broken, 1, 10) > 0.1);
  CHECK(rise(right, 1, 10) == 0);
  CHECK(mean_of(broken, 30, 100) > mean_of(right, 30, 100) + 0.5);
  CHECK(zoo_first_step(true) == Approx(0.1 / std::sqrt(0.001)).margin(0.01));
  CHECK(zoo_first_step(false) == Approx(1).margin(0.01));
}

TEST_CASE("the logarithm of a softmax ends where its parts are no numbers", "[course][phase6]") {
  const auto [broken, right] = pair_of("loss4");
  CHECK(right.numel() == 150);
  for (const real loss : right.values()) CHECK(std::isfinite(loss));
  CHECK(number(max(right)) > 20);
  CHECK(at(right, 150) < number(max(right)) / 3);
  CHECK(std::abs(at(broken, 5) - at(right, 5)) < 1e-3);
  if (in_double) return;  // exp overflows at 709, not at 88
  CHECK(broken.numel() < 150);
  CHECK(!std::isfinite(at(broken, broken.numel())));
  // Not because a logit was too large: the derivative of a logarithm, 1 / share, was.
  const ZooEnd end = zoo_end();
  CHECK(end.steps >= broken.numel() - 1);
  CHECK(end.steps <= broken.numel());
  CHECK(end.largest_logit > 30);
  CHECK(end.largest_logit < 88);
  CHECK(end.least_share < 1 / double{std::numeric_limits<float>::max()});
}

TEST_CASE("wrong heads, a norm over positions, exchanged axes, a late cache: by the Jacobian",
          "[course][phase6]") {
  for (const auto& [name, counts] :
       std::vector<std::pair<std::string, std::vector<Index>>>{{"jacobian1", {2, 2, 4, 4, 6, 6}},
                                                               {"jacobian2", {6, 6, 6, 6, 6, 6}},
                                                               {"jacobian3", {1, 1, 1, 1, 1, 1}},
                                                               {"jacobian4", {1, 2, 3, 1, 2, 3}},
                                                               {"jacobian5", {0, 1, 3, 4, 5, 6}}}) {
    CAPTURE(name);
    const auto [broken, right] = pair_of(name);
    CHECK(seen(broken) == counts);
    CHECK(seen(right) == triangle);
    CHECK(above(right) == 0);
    CHECK((above(broken) > 0.5) == (name == "jacobian1" || name == "jacobian2"));
  }
  const Tensor leak = pair_of("jacobian1").broken, late = pair_of("jacobian5").broken;
  CHECK(leak.at({0, 3}) > 0.5);
  CHECK(pair_of("jacobian4").broken.at({3, 2}) == 0);
  CHECK(late.at({1, 1}) == 0);
  CHECK(late.at({1, 0}) > 0.5);
}

TEST_CASE("the page of the zoo shows each picture, with its question and its answer",
          "[course][phase6]") {
  std::istringstream page(content("tutorials/phase6_every_attention/6_zoo.md"));
  std::string text;
  for (std::string word; page >> word;) text += word + " ";
  std::set<std::string> names;
  for (const ZooCase& one : zoo()) {
    CAPTURE(one.name);
    CHECK(names.insert(one.name).second);
    CHECK(text.find("(pictures/zoo_" + one.name + ".png) " + one.question +
                    " <details><summary>Answer</summary> " + one.mistake + " " + one.sign +
                    " </details>") != std::string::npos);
  }
  CHECK(names.size() == 19);
}

TEST_CASE("a picture of the zoo shows both, and does not tell which mistake it is",
          "[course][phase6]") {
  for (const ZooCase& one : zoo()) {
    CAPTURE(one.name);
    const ZooPair pair = one.compute();
    const plot::Canvas picture = zoo_picture(one, pair);
    std::vector<std::string> titles;
    Index cells = 0;
    bool names_the_best = false;
    for (const plot::Element& element : picture.elements()) {
      const auto* text = std::get_if<plot::Text>(&element.what);
      if (text != nullptr && text->role == plot::Role::title) titles.push_back(text->words);
      names_the_best |= text != nullptr && text->words == "the best possible";
      if (const auto* found = std::get_if<plot::Cells>(&element.what)) {
        cells += found->rows * found->columns;
      }
    }
    REQUIRE(!titles.empty());
    CHECK(titles[0] == "What is wrong here?");
    const auto& [broken, right] = prints.at(one.name);
    CHECK(print_of(pair.broken, one.kind) == Approx(broken).margin(2e-4));
    CHECK(print_of(pair.right, one.kind) == Approx(right).margin(2e-4));
    const bool one_chart = one.kind == ZooKind::loss;
    if (one_chart) CHECK(pair.right.numel() == 150);
    CHECK(names_the_best == one_chart);
    CHECK(titles.size() == (one_chart ? 1 : 2));
    CHECK(cells == (one_chart ? 0 : 2 * pair.broken.numel()));
  }
}
