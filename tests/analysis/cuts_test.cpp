// Falls of an answer without parts of a model: against the whole model with a Capture that sets
// their outputs to 0, and in a model whose parts are known.
#include "tapestry/analysis/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/planted_model.hpp"
#include "analysis/reading.hpp"
#include "catch.hpp"
#include "nn/architectures.hpp"
#include "ops/expect.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({6}, {0, 3, 2, 6, 1, 3});
const Question question{.position = 4, .token = 3, .against = 1};
const double rounding = in_double ? 1e-10 : 3e-5;

ModelPart part(const char* text) { return parse_part(text); }

std::string name_of(Index layer, const char* what) {
  return "blocks." + std::to_string(layer) + "." + what;
}

// The answer of the whole model with other tensors here and there.
double answer_with(const Transformer& model, const std::vector<ModelPart>& parts,
                   const Question& asked = question, const Indices& text = ids) {
  const Index length = text.shape.numel();
  Tensor keep = Tensor::ones({length, length});  // (queries, keys)
  Capture seen;
  std::map<std::string, Tensor> gone;  // 1 where a tensor is to be 0
  const auto clear = [&](const std::string& name, const Shape& shape,
                         std::initializer_list<Index> place) {
    Tensor& where = gone.try_emplace(name, Tensor::zeros(shape)).first->second;
    where.set(place, 1);
    seen.replace(name, [where](const Tensor& x) { return masked_fill(x, where, 0); });
  };
  const Index heads = model.options.num_heads;
  for (const ModelPart& one : parts) {
    if (one.kind == PartKind::head) {
      clear(name_of(one.layer, "attention.heads"), {heads, 1, 1}, {one.head, 0, 0});
    } else if (one.kind == PartKind::attention) {
      clear(name_of(one.layer, "attention.output"), {1}, {0});
    } else if (one.kind == PartKind::feed_forward) {
      clear(name_of(one.layer, "feed_forward"), {1}, {0});
    } else if (one.kind == PartKind::link) {
      clear(name_of(one.layer, "attention.weights"), {heads, length, length},
            {one.head, one.query, one.key});
    } else {
      for (Index query = 0; query < length; ++query) {
        if (query != one.position) keep.set({query, one.position}, 0);
      }
    }
  }
  const Mask mask = Mask::from(MaskEncoding::keep, keep);
  return double{answer(model(text, mask, {.need_weights = true}), asked).item()};
}

double fall_by_hand(const Transformer& model, const std::vector<ModelPart>& parts,
                    const Question& asked = question, const Indices& text = ids) {
  return answer_with(model, {}, asked, text) - answer_with(model, parts, asked, text);
}

double fall_of(const Transformer& model, const std::vector<ModelPart>& parts) {
  return cut(model, ids, question, parts);
}

}  // namespace

TEST_CASE("a fall is that of the whole model with outputs of 0", "[phase7][analysis]") {
  for (const TransformerOptions& o : tiny_architectures()) {
    const Transformer model = scattered(o);
    CAPTURE(o.is_causal, o.d_k, o.parallel_residual);
    std::vector<std::vector<ModelPart>> sets = {
        {part("0.0")},
        {part("1.1")},
        {part("0.attention")},
        {part("1.attention")},
        {part("0.1:4>3")},
        {part("1.0:4>4")},
        {part("0.0:3>3")},
        {part("@1")},
        {part("0.1"), part("1.0")},
        {part("@0"), part("@2"), part("1.1")},
        {part("0.1:2>1"), part("0.1:2>2"), part("1.0:4>3"), part("@3")},
        {part("0.0:5>3"), part("0.1:3>2")},  // nothing reads what 5 sees
        {part("@5"), part("1.0")}};
    if (o.has_feed_forward) {
      sets.push_back({part("0.mlp")});
      sets.push_back({part("1.mlp"), part("0.attention"), part("0.0:2>2"), part("@4")});
    }
    for (const std::vector<ModelPart>& parts : sets) {
      CAPTURE(to_string(parts.front()));
      CHECK(fall_of(model, parts) == Approx(fall_by_hand(model, parts)).margin(rounding));
    }
    CHECK(fall_of(model, {}) == Approx(0).margin(rounding));
  }
}

TEST_CASE("falls of logarithms of probabilities, too", "[phase7][analysis]") {
  const Transformer model = scattered(like_llama());
  const Question sure{.position = -1, .token = 5};
  const std::vector<ModelPart> parts{part("0.3"), part("1.mlp")};
  CHECK(cut(model, Indices({1, 6}, ids.values), sure, parts) ==
        Approx(fall_by_hand(model, parts, sure)).margin(rounding));
  const Transformer encoder = scattered(like_bert());
  const Indices one({1}, {3});  // a text of one token
  CHECK(cut(encoder, one, sure, {{part("0.1")}}) ==
        Approx(fall_by_hand(encoder, {part("0.1")}, sure, one)).margin(rounding));
}

TEST_CASE("all falls of one reading are those of three", "[phase7][analysis]") {
  const Transformer model = scattered(like_llama());
  Index readings = 0;
  Question counted = question;
  counted.progress = [&](Index, Index) { ++readings; };
  const PartFalls all = cut_each(model, ids, counted);
  CHECK(readings > 0);
  CHECK(all.heads.values() == cut_heads(model, ids, question).values());
  CHECK(all.layers.values() == cut_layers(model, ids, question).values());
  CHECK(all.positions.values() == cut_positions(model, ids, question).values());
  CHECK(complaint([&] { (void)cut_each(model, Indices({2, 3}, ids.values), question); },
                  {"cut_each", "give one text"}) == "");
}

