#include <algorithm>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::embedding_backward) embedding_backward;
}

namespace {

using Gradient = std::function<decltype(learn::embedding_backward)>;

Indices ids_of(const Tensor& x) {
  const std::vector<real> values = x.values();
  return {x.shape(), std::vector<std::int32_t>(values.begin(), values.end())};
}

Attempt made(const Gradient& gradient) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto n_words = static_cast<Index>(in[2].value.item());
    return {{"dtable", gradient(in[0].value, ids_of(in[1].value), n_words)}};
  };
}

enum class At { id, place };

// Row i of dy joins the row of its word.
template <class Join>
Attempt by_loops(Join join, At at = At::id) {
  return made([=](const Tensor& dy, const Indices& ids, Index n_words) {
    const Numbers from(dy);
    Numbers to(n_words, dy.size(1));
    for (Index i = 0; i < from.rows(); ++i) {
      const Index id = at == At::id ? Index{ids.values[static_cast<std::size_t>(i)]} : i;
      const auto times = static_cast<double>(std::ranges::count(ids.values, id));
      for (Index c = 0; c < from.columns(); ++c) join(to(id, c), from(i, c), times);
    }
    return to.tensor();  // (n_words, d)
  });
}

// chosen^T dy, where row i of `chosen` has a number at the word of place i and else zeros.
template <class Number>
Attempt by_product(Number number) {
  return made([=](const Tensor& dy, const Indices& ids, Index n_words) {
    Tensor chosen = Tensor::zeros({dy.size(0), n_words});  // (n, n_words)
    for (std::size_t i = 0; i < ids.values.size(); ++i) {
      chosen.set({static_cast<Index>(i), ids.values[i]}, number(ids.values, i));
    }
    return matmul(transpose(chosen), dy);  // (n_words, d)
  });
}

using Ids = std::vector<std::int32_t>;

double is_last(const Ids& ids, std::size_t i) {
  return std::find(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1, ids.end(), ids[i]) ==
         ids.end();
}
double is_first(const Ids& ids, std::size_t i) {
  return std::ranges::find(ids, ids[i]) == ids.begin() + static_cast<std::ptrdiff_t>(i);
}
double share(const Ids& ids, std::size_t i) {
  return 1.0 / static_cast<double>(std::ranges::count(ids, ids[i]));
}

Tensor by_tape(const Tensor& dy, const Indices& ids, Index n_words) {
  const Tensor table = Tensor::zeros({n_words, dy.size(1)});  // (n_words, d)
  Tape tape({table});
  return tape.backward(embedding(table, ids), dy)[table];  // (n_words, d)
}

Tensor by_place(const Tensor& dy, const Indices&, Index n_words) {
  return concat({dy, Tensor::zeros({n_words - dy.size(0), dy.size(1)})}, 0);  // (n_words, d)
}

// Fewer ids than places, so that some occur twice; more words than places.
NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 2, words = n + 1 + random.randint(2), d = size + random.randint(2);
  Tensor ids = Tensor::zeros({n});  // (n)
  for (Index i = 0; i < n; ++i) ids.set({i}, static_cast<double>(1 + random.randint(n - 1)));
  return {
      {"dy", random.normal({n, d})}, {"ids", ids}, {"n_words", Tensor(static_cast<double>(words))}};
}

const std::vector<KnownMistake> mistakes = {
    {"overwritten",
     "A word that stands there twice gets only the gradient of its last place: each one "
     "overwrites the one before. They add up: +=, not =.",
     by_loops([](double& to, double from, double) { to = from; }), by_product(is_last)},
    {"only the first place",
     "A word that stands there twice gets only the gradient of its first place. Every place "
     "counts.",
     by_loops([](double& to, double from, double) { to = to == 0 ? from : to; }),
     by_product(is_first)},
    {"the mean over the places",
     "The gradient of a word is divided by the number of its places. Effects on the loss add "
     "up; nothing takes their mean.",
     by_loops([](double& to, double from, double times) { to += from / times; }),
     by_product(share)},
    {"by place, not by word",
     "The gradient of place i went to row i of the table. It belongs to the row of the word "
     "that stands there, row ids_i.",
     by_loops([](double& to, double from, double) { to += from; }, At::place), made(by_place)}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = made(learn::embedding_backward),
                .right = {made(solution::embedding_backward), made(by_tape),
                          by_product([](auto&, std::size_t) { return 1.0; })},
                .mistakes = mistakes,
                .hints = {"Start with zeros of shape (n_words, d), and walk through the places of "
                          "the sentence.",
                          "Row i of dy is added to row ids.values[i] of the gradient.",
                          "dtable.set({id, c}, dtable.at({id, c}) + dy.at({i, c})) for all i and "
                          "c, where id is ids.values[i]."}},
               count, arguments);
}
