#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::split_into_heads) split_into_heads;
}

namespace {

Attempt split_by(const SplitFunction& split) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"result", split(in[0].value, static_cast<Index>(in[1].value.item()))}};
  };
}

// Element (h, i, c) is number where(h, i, c, ...) of x.
template <class Where>
Attempt by_numbers(Where where, bool has_heads_in_front = true) {
  return split_by([=](const Tensor& x, Index heads) {
    const Index n = x.size(0), d = x.size(1) / heads;
    const std::vector<real> from = x.values();
    std::vector<real> to;
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < d; ++c) {
          to.push_back(from[static_cast<std::size_t>(where(h, i, c, heads, n, d))]);
        }
      }
    }
    return Tensor(has_heads_in_front ? Shape{heads, n, d} : Shape{n, heads, d}, to);
  });
}

Tensor by_slices(const Tensor& x, Index heads) { return stack(split(x, heads, 1), 0); }

Tensor reshaped(const Tensor& x, Index heads) {
  return reshape(x, {heads, x.size(0), x.size(1) / heads});  // (heads, n, d)
}

Tensor interleaved(const Tensor& x, Index heads) {
  return permute(reshape(x, {x.size(0), x.size(1) / heads, heads}), {2, 0, 1});  // (heads, n, d)
}

Tensor not_in_front(const Tensor& x, Index heads) {
  return reshape(x, {x.size(0), heads, x.size(1) / heads});  // (n, heads, d)
}

Tensor turned(const Tensor& x, Index heads) {
  return reshape(transpose(x), {heads, x.size(0), x.size(1) / heads});  // (heads, n, d)
}

NamedTensors inputs(Random& random, Index size) {
  const Index heads = size > 1 ? 2 + random.randint(2) : 2, n = size + 1, d = heads == 2 ? 3 : 2;
  const Tensor x = size == 1 ? reshape(Tensor::arange(n * heads * d), {n, heads * d}) + 1
                             : random.normal({n, heads * d});  // (n, heads d)
  return {{"x", x}, {"heads", Tensor(static_cast<double>(heads))}};
}

const std::vector<KnownMistake> mistakes = {
    {"reshape alone",
     "The shape is right, but the numbers keep their order: head 0 has all numbers of the first "
     "words, in place of the first numbers of all words. Cut each row: to (n, heads, d) first; "
     "then bring the heads to the front.",
     split_by(reshaped), by_numbers([](Index h, Index i, Index c, Index, Index n, Index d) {
       return h * n * d + i * d + c;
     })},
    {"numbers dealt out like cards",
     "The numbers of a row go to the heads in turn: head 0 has every heads-th. Each head owns d "
     "numbers side by side, those from h * d on.",
     split_by(interleaved), by_numbers([](Index h, Index i, Index c, Index heads, Index, Index d) {
       return i * heads * d + c * heads + h;
     })},
    {"heads not in front",
     "The rows are cut rightly, but the result is (n, heads, d). Attention works on the last two "
     "axes, words and numbers: the heads have to stand before them.",
     split_by(not_in_front),
     by_numbers(
         [](Index h, Index i, Index c, Index, Index n, Index d) {
           return h * n * d + i * d + c;  // all numbers stay where they are
         },
         false)},
    {"transposed before the cut",
     "x was transposed first, and then cut: a row of a head holds the same number of several "
     "words. Cut first (reshape to (n, heads, d)), then exchange the first two axes.",
     split_by(turned), by_numbers([](Index h, Index i, Index c, Index heads, Index n, Index d) {
       const Index at = h * n * d + i * d + c;  // in x transposed
       return at % n * heads * d + at / n;
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = split_by(learn::split_into_heads),
                .right = {split_by(solution::split_into_heads), split_by(by_slices),
                          split_by([](auto& x, Index heads) { return split_heads(x, heads); })},
                .mistakes = mistakes,
                .hints = {"Three loops: over heads, words, and the numbers of a head.",
                          "Or in two steps: reshape cuts each row, to (n, heads, d); transpose "
                          "exchanges the first two axes.",
                          "transpose(reshape(x, {n, heads, d}), 0, 1)."}},
               count, arguments);
}
