#include "adam.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::adam_step) adam_step;
}

namespace {

using PlainStep = std::function<decltype(learn::adam_step)>;

Attempt moved(const PlainStep& step) { return stepped(step, empty_memory); }

// The step without decay.
Attempt plain(const AdamStep& step) {
  return moved([=](Tensor& weight, const Tensor& gradient, AdamMemory& memory, double rate) {
    step(weight, gradient, memory, rate, 0);
  });
}

Attempt numbers(const AdamSwitches& switches) { return plain(adam_by_numbers(switches)); }
Attempt library(const AdamSwitches& switches) { return plain(adam_by_library(switches)); }

// Both forms of a mistake.
KnownMistake mistake(const std::string& name, const std::string& sentence,
                     const AdamSwitches& switches) {
  return {name, sentence, numbers(switches), library(switches)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("no bias correction",
            "The means are not divided by 1 - beta^t. They begin at 0: in the first step the mean "
            "is a tenth of the gradient, and the root of the mean square a thirtieth, so that the "
            "step is three times too long.",
            {.corrects_mean = false, .corrects_square = false}),
    mistake("only the mean corrected",
            "The mean is corrected, the mean square is not. Its root is a thirtieth of what it "
            "should be at first, and the steps are that much too long.",
            {.corrects_square = false}),
    mistake("t does not grow",
            "Every step divides by 1 - beta, as if it were the first. Later the means need less "
            "correction: count the steps in memory.steps, and divide by 1 - beta^t.",
            {.counts = false}),
    mistake("t begins at 0",
            "In the first step t is 0, so 1 - beta^t is 0, and dividing by it gives no number. "
            "Count the step first, then use t.",
            {.first = 0}),
    mistake("corrected means kept",
            "The corrected means were written to the memory, and are corrected again in the next "
            "step. Keep the means as they are; the corrected ones are for this step only.",
            {.keeps_corrected = true}),
    mistake("root forgotten",
            "The mean is divided by the mean square itself. Without the root, weights with small "
            "gradients make long steps.",
            {.takes_root = false}),
    mistake("betas exchanged",
            "0.9 and 0.999 changed places: the mean of the gradients is the one that forgets "
            "faster.",
            {.beta1 = 0.999, .beta2 = 0.9})};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = [](Random& random, Index size) { return adam_inputs(random, size, false); },
       .learner = moved(learn::adam_step),
       .right = {moved(solution::adam_step), numbers({}), library({})},
       .mistakes = mistakes,
       .hints = {"Five lines, in the order of the task: count the step, both means, their "
                 "corrections, the weight.",
                 "memory.mean and memory.square keep the plain means. The corrected ones "
                 "are two tensors of your own.",
                 "const double t = ++memory.steps; memory.mean = 0.9 * memory.mean + 0.1 * "
                 "gradient; const Tensor fair_mean = memory.mean / (1 - std::pow(0.9, t)); "
                 "the same for the square; weight = weight - rate * fair_mean / "
                 "(sqrt(fair_square) + 1e-8);"}},
      count, arguments);
}
