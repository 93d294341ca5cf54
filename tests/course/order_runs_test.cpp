// What the steps on positions and on later inventions compute besides models.
#include "course/order_runs.hpp"

#include <algorithm>
#include <map>

#include "catch.hpp"
#include "course/since_2017.hpp"

using namespace tapestry;
using namespace tapestry::since_2017;

namespace {

// The same by another way: draws `seen` letters, the first of which is asked for, and says the most
// frequent one.
double right_without_order(Index seen) {
  Random random(5);
  constexpr int rounds = 40'000;
  int right = 0;
  for (int round = 0; round < rounds; ++round) {
    std::map<Index, int> count;
    const Index asked = random.randint(OrderTask::letters);
    ++count[asked];
    for (Index i = 1; i < seen; ++i) ++count[random.randint(OrderTask::letters)];
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    right += std::max_element(count.begin(), count.end(), fewer)->first == asked ? 1 : 0;
  }
  return double(right) / rounds;
}

}  // namespace

TEST_CASE("without order the most frequent letter is the best answer", "[phase5][course]") {
  double causal = 0;  // places 2 .. 12 see the 1 .. 11 letters before them
  for (Index seen = 1; seen <= 11; ++seen) causal += right_without_order(seen) / 11;
  CHECK(OrderTask{.back = 1}.best_without_order() == Approx(causal).margin(0.01));
  const double all = right_without_order(11);  // all letters but its own
  CHECK(OrderTask{.back = 1, .causal = false}.best_without_order() == Approx(all).margin(0.01));
  CHECK(OrderTask{.back = 0}.best_without_order() == 1);
}

TEST_CASE("a probe reads the place off sinusoids, and guesses where there are none",
          "[phase5][course]") {
  const OrderTask task{.back = 1, .causal = false};
  CHECK(places_off(order_model(false, Positions::sinusoidal, 1, 1), task, 0) < 0.5);
  const double none = places_off(order_model(false, Positions::none, 1, 1), task, 0);
  CHECK((none > 2.5 && none < 3.5));  // always the middle of twelve: 3
}

TEST_CASE("one layer without positions does not see that letters change places",
          "[phase5][course]") {
  CHECK(change_by_swap(order_model(true, Positions::none, 1, 1)) < 1e-4);
  CHECK(change_by_swap(order_model(true, Positions::none, 2, 1)) > 1e-3);
  CHECK(change_by_swap(order_model(true, Positions::learned, 1, 1)) > 1e-3);
  CHECK(change_by_swap(order_model(false, Positions::none, 2, 1)) < 1e-4);
}

TEST_CASE("the one layer of a decoder learns to look at the letter before", "[phase5][course]") {
  const Transformer causal = order_model(true, Positions::learned, 1, 1);
  double even = 0;  // places 1 .. 12 see 2 .. 13 letters
  for (int seen = 2; seen <= 13; ++seen) even += 1.0 / seen / 12;
  CHECK(on_letter_before(causal, 0) == Approx(even).margin(0.03));
  CHECK(on_letter_before(order_model(false, Positions::none, 1, 1), 0) ==
        Approx(1.0 / 13).margin(0.03));
  learn(causal, OrderTask{}, 1);
  CHECK(on_letter_before(causal, 0) > 0.7);
}

TEST_CASE("a model gets the feed-forward width that makes it as large as another",
          "[phase5][course]") {
  TransformerOptions options{.vocab_size = 7, .d_model = 8, .num_heads = 2, .num_layers = 2};
  for (const Index wanted : {1, 5, 33}) {
    options.d_ff = wanted;
    const Index count = parameters_of(options);
    options.d_ff = wanted + 1;
    const Index each = parameters_of(options) - count;
    CHECK(as_large_as(count, options).d_ff == wanted);
    CHECK(as_large_as(count + each / 3, options).d_ff == wanted);
    CHECK(as_large_as(count + each - each / 3, options).d_ff == wanted + 1);
  }
}

TEST_CASE("a row of stories is a story in tokens, and its targets are the tokens that follow",
          "[phase7][course]") {
  const Stories stories;
  std::string text;
  Random first(0);
  for (int i = 0; i < 1000; ++i) text += story(first).text;
  const Tokenizer learned = byte_pair_tokenizer(learn_byte_pairs(text, merges));
  REQUIRE(stories.tokenizer().size() == learned.size());
  for (std::int32_t id = 0; id < learned.size(); ++id) {
    CHECK(stories.tokenizer().token(id) == learned.token(id));
  }
  const auto begin = static_cast<std::int32_t>(learned.size() - 1);
  Random random(7), again(7);
  double bits = 0, expected_bits = 0;
  const Batch b = stories.batch(5, random, &bits);  // (5, length)
  const auto length = static_cast<std::size_t>(b.inputs.shape[1]);
  CHECK(b.targets.shape == b.inputs.shape);
  std::size_t longest_row = 0;
  for (std::size_t row = 0; row < 5; ++row) {
    const Story one = story(again);
    expected_bits += one.bits;
    std::vector<std::int32_t> inputs = {begin};
    std::vector<std::int32_t> targets = learned.encode(one.text).values;
    longest_row = std::max(longest_row, targets.size());
    inputs.insert(inputs.end(), targets.begin(), targets.end() - 1);
    inputs.resize(length, begin);
    targets.resize(length, -1);
    const auto at = static_cast<std::ptrdiff_t>(row * length);
    CHECK(std::equal(inputs.begin(), inputs.end(), b.inputs.values.begin() + at));
    CHECK(std::equal(targets.begin(), targets.end(), b.targets.values.begin() + at));
  }
  CHECK(longest_row == length);
  CHECK(bits == Approx(expected_bits));
}

TEST_CASE("each variant has one change since 2017, the last one has all, and all are as large",
          "[phase7][course]") {
  const auto changes_of = [](const TransformerOptions& o) {
    return std::vector<bool>{o.norm_place == NormPlace::pre,
                             o.norm_kind == NormKind::rms,
                             o.gated && o.activation == Activation::silu,
                             o.positions == Positions::rotary,
                             o.num_key_value_heads == 2,
                             o.tied_logits};
  };
  const std::vector<Variant> all = variants(50);
  REQUIRE(all.size() == 8);
  const Index wanted = parameters_of(all.front().options);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name);
    std::vector<bool> expected(6, i == 7);
    if (i > 0 && i < 7) expected[i - 1] = true;
    CHECK(changes_of(all[i].options) == expected);
    TransformerOptions wider = all[i].options;
    const Index count = parameters_of(wider);
    ++wider.d_ff;
    CHECK(2 * std::abs(count - wanted) <= parameters_of(wider) - count);
  }
}
