#include "tapestry/generation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor vector(std::initializer_list<double> values) {
  return Tensor({static_cast<Index>(values.size())}, values);
}

// Logits of these probabilities, shifted as softmax allows.
Tensor logits_of(std::initializer_list<double> probabilities) {
  return log(vector(probabilities)) + 3;
}

// Always the same distribution, whatever the text.
NextLogits always(const Tensor& logits) {
  return [logits](const Indices&) { return logits; };
}

Indices ids(std::vector<std::int32_t> values) {
  const auto length = static_cast<Index>(values.size());
  return Indices({length}, std::move(values));
}

}  // namespace

TEST_CASE("without options the probabilities are those of softmax", "[phase4][generation]") {
  for (const Index size : {1, 2, 7, 100}) {
    CAPTURE(size);
    const Tensor logits = random_between({size}, -30, 30);
    CHECK(difference_to(sampling_probabilities(logits), softmax(logits)) == "");
  }
  const Tensor two_columns = random_tensor({5, 2});
  const Tensor column = squeeze(slice(two_columns, 1, 1, 2), 1);  // a strided view
  CHECK(difference_to(sampling_probabilities(column), softmax(column)) == "");
}

TEST_CASE("temperature divides the logits", "[phase4][generation]") {
  const Tensor logits = random_tensor({9});
  for (const double t : {0.1, 0.8, 3.0}) {
    CHECK(difference_to(sampling_probabilities(logits, {.temperature = t}), softmax(logits / t),
                        1e-5) == "");
  }
  CHECK(difference(sampling_probabilities(vector({-80, 80, 79}), {.temperature = 1e-9}), {3},
                   {0, 1, 0}) == "");
  CHECK(difference(sampling_probabilities(vector({-80, 80, 79}), {.temperature = 1e15}), {3},
                   {1 / 3.0, 1 / 3.0, 1 / 3.0}) == "");
}

TEST_CASE("greedy puts everything on the largest logit, of equals on the lowest id",
          "[phase4][generation]") {
  CHECK(difference(sampling_probabilities(vector({1, 5, 2, 5}), greedy), {4}, {0, 1, 0, 0}, 0) ==
        "");
  CHECK(difference(sampling_probabilities(Tensor::zeros({3}), greedy), {3}, {1, 0, 0}, 0) == "");
}

TEST_CASE("top_k keeps the k likeliest, of equals the lower ids", "[phase4][generation]") {
  const Tensor logits = logits_of({0.1, 0.4, 0.2, 0.2, 0.1});
  const auto kept = [&](Index k) { return sampling_probabilities(logits, {.top_k = k}); };
  CHECK(difference(kept(1), {5}, {0, 1, 0, 0, 0}) == "");
  CHECK(difference(kept(2), {5}, {0, 2 / 3.0, 1 / 3.0, 0, 0}) == "");
  CHECK(difference(kept(3), {5}, {0, 0.5, 0.25, 0.25, 0}) == "");
  for (const Index all : {0, 5, 99}) {
    CHECK(difference(kept(all), {5}, {0.1, 0.4, 0.2, 0.2, 0.1}) == "");
  }
}

TEST_CASE("top_p keeps the fewest likeliest that together reach p", "[phase4][generation]") {
  const Tensor logits = logits_of({0.125, 0.5, 0.0625, 0.25, 0.0625});
  const auto kept = [&](double p) { return sampling_probabilities(logits, {.top_p = p}); };
  CHECK(difference(kept(1e-9), {5}, {0, 1, 0, 0, 0}) == "");
  CHECK(difference(kept(0.49), {5}, {0, 1, 0, 0, 0}) == "");
  CHECK(difference(kept(0.51), {5}, {0, 2 / 3.0, 0, 1 / 3.0, 0}) == "");
  CHECK(difference(kept(0.76), {5}, {1 / 7.0, 4 / 7.0, 0, 2 / 7.0, 0}) == "");
  CHECK(difference(kept(0.93), {5}, {2 / 15.0, 8 / 15.0, 1 / 15.0, 4 / 15.0, 0}) == "");
  CHECK(difference(kept(1), {5}, {0.125, 0.5, 0.0625, 0.25, 0.0625}) == "");
  // One of two equal words reaches half of all by itself, to the last bit.
  CHECK(difference(sampling_probabilities(Tensor::zeros({2}), {.top_p = 0.5}), {2}, {1, 0}, 0) ==
        "");
  CHECK(difference(sampling_probabilities(Tensor::zeros({4}), {.top_p = 0.75}), {4},
                   {1 / 3.0, 1 / 3.0, 1 / 3.0, 0}) == "");
}

