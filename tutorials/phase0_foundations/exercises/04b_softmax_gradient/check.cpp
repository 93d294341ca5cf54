#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::softmax_backward) softmax_backward;
}

namespace {

using Backward = std::function<decltype(learn::softmax_backward)>;

Attempt found(const Backward& backward) { return attempt("dx", backward); }

// By slopes: dx_ij is the sum over k of dy_ik times the slope of y_ik by x_ij.
Backward by_slopes(double (*slope)(const Tensor& y, Index i, Index k, Index j)) {
  return [=](const Tensor& dy, const Tensor& y) {
    return filled(y.size(0), y.size(1), [&](Index i, Index j) {
      return sum_of(y.size(1), [&](Index k) { return double{dy.at({i, k})} * slope(y, i, k, j); });
    });
  };
}

double own(const Tensor& y, Index i, Index k, Index j) {
  return k == j ? double{y.at({i, j})} : 0.0;
}

double others(const Tensor& y, Index i, Index k, Index j) {
  return double{y.at({i, k})} * double{y.at({i, j})};
}

double right_slope(const Tensor& y, Index i, Index k, Index j) {
  return own(y, i, k, j) - others(y, i, k, j);
}

Tensor by_columns(const Tensor& dy, const Tensor& y) {
  return filled(y.size(0), y.size(1), [&](Index i, Index j) {
    const double s =
        sum_of(y.size(0), [&](Index k) { return double{dy.at({k, j})} * double{y.at({k, j})}; });
    return double{y.at({i, j})} * (double{dy.at({i, j})} - s);
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, m = n + (size > 1 ? random.randint(3) : 0);
  return {{"dy", random.normal({n, m}) + 0.5}, {"y", softmax(random.normal({n, m}))}};
}

const std::vector<KnownMistake> mistakes = {
    {"own slope only",
     "Only the slope of each weight by its own score was used, y (1 - y). A score also lowers all "
     "other weights of its row.",
     found(by_slopes([](const Tensor& y, Index i, Index k, Index j) {
       return k == j ? right_slope(y, i, k, j) : 0.0;
     })),
     found([](const Tensor& dy, const Tensor& y) { return dy * (y - y * y); })},
    {"sum not subtracted",
     "This is y times dy. The sum s of the row has to be subtracted from dy: the weights share "
     "their sum, so what one gains the others lose.",
     found(by_slopes(own)), found([](const Tensor& dy, const Tensor& y) { return y * dy; })},
    {"sum of dy alone",
     "The sum s adds up the gradients dy alone. Each of them has to be multiplied by its weight y.",
     found(by_slopes([](const Tensor& y, Index i, Index k, Index j) {
       return own(y, i, k, j) - double{y.at({i, j})};
     })),
     found([](const Tensor& dy, const Tensor& y) { return y * (dy - sum(dy, -1, true)); })},
    {"mean instead of sum",
     "s is divided by the number of columns. It is a sum: the weights y in it already share out 1.",
     found(by_slopes([](const Tensor& y, Index i, Index k, Index j) {
       return own(y, i, k, j) - others(y, i, k, j) / double(y.size(1));
     })),
     found([](const Tensor& dy, const Tensor& y) { return y * (dy - mean(dy * y, -1, true)); })},
    {"sums of columns",
     "s is the sum of a column. Softmax ran over rows, so that only the numbers of one row depend "
     "on each other: s is the sum of a row.",
     found(by_columns),
     found([](const Tensor& dy, const Tensor& y) { return y * (dy - sum(dy * y, 0, true)); })},
    {"s not multiplied by y",
     "y is multiplied by dy only, and s is subtracted as it is. y is a factor of both: y (dy - s).",
     found(by_slopes([](const Tensor& y, Index i, Index k, Index j) {
       return own(y, i, k, j) - double{y.at({i, k})};
     })),
     found([](const Tensor& dy, const Tensor& y) { return y * dy - sum(dy * y, -1, true); })}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = found(learn::softmax_backward),
                .right = {found(solution::softmax_backward), found(by_slopes(right_slope)),
                          found([](const Tensor& dy, const Tensor& y) {
                            return y * dy - y * sum(dy * y, -1, true);
                          })},
                .mistakes = mistakes,
                .hints = {"One loop over the rows; inside it two loops, one after the other.",
                          "The first adds up s, the products of dy and y in this row. The second "
                          "computes dx from y, dy and s.",
                          "s += dy.at({i, k}) * y.at({i, k}); then dx.set({i, j}, y.at({i, j}) * "
                          "(dy.at({i, j}) - s));"}},
               count, arguments);
}
