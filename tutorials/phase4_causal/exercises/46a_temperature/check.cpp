#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::at_temperature) at_temperature;
}

namespace {

using Tempered = std::function<decltype(learn::at_temperature)>;

// The probabilities at the temperature that is given, and at a very low one.
Attempt tempered(Tempered make) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor& logits = in.at(0).value;
    return {{"probabilities", make(logits, double{in.at(1).value.item()})},
            {"probabilities at 0.01", make(logits, 0.01)}};
  };
}

// Powers, each exp(number(logit - shift, T)), divided by their sum; in double.
Tempered by_loops(
    double (*number)(double logit, double t), bool subtracts = true,
    double (*factor)(double t) = [](double) { return 1.0; }) {
  return [=](const Tensor& logits, double t) {
    const double shift = subtracts ? double{max(logits).item()} : 0;
    std::vector<double> powers;
    double sum = 0;
    for (const real logit : logits.values()) {
      powers.push_back(std::exp(number(double{logit} - shift, t)));
      sum += powers.back();
    }
    Tensor result = Tensor::zeros(logits.shape());  // (vocabulary)
    for (Index j = 0; j < logits.size(0); ++j) {
      result.set({j}, powers[static_cast<std::size_t>(j)] / sum * factor(t));
    }
    return result;
  };
}

double divided(double logit, double t) { return logit / t; }
double multiplied(double logit, double t) { return logit * t; }
double rooted(double logit, double t) { return logit / std::sqrt(t); }
double unchanged(double logit, double) { return logit; }
double inverse(double t) { return 1 / t; }

// Probabilities at temperature 1, changed afterwards.
Tempered later(Tensor (*change)(const Tensor& p, double t)) {
  return [=](const Tensor& logits, double t) { return change(softmax(logits), t); };
}

Tensor shared_out(const Tensor& x) { return x / sum(x); }

NamedTensors inputs(Random& random, Index size) {
  const bool low = random.randint(2) == 0;
  const double temperature = low ? 0.3 + 0.3 * random.uniform() : 1.6 + random.uniform();
  // Above 8: exp(8 / 0.01) is infinite.
  const Tensor logits = random.uniform({size + 2}, 8, 13);  // (vocabulary)
  return {{"logits", logits}, {"temperature", temperature}};
}

const std::vector<KnownMistake> mistakes = {
    {"multiplied",
     "The logits were multiplied by the temperature. So a low one makes all words alike and "
     "a high one makes the text cautious, the reverse of what is meant: divide.",
     tempered(by_loops(multiplied)),
     tempered(later([](const Tensor& p, double t) { return shared_out(pow(p, t)); }))},
    {"divided after softmax",
     "The probabilities were divided, not the logits. They no longer sum to 1, and their "
     "order and ratios stay what they were.",
     tempered(by_loops(unchanged, true, inverse)),
     tempered(later([](const Tensor& p, double t) { return p / t; }))},
    {"no effect",
     "These are the probabilities at temperature 1. Either T was not used, or it was divided "
     "out again with the sum: it has to divide the logits, before exp.",
     tempered(by_loops(unchanged)),
     tempered(later([](const Tensor& p, double t) { return shared_out(p / t); }))},
    {"divided by the root",
     "The logits were divided by sqrt(T). The root belongs to the scores of attention, which "
     "are divided by sqrt(d); a temperature divides as it is.",
     tempered(by_loops(rooted)),
     tempered([](const Tensor& logits, double t) { return softmax(logits / std::sqrt(t)); })},
    {"exp overflows",
     "At a low temperature exp(logit / T) is infinite, and infinity / infinity is not a "
     "number. Subtract the largest logit from all first: the probabilities stay the same.",
     tempered(by_loops(divided, false)),
     tempered([](const Tensor& logits, double t) { return shared_out(exp(logits / t)); })}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = tempered(learn::at_temperature),
                .right = {tempered(solution::at_temperature), tempered(by_loops(divided)),
                          tempered([](const Tensor& logits, double t) {
                            return sampling_probabilities(logits, {.temperature = t});
                          })},
                .mistakes = mistakes,
                .hints = {"This is softmax, with one division more.",
                          "Find the largest logit. Then the powers std::exp((logit - largest) / "
                          "temperature), and their sum.",
                          "Three loops: largest; result.set({j}, power) and sum += power; "
                          "result.set({j}, result.at({j}) / sum)."}},
               count, arguments);
}
