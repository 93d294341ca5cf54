#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::layer_norm_forward) layer_norm_forward;
}

namespace {

using Norm = std::function<decltype(learn::layer_norm_forward)>;

Attempt normed(const Norm& norm) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"result", norm(in[0].value, in[1].value, in[2].value, in[3].value.item())}};
  };
}

struct Form {
  double less = 0;  // the variance is divided by d - less
  enum { inside, outside, none } eps = inside;
  enum { root, variance } divisor = root;
  bool is_centred = true, is_by_column = false, shifts_first = false;
};

// What is divided by, from the variance; of numbers and of tensors.
template <class Number>
Number divisor(const Form& form, const Number& variance, double eps) {
  using std::sqrt;
  const Number v = form.eps == Form::inside ? Number(variance + eps) : variance;
  const Number by = form.divisor == Form::variance ? v : Number(sqrt(v));
  return form.eps == Form::outside ? Number(by + eps) : by;
}

Attempt by_library(Form form) {
  return normed([=](const Tensor& x, const Tensor& gain, const Tensor& shift, double eps) {
    const int axis = form.is_by_column ? 0 : 1;
    const auto count = static_cast<double>(x.size(axis));
    const Tensor centred = x - mean(x, axis, true);                                    // (n, d)
    const Tensor variance = sum(centred * centred, axis, true) / (count - form.less);  // (n, 1)
    const Tensor from = form.is_centred ? centred : x;                                 // (n, d)
    const Tensor standard = from / divisor(form, variance, eps);                       // (n, d)
    return form.shifts_first ? (standard + shift) * gain : standard * gain + shift;    // (n, d)
  });
}

Attempt by_loops(Form form) {
  return normed([=](const Tensor& t, const Tensor& g, const Tensor& s, double eps) {
    const Numbers x(t), gain(g), shift(s);
    const Index count = form.is_by_column ? x.rows() : x.columns();
    const auto n = static_cast<double>(count);
    return matrix(x.rows(), x.columns(),
                  [&](Index i, Index c) {
                    const auto one = [&](Index l) { return form.is_by_column ? x(l, c) : x(i, l); };
                    const double mean = total(count, one) / n;
                    const double variance =
                        total(count, [&](Index l) { return (one(l) - mean) * (one(l) - mean); }) /
                        (n - form.less);
                    const double y =
                        (x(i, c) - (form.is_centred ? mean : 0)) / divisor(form, variance, eps);
                    return form.shifts_first ? (y + shift(0, c)) * gain(0, c)
                                             : y * gain(0, c) + shift(0, c);
                  })
        .tensor();
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 1 + random.randint(2);
  return {{"x", random.normal({n, d}) + random.normal({n, 1}, 2)},
          {"gain", random.uniform({d}, 0.5, 2)},
          {"shift", random.uniform({d}, 0.5, 1)},
          {"eps", Tensor(random.uniform({}, 0.1, 0.3))}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_library(form), by_loops(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake(
        "divided by d - 1",
        "The variance is divided by d - 1. That is for guessing from a sample; layer norm "
        "divides by d. A model that was trained with the one gives other numbers with the other.",
        {.less = 1}),
    mistake("eps outside the root",
            "eps is added to the root of the variance, not to the variance under it: "
            "sqrt(variance + eps).",
            {.eps = Form::outside}),
    mistake("eps left out",
            "eps is not added. A row of equal numbers then gives 0 / 0, which is NaN, and "
            "whatever is computed from it is NaN, too.",
            {.eps = Form::none}),
    mistake("divided by the variance",
            "The rows are divided by the variance, not by its root. A row that is ten times as "
            "large then comes out ten times smaller.",
            {.divisor = Form::variance}),
    mistake("each column, not each row",
            "Means and variances are those of columns, over all rows. Then a word's result "
            "depends on which other words are there; layer norm takes each row alone.",
            {.is_by_column = true}),
    mistake("the mean is not subtracted",
            "The rows are divided by the deviation, but their mean is still there.",
            {.is_centred = false}),
    mistake("shifted before the gain",
            "The shift is added first, so that it is multiplied by the gain, too.",
            {.shifts_first = true})};

}  // namespace

int main(int count, char** arguments) {
  const auto library = [](const Tensor& x, const Tensor& gain, const Tensor& shift, double eps) {
    return layer_norm(x, gain, shift, eps);  // (n, d)
  };
  return judge(
      {.inputs = inputs,
       .learner = normed(learn::layer_norm_forward),
       .right = {normed(solution::layer_norm_forward), by_library({}), by_loops({}),
                 normed(library)},
       .mistakes = mistakes,
       .hints = {"A loop over the rows; for each row, three loops over its numbers.",
                 "The first makes the mean, the second the variance, the third the result. "
                 "All three start anew in each row.",
                 "deviation = std::sqrt(variance + eps), where variance is the sum of "
                 "(x - mean)^2 divided by d; result (x - mean) / deviation * gain + "
                 "shift."}},
      count, arguments);
}