TEST_CASE("of many words, often equally likely, the likeliest are kept", "[phase4][generation]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const auto size = static_cast<std::size_t>(2 + random.randint(30));
    Tensor logits = Tensor::zeros({static_cast<Index>(size)});
    for (Index id = 0; id < logits.shape()[0]; ++id) {
      logits.set({id}, static_cast<double>(random.randint(5)));
    }
    const std::vector<real> values = logits.values();
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    const auto kept = [&](const SamplingOptions& options) {
      return sampling_probabilities(logits, options).values();
    };
    const Index k = 1 + random.randint(static_cast<Index>(size));
    const std::vector<real> likeliest = kept({.top_k = k}), nearly_all = kept({.top_p = 0.9});
    CAPTURE(seed, k);
    double sum = 0;
    const std::vector<real> all = kept({});
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t id = order[i];
      CHECK((likeliest[id] > 0) == (static_cast<Index>(i) < k));
      if (std::abs(sum - 0.9) > 1e-5) CHECK((nearly_all[id] > 0) == (sum < 0.9));
      sum += double{all[id]};
    }
    for (const real share : kept({.top_p = std::nextafter(1.0, 0.0)})) CHECK(share >= 0);
  }
}

TEST_CASE("with top_p 1 words stay, however unlikely", "[phase4][generation]") {
  for (const Index k : {0, 2}) {
    const Tensor y = sampling_probabilities(vector({0, -40, -50}), {.top_k = k});
    CHECK(y.at({1}) > 0);
  }
}

TEST_CASE("temperature comes first, then top_k, then top_p of what top_k left",
          "[phase4][generation]") {
  const Tensor logits = logits_of({0.4, 0.3, 0.2, 0.1});
  // Of {4/7, 3/7} the first alone has 0.5 of it, though it has 0.4 of all.
  CHECK(difference(sampling_probabilities(logits, {.top_k = 2, .top_p = 0.5}), {4}, {1, 0, 0, 0}) ==
        "");
  // At temperature 1/2 shares are squared: 16, 9, 4, 1 of 30.
  CHECK(difference(sampling_probabilities(logits, {.temperature = 0.5, .top_p = 0.8}), {4},
                   {16 / 25.0, 9 / 25.0, 0, 0}) == "");
}

TEST_CASE("a word whose logit is minus infinity is never drawn", "[phase4][generation]") {
  const Tensor logits = vector({-infinity, 0, -infinity, 0});
  CHECK(difference(sampling_probabilities(logits), {4}, {0, 0.5, 0, 0.5}) == "");
  CHECK(difference(sampling_probabilities(logits, {.top_k = 3}), {4}, {0, 0.5, 0, 0.5}) == "");
  CHECK(difference(sampling_probabilities(logits, greedy), {4}, {0, 1, 0, 0}) == "");
}

TEST_CASE("options and logits that cannot be drawn by are refused by name",
          "[phase4][generation]") {
  const Tensor good = Tensor::zeros({3});
  const auto refused = [](const Tensor& logits, const SamplingOptions& options,
                          std::initializer_list<const char*> words) {
    return complaint([&] { sampling_probabilities(logits, options); }, words);
  };
  CHECK(refused(good, {.temperature = -1}, {"temperature is -1", "0 (greedy) or more"}) == "");
  CHECK(refused(good, {.temperature = not_a_number}, {"temperature is nan"}) == "");
  CHECK(refused(good, {.temperature = infinity}, {"temperature is inf"}) == "");
  CHECK(refused(good, {.top_k = -1}, {"top_k is -1", "0 (all words) or more"}) == "");
  CHECK(refused(good, {.top_p = 0}, {"top_p is 0", "above 0, and 1 at most"}) == "");
  CHECK(refused(good, {.top_p = 1.5}, {"top_p is 1.5"}) == "");
  CHECK(refused(good, {.top_p = not_a_number}, {"top_p is nan"}) == "");
  CHECK(refused(good, {.temperature = 0, .top_k = 2}, {"temperature 0", "leave them out"}) == "");
  CHECK(refused(good, {.temperature = 0, .top_p = 0.5}, {"whatever top_k and top_p"}) == "");
  CHECK(refused(vector({0, not_a_number}), {}, {"the logit of id 1 is nan", "diverge"}) == "");
  CHECK(refused(vector({infinity, 0}), {}, {"the logit of id 0 is inf"}) == "");
  CHECK(refused(vector({-infinity, -infinity}), {}, {"none of 2 logits is above -inf"}) == "");
  CHECK(refused(Tensor::zeros({0}), {}, {"none of 0 logits"}) == "");
  CHECK(refused(Tensor::zeros({1, 3}), {}, {"the logits are (1, 3)", "(vocabulary)", "slice"}) ==
        "");
  CHECK(refused(Tensor(), {}, {"the logits are undefined"}) == "");
}

TEST_CASE("words are drawn as often as their probabilities say", "[phase4][generation]") {
  const Tensor probabilities = vector({0.1, 0, 0.6, 0.3});
  Random random(3);
  std::vector<double> counts(4);
  constexpr int draws = 20'000;
  for (int i = 0; i < draws; ++i) {
    counts[static_cast<std::size_t>(sample(probabilities, random))] += 1.0 / draws;
  }
  CHECK(counts[1] == 0);
  for (const std::size_t id : {0, 2, 3}) {  // the deviation of a share is below 0.0036
    CHECK(std::abs(counts[id] - double{probabilities.values()[id]}) < 0.015);
  }
  Random one(5), other(5);
  CHECK(sample(probabilities, one) == sample(probabilities * 10, other));  // only shares count
  CHECK(one.position() == other.position());
  CHECK(sample(vector({0, 0, 2, 0}), random) == 2);
}

