// The models of step 26 from any seed.
#include "course/task_models.hpp"

#include "catch.hpp"
#include "course/inside.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("a model of a task learns, and its seed alone makes it", "[phase2][course]") {
  const TinyTask task(TaskKind::copy, {.longest = 6});
  Random random(5);
  const Batch test = task.batch(Part::held_out, 50, random);  // (50, length)
  const Transformer model = trained_on(task, init::lecun_normal, 1, 60, "");
  const Tensor logits = model(test.inputs);  // (50, length, vocabulary)
  const Transformer again = trained_on(task, init::lecun_normal, 1, 60, "");
  const Transformer other = trained_on(task, init::lecun_normal, 2, 60, "");
  CHECK(difference_to(again(test.inputs), logits) == "");
  CHECK(largest_difference(other(test.inputs), logits) > 0.1);
  const Transformer fresh = untrained(model, init::lecun_normal, 42);
  CHECK(double{cross_entropy(logits, test.targets).item()} <
        double{cross_entropy(fresh(test.inputs), test.targets).item()} - 0.3);
  const std::vector<double> losses = teach(fresh, task, 1, 60, "");
  CHECK(losses.size() == 60);
  CHECK(losses.back() < losses.front());
  CHECK(difference_to(fresh(test.inputs), logits) == "");
}

TEST_CASE("a model of a task has two layers unless told", "[phase2][course]") {
  const TinyTask task(TaskKind::sort, {.longest = 6});
  CHECK(task_model(task, init::normal, 1).blocks.size() == 2);
  CHECK(task_model(task, init::normal, 1, 1).blocks.size() == 1);
  CHECK(!task_model(task, init::normal, 1, 1).options.has_feed_forward);
  CHECK(task_model(task, init::normal, 1).options.num_heads == 4);
  CHECK(task_model(task, init::normal, 1, 1, 8).options.num_heads == 8);
  CHECK(task_model(task, init::normal, 1).options.d_k == 0);
  CHECK(task_model(task, init::normal, 1, 1, 3, 21).options.d_k == 21);
}

TEST_CASE("training that would end within its warm-up is refused", "[phase2][course]") {
  const TinyTask task(TaskKind::copy, {.longest = 6});
  CHECK(complaint([&] { trained_on(task, init::lecun_normal, 1, 50, ""); },
                  {"warmup_steps", "below steps"}) == "");
}
