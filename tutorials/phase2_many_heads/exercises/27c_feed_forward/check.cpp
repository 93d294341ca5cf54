#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::feed_forward) feed_forward;
}

namespace {

using In = const Tensor&;

Attempt fed(const std::function<Tensor(In, In, In, In, In)>& function) {
  return attempt<In, In, In, In, In>("result", function);
}

struct Form {
  enum { gelu, tanh, relu, none } curve = gelu;
  bool is_behind_down = false;  // the curve
  bool adds_up_bias = true, adds_down_bias = true, adds_bias_late = false;
};

Tensor curve(const Form& form, const Tensor& x) {
  switch (form.curve) {
    case Form::gelu:
      return gelu(x);
    case Form::tanh:
      return gelu_tanh(x);
    case Form::relu:
      return relu(x);
    case Form::none:
      break;
  }
  return x;
}

double curve(const Form& form, double x) {
  switch (form.curve) {
    case Form::tanh:
    case Form::gelu:
      return x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
    case Form::relu:
      return x > 0 ? x : 0;
    case Form::none:
      break;
  }
  return x;
}

Attempt by_library(Form form) {
  return fed([=](In x, In up, In up_bias, In down, In down_bias) {
    Tensor wide = matmul(x, up);                                           // (n, w)
    if (form.adds_up_bias && !form.adds_bias_late) wide = wide + up_bias;  // (n, w)
    if (!form.is_behind_down) wide = curve(form, wide);                    // (n, w)
    if (form.adds_bias_late) wide = wide + up_bias;                        // (n, w)
    Tensor made = matmul(wide, down);                                      // (n, d)
    if (form.adds_down_bias) made = made + down_bias;                      // (n, d)
    return form.is_behind_down ? curve(form, made) : made;                 // (n, d)
  });
}

Attempt by_loops(Form form) {
  return fed([=](In tx, In tup, In tup_bias, In tdown, In tdown_bias) {
    const Numbers x(tx), up(tup), up_bias(tup_bias), down(tdown), down_bias(tdown_bias);
    const Numbers wide = matrix(x.rows(), up.columns(), [&](Index i, Index k) {
      double sum = form.adds_up_bias && !form.adds_bias_late ? up_bias(0, k) : 0;
      sum += total(x.columns(), [&](Index c) { return x(i, c) * up(c, k); });
      const double y = form.is_behind_down ? sum : curve(form, sum);
      return form.adds_bias_late ? y + up_bias(0, k) : y;
    });
    return matrix(x.rows(), x.columns(),
                  [&](Index i, Index c) {
                    double sum = form.adds_down_bias ? down_bias(0, c) : 0;
                    for (Index k = 0; k < wide.columns(); ++k) sum += wide(i, k) * down(k, c);
                    return form.is_behind_down ? curve(form, sum) : sum;
                  })
        .tensor();
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 1, w = 2 * d + random.randint(2);
  return {{"x", random.normal({n, d})},
          {"up", random.normal({d, w})},
          {"up_bias", random.normal({w})},
          {"down", random.normal({w, d})},
          {"down_bias", random.normal({d})}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_library(form), by_loops(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("GELU forgotten",
            "There is no GELU. Two matrices one after the other do no more than a single one, "
            "their product: the layer could be left out.",
            {.curve = Form::none}),
    mistake("GELU at the end",
            "GELU comes behind the second matrix. Between the two nothing happens then, so they "
            "do no more than one; and the result can hardly be negative.",
            {.is_behind_down = true}),
    mistake("max(t, 0) in place of GELU",
            "The curve is max(t, 0), called ReLU. Many models have it; this one has GELU, which "
            "is smooth: t (1 + erf(t / sqrt(2))) / 2.",
            {.curve = Form::relu}),
    mistake("GELU before the bias",
            "up_bias is added behind GELU. It has to be added before: it says from where on a "
            "number passes.",
            {.adds_bias_late = true}),
    mistake("no bias", "Neither up_bias nor down_bias is added.",
            {.adds_up_bias = false, .adds_down_bias = false}),
    mistake("up_bias forgotten", "up_bias is not added.", {.adds_up_bias = false}),
    mistake("down_bias forgotten", "down_bias is not added.", {.adds_down_bias = false})};

}  // namespace

int main(int count, char** arguments) {
  const auto in_one_pass = [](In x, In up, In up_bias, In down, In down_bias) {
    return linear(linear(x, up, up_bias, Activation::gelu), down, down_bias);  // (n, d)
  };
  // A tolerance that also accepts GPT-2's form of GELU, by tanh.
  return judge(
      {.inputs = inputs,
       .learner = fed(learn::feed_forward),
       .right = {fed(solution::feed_forward), by_loops({}), fed(in_one_pass),
                 by_library({.curve = Form::tanh})},
       .mistakes = mistakes,
       .hints = {"A matrix product, a bias, GELU; a matrix product, a bias.",
                 "wide is (n, w): the product of x and up, plus up_bias, all through GELU.",
                 "wide = gelu(matmul(x, up) + up_bias); result = matmul(wide, down) + "
                 "down_bias."},
       .tolerance = 1e-3},
      count, arguments);
}
