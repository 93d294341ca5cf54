// What steps use to look into trained models: mixed prompts, keys, rows, cuts.
#include "course/inside.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "catch.hpp"
#include "course/one_text.hpp"
#include "ops/expect.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

Transformer small_model(const TinyTask& task) {
  Random random(3);
  return Transformer({.vocab_size = task.vocabulary().size(),
                      .max_length = 16,
                      .d_model = 16,
                      .num_heads = 4,
                      .has_feed_forward = false,
                      .initializer = init::lecun_normal},
                     random);
}

}  // namespace

TEST_CASE("a mixed prompt has the same letters, and what follows it stays", "[phase2][course]") {
  const TinyTask task(TaskKind::induction, {.longest = 6});
  const TaskSequence before = example_of(task, 6, 4);
  CHECK(before.given == 7);
  CHECK(before.words.size() == 11);
  Random random(1);
  const TaskSequence after = with_mixed_prompt(before, random);
  const auto end = [](const TaskSequence& one) { return one.words.begin() + 6; };
  CHECK(std::multiset<std::string>(before.words.begin(), end(before)) ==
        std::multiset<std::string>(after.words.begin(), end(after)));
  CHECK(Words(end(before), before.words.end()) == Words(end(after), after.words.end()));
  CHECK(before.words != after.words);
}

TEST_CASE("an untrained model has the same options, and weights of seed 7", "[phase3][course]") {
  const TinyTask task(TaskKind::induction, {.longest = 6});
  const Transformer model = small_model(task), fresh = untrained(model, init::normal);
  Random random(7);
  TransformerOptions options = model.options;
  options.initializer = init::normal;
  const Transformer expected(options, random);
  const Indices ids({4}, {5, 6, 7, 5});
  CHECK(difference_to(fresh(ids), expected(ids)) == "");
  CHECK(largest_difference(untrained(model, init::normal, 8)(ids), expected(ids)) > 1e-4);
}

TEST_CASE("the example of a task is its first held-out sequence of seed 6", "[phase2][course]") {
  const TinyTask task(TaskKind::induction, {.longest = 6});
  for (const auto& [letters, said] : {std::pair<Index, Index>{5, 3}, {6, 4}}) {
    Random random(6);
    TaskSequence first = task.sequence(Part::held_out, random);
    while (first.given != letters + 1 || std::ssize(first.words) != letters + 1 + said) {
      first = task.sequence(Part::held_out, random);
    }
    CHECK(example_of(task, letters, said).words == first.words);
  }
}

TEST_CASE("keys of a prompt: the letter, its old place, behind the one read", "[phase2][course]") {
  for (const TaskKind kind : {TaskKind::copy, TaskKind::sort, TaskKind::induction}) {
    const TinyTask task(kind, {.longest = 6});
    const PromptKeys keys = prompt_keys(task, true), plain = prompt_keys(task, false);
    const std::vector<std::int32_t>&read = keys.batch.inputs.values, &letter = keys.letter.values;
    const auto length = static_cast<std::size_t>(keys.batch.inputs.shape[1]);
    int rows = 0;
    for (std::size_t at = 0; at < read.size(); ++at) {
      const std::size_t row = at - at % length;
      if (letter[at] < 0) continue;
      ++rows;
      CHECK(read[row + static_cast<std::size_t>(letter[at])] == keys.batch.targets.values[at]);
      CHECK(read[row + static_cast<std::size_t>(keys.behind.values[at]) - 1] == read[at]);
      CHECK(keys.place.values[at] != letter[at]);
      CHECK(keys.place.values[at] != keys.behind.values[at]);
    }
    CHECK(rows > 50);
    CHECK(plain.letter.values == plain.place.values);  // nothing was mixed
  }
}

TEST_CASE("how far back keys stand and weights look, in the rows that count", "[phase3][course]") {
  const Indices keys({2, 3}, {-1, 0, -1, -1, -1, 1});  // row 1 of the first, row 2 of the second
  CHECK(mean_distance(keys) == Approx(1));
  Tensor weights = Tensor::zeros({2, 2, 3, 3});  // (rows, heads, queries, keys)
  for (Index head = 0; head < 2; ++head) weights.set({0, head, 1, head}, 1);  // back by 1, and 0
  for (Index head = 0; head < 2; ++head) weights.set({1, head, 2, 0}, 1);     // both by 2
  weights.set({0, 0, 2, 0}, 1);  // a row that does not count
  CHECK(mean_distance(weights, keys) == Approx(1.25));
  CHECK(mean_weight(weights, 0, keys) == Approx(0.5));
}

