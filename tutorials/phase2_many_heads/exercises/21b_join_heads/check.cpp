#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::join_heads) join_heads;
}

namespace {

using Join = std::function<Tensor(const Tensor&)>;

Attempt joined_by(const Join& join) { return attempt<const Tensor&>("result", join); }

// Element (h, i, c) of x becomes number where(h, i, c, ...) of the result.
template <class Where>
Attempt by_numbers(Where where) {
  return joined_by([=](const Tensor& x) {
    const Index heads = x.size(0), n = x.size(1), d = x.size(2);
    const std::vector<real> from = x.values();
    std::vector<real> to(from.size());
    auto next = from.begin();
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < d; ++c) {
          to[static_cast<std::size_t>(where(h, i, c, heads, n, d))] = *next++;
        }
      }
    }
    return Tensor({n, heads * d}, to);
  });
}

Tensor side_by_side(const Tensor& x) {
  std::vector<Tensor> heads;  // (n, d) each
  for (Index h = 0; h < x.size(0); ++h) heads.push_back(squeeze(slice(x, 0, h, h + 1), 0));
  return concat(heads, 1);  // (n, heads d)
}

Tensor sum_by_loops(const Tensor& x) {
  const Numbers from(reshape(x, {x.size(0), -1}));  // (heads, n d)
  return matrix(x.size(1), x.size(2),
                [&](Index i, Index c) {
                  return total(x.size(0), [&](Index h) { return from(h, i * x.size(2) + c); });
                })
      .tensor();
}

Tensor with_rows_of(const Tensor& x, std::initializer_list<int> order) {
  return reshape(permute(x, order), {x.size(1), x.size(0) * x.size(2)});  // (n, heads d)
}

NamedTensors inputs(Random& random, Index size) {
  const Index heads = size > 1 ? 2 + random.randint(2) : 2, n = size + 1, d = heads == 2 ? 3 : 2;
  const Tensor x = size == 1 ? reshape(Tensor::arange(n * heads * d), {heads, n, d}) + 1
                             : random.normal({heads, n, d});  // (heads, n, d)
  return {{"x", x}};
}

const std::vector<KnownMistake> mistakes = {
    {"reshape alone",
     "The shape is right, but the numbers keep their order, so the first rows hold numbers of "
     "head 0 alone. Bring the words to the front first: to (n, heads, d).",
     joined_by([](const Tensor& x) { return with_rows_of(x, {0, 1, 2}); }),
     by_numbers(
         [](Index h, Index i, Index c, Index, Index n, Index d) { return h * n * d + i * d + c; })},
    {"numbers of the heads in turn",
     "In a row the heads take turns: number 0 of each, then number 1 of each. All d numbers of a "
     "head have to stand side by side.",
     joined_by([](const Tensor& x) { return with_rows_of(x, {1, 2, 0}); }),
     by_numbers([](Index h, Index i, Index c, Index heads, Index, Index d) {
       return i * heads * d + c * heads + h;
     })},
    {"the wrong axes exchanged",
     "Words and numbers are exchanged in each head. It has to be heads and words, the first two "
     "axes; a row then has all that belongs to one word.",
     joined_by([](const Tensor& x) { return with_rows_of(x, {0, 2, 1}); }),
     by_numbers(
         [](Index h, Index i, Index c, Index, Index n, Index d) { return h * n * d + c * n + i; })},
    {"heads added",
     "The heads are added, so d numbers are left of a row. Joining keeps all: side by side they "
     "are heads * d.",
     joined_by([](const Tensor& x) { return sum(x, 0); }), joined_by(sum_by_loops)}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = joined_by(learn::join_heads),
                .right = {joined_by(solution::join_heads), joined_by(side_by_side),
                          joined_by([](auto& x) { return concat_heads(x); })},
                .mistakes = mistakes,
                .hints = {"The loops of 21a, with reading and writing exchanged.",
                          "Or in two steps: transpose exchanges heads and words, to (n, heads, d); "
                          "reshape joins the last two axes.",
                          "reshape(transpose(x, 0, 1), {n, heads * d})."}},
               count, arguments);
}
