#include "forms.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::matmul_backward) matmul_backward;
}

namespace {

using Backward = std::function<decltype(learn::matmul_backward)>;

Attempt both(const Backward& backward) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const MatmulGradients found = backward(in[0].value, in[1].value, in[2].value);
    return {{"da", found.da}, {"db", found.db}};
  };
}

Attempt tried(const Backward& backward) {
  return squares_first(both(backward), both(solution::matmul_backward));
}

Tensor t(const Tensor& x) { return transpose(x); }

// By loops: each product of the forward pass is one use of two numbers. `add` says what a gradient
// becomes by a use, at (i, k, j).
Backward by_uses(void (*use)(MatmulGradients& g, const Tensor& dc, const Tensor& a, const Tensor& b,
                             Index i, Index k, Index j)) {
  return [=](const Tensor& dc, const Tensor& a, const Tensor& b) {
    MatmulGradients g{Tensor::zeros(a.shape()), Tensor::zeros(b.shape())};  // (m, k), (k, n)
    for (Index i = 0; i < a.size(0); ++i) {
      for (Index k = 0; k < a.size(1); ++k) {
        for (Index j = 0; j < b.size(1); ++j) use(g, dc, a, b, i, k, j);
      }
    }
    return g;
  };
}

void add(Tensor& x, Index i, Index j, double value) { x.set({i, j}, double{x.at({i, j})} + value); }

using T = Tensor;

NamedTensors inputs(Random& random, Index size) {
  const Index s = size + 1, m = s + 2, n = s + 1 + (size > 1 ? 2 * random.randint(2) : 0);
  return {{"dc", random.normal({s, s}) + 0.3},      {"a", random.normal({s, s}) + 0.3},
          {"b", random.normal({s, s}) + 0.3},       {"dc, not square", random.normal({m, n})},
          {"a, not square", random.normal({m, s})}, {"b, not square", random.normal({s, n})}};
}

const std::vector<KnownMistake> mistakes = {
    {"b not transposed",
     "da is dc times b; it has to be dc times the transpose of b. The sum runs over j, which is "
     "the column of both dc and b. db is right.",
     tried([](const T& dc, const T& a, const T& b) {
       return MatmulGradients{matmul(dc, b), matmul(t(a), dc)};
     }),
     tried(by_uses(
         [](MatmulGradients& g, const T& dc, const T& a, const T& b, Index i, Index k, Index j) {
           add(g.da, i, k, dc.at({i, j}) * b.at({j, k}));
           add(g.db, k, j, dc.at({i, j}) * a.at({i, k}));
         }))},
    {"a not transposed",
     "db is a times dc; it has to be the transpose of a times dc. The sum runs over i, which is "
     "the row of both a and dc. da is right.",
     tried([](const T& dc, const T& a, const T& b) {
       return MatmulGradients{matmul(dc, t(b)), matmul(a, dc)};
     }),
     tried(by_uses(
         [](MatmulGradients& g, const T& dc, const T& a, const T& b, Index i, Index k, Index j) {
           add(g.da, i, k, dc.at({i, j}) * b.at({k, j}));
           add(g.db, k, j, dc.at({i, j}) * a.at({k, i}));
         }))},
    {"nothing transposed",
     "da is dc times b, and db is a times dc. One factor of each has to be transposed: b in da, "
     "and a in db.",
     tried([](const T& dc, const T& a, const T& b) {
       return MatmulGradients{matmul(dc, b), matmul(a, dc)};
     }),
     tried(by_uses(
         [](MatmulGradients& g, const T& dc, const T& a, const T& b, Index i, Index k, Index j) {
           add(g.da, i, k, dc.at({i, j}) * b.at({j, k}));
           add(g.db, k, j, dc.at({i, j}) * a.at({k, i}));
         }))},
    {"da and db exchanged",
     "Both gradients are right, but what stands as da is db, and the other way round.",
     tried([](const T& dc, const T& a, const T& b) {
       return MatmulGradients{matmul(t(a), dc), matmul(dc, t(b))};
     }),
     tried(by_uses(
         [](MatmulGradients& g, const T& dc, const T& a, const T& b, Index i, Index k, Index j) {
           add(g.db, i, k, dc.at({i, j}) * b.at({k, j}));
           add(g.da, k, j, dc.at({i, j}) * a.at({i, k}));
         }))},
    {"dc on the wrong side",
     "The right matrices are transposed, but dc stands on the wrong side of both products. The "
     "order of a matrix product counts: da is dc times b transposed.",
     tried([](const T& dc, const T& a, const T& b) {
       return MatmulGradients{matmul(t(b), dc), matmul(dc, t(a))};
     }),
     tried(by_uses(
         [](MatmulGradients& g, const T& dc, const T& a, const T& b, Index i, Index k, Index j) {
           add(g.da, k, j, b.at({i, k}) * dc.at({i, j}));
           add(g.db, i, k, dc.at({i, j}) * a.at({k, j}));
         }))},
    {"db with dc in front",
     "db is dc times the transpose of a; it has to be the transpose of a times dc. The order of a "
     "matrix product counts: in db_kj, k has to come from a. da is right.",
     tried([](const T& dc, const T& a, const T& b) {
       return MatmulGradients{matmul(dc, t(b)), matmul(dc, t(a))};
     }),
     tried(by_uses(
         [](MatmulGradients& g, const T& dc, const T& a, const T& b, Index i, Index k, Index j) {
           add(g.da, i, k, dc.at({i, j}) * b.at({k, j}));
           add(g.db, i, k, dc.at({i, j}) * a.at({k, j}));
         }))},
    {"gradients overwritten",
     "Each use of a number overwrites the gradient from the use before, so that only the last is "
     "left. A number that is used several times collects all of them: += and not =.",
     tried(by_uses(
         [](MatmulGradients& g, const T& dc, const T& a, const T& b, Index i, Index k, Index j) {
           g.da.set({i, k}, dc.at({i, j}) * b.at({k, j}));
           g.db.set({k, j}, dc.at({i, j}) * a.at({i, k}));
         })),
     tried([](const T& dc, const T& a, const T& b) {
       const Index m = a.size(0), n = b.size(1);
       return MatmulGradients{matmul(slice(dc, 1, n - 1, n), t(slice(b, 1, n - 1, n))),
                              matmul(t(slice(a, 0, m - 1, m)), slice(dc, 0, m - 1, m))};
     })}};

MatmulGradients by_tape(const Tensor& dc, const Tensor& a, const Tensor& b) {
  Tape tape({a, b});
  const Gradients gradients = tape.backward(sum(matmul(a, b) * dc));
  return {gradients[a], gradients[b]};
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = tried(learn::matmul_backward),
       .right = {tried(solution::matmul_backward), tried(by_tape),
                 tried(by_uses([](MatmulGradients& g, const T& dc, const T& a, const T& b, Index i,
                                  Index k, Index j) {
                   add(g.da, i, k, dc.at({i, j}) * b.at({k, j}));
                   add(g.db, k, j, dc.at({i, j}) * a.at({i, k}));
                 }))},
       .mistakes = mistakes,
       .hints =
           {"Write down the indices of each formula below the matrices, as for c_ij = a_ik "
            "b_kj: in a product the inner two are equal. Which matrix has to be turned?",
            "In da_ik = sum of dc_ij b_kj, dc is as it is, and b has to be read as (j, k): its "
            "transpose. For db_kj, a has to be read as (k, i).",
            "da = matmul(dc, transpose(b)); db = matmul(transpose(a), dc)"}},
      count, arguments);
}
