#include <cmath>

#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase2.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::multi_head_forward) multi_head_forward;
}

namespace {

using MultiHead = std::function<Tensor(const Tensor&, const HeadMatrices&, Index)>;

Attempt attended(const MultiHead& function) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const HeadMatrices w{in[1].value, in[2].value, in[3].value, in[4].value};
    return {{"result", function(in[0].value, w, static_cast<Index>(in[5].value.item()))}};
  };
}

struct Form {
  enum { head, model, none, twice } scale = head;  // the width whose root divides the scores
  bool cuts_rows = true, joins_rows = true;        // else reshape alone
  bool is_over_queries = false, is_projected = true, is_single = false;
};

double divisor(const Form& form, Index heads, Index d) {
  const double width = static_cast<double>(form.scale == Form::model ? heads * d : d);
  if (form.scale == Form::none) return 1;
  return form.scale == Form::twice ? width : std::sqrt(width);
}

Attempt by_library(Form form) {
  return attended([=](const Tensor& x, const HeadMatrices& w, Index many) {
    const Index heads = form.is_single ? 1 : many, n = x.size(0), d = x.size(1) / heads;
    const auto split_x = [&](const Tensor& by) {
      const Tensor wide = matmul(x, by);  // (n, d_model)
      return form.cuts_rows ? split_heads(wide, heads) : reshape(wide, {heads, n, d});
    };
    const Tensor q = split_x(w.query), k = split_x(w.key);                    // (heads, n, d)
    const Tensor scores = matmul(q, transpose(k)) / divisor(form, heads, d);  // (heads, n, n)
    const Tensor found =
        matmul(softmax(scores, form.is_over_queries ? 1 : 2), split_x(w.value));  // (heads, n, d)
    const Tensor joined =
        form.joins_rows ? concat_heads(found) : reshape(found, {n, heads * d});  // (n, d_model)
    return form.is_projected ? matmul(joined, w.output) : joined;                // (n, d_model)
  });
}

// Where number c of word i of head h stands, counted from the matrix's first number.
struct Places {
  Index n, d, wide;
  Index operator()(bool cuts_rows, Index h, Index i, Index c) const {
    return cuts_rows ? i * wide + h * d + c : h * n * d + i * d + c;
  }
};

// x y as one row of numbers
Numbers product(const Tensor& x, const Tensor& y) {
  const Numbers a(x), b(y);
  const Tensor made = matrix(a.rows(), b.columns(), [&](Index i, Index j) {
                        return total(a.columns(), [&](Index c) { return a(i, c) * b(c, j); });
                      }).tensor();
  return reshape(made, {-1});
}

// The weights (n, n) of head h
Numbers weights_of(const Form& form, const Numbers& q, const Numbers& k, const Places& at,
                   Index h) {
  const double by = divisor(form, at.wide / at.d, at.d);
  const Numbers e = matrix(at.n, at.n, [&](Index i, Index j) {
    const auto part = [&](Index c) {
      return q(0, at(form.cuts_rows, h, i, c)) * k(0, at(form.cuts_rows, h, j, c));
    };
    return std::exp(total(at.d, part) / by);
  });
  return matrix(at.n, at.n, [&](Index i, Index j) {
    const auto other = [&](Index l) { return form.is_over_queries ? e(l, j) : e(i, l); };
    return e(i, j) / total(at.n, other);
  });
}

