// A listener of a backward pass gets each gradient once, complete, and as early as possible.
#include <string>
#include <vector>

#include "catch.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

struct Listener : BackwardListener {
  std::vector<std::size_t> order;
  std::vector<std::vector<real>> values;  // by position; empty: the gradient was undefined
  std::vector<std::size_t> records;       // backward functions that ran before each
  std::vector<const real*> places;        // where the numbers stand
  std::size_t after_records = 0;

  explicit Listener(std::size_t count) : values(count), records(count), places(count) {}

  void complete(std::size_t position, const Tensor& gradient) override {
    order.push_back(position);
    records.at(position) = after_records;
    if (!gradient.defined()) return;
    values.at(position) = gradient.values();
    places.at(position) = gradient.data();
  }
  void after_record() override { ++after_records; }
};

}  // namespace

TEST_CASE("a listener gets each gradient after the backward function of its first use",
          "[tape][phase8]") {
  const Tensor a({2}, {1, 2}), b({2}, {3, 4}), c({2}, {5, 6}), unused = Tensor::ones({3});
  Tape tape({a, b, c, unused});     // records 0 to 3
  const Tensor first = a * b;       // 4
  const Tensor second = first * c;  // 5
  const Tensor third = second * b;  // 6: b's second use
  const Tensor loss = sum(third);   // 7
  Listener listener(4);
  const Gradients gradients = tape.backward(loss, listener);
  CHECK(listener.after_records == 8);
  CHECK(listener.order.size() == 4);
  CHECK(listener.order.front() == 3);  // nothing used it
  CHECK(listener.order[1] == 2);       // c, before what was recorded earlier
  CHECK(listener.records[3] == 0);
  CHECK(listener.records[2] == 2);  // after 7, 6 and 5
  CHECK(listener.records[1] == 3);
  CHECK(listener.records[0] == 3);
  CHECK(listener.values[3].empty());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(listener.values[i] == gradients.at(i).values());
    CHECK(listener.places[i] == gradients.at(i).data());  // it is given away, not copied
  }
  CHECK(gradients[unused].values() == std::vector<real>{0, 0, 0});
  CHECK(gradients[b].values() == std::vector<real>{2 * 1 * 3 * 5, 2 * 2 * 4 * 6});
}

TEST_CASE("gradients arrive from the last use on, in whatever order they are watched",
          "[tape][phase8]") {
  const Tensor last({2}, {1, 2}), middle({2}, {3, 4}), first({2}, {5, 6});
  Tape tape({last, middle, first});                          // records 0 to 2
  const Tensor loss = sum((first + first) * middle + last);  // 3 to 6
  Listener listener(3);
  (void)tape.backward(loss, listener);
  CHECK(listener.order == std::vector<std::size_t>{0, 1, 2});
  CHECK(listener.records == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("a listener gets what a checkpoint reads after the checkpoint", "[tape][phase8]") {
  const Tensor w({2}, {2, 3}), x({2}, {1, -1});
  Tape tape({w, x});
  const Tensor y = checkpoint([&](const std::vector<Tensor>& in) { return in[0] * w * w; }, {x});
  const Tensor loss = sum(y * y);
  Listener listener(2);
  const Gradients gradients = tape.backward(loss, listener);
  CHECK(listener.order.size() == 2);
  CHECK(listener.values[0] == gradients[w].values());
  CHECK(listener.values[1] == gradients[x].values());
  CHECK(gradients[w].values() == std::vector<real>{4 * 8, 4 * 27});  // of x^2 w^4
}

TEST_CASE("a listener is called by one backward pass only", "[tape][phase8]") {
  const Tensor a = Tensor::ones({2});
  Listener listener(1);
  {
    Tape tape({a});
    tape.backward(sum(a), listener);
    CHECK_THROWS_AS(tape.backward(sum(a), listener), Error);
  }
  const std::size_t after_records = listener.after_records;
  Tape tape({a});
  tape.backward(sum(a * a));
  CHECK(listener.after_records == after_records);
  CHECK(listener.order.size() == 1);
}

TEST_CASE("a loss that is refused leaves nothing to tell twice", "[tape][phase8]") {
  const Tensor a({2}, {1, 2}), b({2}, {3, 4});
  Tape tape({a, b});
  const Tensor product = a * b;
  Listener listener(2);
  CHECK_THROWS_AS(tape.backward(product, listener), Error);
  (void)tape.backward(sum(product), listener);
  CHECK(listener.order.size() == 2);
}

TEST_CASE("a listener of a loss that was refused hears nothing of the next", "[tape][phase8]") {
  const Tensor a({2}, {1, 2});
  Tape tape({a});
  const Tensor product = a * a;
  Listener listener(1);
  CHECK_THROWS_AS(tape.backward(product, listener), Error);
  (void)tape.backward(sum(product));
  CHECK(listener.order.empty());
  CHECK(listener.after_records == 0);
}

TEST_CASE("the loss may be a watched tensor itself", "[tape][phase8]") {
  const Tensor a = Tensor::ones({});
  Tape tape({a});
  Listener listener(1);
  const Gradients gradients = tape.backward(a, listener);
  CHECK(listener.values[0] == std::vector<real>{1});
  CHECK(gradients[a].item() == 1);
}
