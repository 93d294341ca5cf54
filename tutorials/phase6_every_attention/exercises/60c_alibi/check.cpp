#include <cmath>

#include "course/exercise.hpp"
#include "phase6.hpp"
#include "tapestry/nn/positions.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::distance_penalty) distance_penalty;
}

namespace {

using Penalty = std::function<decltype(learn::distance_penalty)>;

Attempt biased(const Penalty& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"penalty", f(Index(in[0].value.item()), Index(in[1].value.item()))}};
  };
}

enum Kind { right, bonus, from_zero, reversed, by_halves, two_signs, past_only };

Penalty by_numbers(Kind kind) {
  return [=](Index heads, Index length) {
    Tensor result = Tensor::zeros({heads, length, length});  // (heads, length, length)
    for (Index place = 0; place < result.numel(); ++place) {
      const Index h = place / (length * length), i = place / length % length, j = place % length;
      double number = double(h + 1);
      if (kind == from_zero) number = double(h);
      if (kind == reversed) number = double(heads - h);
      const double power = number * (kind == by_halves ? 1 : 8 / double(heads));
      double distance = double(i < j ? j - i : i - j);
      if (kind == two_signs) distance = double(i - j);
      if (kind == past_only && j > i) distance = 0;
      result.set({h, i, j}, (kind == bonus ? 1 : -1) * std::exp2(-power) * distance);
    }
    return result;
  };
}

Tensor slopes(Kind kind, Index heads) {
  const Tensor number = Tensor::arange(heads);  // (heads)
  if (kind == from_zero) return pow(2.0, number * (-8 / double(heads)));
  if (kind == by_halves) return pow(0.5, number + 1);
  if (kind == reversed) return pow(2.0, (double(heads) - number) * (-8 / double(heads)));
  return alibi_slopes(heads);  // (heads)
}

Penalty by_tensors(Kind kind) {
  return [=](Index heads, Index length) {
    const Tensor at = Tensor::arange(length);                          // (length)
    const Tensor offset = unsqueeze(at, 1) - unsqueeze(at, 0);         // (length, length)
    Tensor distance = abs(offset);                                     // (length, length)
    if (kind == two_signs) distance = offset;                          // (length, length)
    if (kind == past_only) distance = relu(offset);                    // (length, length)
    const Tensor slope = reshape(slopes(kind, heads), {heads, 1, 1});  // (heads, 1, 1)
    return slope * distance * (kind == bonus ? 1.0 : -1.0);            // (heads, length, length)
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, biased(by_numbers(kind)), biased(by_tensors(kind))};
}

NamedTensors inputs(Random& random, Index size) {
  return {{"heads", size < 3 ? 2.0 : 4.0}, {"length", double(size + 1 + random.randint(2))}};
}

const std::vector<KnownMistake> mistakes = {
    known(bonus, "a bonus in place of a penalty",
          "The sign is wrong: far keys gain. A penalty is below 0, and the further the "
          "key, the further below."),
    known(from_zero, "slopes from 1 on",
          "The heads' slopes begin with 2^0 = 1: each head has that of the one before it. "
          "The power is -8 (h + 1) / heads, with heads counted from 0."),
    known(reversed, "slopes in the wrong order",
          "The slopes are right, but head 0 got the flattest one. It has to get the "
          "steepest; weights that were learned with the other order do not fit."),
    known(by_halves, "slopes 1/2, 1/4, 1/8, ...",
          "The slopes are those of eight heads, whatever the number of heads: the power "
          "lacks the factor 8 / heads."),
    known(two_signs, "later keys gain",
          "The distance is i - j, below 0 for keys after the query; these gain in place of "
          "losing. Under a causal mask nobody notices; without one it is wrong."),
    known(past_only, "later keys free",
          "Keys after the query get 0. Under a causal mask nobody notices; without "
          "one, what follows a word is favoured.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = biased(learn::distance_penalty),
       .right = {biased(solution::distance_penalty), biased(by_numbers(right)),
                 biased(by_tensors(right))},
       .mistakes = mistakes,
       .hints = {"Three loops: heads, queries i, keys j. The slope depends on the head alone.",
                 "slope = std::pow(2, -8 * double(h + 1) / double(heads)).",
                 "result.set({h, i, j}, -slope * double(std::abs(i - j)));"}},
      count, arguments);
}