TEST_CASE("tables of falls are those of each part cut alone", "[phase7][analysis]") {
  for (const TransformerOptions& o : tiny_architectures()) {
    const Transformer model = scattered(o);
    CAPTURE(o.is_causal, o.d_k, o.parallel_residual);
    const Tensor heads = cut_heads(model, ids, question);
    CHECK(difference(heads, {o.num_layers, o.num_heads},
                     tabulate(heads.shape(),
                              [&](const Place& at) {
                                return fall_by_hand(model, {{.layer = at[0], .head = at[1]}});
                              }),
                     rounding) == "");
    const Tensor layers = cut_layers(model, ids, question);
    CHECK(difference(layers, {o.num_layers, 2},
                     tabulate(layers.shape(),
                              [&](const Place& at) {
                                if (at[1] == 1 && !o.has_feed_forward) return 0.0;
                                const PartKind kind =
                                    at[1] == 0 ? PartKind::attention : PartKind::feed_forward;
                                return fall_by_hand(model, {{.kind = kind, .layer = at[0]}});
                              }),
                     rounding) == "");
    const Tensor positions = cut_positions(model, ids, question);
    CHECK(difference(positions, {6},
                     tabulate({6},
                              [&](const Place& at) {
                                return fall_by_hand(
                                    model, {{.kind = PartKind::position, .position = at[0]}});
                              }),
                     rounding) == "");
    if (!o.is_causal) continue;
    CHECK(double{positions.at({4})} == 0);
    CHECK(double{positions.at({5})} == 0);
  }
}

TEST_CASE("more readings than one batch holds", "[phase7][analysis]") {
  TransformerOptions o = like_llama();
  o.vocab_size = 40;
  o.num_layers = 3;
  o.windows = {};
  const Transformer model = scattered(o);
  std::vector<std::int32_t> text(90);  // twelve of these fit into a batch, of the later ones more
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::int32_t>(i * i % 37);
  const Indices many({90}, text);
  std::vector<std::pair<Index, Index>> told;
  const Question asked{.position = 84, .token = 8, .progress = [&](Index made, Index all) {
                         told.emplace_back(made, all);
                       }};
  const Tensor heads = cut_heads(model, many, asked);
  CHECK(told == std::vector<std::pair<Index, Index>>{{12, 12}});
  told.clear();
  const Tensor positions = cut_positions(model, many, asked);
  std::vector<std::pair<Index, Index>> expected;  // what stands behind each position is read again
  for (Index made = 0; made < 84; expected.emplace_back(made, 84)) {
    made = std::min<Index>(84, made + Reading::rows_at_once / (84 - made));
  }
  CHECK(told == expected);
  for (const Index i : {0, 4, 5, 11}) {
    const ModelPart one{.layer = i / 4, .head = i % 4};
    CHECK(double{heads.at({i / 4, i % 4})} ==
          Approx(fall_by_hand(model, {one}, asked, many)).margin(rounding));
  }
  for (const Index i : {0, 5, 50, 83, 86}) {
    const ModelPart one{.kind = PartKind::position, .position = i};
    CHECK(double{positions.at({i})} ==
          Approx(fall_by_hand(model, {one}, asked, many)).margin(rounding));
  }
}

TEST_CASE("cutting finds the planted heads, and no other", "[phase7][analysis]") {
  const Indices text({7}, {5, 3, 1, 4, 6, 0, 1});  // after 1 comes 4
  const Question after{.token = 4, .against = 7};
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Tensor heads = cut_heads(planted_induction(8, 16, kind), text, after);
    for (const Index layer : {0, 1}) {
      CHECK(double{heads.at({layer, 0})} > 7);  // of 10; a head that sees all sees the 4, too
      CHECK(std::abs(double{heads.at({layer, 1})}) < 0.1);
    }
  }
  const Transformer model = planted_induction(8, 16, NormKind::rms);
  CHECK(cut(model, text, after, {{part("1.0:6>3")}}) > 9);
  CHECK(cut(model, text, after, {{part("0.0:3>2")}}) > 7);
  for (const char* idle : {"1.0:6>2", "1.0:5>3", "0.0:2>1", "1.1:6>3"}) {
    CAPTURE(idle);
    CHECK(std::abs(cut(model, text, after, {{part(idle)}})) < 0.1);
  }
  const Tensor positions = cut_positions(model, text, after);
  for (Index i = 0; i < 7; ++i) {  // 2 has the word that 3 must know to come behind
    const double fall = double{positions.at({i})};
    CAPTURE(i, fall);
    // Without 5, what the last one holds is less, and the last norm makes more of the answer.
    CHECK((i == 2 || i == 3 ? fall > 7 : std::abs(fall) < (i == 5 ? 2 : 0.1)));
  }
}

TEST_CASE("cuts keep no weights of attention, which take the length squared",
          "[phase7][analysis]") {
  const Transformer model = scattered_for_texts_of(1100);  // more than are read at once
  const Indices text({1100}, std::vector<std::int32_t>(1100, 3));
  const std::size_t taken = peak_memory_of([&] { (void)cut_layers(model, text, {.token = 1}); });
  CHECK(taken < 1024 * 1024 * sizeof(real));  // those of one head
}
