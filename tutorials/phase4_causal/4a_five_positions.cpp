// Step 4a. What does one head learn under the mask, and what without?
//
// New here: the line of the mask inside a head that learns, on five positions, all written out. Two
// tasks on random letters: say the letter before, and say the letter after. The first can be known
// under the mask, the second cannot; without the mask both can.
// Writes no picture; takes about a second.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/nn/init.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index letters = 8, length = 5, d_model = 32, rows = 64, steps = 300;
const Tensor allowed = Mask::causal().tensor({length, length});  // (length, length): 1 or 0

// One head with its matrices, vectors of letters and positions, and logits for letters.
struct Head {
  Tensor letter, position;  // (letters, d_model), (length, d_model)
  Tensor w_q, w_k, w_v;     // (d_model, d_model) each
  Tensor w_out;             // (d_model, letters)
  bool masked;

  Head(bool is_masked, Random& random)
      : letter(init::lecun_normal({letters, d_model}, random)),
        position(init::lecun_normal({length, d_model}, random)),
        w_q(init::lecun_normal({d_model, d_model}, random)),
        w_k(init::lecun_normal({d_model, d_model}, random)),
        w_v(init::lecun_normal({d_model, d_model}, random)),
        w_out(init::lecun_normal({d_model, letters}, random)),
        masked(is_masked) {}

  Parameters parameters() const {
    return {{"letter", letter}, {"position", position}, {"query", w_q},
            {"key", w_k},       {"value", w_v},         {"out", w_out}};
  }

  Tensor weights(const Tensor& x) const {  // x (rows, length, d_model) -> (rows, length, length)
    const Tensor scores = matmul(matmul(x, w_q), transpose(matmul(x, w_k))) / std::sqrt(32.0);
    return softmax(masked ? where(allowed, scores, -infinity) : scores);  // the line of the mask
  }

  Tensor embed(const Indices& ids) const { return embedding(letter, ids) + position; }

  Tensor logits(const Indices& ids) const {  // ids (rows, length) -> (rows, length, letters)
    const Tensor x = embed(ids);             // (rows, length, d_model)
    return matmul(matmul(weights(x), matmul(x, w_v)), w_out);
  }
};

// Random letters, and at each position the one `step` further as target; -1 where there is none.
struct Task {
  Indices ids, targets;  // (rows, length) each
};

Task draw(Index step, Random& random) {
  const std::vector<std::int32_t> none(static_cast<std::size_t>(rows * length), -1);
  Task task{Indices({rows, length}, none), Indices({rows, length}, none)};
  for (std::int32_t& id : task.ids.values) id = static_cast<std::int32_t>(random.randint(letters));
  for (Index at = 0; at < rows * length; ++at) {
    const Index place = at % length + step;
    if (place < 0 || place >= length) continue;
    task.targets.values[static_cast<std::size_t>(at)] =
        task.ids.values[static_cast<std::size_t>(at + step)];
  }
  return task;
}

// The loss of the last step, on letters drawn for this step, before it changes the head.
double learn(const Head& head, Index step) {
  Adam adam(head.parameters(), {.learning_rate = 1e-2});
  Random random(1);
  double last = 0;
  for (Index i = 0; i < steps; ++i) {
    const Task task = draw(step, random);
    Tape tape(head.parameters());
    const Tensor loss = cross_entropy(head.logits(task.ids), task.targets);  // ()
    adam.step(tape.backward(loss));
    last = double{loss.item()};
  }
  return last;
}

void print_weights(const Head& head) {
  Random random(5);
  const Tensor mean_of = mean(head.weights(head.embed(draw(-1, random).ids)), 0);
  for (Index i = 0; i < length; ++i) {
    std::printf("position %td  ", i);
    for (Index j = 0; j < length; ++j) std::printf(" %.2f", double{mean_of.at({i, j})});
    std::printf("\n");
  }
}

}  // namespace

int main() try {
  std::printf("Step 4a: one head on five positions (takes about a second)\n\n");
  std::printf("1. Loss after %td steps; guessing costs ln 8 = %.2f\n", steps, std::log(8.0));
  std::printf("                        seed 1  seed 2  seed 3\n");
  for (const Index step : {-1, 1}) {
    for (const bool masked : {true, false}) {
      std::printf("the letter %-6s %-5s  ", step < 0 ? "before" : "after",
                  masked ? "mask" : "none");
      for (const std::uint64_t seed : {1, 2, 3}) {
        Random random(seed);
        std::printf(" %7.3f", learn(Head(masked, random), step));
      }
      std::printf("\n");
    }
  }
  Random random(1);
  const Head head(true, random);
  std::printf("\n2. \"The letter before\", under the mask: weights before training (mean of %td)\n",
              rows);
  print_weights(head);
  learn(head, -1);
  std::printf("   ... and after\n");
  print_weights(head);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
