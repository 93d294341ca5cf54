#include "course/text_runs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "catch.hpp"
#include "course/trained_by_hand.hpp"
#include "ops/expect.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/text/corpus.hpp"

using namespace tapestry;
using namespace tapestry::text_runs;

namespace {

Indices part(const Indices& ids, Index begin, Index end) {  // (n)
  const auto first = ids.values.begin();
  return Indices({end - begin}, {first + begin, first + end});  // (end - begin)
}

Indices counted(Index count) {  // 0, 1, ...
  Indices ids({count}, std::vector<std::int32_t>(static_cast<std::size_t>(count)));
  std::iota(ids.values.begin(), ids.values.end(), 0);
  return ids;  // (count)
}

const Text& small_text() {
  static const Text text = [] {
    std::string bytes;
    Random random(1);
    while (bytes.size() < 20'000) bytes += "the cat sat on a mat. "[random.randint(22)];
    return text_of(bytes);
  }();
  return text;
}

}  // namespace

TEST_CASE("step 75 holds out the last tenth, and learns no merges from it", "[phase7][course]") {
  const Text& text = small_text();
  CHECK(text.learned.size() == 18'000);
  CHECK(text.held_out.size() == 2'000);
  CHECK(text.tokenizer.decode(text.train.values) == text.learned);
  CHECK(text.tokenizer.decode(text.test.values) == text.held_out);
  const Tokenizer expected = byte_pair_tokenizer(learn_byte_pairs(text.learned, merges));
  CHECK(text.tokenizer.encode(text.held_out).values == expected.encode(text.held_out).values);
  CHECK(complaint([] { text_of(std::string(100, 'a')); },
                  {"must have 256 tokens, and has", "Give a longer one"}) == "");
}

TEST_CASE("every tenth piece begins with the first", "[phase7][course]") {
  CHECK(every_tenth(counted(43), 2).values == std::vector<std::int32_t>{0, 1, 20, 21, 40, 41});
  CHECK(every_tenth(counted(41), 2).values == std::vector<std::int32_t>{0, 1, 20, 21, 40});
  CHECK(every_tenth(counted(41), 2).shape == Shape{5});
  CHECK(every_tenth(counted(20), 3).values == std::vector<std::int32_t>{0, 1, 2});
}

TEST_CASE("bits per byte: nats of all windows by the bytes they predict", "[phase7][course]") {
  const Text& text = small_text();
  Random random(1);
  const Transformer model(of_today(text.tokenizer.size()), random);
  const Indices few = part(text.test, 0, 3 * length);  // (384)
  double nats = 0;
  std::string predicted;
  for (const Index at : {Index{0}, length}) {           // a third window would lack its last target
    const Indices inputs = part(few, at, at + length);  // (length)
    const Indices targets = part(few, at + 1, at + length + 1);  // (length)
    nats += double{sum_of_losses(model(inputs), targets).loss_sum.item()};
    predicted += text.tokenizer.decode(targets.values);
  }
  CHECK(bits_per_byte(model, text.tokenizer, few) ==
        Approx(nats / std::log(2.0) / double(predicted.size())));
  CHECK(bytes_per_token(text.tokenizer, few) ==
        Approx(double(predicted.size()) / double(2 * length)));
}

TEST_CASE("the blocks of step 75 have about as many parameters", "[phase7][course]") {
  const auto count = [](const TransformerOptions& options) {
    Random random(1);
    return Transformer(options, random).num_parameters();
  };
  CHECK(count(of_today(769)) == 149'888);
  for (const Index words : {300, 769}) {
    CHECK(std::abs(count(of_2017(words)) - count(of_today(words))) <= 129);  // half a unit of d_ff
  }
  CHECK(of_2017(769).norm_place == NormPlace::post);
}

TEST_CASE("step 75 trains on 8 windows at a time, with a rate that rises for 30 steps",
          "[phase7][course]") {
  const Text& text = small_text();
  const Run run{of_today(text.tokenizer.size()), text.train, 32, 3};
  std::vector<Index> looked;
  const Transformer model = train_on_text(run, [&](const Transformer& seen, Index step) {
    looked.push_back(step);
    if (step == 0) CHECK(seen.num_parameters() > 0);
  });
  CHECK(looked.size() == 33);
  CHECK(looked.front() == 0);
  CHECK(looked.back() == 32);
  Random random(3);
  const Transformer by_hand(run.options, random);
  train_by_hand(by_hand, {5e-3, 5e-4, 30, 32}, [&](Index step) {
    Random data(3, static_cast<std::uint64_t>(step));
    const Batch b = random_windows(text.train, 8, 128, data);  // (8, 128)
    return cross_entropy(by_hand(b.inputs), b.targets);        // logits (8, 128, words)
  });
  CHECK(distance_between(model, by_hand) < 1e-6);
}

TEST_CASE("what is written begins with the prompt, and its words are looked up",
          "[phase7][course]") {
  const Text& text = small_text();
  CHECK(written_by_frequency(text, 20, 1).starts_with("\n\nThe"));
  CHECK(written_by_frequency(text, 20, 1) == written_by_frequency(text, 20, 1));
  CHECK(written_by_frequency(text, 20, 1) != written_by_frequency(text, 20, 2));
  Random random(1);
  const Transformer model(of_today(text.tokenizer.size()), random);
  CHECK(written(model, text, 5, 1).starts_with("\n\nThe"));
  CHECK(known_words("the dog, a cat; dogs", "the cat's dog") == Approx(0.75));
  CHECK(known_words("ab 12 cat", "cat") == Approx(1));
  CHECK(std::isnan(known_words("ab", "ab")));
}
