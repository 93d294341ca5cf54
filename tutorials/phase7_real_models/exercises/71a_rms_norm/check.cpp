#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase7.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::rms_norm_forward) rms_norm_forward;
}

namespace {

using Norm = std::function<decltype(learn::rms_norm_forward)>;

Attempt normed(const Norm& norm) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"result", norm(in[0].value, in[1].value, double{in[2].value.item()})}};
  };
}

// What is done; the defaults are right.
struct Form {
  double less = 0;              // the squares are divided by d - less
  bool divides_by_d = true;     // else the sum of squares is taken
  bool centres = false;         // the mean is subtracted from what is divided
  bool takes_variance = false;  // the mean is subtracted from what is squared
  enum { inside, outside, none } eps = inside;
  bool takes_root = true;
  enum { row, column, all } over = row;
  double gain = 1, one = 0;  // the factor is gain * g + one
};

// What is divided by, from the mean square; of numbers and of tensors.
template <class Number>
Number divisor(const Form& form, const Number& square, double eps) {
  using std::sqrt;
  const Number under = form.eps == Form::inside ? Number(square + eps) : square;
  const Number by = form.takes_root ? Number(sqrt(under)) : under;
  return form.eps == Form::outside ? Number(by + eps) : by;
}

Attempt by_library(Form form) {
  return normed([=](const Tensor& x, const Tensor& gain, double eps) {
    const auto mean_of = [&](const Tensor& y) {  // (n, 1), (1, d) or (1, 1)
      if (form.over == Form::all) return mean(mean(y, 0, true), 1, true);
      return mean(y, form.over == Form::row ? 1 : 0, true);
    };
    const Index row = x.size(1), column = x.size(0);
    const double count = double(form.over == Form::row      ? row
                                : form.over == Form::column ? column
                                                            : row * column);
    const Tensor centred = x - mean_of(x);                     // (n, d)
    const Tensor squared = form.takes_variance ? centred : x;  // (n, d)
    const double larger = form.divides_by_d ? count / (count - form.less) : count;
    const Tensor square = mean_of(squared * squared) * larger;                   // as mean_of
    const Tensor y = (form.centres ? centred : x) / divisor(form, square, eps);  // (n, d)
    return y * (form.gain * gain + form.one);                                    // (n, d)
  });
}

Attempt by_loops(Form form) {
  return normed([=](const Tensor& t, const Tensor& g, double eps) {
    const Numbers x(t), gain(g);
    const Index n = x.rows(), d = x.columns();
    const Index count = form.over == Form::row ? d : form.over == Form::column ? n : n * d;
    return matrix(n, d,
                  [&](Index i, Index c) {
                    const auto one = [&](Index l) {
                      if (form.over == Form::all) return x(l / d, l % d);
                      return form.over == Form::row ? x(i, l) : x(l, c);
                    };
                    const double mean = total(count, one) / double(count);
                    const double from = form.takes_variance ? mean : 0;
                    const double sum =
                        total(count, [&](Index l) { return std::pow(one(l) - from, 2); });
                    const double square =
                        form.divides_by_d ? sum / (double(count) - form.less) : sum;
                    const double y = x(i, c) - (form.centres ? mean : 0);
                    return y / divisor(form, square, eps) * (form.gain * gain(0, c) + form.one);
                  })
        .tensor();
  });
}

// A mean that is not 0, rows of different size, and an eps that is not small.
NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 1 + random.randint(2);
  return {{"x", random.normal({n, d}) * random.uniform({n, 1}, 0.5, 2) + 0.7},
          {"gain", random.uniform({d}, 0.5, 2)},
          {"eps", Tensor(random.uniform({}, 0.1, 0.3))}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_library(form), by_loops(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake(
        "this is layer norm",
        "The mean is subtracted, and the row divided by its deviation. RMS norm leaves the mean "
        "where it is and divides by the root of the mean square: one sum over the row, not two.",
        {.centres = true, .takes_variance = true}),
    mistake("the mean is subtracted",
            "The rows are divided by the root of the mean square, but before that their mean is "
            "subtracted. It stays.",
            {.centres = true}),
    mistake("divided by the deviation",
            "The mean is subtracted in the squares. The mean square is that of the numbers as they "
            "are; only where their mean is 0 it is the variance.",
            {.takes_variance = true}),
    mistake("divided by d - 1",
            "The squares are divided by d - 1. Their mean is the sum divided by d.", {.less = 1}),
    mistake("the sum of squares",
            "The rows are divided by the root of the sum of squares, their length, and not by that "
            "of the mean. All results are too small by the root of d.",
            {.divides_by_d = false}),
    mistake("divided by the mean square",
            "There is no root. A row that is ten times as large then comes out ten times smaller.",
            {.takes_root = false}),
    mistake("eps outside the root",
            "eps is added to the root, not to the mean square under it: sqrt(square + eps).",
            {.eps = Form::outside}),
    mistake("eps left out", "eps is not added. A row of zeros then gives 0 / 0, which is NaN.",
            {.eps = Form::none}),
    mistake(
        "each column, not each row",
        "The mean squares are those of columns, over all rows. Then a token's result depends on "
        "which other tokens are there; each row is divided by its own.",
        {.over = Form::column}),
    mistake(
        "one mean square for all",
        "All rows are divided by the same number, made of the whole matrix. Each row is divided "
        "by its own.",
        {.over = Form::all}),
    mistake("no gain", "The rows are not multiplied by the gain.", {.gain = 0, .one = 1}),
    mistake("1 + gain",
            "The rows are multiplied by 1 + gain. Gemma's files are meant that way, those of Llama "
            "are not: here a gain of 1 changes nothing.",
            {.one = 1})};

}  // namespace

int main(int count, char** arguments) {
  const auto library = [](const Tensor& x, const Tensor& gain, double eps) {
    return rms_norm(x, gain, eps);  // (n, d)
  };
  return judge(
      {.inputs = inputs,
       .learner = normed(learn::rms_norm_forward),
       .right = {normed(solution::rms_norm_forward), by_library({}), by_loops({}), normed(library)},
       .mistakes = mistakes,
       .hints =
           {"A loop over the rows; for each row, two loops over its numbers.",
            "The first sums the squares and divides by d; the second divides each number by a "
            "root, and multiplies by the gain of its column.",
            "result = x * gain / std::sqrt(square + eps), where square is the sum of x * x over "
            "the row, divided by d."}},
      count, arguments);
}