TEST_CASE("the map of one head, and the mean weights of all", "[phase2][course]") {
  const TinyTask task(TaskKind::copy, {.longest = 6});
  const Transformer model = small_model(task);
  const Indices ids({2, 3}, {1, 6, 7, 1, 8, 9}), one({1, 3}, {1, 8, 9});
  const std::vector<Tensor> layers = weights_of(model, ids);  // (2, heads, 3, 3) each
  const Indices keys({2, 3}, {-1, 0, 1, -1, -1, 2});
  const std::vector<double> means = mean_weights(model, ids, keys);
  REQUIRE(means.size() == 8);
  for (const Index head : {0, 3}) {
    CHECK(means[std::size_t(head)] == mean_weight(layers[0], head, keys));
    CHECK(means[std::size_t(4 + head)] == mean_weight(layers[1], head, keys));
  }
  const Tensor map = map_of_head(model, one, {1, 2});  // (3, 3)
  REQUIRE(map.shape() == Shape{3, 3});
  for (Index query = 0; query < 3; ++query) {
    for (Index key = 0; key < 3; ++key) {
      CHECK(same_number(double{map.at({query, key})}, double{layers[1].at({1, 2, query, key})},
                        1e-6));
    }
  }
}

TEST_CASE("the letter before, and only some letters to be said", "[phase2][course]") {
  const TinyTask task(TaskKind::sort, {.longest = 6});
  const Vocabulary& vocabulary = task.vocabulary();
  const Batch batch = task.batch({{split_words("c a d b => a b c d"), 5, true}});  // (1, 10)
  CHECK(letter_before(batch).values ==
        std::vector<std::int32_t>{-1, -1, 1, 2, 3, -1, -1, -1, -1, -1});
  const Indices keys(batch.inputs.shape, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(where_said("b-c", keys, batch.targets, vocabulary).values ==
        std::vector<std::int32_t>{-1, -1, -1, -1, -1, -1, 6, 7, -1, -1});
  CHECK(where_said("a-z", keys, batch.targets, vocabulary).values ==  // not <eos>
        std::vector<std::int32_t>{-1, -1, -1, -1, -1, 5, 6, 7, 8, -1});
}

TEST_CASE("only rows with a target count, and see what they see in the model", "[phase3][course]") {
  const TinyTask task(TaskKind::copy, {.longest = 6});
  Random random(2);
  const Batch batch = task.batch(Part::held_out, 8, random);
  const Index length = batch.inputs.shape[1];
  for (const bool causal : {true, false}) {
    const Tensor seen = rows_with_targets(batch, causal).tensor({8, length, length});
    for (Index b = 0; b < 8; ++b) {
      for (Index i = 0; i < length; ++i) {
        const bool says = batch.targets.values[static_cast<std::size_t>(b * length + i)] >= 0;
        for (Index j = 0; j < length; ++j) {
          const bool sees = causal ? j <= i : j < batch.lengths[static_cast<std::size_t>(b)];
          CHECK((seen.at({b, i, j}) != 0) == (says && sees));
        }
      }
    }
  }
}

TEST_CASE("what is said without heads is the model's loss and matches", "[phase2][course]") {
  const TinyTask task(TaskKind::copy, {.longest = 6});
  const Transformer model = small_model(task);
  Random random(2);
  const Batch batch = task.batch(Part::held_out, 8, random);
  const Tensor logits = model(batch.inputs);
  CHECK(same_number(said_without(model, batch, {}).log_probability,
                    -double{cross_entropy(logits, batch.targets).item()}, 1e-5));
  double odds = 0, count = 0;
  const Tensor p = softmax(logits);  // (rows, length, words)
  for (std::size_t row = 0; row < batch.targets.values.size(); ++row) {
    const Index right = batch.targets.values[row], length = p.size(1);
    if (right < 0) continue;
    const double here{p.at({Index(row) / length, Index(row) % length, right})};
    odds += std::log(here / (1 - here));
    ++count;
  }
  CHECK(same_number(said_without(model, batch, {}).log_odds, odds / count, 1e-4));
  Transformer sure = small_model(task);  // so sure that p is 0 in float, and 1 for others
  sure.lm_head.weight = sure.lm_head.weight * 100;  // (d_model, words)
  CHECK(std::isfinite(said_without(sure, batch, {}).log_odds));
  const Tensor certain = softmax(sure(batch.inputs));  // (rows, length, words)
  CHECK(min(certain).item() == 0);
  CHECK(max(certain).item() == 1);
  // With every head of both layers cut, positions see nothing of each other: W_O set to 0.
  Transformer blind = small_model(task);
  for (TransformerBlock& block : blind.blocks) {
    block.attention.output.weight = Tensor::zeros(block.attention.output.weight.shape());
  }
  std::vector<HeadOf> all;
  for (Index head = 0; head < 4; ++head) all.insert(all.end(), {{0, head}, {1, head}});
  CHECK(same_number(said_without(model, batch, all).log_probability,
                    said_without(blind, batch, {}).log_probability, 1e-5));
  CHECK(said_without(model, batch, {{1, 2}}).log_probability !=
        said_without(model, batch, {}).log_probability);
}

TEST_CASE("a head's mean is taken at each position over the rows that reach so far",
          "[phase2][course]") {
  const TinyTask task(TaskKind::induction, {.longest = 6});
  const Transformer model = small_model(task);
  const Words whole = example_of(task, 5, 3).words, start(whole.begin(), whole.end() - 3);
  const std::vector<HeadOf> cut = {{0, 1}, {1, 2}};
  // Under the causal mask both rows agree wherever both reach, so each output is its own mean.
  const Batch alike = next_word_batch(task.vocabulary(), {whole, start});
  const double said = said_without(model, alike, {}).log_probability;
  CHECK(
      same_number(said_without(model, alike, cut, Replacement::mean).log_probability, said, 1e-5));
  CHECK(!same_number(said_without(model, alike, cut).log_probability, said, 1e-5));
  const Batch others =
      next_word_batch(task.vocabulary(), {whole, Words(whole.rbegin(), whole.rend())});
  CHECK(!same_number(said_without(model, others, cut, Replacement::mean).log_probability,
                     said_without(model, others, {}).log_probability, 1e-5));
}

TEST_CASE("a link made weaker, a layer cut, and a correlation", "[phase3][course]") {
  const TinyTask task(TaskKind::induction, {.longest = 6});
  const Transformer model = small_model(task);
  const Reader reader = reader_of(model, task, example_of(task, 5, 3).words);
  const Effect whole = reader.without_heads({});
  CHECK(same_number(reader.with_link(2, {1}, 1).logit, whole.logit, 1e-5));
  CHECK(reader.with_link(2, {1}, 0).logit != whole.logit);
  // A head's output is the sum over its links: without any of them it is cut.
  Tensor none = Tensor::ones({4, reader.ids.shape[1], reader.ids.shape[1]});
  for (Index key = 0; key < reader.ids.shape[1]; ++key) {
    none.set({1, reader.ids.shape[1] - 1, key}, 0);
  }
  CHECK(same_number(reader(".weights", none).logit, reader.without_heads({1}).logit, 1e-5));
  CHECK(same_number(reader.without_heads(all_heads).logit,
                    reader(".heads", Tensor::zeros({4, 1, 1})).logit, 1e-5));
  CHECK(whole.log_probability < 0);
  const Effect lost = Effect{3, -1} - Effect{1, -4};
  CHECK((lost.logit == 2 && lost.log_probability == 3));
  CHECK(same_number(correlation({1, 2, 3}, {2, 4, 6}), 1, 1e-12));
  CHECK(same_number(correlation({1, 2, 3, 4}, {1, -1, -1, 1}), 0, 1e-12));
  CHECK(mean_of({1, 2, 6}) == 3);
  const Spread of_three = spread_of({1, 3, 5});
  CHECK((of_three.mean == 3 && of_three.deviation == 2 && of_three.count == 3));
  CHECK(numbers(std::vector{Effect{1, 2}, Effect{3, 4}}, &Effect::log_probability) ==
        std::vector<double>{2, 4});
}

TEST_CASE("before the last layer norm divides, losses of heads add up", "[phase3][course]") {
  const TinyTask task(TaskKind::induction, {.longest = 6});
  Transformer model = small_model(task);
  Random random(4);
  std::get<LayerNorm>(model.norm->layer).bias = random.normal({16});  // (16)
  const Reader reader = reader_of(model, task, example_of(task, 5, 3).words);
  const HeadCut whole = head_cut(reader, {}), all = head_cut(reader, all_heads);
  double sum = 0;
  for (const Index head : all_heads) sum += whole.undivided - head_cut(reader, {head}).undivided;
  CHECK(same_number(sum, whole.undivided - all.undivided, 1e-4));
  CHECK(std::abs(sum) > 0.1);
  CHECK(all.left.logit == reader.without_heads(all_heads).logit);
  CHECK(all.left.log_probability == reader.without_heads(all_heads).log_probability);
  CHECK(all.deviation < whole.deviation);
}

TEST_CASE("two weights of the last query exchanged in some heads", "[phase3][course]") {
  const TinyTask task(TaskKind::induction, {.longest = 6});
  const Transformer model = small_model(task);
  const Reader reader = reader_of(model, task, example_of(task, 5, 3).words);
  const Index last = reader.ids.shape[1] - 1;
  const Index before = said_with_exchanged(reader, 1, 2, {});
  int changed = 0;
  for (Index key = 0; key <= last; ++key) {
    for (Index other = 0; other <= last; ++other) {
      const auto exchange = [&](const Tensor& weights) {
        Tensor result = weights * 1;  // (1, heads, length, length)
        for (const Index head : {1, 2, 3}) {
          result.set({0, head, last, key}, weights.at({0, head, last, other}));
          result.set({0, head, last, other}, weights.at({0, head, last, key}));
        }
        return result;
      };
      const auto said_with = [&] {
        Capture reach;
        reach.replace(layer + ".weights", exchange);
        return argmax(model(reader.ids, {}, {.need_weights = true})).values.back();
      };
      const Index said = said_with();
      CHECK(said_with_exchanged(reader, key, other, {1, 2, 3}) == said);
      changed += said == before ? 0 : 1;
    }
  }
  CHECK(changed > 0);
}

TEST_CASE("two rows, and two maps, are compared by order and by size", "[phase3][course]") {
  CHECK(same_number(same_order({1, -3, 2}, {-10, 30, 20}), 1, 1e-6));
  CHECK(same_number(same_order({1, 2, 3}, {3, 2, 1}), -1, 1e-6));
  CHECK(same_greatest({1, 3, -4}, {0, 2, 1}));
  CHECK_FALSE(same_greatest({1, 3, -4}, {3, 2, 1}));
  const Tensor a({4, 4}, {9, 0, 0, 0, 1, 9, 0, 0, 1, 2, 3, 9, 1, 2, 3, 4});  // (4, 4)
  const Tensor b({4, 4}, {0, 0, 0, 0, 9, 1, 0, 0, 2, 4, 6, 0, 4, 3, 2, 1});  // (4, 4)
  const RowAgreement rows = row_agreement(a, b);  // of rows 2 and 3, and keys up to the row's
  CHECK(same_number(rows.correlation, 0, 1e-12));
  CHECK(same_number(rows.same_greatest, 0.5, 1e-12));
  CHECK(same_number(row_agreement(a, a).correlation, 1, 1e-12));
}

TEST_CASE("how often a model says the letter that stands at a key", "[phase2][course]") {
  const Indices said({2, 3}, {7, 8, 9, 5, 5, 5}), read({2, 3}, {9, 8, 7, 4, 5, 6});
  CHECK(share_said(said, read, Indices({2, 3}, {2, 1, 0, -1, -1, -1})) == 1);
  CHECK(share_said(said, read, Indices({2, 3}, {0, 1, -1, 1, 0, 2})) == Approx(2.0 / 5));
  CHECK(std::isnan(share_said(said, read, Indices({2, 3}, std::vector<std::int32_t>(6, -1)))));
}
