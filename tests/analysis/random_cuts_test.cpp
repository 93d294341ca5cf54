// Parts of a model against others of their kinds, drawn at random.
#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "nn/architectures.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({6}, {0, 3, 2, 6, 1, 3});
const Question question{.position = 4, .token = 3, .against = 1};
const double rounding = in_double ? 1e-10 : 3e-5;

ModelPart part(const char* text) { return parse_part(text); }

double cut_of(const Transformer& model, const std::vector<ModelPart>& parts) {
  return cut(model, ids, question, parts);
}

}  // namespace

TEST_CASE("the planted heads against heads drawn at random", "[phase7][analysis]") {
  const Transformer model = planted_induction();
  const Indices text({7}, {5, 3, 1, 4, 6, 0, 1});
  Random random(1);
  const auto at_random = [&](std::vector<ModelPart> parts, Index draws) {
    return cut_at_random(model, text, {.token = 4, .against = 7}, parts, draws, random);
  };
  const RandomCuts both = at_random({part("0.0"), part("1.0")}, 8);
  CHECK(both.fall > 9);
  CHECK(both.as_far == 0);
  CHECK(both.spread.count == 8);
  CHECK(std::abs(both.spread.mean) < 0.1);
  const RandomCuts idle = at_random({part("1.1")}, 40);  // of the other three, two matter
  CHECK(idle.spread.mean > 3);
  const RandomCuts link = at_random({part("1.0:6>3")}, 30);
  CHECK(link.fall > 9);
  CHECK(link.as_far < 10);
  CHECK(max(link.falls).item() > 0);
}

TEST_CASE("draws are of the same kinds, each other part equally often", "[phase7][analysis]") {
  const Transformer model = scattered(like_llama());
  Random random(4), again(4);
  const std::vector<ModelPart> parts{part("0.1"), part("0.1"), part("1.mlp"), part("@1")};
  const RandomCuts cuts = cut_at_random(model, ids, question, parts, 300, random);
  CHECK(cuts.fall == Approx(cut_of(model, parts)).margin(rounding));
  CHECK(same_bits(cut_at_random(model, ids, question, parts, 300, again).falls, cuts.falls));
  Random once(4), twice(4);
  const Tensor seven = cut_at_random(model, ids, question, parts, 7, once).falls;
  const Tensor three = cut_at_random(model, ids, question, parts, 3, twice).falls;
  CHECK(same_bits(concat({three, cut_at_random(model, ids, question, parts, 4, twice).falls}, 0),
                  seven));
  std::vector<double> all;  // of the sets that may be drawn: a head, the other layer, a position
  for (Index head = 0; head < 8; ++head) {
    for (const Index position : {0, 2, 3}) {
      const ModelPart other{.layer = head / 4, .head = head % 4};
      if (head == 1) continue;
      all.push_back(cut_of(model, {other, part("0.mlp"),
                                   ModelPart{.kind = PartKind::position, .position = position}}));
    }
  }
  std::vector<Index> drawn(all.size());
  for (const double fall : doubles(cuts.falls)) {
    std::size_t nearest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::abs(all[i] - fall) < std::abs(all[nearest] - fall)) nearest = i;
    }
    CHECK(std::abs(all[nearest] - fall) < 1e-4);
    ++drawn[nearest];
  }
  CHECK(*std::min_element(drawn.begin(), drawn.end()) > 3);  // of 300 / 21
  CHECK(*std::max_element(drawn.begin(), drawn.end()) < 30);
}

TEST_CASE("as far is on the same side", "[phase7][analysis]") {
  const Transformer model = scattered(like_neox());
  const Tensor heads = cut_heads(model, ids, question);
  for (Index i = 0; i < 4; ++i) {
    Random random(9);
    const std::vector<ModelPart> one{{.layer = i / 2, .head = i % 2}};
    const RandomCuts cuts = cut_at_random(model, ids, question, one, 20, random);
    const double fall = double{heads.at({i / 2, i % 2})};
    Index as_far = 0;
    for (const double other : doubles(cuts.falls)) {
      as_far += (fall > 0 ? other >= fall : other <= fall) ? 1 : 0;
    }
    CHECK(cuts.as_far == as_far);
  }
}