TEST_CASE("what cannot be drawn by is refused", "[phase4][generation]") {
  Random random(1);
  const auto refused = [&](const Tensor& p, std::initializer_list<const char*> words) {
    return complaint([&] { sample(p, random); }, words);
  };
  CHECK(refused(vector({0.5, -0.1}), {"sample: the probability of id 1 is -0.1"}) == "");
  CHECK(refused(vector({0.5, -0x1p-40}), {"of id 1 is -9.09494701772928", "e-13"}) == "");
  CHECK(refused(vector({not_a_number}), {"the probability of id 0 is nan"}) == "");
  CHECK(refused(vector({1, infinity}), {"id 1 is inf"}) == "");
  CHECK(refused(vector({0, 0}), {"all probabilities are 0"}) == "");
  CHECK(refused(Tensor::zeros({0}), {"all probabilities are 0"}) == "");
  CHECK(refused(Tensor::ones({2, 2}), {"the probabilities are (2, 2)"}) == "");
}

TEST_CASE("generating goes from the prompt to the length asked for", "[phase4][generation]") {
  // The next id is the last one and 1, modulo 5.
  const NextLogits count_up = [](const Indices& so_far) {
    Tensor logits = Tensor::zeros({5});
    logits.set({(so_far.values.back() + 1) % 5}, 1);
    return logits;
  };
  Random random(1);
  const GenerationOptions options = {.sampling = greedy, .max_new_tokens = 6};
  const Indices text = generate(count_up, ids({1, 2}), random, options);
  CHECK(text.shape == Shape{8});
  CHECK(text.values == std::vector<std::int32_t>{1, 2, 3, 4, 0, 1, 2, 3});
  CHECK(generate(count_up, ids({4}), random, {.sampling = greedy, .max_new_tokens = 1}).values ==
        std::vector<std::int32_t>{4, 0});
  CHECK(generate(count_up, ids({4}), random, {.max_new_tokens = 0}).values ==
        std::vector<std::int32_t>{4});
  const Indices ended =
      generate(count_up, ids({0, 1}), random, {.sampling = greedy, .max_new_tokens = 9, .eos = 0});
  CHECK(ended.values == std::vector<std::int32_t>{0, 1, 2, 3, 4, 0});
}

TEST_CASE("a seed gives the same text again, another seed another", "[phase4][generation]") {
  const auto text_of = [](std::uint64_t seed) {
    Random random(seed);
    return generate(always(Tensor::zeros({50})), ids({0}), random, {.max_new_tokens = 30}).values;
  };
  CHECK(text_of(1) == text_of(1));
  CHECK(text_of(1) != text_of(2));
}

TEST_CASE("each step can be looked at: text so far, logits, probabilities, choice",
          "[phase4][generation]") {
  const Tensor logits = logits_of({0.5, 0.3, 0.2});
  std::vector<std::int32_t> chosen;
  std::vector<std::size_t> lengths;
  bool right = true;
  const auto look = [&](const GenerationStep& step) {
    chosen.push_back(step.chosen);
    lengths.push_back(step.ids.values.size());
    right = right && difference_to(step.logits, logits, 0) == "" &&
            difference(step.probabilities, {3}, {0.625, 0.375, 0}) == "";
  };
  Random random(2);
  const Indices text =
      generate(always(logits), ids({2, 2}), random,
               {.sampling = {.top_k = 2}, .max_new_tokens = 4, .after_step = look});
  CHECK(right);
  CHECK(lengths == std::vector<std::size_t>{2, 3, 4, 5});
  CHECK(chosen == std::vector<std::int32_t>(text.values.begin() + 2, text.values.end()));
}

TEST_CASE("a prompt or a length that generates nothing sensible is refused",
          "[phase4][generation]") {
  Random random(1);
  const NextLogits any = always(Tensor::zeros({3}));
  CHECK(complaint([&] { generate(any, ids({}), random); }, {"the prompt is (0)", "<bos>"}) == "");
  CHECK(complaint([&] { generate(any, Indices({1, 2}, {0, 1}), random); },
                  {"the prompt is (1, 2)", "(length)"}) == "");
  Indices lacking = ids({0, 1});
  lacking.values.pop_back();
  CHECK(complaint([&] { generate(any, lacking, random); }, {"generate: ", "(2)"}) == "");
  CHECK(generate(any, ids({7}), random, {.max_new_tokens = 1}).values.size() == 2);  // no penalty
  CHECK(complaint([&] { generate(any, ids({0}), random, {.max_new_tokens = -1}); },
                  {"max_new_tokens is -1"}) == "");
  CHECK(complaint([&] { generate(any, ids({0}), random, {.eos = -2}); },
                  {"generate: eos is -2", "-1 for none"}) == "");
  CHECK(complaint([&] { generate(always(vector({not_a_number})), ids({0}), random); },
                  {"the logit of id 0 is nan"}) == "");
}
