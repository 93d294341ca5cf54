// What is left of a model when heads are removed: one head, sets of heads, orders of removal.
#include "course/pruning.hpp"

#include "catch.hpp"
#include "course/tasks.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;
using namespace tapestry::pruning;

namespace {

Subject small_subject() {
  const TinyTask task(TaskKind::copy, {.longest = 6});
  Random random(3), drawn(4);
  return {Transformer({.vocab_size = task.vocabulary().size(),
                       .max_length = 16,
                       .d_model = 16,
                       .num_heads = 2,
                       .has_feed_forward = false,
                       .initializer = init::lecun_normal},
                      random),
          task.batch(Part::held_out, 6, drawn)};
}

// What a head says no longer reaches the stream: its rows of W_O are 0.
void silence(Transformer& model, Index layer, Index head) {
  Tensor& weight = model.blocks[static_cast<std::size_t>(layer)].attention.output.weight;
  for (Index i = 0; i < 8; ++i) {
    for (Index j = 0; j < 16; ++j) weight.set({8 * head + i, j}, 0);
  }
}

}  // namespace

TEST_CASE("a model without a head is one whose head does not reach the stream",
          "[phase5][course]") {
  const Subject whole = small_subject();
  Subject silent = small_subject();
  silence(silent.model, 1, 0);
  const Tensor p = softmax(whole.model(whole.test.inputs));  // (6, length, vocabulary)
  double sum = 0, count = 0;
  for (std::size_t row = 0; row < whole.test.targets.values.size(); ++row) {
    const Index right = whole.test.targets.values[row], length = p.size(1);
    if (right < 0) continue;
    sum += double{p.at({Index(row) / length, Index(row) % length, right})};
    ++count;
  }
  CHECK(all_heads(whole.model) == 0b1111);
  CHECK(same_number(quality(whole, 0b1111), sum / count, 1e-5));
  CHECK(same_number(quality(whole, 0b1011), quality(silent, 0b1111), 1e-5));
  CHECK(!same_number(quality(whole, 0b1011), quality(whole, 0b1111), 1e-4));
  const std::vector<double> all = all_qualities(whole);
  CHECK(all.size() == 16);
  CHECK(all[0b0110] == quality(whole, 0b0110));
  CHECK(!same_number(quality(whole, 0b1011, Replacement::mean), all[0b1011], 1e-5));
}

TEST_CASE("of a single text the mean of a head is what it says", "[phase5][course]") {
  Subject one = small_subject();
  const TinyTask task(TaskKind::copy, {.longest = 6});
  Random drawn(4);
  one.test = task.batch(Part::held_out, 1, drawn);
  const double whole = quality(one, 0b1111);
  CHECK(same_number(quality(one, 0b1011, Replacement::mean), whole, 1e-6));
  CHECK(same_number(quality(one, 0, Replacement::mean), whole, 1e-6));
}

TEST_CASE("a head that nobody hears has no gradient, and is not missed", "[phase5][course]") {
  Subject subject = small_subject();
  silence(subject.model, 0, 1);
  const std::vector<double> importance = gate_gradients(subject);
  CHECK(importance.size() == 4);
  CHECK(importance[1] == 0);
  CHECK(importance[0] > 0);
  CHECK(importance[2] > 0);
  CHECK((not_missed(subject) & 0b0010) != 0);
  CHECK((not_missed(subject, Replacement::mean) & 0b0010) != 0);
}

TEST_CASE("orders of removal, the best choice and the mean of all", "[phase5][course]") {
  // Heads 0 and 1 do the same: either can go, but not both. Head 2 costs 0.2 alone.
  const auto quality_of = [](Heads kept) {
    return 1 - ((kept & 0b011) ? 0 : 0.6) - ((kept & 0b100) ? 0 : 0.2);
  };
  std::vector<double> qualities;
  for (Heads kept = 0; kept < 8; ++kept) qualities.push_back(quality_of(kept));
  const Curves c = curves(qualities, {0.3, 0.2, 0.1});  // the gradient removes 2, then 1
  CHECK(c.best.size() == 4);
  CHECK(same_number(c.cost_alone[2], 1, 1e-12));
  CHECK(same_number(c.cost_alone[1], 0.4, 1e-12));
  CHECK(same_number(c.anew[1], 0.8, 1e-12));
  CHECK(same_number(c.best[1], 0.8, 1e-12));
  CHECK(same_number(c.gradient[2], 0.8, 1e-12));
  CHECK(same_number(c.gradient[1], 0.8, 1e-12));
  CHECK(same_number(c.random[2], (1 + 1 + 0.8) / 3, 1e-12));
  CHECK(same_number(c.random[1], (0.8 + 0.8 + 0.4) / 3, 1e-12));
  CHECK(same_number(c.best[0], 0.2, 1e-12));
  CHECK(needed(c.best) == 2);
  CHECK(needed(c.gradient) == 3);
  CHECK(needed({1, 1, 1}) == 0);
}
