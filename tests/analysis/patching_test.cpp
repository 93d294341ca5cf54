// Effects of patches: against the whole model with a Capture that sets one place, and in a model in
// which the path of the answer is known.
#include "tapestry/analysis/patching.hpp"

#include <algorithm>

#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "nn/architectures.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices clean({6}, {0, 3, 2, 6, 1, 3});
const Indices corrupted({6}, {0, 5, 2, 6, 4, 3});
const Question question{.position = 4, .token = 3, .against = 1};
const double rounding = in_double ? 1e-9 : 1e-4;

// Effects by plain loops: the model reads the corrupted text with other tensors.
struct ByHand {
  const Transformer& model;
  const Indices &text, &other;
  Question asked;
  Parameters seen;  // what was recorded in the clean text
  double whole = 0, broken = 0;

  ByHand(const Transformer& m, const Indices& a = clean, const Indices& b = corrupted,
         const Question& q = question)
      : model(m), text(a), other(b), asked(q) {
    const Capture capture;
    whole = double{answer(model(text, {}, {.need_weights = true}), asked).item()};
    seen = capture.all();
    broken = double{answer(model(other, {}, {.need_weights = true}), asked).item()};
  }

  // With the numbers of the clean text where `mask` is 1.
  double effect(const std::string& name, const Tensor& mask) const {
    const auto found = std::find_if(seen.begin(), seen.end(),
                                    [&](const Parameter& one) { return one.name == name; });
    Capture capture;
    capture.replace(name, [&](const Tensor& x) { return where(mask, found->value, x); });
    const Tensor logits = model(other, {}, {.need_weights = true});  // (length, vocab_size)
    return (double{answer(logits, asked).item()} - broken) / (whole - broken);
  }

  static std::string in_block(Index layer, const char* what) {
    return "blocks." + std::to_string(layer) + "." + what;
  }

  double residual(Index layer, Index position) const {
    Tensor mask = Tensor::zeros({text.shape.numel(), 1});  // (length, 1)
    mask.set({position, 0}, 1);
    return effect(layer == 0 ? "embedding" : in_block(layer - 1, "output"), mask);
  }

  // At one position, or, below 0, at all.
  double head(Index layer, Index number, Index position = -1) const {
    Tensor mask = Tensor::zeros({model.options.num_heads, text.shape.numel(), 1});
    for (Index i = 0; i < text.shape.numel(); ++i) {
      if (position < 0 || i == position) mask.set({number, i, 0}, 1);
    }
    return effect(in_block(layer, "attention.heads"), mask);
  }

  double link(Index layer, Index number, Index query, Index key) const {
    const Index length = text.shape.numel();
    Tensor mask = Tensor::zeros({model.options.num_heads, length, length});
    mask.set({number, query, key}, 1);
    return effect(in_block(layer, "attention.weights"), mask);
  }
};

}  // namespace

TEST_CASE("effects are those of the whole model with one place set", "[phase7][analysis]") {
  for (const TransformerOptions& o : tiny_architectures()) {
    const Transformer model = scattered(o);
    CAPTURE(o.is_causal, o.d_k, o.parallel_residual);
    const Patches patches = patch(model, clean, corrupted, question);
    const ByHand hand(model);
    CHECK(patches.clean == Approx(hand.whole).margin(1e-5));
    CHECK(patches.corrupted == Approx(hand.broken).margin(1e-5));
    const auto residual = [&](const Place& at) { return hand.residual(at[0], at[1]); };
    CHECK(difference(patches.residual, {o.num_layers + 1, 6}, tabulate({3, 6}, residual),
                     rounding) == "");
    const auto heads = [&](const Place& at) { return hand.head(at[0], at[1]); };
    CHECK(difference(patches.heads, {o.num_layers, o.num_heads},
                     tabulate({o.num_layers, o.num_heads}, heads), rounding) == "");
  }
}

