#include "adam.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::adamw_step) adamw_step;
}

namespace {

Attempt moved(const AdamStep& step) { return stepped(step, empty_memory); }

double both(double rate, double decay) { return rate * decay; }
double alone(double, double decay) { return decay; }

KnownMistake mistake(const std::string& name, const std::string& sentence,
                     const AdamSwitches& switches) {
  return {name, sentence, moved(adam_by_numbers(switches)), moved(adam_by_library(switches))};
}

const std::vector<KnownMistake> mistakes = {
    mistake("decay in the gradient",
            "decay * weight was added to the gradient. Adam then divides it by the root of the "
            "mean square, and weights with large gradients hardly decay. Take it from the weight.",
            {.into_gradient = alone}),
    mistake("decay without the rate",
            "The weight decays by decay * weight, whatever the learning rate. It has to be rate * "
            "decay * weight: a schedule that ends at rate 0 then ends the decay, too.",
            {.before = alone}),
    mistake("no decay",
            "This is Adam without decay. rate * decay * weight has to be taken from the weight in "
            "each step.",
            {}),
    mistake("weights grow",
            "rate * decay * weight is added. It has to be subtracted: weights should become "
            "smaller.",
            {.before = [](double rate, double decay) { return -rate * decay; }}),
    mistake("decay of the new weight",
            "The weight decays after Adam's step, so that a part of the step decays, too. Take the "
            "decay from the weight before the step.",
            {.after = both}),
    mistake("no bias correction",
            "The decay is right, but Adam's means are not divided by 1 - beta^t, as in 07b.",
            {.corrects_mean = false, .corrects_square = false, .before = both}),
    mistake("decay in the gradient, no bias correction",
            "Two things at once. decay * weight was added to the gradient, and has to be taken "
            "from the weight. And Adam's means are not divided by 1 - beta^t.",
            {.corrects_mean = false, .corrects_square = false, .into_gradient = alone})};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = [](Random& random, Index size) { return adam_inputs(random, size, true); },
       .learner = moved(learn::adamw_step),
       .right = {moved(solution::adamw_step), moved(adam_by_numbers({.before = both})),
                 moved(adam_by_library({.before = both}))},
       .mistakes = mistakes,
       .hints = {"Copy the body of your Adam from 07b; only the line of the weight changes.",
                 "The gradient and both means do not see the decay at all.",
                 "weight = weight - rate * decay * weight - rate * fair_mean / "
                 "(sqrt(fair_square) + 1e-8);"}},
      count, arguments);
}