Attempt by_loops(Form form) {
  return attended([=](const Tensor& x, const HeadMatrices& w, Index many) {
    const Index heads = form.is_single ? 1 : many, n = x.size(0), wide = x.size(1);
    const Places at{n, wide / heads, wide};
    const Numbers q = product(x, w.query), k = product(x, w.key), v = product(x, w.value);
    Numbers joined(1, n * wide);
    for (Index h = 0; h < heads; ++h) {
      const Numbers weights = weights_of(form, q, k, at, h);
      for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < at.d; ++c) {
          joined(0, at(form.joins_rows, h, i, c)) =
              total(n, [&](Index j) { return weights(i, j) * v(0, at(form.cuts_rows, h, j, c)); });
        }
      }
    }
    const Tensor rows = joined.tensor(x.shape());                                 // (n, d_model)
    return form.is_projected ? product(rows, w.output).tensor(x.shape()) : rows;  // (n, d_model)
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index heads = size > 1 ? 2 + random.randint(2) : 2, n = size + 1;
  const Index wide = heads * (heads == 2 ? 3 : 2);  // d is not sqrt(d_model)
  NamedTensors in{{"x", random.normal({n, wide})}};
  for (const char* name : {"w.query", "w.key", "w.value", "w.output"}) {
    in.push_back({name, random.normal({wide, wide}, 0, 0.7)});
  }
  in.push_back({"heads", Tensor(static_cast<double>(heads))});
  return in;
}

KnownMistake mistake(const char* name, const char* sentence, const Form& form) {
  return {name, sentence, by_library(form), by_loops(form)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("scaled by the root of d_model",
            "The scores are divided by sqrt(d_model). A head compares d = d_model / heads numbers, "
            "so it is sqrt(d); otherwise the scores are too small, the more heads the more.",
            {.scale = Form::model}),
    mistake("not scaled", "The scores of the heads are not divided by sqrt(d).",
            {.scale = Form::none}),
    mistake("divided by d", "The scores are divided by d, not by its root, or by the root twice.",
            {.scale = Form::twice}),
    mistake("split by reshape alone",
            "The heads are cut by reshape alone. They then hold parts of the sentence, not parts "
            "of each word: cut to (n, heads, d), then exchange the first two axes.",
            {.cuts_rows = false}),
    mistake("joined by reshape alone",
            "The heads are joined by reshape alone: a row of the result mixes several words. "
            "Exchange heads and words first.",
            {.joins_rows = false}),
    mistake("split and joined by reshape alone",
            "Heads are cut and joined by reshape alone. Shapes are right, but each head sees a "
            "part of the sentence, and words in different parts never meet.",
            {.cuts_rows = false, .joins_rows = false}),
    mistake("softmax over the queries",
            "Softmax runs over the queries: the columns of the weights sum to 1, the rows do not.",
            {.is_over_queries = true}),
    mistake("the output projection left out",
            "The heads are joined, but not multiplied by w.output. Without it the heads stay "
            "apart: none of the first d numbers depends on another head than head 0.",
            {.is_projected = false}),
    mistake("one head only",
            "This is attention with a single head: the rows were not split, and each word has one "
            "row of weights, not one for each head.",
            {.is_single = true})};

Tensor by_library_layers(const Tensor& x, const HeadMatrices& w, Index heads) {
  const Tensor q = split_heads(matmul(x, w.query), heads);          // (heads, n, d)
  const Tensor k = split_heads(matmul(x, w.key), heads);            // (heads, n, d)
  const Tensor v = split_heads(matmul(x, w.value), heads);          // (heads, n, d)
  return matmul(concat_heads(fused_attention(q, k, v)), w.output);  // (n, d_model)
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = attended(learn::multi_head_forward),
       .right = {attended(solution::multi_head_forward), attended(by_library_layers), by_loops({})},
       .mistakes = mistakes,
       .hints = {"Three products, three splits, attention as in 12a, one join, one product.",
                 "After the split all is as for one head, with an axis more in front: "
                 "transpose exchanges the last two axes, softmax runs along the last. d is "
                 "the last size of the split queries.",
                 "q = split_heads(matmul(x, w.query), heads), likewise k and v; weights = "
                 "softmax(matmul(q, transpose(k)) / std::sqrt(double(q.size(2)))); return "
                 "matmul(concat_heads(matmul(weights, v)), w.output)."}},
      count, arguments);
}
