#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase7.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::swiglu) swiglu;
}

namespace {

using In = const Tensor&;

Attempt fed(const std::function<Tensor(In, In, In, In)>& function) {
  return attempt<In, In, In, In>("result", function);
}

enum Curve { silu_curve, sigmoid_curve, gelu_curve, relu_curve, no_curve };
enum Mix { product, sum_of_both, gate_alone, product_then_curve, curve_on_both };

struct Form {
  Curve curve = silu_curve;
  Mix mix = product;
  bool is_exchanged = false;
};

double curve(Curve kind, double x) {
  if (kind == silu_curve) return x / (1 + std::exp(-x));
  if (kind == sigmoid_curve) return 1 / (1 + std::exp(-x));
  if (kind == gelu_curve) return x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
  return kind == relu_curve && x < 0 ? 0 : x;
}

Tensor curve(Curve kind, const Tensor& x) {
  if (kind == silu_curve) return silu(x);
  if (kind == sigmoid_curve) return sigmoid(x);
  if (kind == gelu_curve) return gelu(x);
  return kind == relu_curve ? relu(x) : x;
}

// What goes on to the last matrix; of numbers and of tensors.
template <class Number>
Number mixed(const Form& form, const Number& gate, const Number& up) {
  if (form.mix == product_then_curve) return curve(form.curve, Number(gate * up));
  const Number gates = curve(form.curve, gate);
  if (form.mix == gate_alone) return gates;
  if (form.mix == sum_of_both) return gates + up;
  return form.mix == curve_on_both ? Number(gates * curve(form.curve, up)) : Number(gates * up);
}

Attempt by_library(Form form) {
  return fed([=](In x, In gate, In up, In down) {
    const Tensor g = matmul(x, gate), u = matmul(x, up);                             // (n, w)
    return matmul(form.is_exchanged ? mixed(form, u, g) : mixed(form, g, u), down);  // (n, d)
  });
}

Attempt by_loops(Form form) {
  return fed([=](In tx, In tgate, In tup, In tdown) {
    const Numbers x(tx), down(tdown), gate(form.is_exchanged ? tup : tgate);
    const Numbers up(form.is_exchanged ? tgate : tup);
    const Numbers wide = matrix(x.rows(), up.columns(), [&](Index i, Index k) {
      const double g = total(x.columns(), [&](Index c) { return x(i, c) * gate(c, k); });
      const double u = total(x.columns(), [&](Index c) { return x(i, c) * up(c, k); });
      return mixed(form, g, u);
    });
    return matrix(x.rows(), x.columns(),
                  [&](Index i, Index c) {
                    return total(wide.columns(), [&](Index k) { return wide(i, k) * down(k, c); });
                  })
        .tensor();
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 1, w = 2 * d + random.randint(2);
  const auto some = [&](Index rows, Index columns) {
    return random.normal({rows, columns}, 0, 1.5 / std::sqrt(double(rows)));  // (rows, columns)
  };
  return {
      {"x", random.normal({n, d})}, {"gate", some(d, w)}, {"up", some(d, w)}, {"down", some(w, d)}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_library(form), by_loops(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("gate and up exchanged",
            "silu is applied to what `up` makes, and what `gate` makes is multiplied by it. Either "
            "could be learned; but the weights of a file are meant one way, and no shape tells "
            "which.",
            {.is_exchanged = true}),
    mistake("a sigmoid in place of silu",
            "The gates are 1 / (1 + exp(-t)), between 0 and 1. That is the GLU from which this one "
            "comes; SwiGLU's gates are t times that.",
            {.curve = sigmoid_curve}),
    mistake("GELU in place of silu",
            "The curve is GELU. Gated by that the layer is called GeGLU, and some models have it "
            "(Gemma); here it is silu(t) = t / (1 + exp(-t)).",
            {.curve = gelu_curve}),
    mistake("max(t, 0) in place of silu",
            "The curve is max(t, 0), called ReLU. Here it is silu(t) = t / (1 + exp(-t)).",
            {.curve = relu_curve}),
    mistake("no curve",
            "There is no silu: both products are multiplied as they are. All that is left are "
            "products of two numbers of the row.",
            {.curve = no_curve}),
    mistake("a sum in place of the product",
            "The gates are added. A gate near 0 then hides nothing; it has to be multiplied.",
            {.mix = sum_of_both}),
    mistake(
        "up left out",
        "There are gates, but nothing that they are multiplied by: this is the layer of 27c with "
        "silu. Multiply them by matmul(x, up).",
        {.mix = gate_alone}),
    mistake("silu behind the product",
            "silu is applied to the product of both. It belongs to what `gate` makes, before it is "
            "multiplied.",
            {.mix = product_then_curve}),
    mistake("silu on both", "silu is applied to what `up` makes, too. Only the gates get it.",
            {.mix = curve_on_both}),
    mistake("gate and up exchanged, with GELU",
            "Two things at once. What `up` makes gets the curve, and has to go without; and the "
            "curve is GELU in place of silu.",
            {.curve = gelu_curve, .is_exchanged = true})};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = fed(learn::swiglu),
       .right = {fed(solution::swiglu), by_library({}), by_loops({})},
       .mistakes = mistakes,
       .hints =
           {"Three products of matrices; silu on one of the first two.",
            "matmul(x, gate) and matmul(x, up) have the same shape, (n, w). `*` multiplies two "
            "tensors number by number.",
            "return matmul(silu(matmul(x, gate)) * matmul(x, up), down);"}},
      count, arguments);
}
