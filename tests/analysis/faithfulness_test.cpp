// Maps beside the map of attention: against plain loops, and against models with parts cut out.
#include "tapestry/analysis/faithfulness.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({1, 5}, {1, 2, 3, 4, 5});

// Logit of one word at one position.
Tensor logit(const Transformer& model, Index position, Index word = 4) {
  return slice(slice(model(ids, {}, {.need_weights = true}), -2, position, position + 1), -1, word,
               word + 1);
}

struct Layer {
  MultiHeadAttention attention = scattered(6, 2, {.d_v = 4, .bias = true, .is_causal = true});
  Tensor x = random_tensor({1, 5, 6}, 5), weights, values;

  Layer() {
    const Capture seen;
    attention(x, {}, {.need_weights = true});
    weights = seen["weights"];
    values = seen["value"];
  }

  // v_j W_O^h, number c.
  double gives(Index head, Index key, Index c) const {
    double sum = 0;
    for (Index k = 0; k < 4; ++k) {
      sum +=
          element(values, {0, head, key, k}) * element(attention.output.weight, {head * 4 + k, c});
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("value shares are norms of weighted values, by plain loops", "[phase3][analysis]") {
  const Layer layer;
  const Shape shape{1, 2, 5, 5};
  const auto taken = [&](Index h, Index i, Index j) {
    double sum = 0;
    for (Index c = 0; c < 6; ++c) sum += std::pow(layer.gives(h, j, c), 2);
    return element(layer.weights, {0, h, i, j}) * std::sqrt(sum);
  };
  const auto expected = [&](const Place& at) {
    double total = 0;
    for (Index j = 0; j < 5; ++j) total += taken(at[1], at[2], j);
    return taken(at[1], at[2], at[3]) / total;
  };
  const Tensor& w_o = layer.attention.output.weight;
  CHECK(difference(value_shares(layer.weights, layer.values, w_o), shape, tabulate(shape, expected),
                   nearly) == "");
}

TEST_CASE("of equal values the shares are the weights; of none, zeros", "[phase3][analysis]") {
  const Tensor weights({1, 2, 3}, {.5, .25, .25, 0, 0, 0});
  const Tensor values = Tensor::ones({1, 3, 2});
  CHECK(difference_to(value_shares(weights, values, Tensor::eye(2)), weights) == "");
  const Tensor nothing = Tensor::zeros({1, 3, 2});
  CHECK(difference_to(value_shares(weights, nothing, Tensor::eye(2)), weights * 0) == "");
  // A word that is looked at much, and gives little.
  const Tensor lengths({1, 3, 1}, {0.1, 1, 1});
  CHECK(difference(value_shares(Tensor({1, 1, 3}, {.8, .1, .1}), lengths, Tensor({1, 1}, {-3})),
                   {1, 1, 3}, {.08 / .28, .1 / .28, .1 / .28}) == "");
}

TEST_CASE(
    "where the target is linear in the weights, gradient and ablation are the parts it is "
    "made of",
    "[phase3][analysis]") {
  const Layer layer;
  const Index query = 3, c = 2;
  const auto target = [&] {
    return slice(slice(layer.attention(layer.x, {}, {.need_weights = true}), -2, query, query + 1),
                 -1, c, c + 1);
  };
  const Shape shape{1, 2, 5, 5};
  const auto part = [&](const Place& at) {
    return at[2] == query ? element(layer.weights, at) * layer.gives(at[1], at[3], c) : 0;
  };
  const std::vector<double> parts = tabulate(shape, part);
  CHECK(difference(gradient_times_attention(target, ""), shape, parts, nearly) == "");
  CHECK(difference(link_ablation(target, ""), shape, parts, nearly) == "");
  const auto of_head = [&](const Place& at) {
    double sum = 0;
    for (Index j = 0; j < 5; ++j) sum += part({0, at[0], query, j});
    return sum;
  };
  CHECK(difference(head_ablation(target, ""), {2}, tabulate({2}, of_head), nearly) == "");
}

TEST_CASE("gradient times attention goes through later layers", "[phase3][analysis]") {
  const Transformer model = small_transformer(8, 0.4);
  const std::string layer = "blocks.0.attention";
  const auto target = [&] { return logit(model, 4); };
  const Tensor map = gradient_times_attention(target, layer);
  const double step = in_double ? 1e-3 : 3e-2;
  for (const Place& at : {Place{0, 0, 2, 1}, {0, 1, 4, 0}, {0, 0, 1, 1}, {0, 1, 3, 2}}) {
    double weight = 0;
    const auto with = [&](double h) {
      Capture seen;
      seen.replace(layer + ".weights", [&](const Tensor& w) {
        weight = element(w, at);
        Tensor moved = w.clone();
        moved.set({at[0], at[1], at[2], at[3]}, weight + h);
        return moved;
      });
      return double{target().item()};
    };
    const double slope =
        (8 * (with(step) - with(-step)) - (with(2 * step) - with(-2 * step))) / (12 * step);
    CHECK(same_number(element(map, at), weight * slope, in_double ? 1e-8 : 1e-3));
  }
}

TEST_CASE("what comes after the target, or is hidden, has no effect at all", "[phase3][analysis]") {
  const Transformer model = small_transformer(8, 0.4);
  const auto target = [&] { return logit(model, 2); };
  for (const char* layer : {"blocks.0.attention", "blocks.1.attention"}) {
    for (const Tensor& map :
         {gradient_times_attention(target, layer), link_ablation(target, layer)}) {
      REQUIRE(map.shape() == Shape{1, 2, 5, 5});
      for (Index at = 0; at < map.numel(); ++at) {
        const Index i = at / 5 % 5, j = at % 5;
        const bool used = j <= i && (layer[7] == '0' ? i <= 2 : i == 2);
        CHECK((map.data()[at] != 0) == used);
      }
    }
  }
}

TEST_CASE("links are cut one by one, of cross-attention too, and none that is 0",
          "[phase3][analysis]") {
  const MultiHeadAttention layer = scattered(4, 2, {.is_causal = true});
  const Tensor x = random_tensor({3, 4}, 1), context = random_tensor({5, 4}, 2);
  Index computed = 0;
  const auto target = [&] {
    ++computed;
    return sum(layer.cross_attend(x, context, {}, {.need_weights = true}));
  };
  const Tensor effects = link_ablation(target, "");
  CHECK(effects.shape() == Shape{1, 2, 3, 5});
  CHECK(computed == 2 + 2 * (1 + 2 + 3));  // the weights, the whole, and each link that is there
}

TEST_CASE("a head that is cut is one whose rows of W_O are zeros", "[phase3][analysis]") {
  const Transformer model = small_transformer(8, 0.4);
  const double whole = double{logit(model, 4).item()};
  for (std::size_t block = 0; block < 2; ++block) {
    const Tensor effects = head_ablation([&] { return logit(model, 4); },
                                         "blocks." + std::to_string(block) + ".attention");
    for (Index head = 0; head < 2; ++head) {
      Transformer cut = model;
      Tensor& w_o = cut.blocks[block].attention.output.weight;
      w_o = w_o.clone();
      for (Index k = 0; k < 32; ++k) w_o.set({head * 4 + k / 8, k % 8}, 0);
      const double expected = whole - double{logit(cut, 4).item()};
      CHECK(same_number(double{effects.at({head})}, expected, nearly));
    }
  }
}

TEST_CASE("the four columns are those of the functions", "[phase3][analysis]") {
  const Transformer model = small_transformer(8, 0.4);
  const auto target = [&] { return logit(model, 4); };
  const LinkMaps maps = link_maps(target, "blocks.1.attention", model.blocks[1].attention);
  for (const Tensor& map :
       {maps.weights, maps.value_shares, maps.gradient_times_attention, maps.ablation}) {
    CHECK(map.shape() == Shape{1, 2, 5, 5});
  }
  const Capture seen;
  target();
  CHECK(same_bits(maps.weights, seen["blocks.1.attention.weights"]));
  CHECK(difference(sum(maps.value_shares, -1), {1, 2, 5}, std::vector<double>(10, 1), nearly) ==
        "");
}

TEST_CASE("rank agreement is Spearman's correlation", "[phase3][analysis]") {
  const Tensor a({1, 4}, {.1, .2, .3, .4});
  const auto with = [&](const Tensor& b) { return double{rank_agreement(a, b).item()}; };
  CHECK(with(a * 10 - 7) == 1);
  CHECK(with(-a) == -1);
  CHECK(same_number(with(Tensor({1, 4}, {5, 9, 7, 8})), 1 - 6. * (4 + 1 + 1) / (4 * 15), tight));
  // Ties share their mean rank: 0, 1.5, 1.5, 3.
  CHECK(same_number(with(Tensor({1, 4}, {0, 2, 2, 9})), 4.5 / std::sqrt(5 * 4.5), tight));
  std::vector<real> order = {1, 2, 3, 4, 5};
  int as_good = 0;
  do {
    const double r = double{rank_agreement(Tensor({1, 5}, {1, 2, 3, 4, 5}),
                                           Tensor({1, 5}, std::span<const real>(order)))
                                .item()};
    as_good += !maps_disagree(r + 1e-6);
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(as_good == 27);
}

TEST_CASE("rank agreement takes rows that say something, and visible keys", "[phase3][analysis]") {
  const Tensor a({2, 2, 3}, {1, 2, 3, 5, 5, 5, 1, 2, 3, 1, 2, 3});
  const Tensor b({2, 2, 3}, {1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1});
  CHECK(difference(rank_agreement(a, b), {2}, {1, 0}) == "");  // 5, 5, 5 says nothing
  CHECK(difference(rank_agreement(b, a), {2}, {1, 0}) == "");
  CHECK(rank_agreement(random_tensor({4, 2, 3}), random_tensor({4, 2, 3})).shape() == Shape{4});
  const Tensor c = transpose(random_tensor({4, 4}, 1)), d = random_tensor({4, 4}, 2);
  const auto row = [&](Index i) {  // of the causal mask: keys 0 to i
    return double{rank_agreement(slice(slice(c, 0, i, i + 1), 1, 0, i + 1),
                                 slice(slice(d, 0, i, i + 1), 1, 0, i + 1))
                      .item()};
  };
  CHECK(same_number(double{rank_agreement(c, d, Mask::causal()).item()}, (row(2) + row(3)) / 2,
                    tight));
  CHECK(std::isnan(rank_agreement(Tensor::ones({4, 4}), d).item()));
  CHECK(std::isnan(rank_agreement(Tensor::eye(2), Tensor::eye(2)).item()));
  CHECK(std::isnan(rank_agreement(Tensor::zeros({0, 3}), Tensor::zeros({0, 3})).item()));
  const Tensor nan = Tensor::full({1, 4}, -infinity) * 0;
  CHECK(std::isnan(rank_agreement(nan, Tensor({1, 4}, {1, 2, 3, 4})).item()));
  CHECK_FALSE(maps_disagree(double{rank_agreement(nan, nan).item()}));
  CHECK(maps_disagree(0.4));
}

TEST_CASE("errors of maps name what does not fit", "[phase3][analysis]") {
  const Transformer model = small_transformer(8, 0.4);
  const auto target = [&] { return logit(model, 4); };
  CHECK(complaint([&] { link_ablation(target, "blocks.7.attention"); },
                  {"nothing was recorded as 'blocks.7.attention.weights'"}) == "");
  CHECK(complaint([&] { head_ablation(target, ""); }, {"nothing was recorded as 'heads'"}) == "");
  const auto all = [&] { return model(ids, {}, {.need_weights = true}); };
  for (const auto& f : {gradient_times_attention, link_ablation, head_ablation}) {
    CHECK(complaint([&] { f(all, "blocks.0.attention"); }, {"(1, 5, 7)"}) == "");
  }
  const auto two = [&] {
    return sum(model(Indices({2, 2}, {1, 2, 3, 4}), {}, {.need_weights = true}));
  };
  CHECK(complaint([&] { link_ablation(two, "blocks.0.attention"); },
                  {"(2, 2, 2, 2)", "one text at a time"}) == "");
  CHECK(complaint(
            [] {
              value_shares(Tensor::ones({2, 3, 3}), Tensor::ones({2, 3, 4}), Tensor::ones({7, 5}));
            },
            {"weights are (2, 3, 3), values (2, 3, 4), output_weight (7, 5)"}) == "");
  CHECK(complaint([] { value_shares(Tensor::ones({3, 3}), Tensor::ones({3, 4}), Tensor::eye(4)); },
                  {"value_shares: weights are (3, 3)", "(..., heads, queries, keys)"}) == "");
  CHECK(complaint([] { rank_agreement(Tensor::ones({3}), Tensor::ones({3})); },
                  {"rank_agreement: the maps are (3) and (3)"}) == "");
  CHECK(complaint([] { rank_agreement(Tensor::ones({2, 3}), Tensor::ones({3, 3})); },
                  {"the maps are (2, 3) and (3, 3)"}) == "");
  CHECK(
      complaint(
          [] { rank_agreement(Tensor::ones({2, 3}), Tensor::ones({2, 3}), Mask::padding({1, 2})); },
          {"mask"}) == "");
}
