// Circuits of heads: what was planted is found, and numbers are those of the model itself.
#include "tapestry/analysis/circuit.hpp"

#include <variant>

#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"

using namespace tapestry;

namespace {

Transformer made(TransformerOptions options) {
  options.vocab_size = 7, options.d_model = 8, options.num_heads = 4;
  Random random(4);
  Transformer model(options, random);
  scatter(model.parameters(), random, 0.5);
  return model;
}

std::vector<TransformerOptions> kinds() {
  return {{.attention_bias = true, .positions = Positions::none, .tied_logits = true},
          {.num_key_value_heads = 2,
           .scale_by_layer = true,
           .positions = Positions::none,
           .parallel_residual = true,
           .norm_kind = NormKind::rms},
          {.attention_bias = true,
           .d_k = 3,
           .num_key_value_heads = 1,
           .scores = {.scale = 0.7, .softcap = 0.8},
           .positions = Positions::none,
           .num_token_types = 2,
           .embedding_norm = true,
           .logits_bias = true}};
}

const Indices all_seven({7}, {0, 1, 2, 3, 4, 5, 6});

double norm(const Tensor& x) { return std::sqrt(double{sum(x * x).item()}); }

double composed(const Tensor& a, const Tensor& b) {
  return norm(matmul(a, b)) / (norm(a) * norm(b));
}

// The diagonal of a table stands out by this much, the least over all others of its rows.
double stands_out(const Tensor& table) {
  double least = 1e9;
  for (Index i = 0; i < table.size(0); ++i) {
    for (Index j = 0; j < table.size(1); ++j) {
      if (i != j) least = std::min(least, double{table.at({i, i})} - double{table.at({i, j})});
    }
  }
  return least;
}

double varies(const Tensor& table) {  // within rows, at most
  return double{max(max(table, -1) - min(table, -1)).item()};
}

}  // namespace

TEST_CASE("circuits show what was planted", "[phase7][analysis]") {
  const Indices words({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Transformer model = planted_induction(8, 16, kind);
    const Circuit previous = circuit(model, 0, 0), induction = circuit(model, 1, 0);
    // The first goes by position alone, and adds nothing to the logits.
    CHECK(varies(token_scores(model, previous, words)) < 1e-3);
    CHECK(varies(token_logits(model, previous, words)) < 1e-3);
    // The second finds nothing in words alone, and each word behind itself by what the first wrote.
    CHECK(varies(token_scores(model, induction, words)) < 1e-3);
    const double ones = planted::scale(model, 1), three = planted::scale(model, 3);
    CHECK(stands_out(token_scores(model, induction, words, previous)) ==
          Approx(40 * ones * ones / (three * three)).epsilon(0.03));
    CHECK(stands_out(token_scores(model, induction, words, circuit(model, 0, 1))) < 0);
    // It copies: attending to a word raises that word.
    const Tensor copies = token_logit_table(model, induction, words);
    CHECK(stands_out(copies) ==
          Approx(10 * ones / (three * planted::scale(model, 4))).epsilon(0.01));
    for (std::int32_t word = 0; word < 8; ++word) {
      const std::vector<BoostedToken> best = most_boosted(model, induction, word, 3);
      REQUIRE(best.size() == 3);
      CHECK(best[0].token == word);
      CHECK(best[0].logit == Approx(double{copies.at({word, word})}));
      CHECK(best[1].logit < best[0].logit - 4);
    }
    CHECK(varies(token_logits(model, circuit(model, 1, 1), words)) < 0.1);
  }
}

TEST_CASE("the planted induction head reads the other by its keys alone", "[phase7][analysis]") {
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Transformer model = planted_induction(8, 16, kind);
    const Compositions found = compositions(model, 1, 0), idle = compositions(model, 1, 1);
    REQUIRE(found.heads.size() == 2);
    CHECK(found.heads[0].layer == 0);
    CHECK(found.heads[1].head == 1);
    CHECK(found.key.count == 20);
    CHECK(found.key.mean == Approx(1 / std::sqrt(40.0)).epsilon(0.05));
    CHECK(found.heads[0].key > found.key.mean + 10 * found.key.deviation);
    CHECK(found.heads[0].query < 0.5 * found.query.mean);
    CHECK(found.heads[0].value < 0.5 * found.value.mean);
    for (const Composition& one : {found.heads[1], idle.heads[0], idle.heads[1]}) {
      CHECK(one.query < 1.5 * found.query.mean);
      CHECK(one.key < 1.5 * found.key.mean);
      CHECK(one.value < 1.5 * found.value.mean);
    }
    CHECK(compositions(model, 0, 0).heads.empty());
  }
}

