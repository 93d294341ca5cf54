#include <algorithm>
#include <cmath>

#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::cross_entropy_forward) cross_entropy_forward;
}

namespace {

using Loss = std::function<decltype(learn::cross_entropy_forward)>;

Attempt measured(const Loss& loss) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Indices targets = as_indices(in[0].value);
    return {{"loss", loss(in[1].value, targets)},
            {"loss of large logits", loss(in[2].value, targets)},
            {"loss if one target is unlikely", loss(in[3].value, targets)}};
  };
}

// By loops: the sum or the mean of what `of_row` makes of a row and its target.
Loss by_rows(
    double (*of_row)(const std::vector<double>& x, std::size_t target),
    double (*divisor)(double n, double m) = [](double n, double) { return n; }) {
  return [=](const Tensor& logits, const Indices& targets) {
    const Index n = logits.size(0), m = logits.size(1);
    const double sum = sum_of(n, [&](Index i) {
      const real* row = logits.data() + i * m;
      return of_row({row, row + m}, std::size_t(targets.values[std::size_t(i)]));
    });
    return sum / divisor(double(n), double(m));
  };
}

// By the library: the mean of the logits' logarithms of weights, as `logs` makes them.
Loss by_library(Tensor (*logs)(const Tensor& logits), Tensor (*end)(const Tensor& x)) {
  return [=](const Tensor& logits, const Indices& targets) {
    const Indices column({logits.size(0), 1}, targets.values);    // (n, 1)
    return double{end(-gather(logs(logits), 1, column)).item()};  // ()
  };
}

Tensor mean_of(const Tensor& x) { return mean(x); }
Tensor sum_of_all(const Tensor& x) { return sum(x); }
Tensor logs(const Tensor& x) { return log_softmax(x); }

double largest(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }

double powers(const std::vector<double>& x, double shift) {
  double sum = 0;
  for (const double one : x) sum += std::exp(one - shift);
  return sum;
}

double of_row(const std::vector<double>& x, std::size_t t) {
  return largest(x) + std::log(powers(x, largest(x))) - x[t];
}

double in_float(const std::vector<double>& x, std::size_t t) {
  const auto m = static_cast<float>(largest(x));
  float sum = 0;
  for (const double one : x) sum += std::exp(static_cast<float>(one) - m);
  return m + std::log(sum) - static_cast<float>(x[t]);
}

// Random logits; the same with 1000 added to a row; the same where one target has -1000.
NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, m = n + random.randint(2);
  const Tensor targets = random_classes(random, n, m), logits = random.normal({n, m}, 1);
  Tensor large = logits.clone(), unlikely = logits.clone();  // (n, m) each
  for (Index j = 0; j < m; ++j) large.set({n - 1, j}, large.at({n - 1, j}) + 1000);
  unlikely.set({0, as_indices(targets).values[0]}, -1000);
  return {
      {"targets", targets}, {"logits", logits}, {"large logits", large}, {"unlikely", unlikely}};
}

const std::vector<KnownMistake> mistakes = {
    {"sum instead of mean",
     "The losses of the rows are added, but not divided by their number. Then a loss and its "
     "gradient grow with the number of rows, and no learning rate fits.",
     measured(by_rows(of_row, [](double, double) { return 1.0; })),
     measured(by_library(logs, sum_of_all))},
    {"divided by the classes, too",
     "The sum is divided by the number of all logits. Only one logit of each row is the target's: "
     "divide by the number of rows.",
     measured(by_rows(of_row, [](double n, double m) { return n * m; })),
     measured([](const Tensor& x, const Indices& t) {
       return double{cross_entropy(x, t).item()} / double(x.size(1));
     })},
    {"sum of exponentials overflows",
     "The maximum is not subtracted: exp of 1000 is infinite, and so is the loss.",
     measured(by_rows([](const std::vector<double>& x, std::size_t t) {
       return std::log(powers(x, 0)) - x[t];
     })),
     measured(by_library([](const Tensor& x) { return x - log(sum(exp(x), -1, true)); }, mean_of))},
    {"logarithm of an overflowing softmax",
     "This takes the logarithm of softmax as its formula says it. Infinity over infinity is not a "
     "number, and the logarithm of a probability that became 0 is infinite.",
     measured(by_rows([](const std::vector<double>& x, std::size_t t) {
       return -std::log(std::exp(x[t]) / powers(x, 0));
     })),
     measured(
         by_library([](const Tensor& x) { return log(exp(x) / sum(exp(x), -1, true)); }, mean_of))},
    {"logarithm of a probability",
     "Large logits are fine, but the loss is infinite if the target is very unlikely: its "
     "probability became 0 before the logarithm was taken. Subtract in the exponent, then no "
     "probability is needed.",
     measured(by_rows([](const std::vector<double>& x, std::size_t t) {
       return -std::log(std::exp(x[t] - largest(x)) / powers(x, largest(x)));
     })),
     measured(by_library([](const Tensor& x) { return log(softmax(x)); }, mean_of))},
    {"maximum not added again",
     "The maximum was subtracted in the exponents, but it is missing in the result: m_i + ln(...) "
     "- x_it.",
     measured(by_rows([](const std::vector<double>& x, std::size_t t) {
       return std::log(powers(x, largest(x))) - x[t];
     })),
     measured(
         by_library([](const Tensor& x) { return log_softmax(x) + max(x, -1, true); }, mean_of))},
    {"softmax forgotten",
     "This is the mean of minus the logits of the targets. A logit is no probability: the "
     "logarithm of the sum of the exponentials is missing.",
     measured(by_rows([](const std::vector<double>& x, std::size_t t) { return -x[t]; })),
     measured(by_library([](const Tensor& x) { return x; }, mean_of))}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = measured(learn::cross_entropy_forward),
                .right = {measured(solution::cross_entropy_forward), measured(by_rows(in_float)),
                          measured([](const Tensor& x, const Indices& t) {
                            return double{cross_entropy(x, t).item()};
                          })},
                .mistakes = mistakes,
                .hints = {"One loop over the rows. In it: the largest logit, then the sum of the "
                          "exponentials, then the loss of this row.",
                          "The loss of a row is largest + std::log(sum) - the target's logit. Add "
                          "the rows up and divide by n at the end.",
                          "sum += std::exp(x[j] - largest); loss += largest + std::log(sum) - "
                          "x[targets.values[i]]; return loss / n;"},
                .tolerance = 1e-3},
               count, arguments);
}