TEST_CASE("within a draw all parts are different", "[phase7][analysis]") {
  const Transformer model = scattered(tiny());  // four heads
  Random random(2);
  const std::vector<ModelPart> first{part("0.0"), part("0.1")}, last{part("1.0"), part("1.1")};
  for (const auto& [parts, others] : {std::pair(first, last), std::pair(last, first)}) {
    const RandomCuts cuts = cut_at_random(model, ids, question, parts, 10, random);
    const double expected = cut_of(model, others);
    for (const double fall : doubles(cuts.falls)) CHECK(fall == Approx(expected).margin(rounding));
  }
}

TEST_CASE("links that cannot matter are not drawn", "[phase7][analysis]") {
  TransformerOptions o = tiny();
  o.num_layers = 1;  // only the query at 4 has a say there
  Random random(2);
  const std::vector<ModelPart> parts{part("0.0:4>2")};
  const RandomCuts cuts = cut_at_random(scattered(o), ids, question, parts, 30, random);
  for (const double fall : doubles(cuts.falls)) CHECK(std::abs(fall) > 1e-4);
  o.num_layers = 2;  // in layer 0, those up to 4 have
  const std::vector<ModelPart> one{part("1.0:4>2")};
  const Transformer model(o, random);
  scatter(model.parameters(), random, 0.4);  // no weight is nearly 0
  const RandomCuts two = cut_at_random(model, ids, question, one, 60, random);
  const std::vector<double> falls = doubles(two.falls);
  for (const double fall : falls) CHECK(std::abs(fall) > 1e-6);
  CHECK(std::set<double>(falls.begin(), falls.end()).size() > 9);  // so many others has layer 1
}

TEST_CASE("a part that does nothing is not farther than others", "[phase7][analysis]") {
  TransformerOptions o = tiny();
  o.initializer = [](const Shape& shape, Random&) { return Tensor::zeros(shape); };
  Random random(2);
  const Transformer model(o, random);
  const std::vector<ModelPart> parts{part("0.0")};
  const RandomCuts cuts = cut_at_random(model, ids, question, parts, 7, random);
  CHECK(cuts.fall == 0);
  CHECK(cuts.as_far == 7);
}

TEST_CASE("as far as a part that changes nothing are those without which the answer falls",
          "[phase7][analysis]") {
  Random random(3);
  const std::vector<ModelPart> behind{part("@5")};
  const RandomCuts cuts = cut_at_random(scattered(tiny()), ids, question, behind, 20, random);
  const std::vector<double> falls = doubles(cuts.falls);
  CHECK(cuts.fall == 0);
  CHECK(cuts.as_far == std::count_if(falls.begin(), falls.end(), [](double f) { return f >= 0; }));
  CHECK(cuts.as_far != std::count_if(falls.begin(), falls.end(), [](double f) { return f <= 0; }));
}

TEST_CASE("draws that cannot be are refused", "[phase7][analysis]") {
  const Transformer model = scattered(tiny());
  Random random(1);
  const auto refused = [&](std::vector<ModelPart> parts, Index draws,
                           std::initializer_list<const char*> words) {
    return complaint([&] { (void)cut_at_random(model, ids, question, parts, draws, random); },
                     words);
  };
  CHECK(refused({part("0.0")}, 0, {"draws is 0"}) == "");
  CHECK(cut_at_random(model, ids, question, std::vector{part("0.0")}, 1, random).falls.numel() ==
        1);
  CHECK(refused({}, 5, {"no parts"}) == "");
  CHECK(refused({part("0.0"), part("0.1"), part("1.0")}, 5, {"3 other heads", "only 1"}) == "");
  CHECK(refused({part("0.mlp"), part("1.mlp")}, 5, {"2 other feed-forward layers"}) == "");
  CHECK(refused({part("1.attention"), part("0.attention")}, 5, {"attention layers"}) == "");
  CHECK(refused({part("@0"), part("@1"), part("@2")}, 5, {"3 other positions", "only 1"}) == "");
  CHECK(refused({part("0.5")}, 5, {"no part 0.5"}) == "");
  CHECK(refused({part("0.0"), part("0.1"), part("1.0"), part("0.5")}, 5, {"no part 0.5"}) == "");
}