TEST_CASE("heads by position, and links, of one layer", "[phase7][analysis]") {
  for (const TransformerOptions& o : tiny_architectures()) {
    const Transformer model = scattered(o);
    for (Index layer = 0; layer < o.num_layers; ++layer) {
      CAPTURE(o.is_causal, o.d_k, o.parallel_residual, layer);
      const Tensor heads = patch_heads(model, clean, corrupted, question, layer);
      const Tensor links = patch_links(model, clean, corrupted, question, layer);
      const ByHand hand(model);
      const auto head = [&](const Place& at) { return hand.head(layer, at[0], at[1]); };
      CHECK(difference(heads, {o.num_heads, 6}, tabulate({o.num_heads, 6}, head), rounding) == "");
      const auto link = [&](const Place& at) { return hand.link(layer, at[0], at[1], at[2]); };
      CHECK(difference(links, {o.num_heads, 6, 6}, tabulate({o.num_heads, 6, 6}, link), rounding) ==
            "");
    }
  }
}

TEST_CASE("only what can matter is tried", "[phase7][analysis]") {
  for (const TransformerOptions& o : {tiny(), like_bert()}) {
    const Transformer model = scattered(o);
    std::vector<Index> tried;
    Question counted = question;
    counted.progress = [&](Index made, Index all) {
      if (made == all) tried.push_back(all);
    };
    (void)patch(model, clean, corrupted, counted);
    for (const Index layer : {0, 1}) {
      (void)patch_heads(model, clean, corrupted, counted, layer);
      (void)patch_links(model, clean, corrupted, counted, layer);
    }
    Capture seen;
    const auto links = [&](Index layer, Index begin, Index end) {  // of queries [begin, end)
      const std::string name = ByHand::in_block(layer, "attention.weights");
      model(clean, {}, {.need_weights = true});
      const Tensor other = seen[name];
      model(corrupted, {}, {.need_weights = true});
      const Tensor same = slice(seen[name], -2, begin, end) == slice(other, -2, begin, end);
      return Index(sum(1 - same).item());
    };
    // From position 1, where the texts first differ, to the one asked about; of the last block only
    // that one.
    const Index begin = o.is_causal ? 1 : 0, end = o.is_causal ? 5 : 6, places = end - begin;
    CHECK(tried == std::vector<Index>{2 * places + 1, 4, 2 * places, links(0, begin, end), 2,
                                      links(1, 4, 5)});
  }
}

TEST_CASE("answers have a gap from a ten-thousandth on, of 1 or of themselves",
          "[phase7][analysis]") {
  CHECK(have_gap(0.25, 0.25 + 1.5e-4));
  CHECK_FALSE(have_gap(0.25, 0.25 + 0.75e-4));
  CHECK(have_gap(1e4, 9999));
  CHECK_FALSE(have_gap(1e4, 9999.5));
}

TEST_CASE("more patches than one batch holds", "[phase7][analysis]") {
  TransformerOptions o = like_llama();
  o.vocab_size = 40;
  o.num_layers = 3;
  o.windows = {};
  const Transformer model = scattered(o);
  std::vector<std::int32_t> numbers(90);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::int32_t>(i * i % 37);
  }
  const Indices text({90}, numbers);
  numbers[20] = 38;
  numbers[60] = 39;
  const Indices other({90}, numbers);
  const Question asked{.position = 84, .token = 8};
  const Patches patches = patch(model, text, other, asked);
  const Tensor heads = patch_heads(model, text, other, asked, 1);
  const ByHand hand(model, text, other, asked);
  for (const Index layer : {0, 1, 2, 3}) {
    for (const Index position : {0, 19, 20, 21, 45, 60, 61, 83, 84, 85}) {
      CAPTURE(layer, position);
      CHECK(double{patches.residual.at({layer, position})} ==
            Approx(hand.residual(layer, position)).margin(10 * rounding));
    }
  }
  for (const Index head : {0, 3}) {
    CHECK(double{patches.heads.at({2, head})} == Approx(hand.head(2, head)).margin(10 * rounding));
    for (const Index position : {20, 21, 40, 84}) {
      CHECK(double{heads.at({head, position})} ==
            Approx(hand.head(1, head, position)).margin(10 * rounding));
    }
  }
}

