#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::weighted_sum) weighted_sum;
}

namespace {

using Sum = std::function<Tensor(const Tensor&, const Tensor&)>;

Attempt summed(const Sum& sum) { return attempt<const Tensor&, const Tensor&>("output", sum); }

// Element c is the sum over j of factor(j) v(j, c).
template <class Factor>
Tensor mixed(const Tensor& values, Factor factor) {
  const Numbers v(values);
  return matrix(1, v.columns(),
                [&](Index, Index c) {
                  return total(v.rows(), [&](Index j) { return factor(j) * v(j, c); });
                })
      .tensor({v.columns()});
}

Tensor by_library(const Tensor& weights, const Tensor& values) {
  return squeeze(matmul(unsqueeze(weights, 0), values), 0);  // (d)
}

Tensor row_after_row(const Tensor& weights, const Tensor& values) {
  Tensor output = Tensor::zeros({values.size(1)});  // (d)
  for (Index j = 0; j < values.size(0); ++j) {
    const Tensor row = squeeze(slice(values, 0, j, j + 1), 0);                // (d)
    output = output + row * squeeze(slice(weights, 0, j, j + 1), 0).clone();  // (d)
  }
  return output;
}

Tensor mean_of_values(const Tensor&, const Tensor& values) {
  return mixed(values, [&](Index) { return 1.0 / static_cast<double>(values.size(0)); });
}

Tensor over_n(const Tensor& weights, const Tensor& values) {
  const Numbers w(weights);
  return mixed(values, [&](Index j) { return w(0, j) / static_cast<double>(w.columns()); });
}

Tensor only_last(const Tensor& weights, const Tensor& values) {
  const Numbers w(weights);
  return mixed(values, [&](Index j) { return j + 1 == w.columns() ? w(0, j) : 0; });
}

Tensor only_largest(const Tensor& weights, const Tensor& values) {
  const Index best = argmax(weights).values[0];
  return mixed(values, [&](Index j) { return j == best ? 1.0 : 0.0; });
}

// Row j is taken to begin n numbers after row j - 1.
Tensor wrong_step(const Tensor& weights, const Tensor& values) {
  const Index n = values.size(0), d = values.size(1);
  const real* v = values.data();
  const Numbers w(weights);
  return matrix(1, d,
                [&](Index, Index c) {
                  return total(n, [&](Index j) { return w(0, j) * double{v[c * n + j]}; });
                })
      .tensor({d});
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1 + random.randint(2), d = size + 1;
  return {{"weights", softmax(random.normal({n}))}, {"values", random.normal({n, d})}};
}

const std::vector<KnownMistake> mistakes = {
    {"the mean of the values",
     "This is the mean of all values; the weights are not used. Each value has to count as "
     "much as its weight says.",
     summed(mean_of_values), summed([](auto&, const Tensor& v) { return mean(v, 0); })},
    {"divided by n",
     "The sum is right, but it is divided by the number of keys. The weights sum to 1 "
     "already, so the sum is a mean as it is.",
     summed(over_n),
     summed([](const Tensor& w, const Tensor& v) { return mean(unsqueeze(w, 1) * v, 0); })},
    {"overwritten",
     "Only the last value counts: each product overwrites the one before. Add to the sum: "
     "+=, not =.",
     summed(only_last), summed([](const Tensor& w, const Tensor& v) {
       const Index n = v.size(0);
       return squeeze(slice(v * unsqueeze(w, 1), 0, n - 1, n), 0);  // (d)
     })},
    {"only the value with the largest weight",
     "The output is the value whose weight is largest. Attention mixes all values; a choice "
     "of one has no gradient by the weights.",
     summed(only_largest), summed([](const Tensor& w, const Tensor& v) {
       return squeeze(matmul(unsqueeze(hardmax(w), 0), v), 0);  // (d)
     })},
    {"rows and columns confused",
     "The values are read as if a column of them lay together in memory. They lie row by "
     "row: values_jc is number j * d + c.",
     summed(wrong_step), summed([](const Tensor& w, const Tensor& v) {
       const Tensor turned = reshape(v, {v.size(1), v.size(0)});  // (d, n)
       return sum(turned * w, -1);                                // (d)
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = summed(learn::weighted_sum),
       .right = {summed(solution::weighted_sum), summed(by_library), summed(row_after_row)},
       .mistakes = mistakes,
       .hints = {"The output has a number for each column c of the values.",
                 "For each c a loop over all j, which adds up the products.",
                 "sum += weights.at({j}) * values.at({j, c}) for all j; then output.set({c}, "
                 "sum)."}},
      count, arguments);
}
