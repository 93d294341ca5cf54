// What a tape refuses, in which words.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

TEST_CASE("a second tape on one thread is refused until the first is done", "[phase0][tape]") {
  const Tensor x(1);
  {
    Tape first({x});
    CHECK(complaint([&] { Tape second({x}); },
                    {"another tape is recording on this thread", "backward"}) == "");
    const Tensor y = x * 2;  // the first one still records
    CHECK(first.size() == 2);
    CHECK(first.backward(y)[x].item() == 2);
    Tape second({x});  // the first has stopped recording
    CHECK(second.backward(x * 3)[x].item() == 3);
  }
  Tape third({x});
  CHECK(third.backward(x * 4)[x].item() == 4);
}

TEST_CASE("a tape that ends after its backward pass does not stop the next one", "[phase0][tape]") {
  const Tensor x(1);
  auto first = std::make_unique<Tape>(std::vector<Tensor>{x});
  first->backward(x * 2);
  Tape second({x});
  first.reset();
  CHECK(second.backward(x * 3)[x].item() == 3);
}

TEST_CASE("every thread can have its tape", "[phase0][tape]") {
  const Tensor shared({3}, {1, 2, 3});
  std::vector<int> wrong(4, 0);
  Tape outer({shared});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&wrong, &shared, t] {
      for (int i = 0; i < 50; ++i) {
        const Tensor own = Tensor::full({3}, static_cast<double>(t + 1));
        Tape tape({own, shared});
        const Gradients gradients = tape.backward(sum(own * shared * own));
        const double n = static_cast<double>(t + 1);
        wrong[t] += difference(gradients[own], {3}, {2 * n, 4 * n, 6 * n}) != "";
        wrong[t] += difference(gradients[shared], {3}, {n * n, n * n, n * n}) != "";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
  CHECK(outer.size() == 1);
  CHECK(difference(outer.backward(sum(shared * shared))[shared], {3}, {2, 4, 6}) == "");
}

TEST_CASE("a tape that ends on another thread is refused on its own", "[phase0][tape]") {
  const Tensor x(3);
  auto tape = std::make_unique<Tape>(std::vector<Tensor>{x});
  const Tensor y = x * x;
  std::thread([&] { tape.reset(); }).join();
  CHECK(complaint([&] { (void)(y * x); },
                  {"tape", "ended on another", "Let a Tape end on the thread that made it"}) == "");
  CHECK((y * x).item() == 27);  // from then on plain inference; nothing dangles
  CHECK_FALSE(Tape::needs_gradient(x));
  Tape next({x});
  CHECK(next.backward(x * 4)[x].item() == 4);
}

TEST_CASE("a tape is refused that ended on a thread which goes on", "[phase0][tape]") {
  const Tensor x(3);
  auto tape = std::make_unique<Tape>(std::vector<Tensor>{x});
  std::atomic<bool> ended{false}, asked{false};
  std::thread other([&] {
    tape.reset();
    for (ended = true; !asked;) std::this_thread::yield();
  });
  while (!ended) std::this_thread::yield();
  const std::string said = complaint([&] { (void)(x * x); }, {"ended on another"});
  asked = true;
  other.join();
  CHECK(said == "");
}

TEST_CASE("a tape that ends on another thread is refused by the next tape, too", "[phase0][tape]") {
  const Tensor x(3);
  auto tape = std::make_unique<Tape>(std::vector<Tensor>{x});
  std::thread([&] { tape.reset(); }).join();
  CHECK(complaint([&] { const Tape next({x}); }, {"ended on another"}) == "");
  Tape next({x});
  CHECK(next.backward(x * 4)[x].item() == 4);
}

TEST_CASE("a tape outlives the thread that made it", "[phase0][tape]") {
  const Tensor x(3);
  std::unique_ptr<Tape> tape;
  Tensor y;
  std::thread([&] {
    tape = std::make_unique<Tape>(std::vector<Tensor>{x});
    y = x * x;
  }).join();
  CHECK(tape->size() == 2);
  CHECK(complaint([&] { tape->backward(y); }, {"does not record here", "thread"}) == "");
  tape.reset();
  Tape next({x});
  CHECK(next.backward(x * 4)[x].item() == 4);
}

TEST_CASE("backward on another thread is refused and disturbs no tape", "[phase0][tape]") {
  const Tensor x(3);
  Tape tape({x});
  const Tensor y = x * x;
  std::string said;
  double gradient = 0;
  std::thread([&] {
    Tape other({x});
    const Tensor z = x * 5;
    said = complaint([&] { tape.backward(y); }, {"backward", "Call backward on the thread"});
    gradient = double{other.backward(z)[x].item()};
  }).join();
  CHECK(said == "");
  CHECK(gradient == 5);
  CHECK(tape.backward(y)[x].item() == 6);
}

TEST_CASE("a second backward is refused", "[phase0][tape]") {
  const Tensor x(1);
  Tape tape({x});
  const Tensor y = x * 2;
  tape.backward(y);
  CHECK(complaint([&] { tape.backward(y); }, {"backward", "already called", "new Tape"}) == "");
}

TEST_CASE("a loss without a backward pass is refused in words", "[phase0][tape]") {
  const Tensor x({2}, {1, 2}), other(7);
  Tape tape({x});
  CHECK(complaint([&] { tape.backward(x * 2); },
                  {"backward: the loss is (2)", "one number", "mean(loss)"}) == "");
  CHECK(complaint([&] { tape.backward(Tensor()); }, {"the loss is undefined"}) == "");
  CHECK(complaint([&] { tape.backward(other * 2); }, {"does not depend on any watched"}) == "");
  CHECK(complaint([&] { tape.backward(sum(x).detach()); }, {"does not depend"}) == "");
  CHECK(complaint([&] { tape.backward(x * 2, Tensor(1)); },
                  {"y is (2), seed is ()", "same shape"}) == "");
  CHECK(complaint([&] { tape.backward(sum(x), Tensor()); }, {"seed is undefined"}) == "");
  CHECK(difference(tape.backward(sum(x))[x], {2}, {1, 1}) == "");  // none of that broke the tape
}

TEST_CASE("a loss from before the tape does not depend on it", "[phase0][tape]") {
  const Tensor x(2);
  const Tensor early = x * x;
  Tape tape({x});
  CHECK(complaint([&] { tape.backward(early); }, {"does not depend", "while the tape"}) == "");
}

TEST_CASE("a value of an earlier tape is a constant for the next", "[phase0][tape]") {
  const Tensor x(3);
  Tensor old;
  {
    Tape tape({x});
    old = x * x;
  }
  Tape tape({x});
  CHECK(complaint([&] { tape.backward(old); }, {"backward", "another tape", "a constant"}) == "");
  CHECK(tape.backward(old * x)[x].item() == 9);
}

TEST_CASE("tensors that cannot be watched are refused, by number", "[phase0][tape]") {
  const Tensor x({2, 2}, {1, 2, 3, 4}), y(1);
  CHECK(complaint([&] { Tape({y, x, x}); },
                  {"watched tensor 2 (2, 2)", "shares its numbers", "once"}) == "");
  CHECK(complaint([&] { Tape({x, reshape(x, {4})}); }, {"watched tensor 1 (4)", "shares"}) == "");
  CHECK(complaint([&] { Tape({x, Tensor()}); }, {"watched tensor 1 is undefined"}) == "");
  CHECK(complaint([&] { Tape({transpose(x)}); }, {"strided view", "clone()"}) == "");
  Tape tape({x, y});  // a refused tape leaves nothing behind
  CHECK(tape.backward(sum(x) * y)[y].item() == 10);
}

TEST_CASE("a view made before the tape is refused, for its gradient would be lost",
          "[phase0][tape]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor early = transpose(x), row = slice(x, 0, 0, 1);
  Tape tape({x});
  CHECK(complaint([&] { early * 2; }, {"view (3, 2)", "before the tape", "(2, 3)", "detach()"}) ==
        "");
  CHECK(complaint([&] { sum(row); }, {"view (1, 3)", "before the tape"}) == "");
  CHECK(difference(early.detach() * 2, {3, 2}, {2, 8, 4, 10, 6, 12}) == "");
  CHECK(tape.size() == 1);
}

TEST_CASE("a neighbour in the same buffer is not taken for the watched tensor", "[phase0][tape]") {
  const Tensor both({4}, {1, 2, 3, 4});
  const Tensor first = slice(both, 0, 0, 2), second = slice(both, 0, 2, 4);
  Tape tape({first});
  CHECK(complaint([&] { first* second; }, {"view (2)", "before the tape"}) == "");
  const Gradients gradients = tape.backward(sum(first * second.detach()));
  CHECK(difference(gradients[first], {2}, {3, 4}) == "");
  CHECK(complaint([&] { (void)gradients[second]; }, {"(2)", "not given to the tape"}) == "");
}

TEST_CASE("asking for a gradient that was not computed is refused", "[phase0][tape]") {
  const Tensor x(1), other({2, 3}, {1, 2, 3, 4, 5, 6});
  Tape tape({x});
  const Gradients gradients = tape.backward(x * 2);
  CHECK(complaint([&] { (void)gradients[other]; },
                  {"gradients", "(2, 3)", "not given to the tape", "Tape({...})"}) == "");
  CHECK(complaint([&] { (void)gradients[Tensor()]; }, {"not given"}) == "");
}