TEST_CASE("patches bring back exactly the planted path", "[phase7][analysis]") {
  const Transformer model = planted_induction(8, 16, NormKind::rms);
  const Indices text({7}, {5, 3, 1, 4, 6, 0, 1}), other({7}, {5, 3, 1, 2, 6, 0, 1});
  const Question after{.token = 4, .against = 2};  // 1 is followed by 4, in the other text by 2
  const Patches patches = patch(model, text, other, after);
  CHECK(patches.clean > 9);
  CHECK(patches.corrupted < -9);
  for (Index layer = 0; layer <= 2; ++layer) {
    for (Index at = 0; at < 7; ++at) {
      const bool on_path = layer < 2 ? at == 3 : at == 6;
      CAPTURE(layer, at);
      CHECK(double{patches.residual.at({layer, at})} == Approx(on_path ? 1 : 0).margin(0.02));
    }
  }
  CHECK(double{patches.heads.at({1, 0})} == Approx(1).margin(0.02));
  for (const auto& [layer, head] : {std::pair<Index, Index>{0, 0}, {0, 1}, {1, 1}}) {
    CHECK(double{patches.heads.at({layer, head})} == Approx(0).margin(0.02));
  }
  const Tensor heads = patch_heads(model, text, other, after, 1);
  for (Index at = 0; at < 7; ++at) {
    CHECK(double{heads.at({0, at})} == Approx(at == 6 ? 1 : 0).margin(0.02));
  }
  CHECK(double{max(abs(patch_links(model, text, other, after, 0))).item()} < 0.02);
}

TEST_CASE("patches of links find where the planted heads look", "[phase7][analysis]") {
  const Transformer model = planted_induction(8, 16, NormKind::rms);
  // The 4 stays; the words before it change, and with them what the last one matches.
  const Indices text({7}, {5, 3, 1, 4, 6, 2, 1}), other({7}, {5, 3, 1, 4, 6, 2, 6});
  const Question after{.token = 4, .against = 2};
  const Tensor links = patch_links(model, text, other, after, 1);  // (heads, queries, keys)
  for (Index i = 0; i < links.numel(); ++i) {
    const double effect = double{links.values()[static_cast<std::size_t>(i)]};
    const bool planted = i == 6 * 7 + 3 || i == 6 * 7 + 5;  // of head 0: now at 3, no more at 5
    CAPTURE(i, effect);
    CHECK(planted == (effect > 0.3));
    CHECK((planted || std::abs(effect) < 0.02));
  }
}

TEST_CASE("texts that cannot be compared are refused", "[phase7][analysis]") {
  const Transformer model = scattered(tiny());
  const auto refused = [&](const Indices& a, const Indices& b, const Question& asked,
                           std::initializer_list<const char*> words) {
    return complaint([&] { (void)patch(model, a, b, asked); }, words);
  };
  CHECK(refused(clean, Indices({5}, {0, 5, 2, 6, 4}), question,
                {"patch", "clean text has 6 tokens", "corrupted one 5", "one length"}) == "");
  CHECK(refused(clean, clean, question, {"nothing to bring back", "another token"}) == "");
  CHECK(refused(clean, corrupted, {.token = 2, .against = 2}, {"answer is 0"}) == "");
  // The difference comes later than the position that is asked about.
  CHECK(refused(clean, corrupted, {.position = 0, .token = 1}, {"nothing to bring back"}) == "");
  CHECK(refused(clean, corrupted, {.position = 6}, {"no position 6"}) == "");
  CHECK(refused(clean, corrupted, {.token = 9}, {"no token 9"}) == "");
  CHECK(refused(Indices({2, 3}, clean.values), corrupted, question, {"one text"}) == "");
  CHECK(complaint([&] { (void)patch_heads(model, clean, corrupted, question, 2); },
                  {"patch_heads", "no layer 2", "0 to 1"}) == "");
  CHECK(complaint([&] { (void)patch_links(model, clean, corrupted, question, -1); },
                  {"patch_links", "no layer -1"}) == "");
  TransformerOptions o = tiny();
  for (const auto& [layers, words] : {std::pair(0, "the model has none."), {1, "are 0 to 0."}}) {
    o.num_layers = layers;
    const Transformer few = scattered(o);
    CHECK(complaint([&, n = layers] { (void)patch_heads(few, clean, corrupted, question, n); },
                    {words}) == "");
  }
  const Capture other;
  CHECK(refused(clean, corrupted, question, {"another Capture"}) == "");
}

TEST_CASE("patches of heads keep no weights of attention, which take the length squared",
          "[phase7][analysis]") {
  const Transformer model = scattered_for_texts_of(1024);
  const Indices text({1024}, std::vector<std::int32_t>(1024, 3));
  Indices other = text;
  other.values.back() = 5;
  const std::size_t taken = peak_memory_of([&] { (void)patch(model, text, other, {.token = 1}); });
  CHECK(taken < 1024 * 1024 * sizeof(real));  // those of one head
}
