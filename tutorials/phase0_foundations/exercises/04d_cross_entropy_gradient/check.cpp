#include <cmath>

#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::cross_entropy_backward) cross_entropy_backward;
}

namespace {

using Backward = std::function<decltype(learn::cross_entropy_backward)>;

Attempt found(const Backward& backward) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"dx", backward(in[0].value, as_indices(in[1].value))}};
  };
}

// 1 at the target of each row, else 0: (n, m).
Tensor ones_at(const Indices& targets, Index m) {
  Tensor ones = Tensor::zeros({static_cast<Index>(targets.values.size()), m});  // (n, m)
  for (Index i = 0; i < ones.size(0); ++i) ones.set({i, targets.values[std::size_t(i)]}, 1);
  return ones;
}

// By loops: an element from its probability, whether it is the target's, and both sizes.
Backward by_elements(double (*element)(double p, bool is_target, double n, double m),
                     double shift = 1000) {
  return [=](const Tensor& x, const Indices& targets) {
    const Index n = x.size(0), m = x.size(1);
    return filled(n, m, [&](Index i, Index j) {
      const double least = shift > 0 ? double{max(slice(x, 0, i, i + 1)).item()} : 0;
      const auto power = [&](Index k) { return std::exp(double{x.at({i, k})} - least); };
      const bool is_target = targets.values[std::size_t(i)] == j;
      return element(power(j) / sum_of(m, power), is_target, double(n), double(m));
    });
  };
}

// By the library: from probabilities p and ones y at the targets, (n, m) each.
Backward by_library(Tensor (*gradient)(const Tensor& p, const Tensor& y)) {
  return [=](const Tensor& x, const Indices& targets) {
    return gradient(softmax(x), ones_at(targets, x.size(1)));
  };
}

double rows(const Tensor& p) { return double(p.size(0)); }

Tensor by_tape(const Tensor& logits, const Indices& targets) {
  Tape tape({logits});
  return tape.backward(cross_entropy(logits, targets))[logits];  // (n, m)
}

double right_element(double p, bool is_target, double n, double) { return (p - is_target) / n; }

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, m = n + random.randint(2);
  Tensor logits = random.normal({n, m});  // (n, m)
  for (Index j = 0; size > 1 && j < m; ++j) logits.set({1, j}, logits.at({1, j}) + 1000);
  return {{"logits", logits}, {"targets", random_classes(random, n, m)}};
}

const std::vector<KnownMistake> mistakes = {
    {"not divided by n",
     "The gradient is that of the sum of the losses. The loss is their mean, so each number is "
     "divided by n, the number of rows.",
     found(by_elements([](double p, bool is_target, double, double) { return p - is_target; })),
     found(by_library([](const Tensor& p, const Tensor& y) { return p - y; }))},
    {"divided by all logits",
     "The gradient is divided by n m, the number of all logits. The loss is a mean over rows: "
     "divide by n.",
     found(by_elements(
         [](double p, bool is_target, double n, double m) { return (p - is_target) / (n * m); })),
     found(
         by_library([](const Tensor& p, const Tensor& y) { return (p - y) / double(p.numel()); }))},
    {"sign",
     "All signs are wrong: this is the target minus the probability. A step against it would make "
     "the right class less likely.",
     found(by_elements(
         [](double p, bool is_target, double n, double) { return (is_target - p) / n; })),
     found(by_library([](const Tensor& p, const Tensor& y) { return (y - p) / rows(p); }))},
    {"sign, and not divided by n",
     "Two things at once. All signs are wrong: it has to be the probability minus the target. And "
     "the loss is a mean, so that each number is divided by n, the number of rows.",
     found(by_elements([](double p, bool is_target, double, double) { return is_target - p; })),
     found(by_library([](const Tensor& p, const Tensor& y) { return y - p; }))},
    {"targets only",
     "Only the logits of the targets have a gradient. The other logits are in the sum of "
     "exponentials, too: theirs is p / n.",
     found(by_elements(
         [](double p, bool is_target, double n, double) { return is_target ? (p - 1) / n : 0.0; })),
     found(by_library([](const Tensor& p, const Tensor& y) { return (p - 1) * y / rows(p); }))},
    {"1 not subtracted",
     "These are the probabilities over n. At the target of each row 1 is missing: without it every "
     "logit would be pushed down, the right one too.",
     found(by_elements([](double p, bool, double n, double) { return p / n; })),
     found(by_library([](const Tensor& p, const Tensor&) { return p / rows(p); }))},
    {"1 subtracted everywhere",
     "1 is subtracted from every probability. Only the target of each row has probability 1 in "
     "truth.",
     found(by_elements([](double p, bool, double n, double) { return (p - 1) / n; })),
     found(by_library([](const Tensor& p, const Tensor&) { return (p - 1) / rows(p); }))},
    {"softmax without maximum",
     "The probabilities were computed without subtracting the largest logit: exp of 1000 is "
     "infinite, and infinity over infinity is not a number.",
     found(by_elements(right_element, 0)), found([](const Tensor& x, const Indices& targets) {
       const Tensor p = exp(x) / sum(exp(x), -1, true);     // (n, m)
       return (p - ones_at(targets, x.size(1))) / rows(p);  // (n, m)
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = found(learn::cross_entropy_backward),
       .right = {found(solution::cross_entropy_backward), found(by_tape),
                 found(by_elements(right_element))},
       .mistakes = mistakes,
       .hints = {"Begin with the probabilities: they are the gradient but for two things.",
                 "Subtract 1 at one place of each row, and divide everything by n.",
                 "Tensor dx = softmax(logits); then for each row i: row[targets.values[i]] "
                 "-= 1, and each row[j] /= n, where row = dx.data() + i * m."}},
      count, arguments);
}