TEST_CASE("scores of words are those that the model computes", "[phase7][analysis]") {
  for (const TransformerOptions& kind : kinds()) {
    const Transformer model = made(kind);
    for (const Index head : {0, 1, 3}) {
      const Tensor table = token_scores(model, circuit(model, 0, head), all_seven);
      REQUIRE(table.shape() == Shape{7, 7});
      for (std::int32_t query = 0; query < 7; ++query) {
        const std::int32_t key = (query * 3 + 2) % 7;
        Capture seen;
        (void)model(Indices({2}, {key, query}), {}, {.need_weights = true});
        const Tensor scores = seen["blocks.0.attention.scores"];
        CHECK(double{table.at({query, key})} ==
              Approx(double{scores.at({0, head, 1, 0})}).epsilon(1e-4).margin(1e-5));
      }
    }
  }
}

TEST_CASE("what attending to a word adds is what the head then writes", "[phase7][analysis]") {
  for (const TransformerOptions& kind : kinds()) {
    const Transformer model = made(kind);
    const Index d_v = model.blocks[0].attention.output.weight.size(0) / 4;
    const Tensor map =
        kind.tied_logits ? transpose(model.token_embedding.weight) : model.lm_head.weight;
    const Tensor gain = std::visit([](const auto& one) { return one.weight; }, model.norm->layer);
    for (const Index head : {0, 2}) {
      const Circuit one = circuit(model, 0, head);
      const Tensor logits = token_logits(model, one, all_seven);
      const Indices three({3}, {6, 2, 2});
      const Tensor table = token_logit_table(model, one, three);
      CHECK(table.at({0, 1}) == logits.at({6, 2}));
      CHECK(table.at({2, 0}) == logits.at({2, 6}));
      for (std::int32_t word = 0; word < 7; ++word) {
        Capture seen;
        (void)model(Indices({1}, {word}));  // one position: all heads attend to it wholly
        const Tensor heads = seen["blocks.0.attention.heads"];  // (1, heads, 1, d_v)
        const Tensor value = reshape(slice(heads, 1, head, head + 1), {1, d_v});
        Tensor row = matmul(value, slice(model.blocks[0].attention.output.weight, 0, head * d_v,
                                         (head + 1) * d_v));  // (1, d_model)
        if (kind.norm_kind == NormKind::layer) row = row - mean(row);
        const Tensor added = matmul(row * gain, map);  // (1, vocab_size)
        CHECK(difference_to(slice(logits, 0, word, word + 1), added - mean(added), 2e-5) == "");
      }
    }
  }
}

TEST_CASE("singular values rebuild the product", "[phase7][analysis]") {
  for (const TransformerOptions& kind : kinds()) {
    const Transformer model = made(kind);
    const Circuit one = circuit(model, 1, 3);
    for (const bool scores : {true, false}) {
      const SingularValues found =
          scores ? query_key_singular_values(one) : output_value_singular_values(one);
      const Index d_k = one.query.size(1);
      REQUIRE(found.left.shape() == Shape{8, d_k});
      const Tensor whole = scores ? matmul(one.query, transpose(one.key))
                                  : matmul(one.value, one.output);  // (d_model, d_model)
      CHECK(difference_to(matmul(found.left * found.values, transpose(found.right)), whole, 1e-5) ==
            "");
      for (const Tensor& side : {found.left, found.right}) {
        CHECK(difference_to(matmul(transpose(side), side), Tensor::eye(d_k), 1e-5) == "");
      }
      for (Index i = 1; i < d_k; ++i) CHECK(found.values.at({i - 1}) >= found.values.at({i}));
    }
  }
  const Transformer wide = made({.d_k = 20});  // more than d_model
  const Circuit one = circuit(wide, 0, 0);
  const SingularValues found = query_key_singular_values(one);
  CHECK(found.values.shape() == Shape{8});
  CHECK(difference_to(matmul(found.left * found.values, transpose(found.right)),
                      matmul(one.query, transpose(one.key)), 1e-5) == "");
}

