#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::dropout_forward) dropout_forward;
}

namespace {

using Dropout = std::function<decltype(learn::dropout_forward)>;

Attempt dropped(const Dropout& dropout) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor &x = in[0].value, &u = in[1].value;
    const double p = in[2].value.item();
    return {{"training", dropout(x, u, p, true)}, {"not training", dropout(x, u, p, false)}};
  };
}

struct Form {
  enum { keep, one, drop } divisor = keep;  // 1 - p, 1, p
  bool multiplies = false;                  // by 1 - p, in place of the division
  bool keeps_below = false;                 // the numbers with u < p stay
  bool is_always_training = false, shrinks_later = false;
};

double factor(const Form& form, double p) {
  if (form.multiplies) return 1 - p;
  return 1 / (form.divisor == Form::one ? 1 : form.divisor == Form::drop ? p : 1 - p);
}

Attempt by_loops(Form form) {
  return dropped([=](const Tensor& tx, const Tensor& tu, double p, bool is_training) {
    const Numbers x(tx), u(tu);
    return matrix(x.rows(), x.columns(),
                  [&](Index i, Index j) {
                    if (!is_training && !form.is_always_training) {
                      return form.shrinks_later ? x(i, j) * (1 - p) : x(i, j);
                    }
                    const bool stays = form.keeps_below ? u(i, j) < p : u(i, j) >= p;
                    return stays ? x(i, j) * factor(form, p) : 0;
                  })
        .tensor();
  });
}

Attempt by_library(Form form) {
  return dropped([=](const Tensor& x, const Tensor& u, double p, bool is_training) {
    if (!is_training && !form.is_always_training) return form.shrinks_later ? x - p * x : x;
    const Tensor mask = form.keeps_below ? u < p : u >= p;  // (n, d)
    return where(mask, x, 0) * factor(form, p);             // (n, d)
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 1 + random.randint(2);
  return {{"x", random.normal({n, d})},
          {"u", random.uniform({n, d}, 0, 1)},
          {"p", Tensor(random.uniform({}, 0.15, 0.45))}};
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_loops(form), by_library(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("not rescaled",
            "What stays is not divided by 1 - p. Then sums are smaller on average while training "
            "than later, when nothing is dropped.",
            {.divisor = Form::one}),
    mistake("multiplied by 1 - p",
            "What stays is multiplied by 1 - p, so it shrinks. It has to grow, to make up for "
            "what was dropped: divide.",
            {.multiplies = true}),
    mistake("divided by p",
            "What stays is divided by p, the share that is dropped. It has to be 1 - p, the "
            "share that stays.",
            {.divisor = Form::drop}),
    mistake("the wrong ones dropped",
            "The numbers with u < p stay, and the others are dropped. u is below p with the "
            "probability p, so these are the ones to drop.",
            {.keeps_below = true}),
    mistake("dropped when not training",
            "Numbers are dropped also when the model is not training. Its answers then differ "
            "from one time to the next.",
            {.is_always_training = true}),
    mistake("rescaled later",
            "What stays is not divided while training; instead all is multiplied by 1 - p when "
            "not training. That, too, keeps the means equal, and was the first form of dropout. "
            "Here nothing is to happen after training.",
            {.divisor = Form::one, .shrinks_later = true}),
    mistake("neither rescaled nor switched off",
            "Two mistakes: what stays is not divided by 1 - p, and numbers are dropped also when "
            "not training.",
            {.divisor = Form::one, .is_always_training = true})};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = dropped(learn::dropout_forward),
                .right = {dropped(solution::dropout_forward), by_loops({}), by_library({})},
                .mistakes = mistakes,
                .hints = {"If it is not training, the result is x, and nothing else is to be done.",
                          "Start with zeros; then write only the numbers that stay, those where u "
                          "is not below p.",
                          "if (u.at({i, j}) >= p) result.set({i, j}, x.at({i, j}) / (1 - p));"}},
               count, arguments);
}
