// What a thread does between operations.
#include "tape/between.hpp"

#include <thread>
#include <utility>

#include "catch.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

TEST_CASE("a thread's hook is called at each operation and each step back", "[tape]") {
  const Tensor x = Tensor::ones({3});
  int calls = 0;
  between_operations = {[](void* count) { ++*static_cast<int*>(count); }, &calls};
  const auto since = [&] { return std::exchange(calls, 0); };

  (void)exp(x);  // no tape
  CHECK(since() == 1);
  {
    Tape tape({x});
    (void)exp(Tensor::ones({3}));  // a constant to the tape
    CHECK(since() == 1);
    const Tensor loss = sum(exp(x));
    CHECK(since() == 2);
    tape.backward(loss);
    CHECK(since() == 4);  // for the watched tensor, exp and sum; and dy * y
  }
  std::thread other([&] { (void)exp(x); });
  other.join();
  CHECK(since() == 0);
  between_operations = {};
  (void)exp(x);
  CHECK(since() == 0);
}