TEST_CASE("compositions are those of the whole matrices", "[phase7][analysis]") {
  std::vector<TransformerOptions> all = kinds();
  all.push_back({.d_k = 20});
  for (const TransformerOptions& kind : all) {
    const Transformer model = made(kind);
    const Circuit later = circuit(model, 1, 2);
    const Compositions found = compositions(model, 1, 2, 3, 5);
    REQUIRE(found.heads.size() == 4);
    const Tensor scores = matmul(later.query, transpose(later.key));
    for (const Composition& one : found.heads) {
      const Circuit earlier = circuit(model, 0, one.head);
      const Tensor writes = matmul(earlier.value, earlier.output);
      CHECK(one.query == Approx(composed(writes, scores)).epsilon(1e-4));
      CHECK(one.key == Approx(composed(writes, transpose(scores))).epsilon(1e-4));
      CHECK(one.value == Approx(composed(writes, matmul(later.value, later.output))).epsilon(1e-4));
    }
    CHECK(found.key.count == 5);
    CHECK(found.query.mean != found.key.mean);
    CHECK(compositions(model, 1, 2, 3, 5).key.mean == found.key.mean);
    CHECK(compositions(model, 1, 2, 4, 5).key.mean != found.key.mean);
  }
}

TEST_CASE("circuits that do not exist are refused", "[phase7][analysis]") {
  const Transformer model = made({}), post = made({.norm_place = NormPlace::post});
  const Circuit one = circuit(model, 1, 0);
  CHECK(complaint([&] { (void)circuit(post, 0, 0); }, {"circuit", "NormPlace::post"}) == "");
  CHECK(complaint([&] { (void)compositions(post, 0, 0); }, {"NormPlace::post"}) == "");
  CHECK(complaint([&] { (void)circuit(model, 2, 0); }, {"no layer 2", "0 to 1"}) == "");
  CHECK(complaint([&] { (void)circuit(model, -1, 0); }, {"no layer -1"}) == "");
  CHECK(complaint([&] { (void)circuit(model, 0, 4); }, {"no head 4", "0 to 3"}) == "");
  CHECK(complaint([] { (void)circuit(made({.num_layers = 0}), 0, 0); },
                  {"no layer 0", "this model has none."}) == "");
  CHECK(complaint([] { (void)circuit(made({.num_layers = 1}), 1, 0); },
                  {"no layer 1", "are 0 to 0."}) == "");
  CHECK(complaint([&] { (void)compositions(model, 1, 0, 1, 1); }, {"1 draws", "at least 2"}) == "");
  CHECK(compositions(model, 1, 0, 1, 2).value.count == 2);
  CHECK(complaint([&] { (void)token_scores(model, one, all_seven, one); },
                  {"layer 1", "earlier layer"}) == "");
  CHECK(complaint([&] { (void)token_scores(model, one, Indices({1, 1}, {0})); },
                  {"(1, 1)", "(count)"}) == "");
  CHECK(complaint([&] { (void)token_scores(model, one, Indices({1}, {7})); }, {"7"}) == "");
  CHECK(complaint([&] { (void)most_boosted(model, one, 0, 8); }, {"8"}) == "");
  const Transformer deaf = made({.has_logits = false});
  CHECK(complaint([&] { (void)token_logits(deaf, circuit(deaf, 0, 0), all_seven); },
                  {"no logits"}) == "");
  const Transformer bert = made({.logits_transform = true});
  CHECK(complaint([&] { (void)token_logits(bert, circuit(bert, 0, 0), all_seven); },
                  {"logits_transform"}) == "");
}
