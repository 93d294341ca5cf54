#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::layer_norm_backward) layer_norm_backward;
}

namespace {

Attempt attempt(const std::function<decltype(learn::layer_norm_backward)>& backward) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const double eps = in[2].value.item();
    const LayerNormGradients made = backward(in[0].value, in[1].value, eps, in[3].value);
    return {{"dx", made.dx}, {"dgain", made.dgain}, {"dshift", made.dshift}};
  };
}

LayerNormGradients by_tape(const Tensor& x, const Tensor& gain, double eps, const Tensor& dy) {
  const Tensor shift = Tensor::zeros(gain.shape());  // (d)
  Tape tape({x, gain, shift});
  const Gradients gradients = tape.backward(layer_norm(x, gain, shift, eps), dy);
  return {gradients[x], gradients[gain], gradients[shift]};
}

struct Form {
  enum { added, overwritten, kept } rows = added;                   // of dgain and dshift
  bool is_dgain_of_x = false;                                       // x in place of standard
  bool has_gain = true, moves_mean = true, moves_deviation = true;  // in dx
};

// The rows of dgain or dshift, (n, d), brought to what the form makes of them.
Tensor over_rows(const Form& form, const Tensor& x) {
  if (form.rows == Form::kept) return x;
  const Index n = x.size(0);
  return form.rows == Form::added ? sum(x, 0) : squeeze(slice(x, 0, n - 1, n), 0).clone();  // (d)
}

Attempt by_library(Form form) {
  return attempt(
      [=](const Tensor& x, const Tensor& gain, double eps, const Tensor& dy) -> LayerNormGradients {
        const Tensor centred = x - mean(x, 1, true);                                 // (n, d)
        const Tensor root = sqrt(var(x, 1, true) + eps);                             // (n, 1)
        const Tensor standard = centred / root;                                      // (n, d)
        const Tensor s = form.has_gain ? dy * gain : dy;                             // (n, d)
        Tensor dx = s;                                                               // (n, d)
        if (form.moves_mean) dx = dx - mean(s, 1, true);                             // (n, d)
        if (form.moves_deviation) dx = dx - standard * mean(s * standard, 1, true);  // (n, d)
        return {dx / root, over_rows(form, dy * (form.is_dgain_of_x ? x : standard)),
                over_rows(form, dy)};
      });
}

Attempt by_loops(Form form) {
  return attempt(
      [=](const Numbers x, const Tensor& g, double eps, const Numbers dy) -> LayerNormGradients {
        const Numbers gain(g);
        const Index n = x.rows(), d = x.columns(), sums = form.rows == Form::kept ? n : 1;
        Numbers dx(n, d), dgain(sums, d), dshift(sums, d);
        const auto mean = [&](auto f) { return total(d, f) / static_cast<double>(d); };
        for (Index i = 0; i < n; ++i) {
          const Index row = form.rows == Form::kept ? i : 0;
          const double middle = mean([&](Index c) { return x(i, c); });
          const double root =
              std::sqrt(eps + mean([&](Index c) { return std::pow(x(i, c) - middle, 2); }));
          const auto standard = [&](Index c) { return (x(i, c) - middle) / root; };
          const auto s = [&](Index c) { return dy(i, c) * (form.has_gain ? gain(0, c) : 1); };
          const double along = mean([&](Index c) { return s(c) * standard(c); });
          for (Index c = 0; c < d; ++c) {
            const double keeps = form.rows == Form::overwritten ? 0 : 1;
            dshift(row, c) = keeps * dshift(row, c) + dy(i, c);
            dgain(row, c) =
                keeps * dgain(row, c) + dy(i, c) * (form.is_dgain_of_x ? x(i, c) : standard(c));
            dx(i, c) = (s(c) - (form.moves_mean ? mean(s) : 0) -
                        (form.moves_deviation ? standard(c) * along : 0)) /
                       root;
          }
        }
        const Shape summed = sums == n ? Shape{n, d} : Shape{d};
        return {dx.tensor(), dgain.tensor(summed), dshift.tensor(summed)};
      });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 2 + random.randint(2);
  return {{"x", random.normal({n, d}) + random.normal({n, 1})},
          {"gain", random.uniform({d}, 0.3, 2)},
          {"eps", Tensor(0.01)},
          {"dy", random.normal({n, d})}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_library(form), by_loops(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("dgain and dshift not summed over the rows",
            "dgain and dshift are (n, d). There is one gain and one shift for a column: what was "
            "broadcast to all rows in the forward pass is summed over them in the backward pass.",
            {.rows = Form::kept}),
    mistake("dgain and dshift overwritten",
            "dgain and dshift are those of the last row: each row overwrites the one before. All "
            "rows add up: +=, not =.",
            {.rows = Form::overwritten}),
    mistake("x in place of the standardised rows",
            "dgain is made with x. The gain multiplies the standardised number, so that number "
            "is its slope.",
            {.is_dgain_of_x = true}),
    mistake("the gain left out of dx",
            "dx is made of dy as it arrives. The standardised number was multiplied by the gain, "
            "so its gradient is dy * gain.",
            {.has_gain = false}),
    mistake("mean and deviation taken as fixed",
            "dx is only dy * gain / deviation. But x also moves the mean and the deviation of "
            "its row, which gives the two other terms.",
            {.moves_mean = false, .moves_deviation = false}),
    mistake("the deviation taken as fixed",
            "In dx the mean of s is subtracted, but not standard times the mean of s * standard: "
            "the deviation depends on x, too.",
            {.moves_deviation = false}),
    mistake("the mean taken as fixed",
            "In dx the term of the deviation is there, but the mean of s is not subtracted: x "
            "also moves the mean of its row.",
            {.moves_mean = false})};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = attempt(learn::layer_norm_backward),
       .right = {attempt(solution::layer_norm_backward), attempt(by_tape), by_loops({})},
       .mistakes = mistakes,
       .hints = {"First compute mean, deviation and the standardised row again, as in 27a.",
                 "For each row two means: of s = dy * gain, and of s * standard. Then dx "
                 "of that row; and add dy to dshift, dy * standard to dgain.",
                 "dx = (s - mean(s, 1, true) - standard * mean(s * standard, 1, true)) / "
                 "deviation; dgain = sum(dy * standard, 0); dshift = sum(dy, 0)."}},
      count, arguments);
}
