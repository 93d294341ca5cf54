#include "ours.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

namespace tapestry::bench {

Contestant ours_backward(const std::vector<Tensor>& watched, std::function<Tensor()> operation,
                         const Tensor& dy) {
  struct Recorded {
    std::optional<Tape> tape;
    Tensor y;
  };
  auto recorded = std::make_shared<Recorded>();
  auto record = [=, operation = std::move(operation)] {
    recorded->tape.reset();
    recorded->tape.emplace(watched);
    recorded->y = operation();
  };
  auto backward = [=] { const Gradients gradients = recorded->tape->backward(recorded->y, dy); };
  return {"Tapestry", backward, record};
}

Contestant ours_both_ways(const std::vector<Tensor>& watched, std::function<Tensor()> operation,
                          const Tensor& dy) {
  return {"Tapestry", [=, operation = std::move(operation)] {
            Tape tape(watched);
            const Gradients gradients = tape.backward(operation(), dy);
          }};
}

Tensor numbers(const Shape& shape) {
  static Random random(42);
  return random.normal(shape);
}

}  // namespace tapestry::bench
