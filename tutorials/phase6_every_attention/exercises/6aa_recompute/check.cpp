#include <cmath>
#include <vector>

#include "course/exercise.hpp"
#include "phase6.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::segment_backward) segment_backward;
}

namespace {

using Backward = std::function<decltype(learn::segment_backward)>;

Attempt gradients(const Backward& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const SegmentGradients g = f(in[0].value, in[1].value, in[2].value, in[3].value);
    return {{"d input", g.input}, {"d w1", g.w1}, {"d w2", g.w2}};
  };
}

enum Kind { right, stale, inside_only, no_residual, no_path, of_z, no_tanh, not_transposed };

// A layer's backward pass; `a` is its input.
struct Layer {
  Tensor da, dw;
};

Layer by_operations(Kind kind, const Tensor& a, const Tensor& w, const Tensor& db) {
  const Tensor z = matmul(a, w), t = tanh(z);                                 // (n, d) each
  Tensor dz = db * (1 - t * t);                                               // (n, d)
  if (kind == of_z) dz = db * (1 - z * z);                                    // (n, d)
  if (kind == no_tanh) dz = db;                                               // (n, d)
  const Tensor back = matmul(dz, kind == not_transposed ? w : transpose(w));  // (n, d)
  return {kind == no_residual ? back : kind == no_path ? db : db + back, matmul(transpose(a), dz)};
}

// The same number by number.
Layer by_numbers(Kind kind, const Tensor& a, const Tensor& w, const Tensor& db) {
  const Index n = a.size(0), d = a.size(1);
  Layer result{Tensor::zeros({n, d}), Tensor::zeros({d, d})};  // (n, d), (d, d)
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < d; ++c) {
      double z = 0;
      for (Index k = 0; k < d; ++k) z += double{a.at({i, k})} * double{w.at({k, c})};
      double slope = std::pow(std::cosh(z), -2);
      if (kind == of_z) slope = 1 - z * z;
      if (kind == no_tanh) slope = 1;
      const double dz = double{db.at({i, c})} * slope;
      for (Index k = 0; k < d; ++k) {
        const double weight = double{kind == not_transposed ? w.at({c, k}) : w.at({k, c})};
        const double path = kind == no_path ? 0 : weight * dz;
        result.da.set({i, k}, double{result.da.at({i, k})} + path);
        result.dw.set({k, c}, double{result.dw.at({k, c})} + double{a.at({i, k})} * dz);
      }
      const double direct = kind == no_residual ? 0 : double{db.at({i, c})};
      result.da.set({i, c}, double{result.da.at({i, c})} + direct);
    }
  }
  return result;
}

template <class F>
Backward both_layers(F layer, Kind kind) {
  return [=](const Tensor& x, const Tensor& w1, const Tensor& w2, const Tensor& dy) {
    const Tensor t = tanh(matmul(x, w1));                                  // (n, d)
    const Tensor h = kind == stale ? x : kind == inside_only ? t : x + t;  // (n, d)
    const Layer second = layer(kind, h, w2, dy);
    const Layer one = layer(kind == no_path ? right : kind, x, w1, second.da);
    return SegmentGradients{one.da, one.dw, second.dw};
  };
}

// By the library's tape.
SegmentGradients by_tape(const Tensor& x, const Tensor& w1, const Tensor& w2, const Tensor& dy) {
  Tape tape({x, w1, w2});
  const Tensor h = x + tanh(matmul(x, w1));  // (n, d)
  const Gradients g = tape.backward(h + tanh(matmul(h, w2)), dy);
  return {g.at(0), g.at(1), g.at(2)};
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, gradients(both_layers(by_operations, kind)),
          gradients(both_layers(by_numbers, kind))};
}

// Small numbers: where tanh is nearly flat, its slope is known to few digits.
NamedTensors inputs(Random& random, Index size) {
  const Index n = size + random.randint(2), d = size < 3 ? 2 : size;
  return {{"input", random.uniform({n, d}, -1, 1)},
          {"w1", random.normal({d, d}, 0, 0.5)},
          {"w2", random.normal({d, d}, 0, 0.5)},
          {"d_output", random.normal({n, d})}};
}

const std::vector<KnownMistake> mistakes = {
    known(stale, "not computed again",
          "The second layer's backward pass used x, the kept input of the segment. Its own "
          "input is h = x + tanh(x W1), which was not kept and has to be computed again."),
    known(inside_only, "computed again, but not all of it",
          "The second layer's backward pass used tanh(x W1) as its input. The forward pass was h = "
          "x + tanh(x W1); what is computed again has to be the same."),
    known(no_residual, "the residual connection forgotten",
          "da = dz W^T alone. The layer also hands its input on unchanged, so db itself "
          "has to be added: on that direct way "
          "the gradient passes the layer unchanged."),
    known(no_path, "past the second layer",
          "The gradient went to the first layer by the residual connection alone. What "
          "comes back through W2, dz2 W2^T, is missing in the gradients of x and W1."),
    known(of_z, "the slope of tanh, from its input",
          "1 - z o z, with z = a W. The slope of tanh is 1 - t o t, where t = tanh(z) is "
          "what comes out of it."),
    known(no_tanh, "the slope of tanh forgotten",
          "dz = db: the slope of tanh, 1 - t o t, is missing."),
    known(not_transposed, "W not transposed",
          "dz W in place of dz W^T. The shapes fit only because W is square; the gradient "
          "goes to the wrong columns.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = gradients(learn::segment_backward),
       .right = {gradients(solution::segment_backward), gradients(by_tape),
                 gradients(both_layers(by_operations, right)),
                 gradients(both_layers(by_numbers, right))},
       .mistakes = mistakes,
       .hints =
           {"Two parts. First the forward pass again: t1 = tanh(x W1), h, t2. Then the backward "
            "pass, second layer first.",
            "dz2 = d_output * (1 - t2 * t2), dW2 = h^T dz2, dh = d_output + dz2 W2^T. The "
            "first layer: the same with dh, t1, x and W1.",
            "gradients.w2 = matmul(transpose(h), dz2); gradients.w1 = matmul(transpose(input), "
            "dz1); gradients.input = dh + matmul(dz1, transpose(w1));"}},
      count, arguments);
}
