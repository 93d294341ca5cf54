#include <cmath>
#include <vector>

#include "course/exercise.hpp"
#include "phase6.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::tiles_backward) tiles_backward;
}

namespace {

using Backward = std::function<decltype(learn::tiles_backward)>;

Attempt gradients(const Backward& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const TiledGradients g = f(in[0].value, in[1].value, in[2].value, in[3].value, in[4].value,
                               in[5].value, Index(in[6].value.item()));
    return {{"dq", g.q}, {"dk", g.k}, {"dv", g.v}};
  };
}

enum Kind {
  right,
  no_d,
  d_of_tile,
  d_of_weights,
  no_logs,
  last_tile,
  of_ds,
  along_keys,
  filed_by_keys
};

// A number for each query, as each pair sees it: (n, 1), or (n, n) if those of a tile lie along
// its keys.
Tensor of_pairs(Kind kind, const Tensor& x, Index tile) {
  const Index n = x.size(0), tiles = n / tile;
  if (kind != along_keys) return unsqueeze(x, 1);
  const Tensor rows = reshape(x, {tiles, 1, 1, tile});               // (tiles, 1, 1, tile)
  return reshape(expand(rows, {tiles, tile, tiles, tile}), {n, n});  // (n, n)
}

// All tiles at once: what is summed over tiles of another size is the same. (length, d) each.
TiledGradients whole(Kind kind, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o,
                     const Tensor& logs, const Tensor& dout, Index tile) {
  const Index n = q.size(0);
  const Tensor s = matmul(q, transpose(k));                                         // (n, n)
  const Tensor p = kind == no_logs ? exp(s) : exp(s - of_pairs(kind, logs, tile));  // (n, n)
  const Tensor dp = matmul(dout, transpose(v));                                     // (n, n)
  Tensor d = of_pairs(kind, sum(dout * o, 1), tile);  // (n, 1) or (n, n)
  if (kind == d_of_weights) d = sum(dp, 1, true);     // (n, 1)
  if (kind == d_of_tile) {
    const Tensor of_tiles = sum(reshape(p * dp, {n, n / tile, tile}), 2, true);  // (n, tiles, 1)
    d = reshape(expand(of_tiles, {n, n / tile, tile}), {n, n});                  // (n, n)
  }
  const Tensor ds = kind == no_d ? p * dp : p * (dp - d);  // (n, n)
  // What stays if only the last tile counts.
  const Tensor late = Tensor::arange(n) >= double(kind == last_tile ? n - tile : 0);  // (n)
  const Tensor& both = kind == of_ds ? ds : p;                                        // (n, n)
  Tensor dq = matmul(ds * late, k);                                                   // (n, d)
  if (kind == filed_by_keys) {
    const Index tiles = n / tile, width = k.size(1);
    const Tensor sums = sum(reshape(ds, {tiles, tile, tiles, tile}), 0);  // (tile, tiles, tile)
    const Tensor keys = reshape(k, {tiles, tile, width});                 // (tiles, tile, d)
    dq = reshape(matmul(permute(sums, {1, 0, 2}), keys), {n, width});     // (n, d)
  }
  return {dq, matmul(transpose(ds * unsqueeze(late, 1)), q),
          matmul(transpose(both * unsqueeze(late, 1)), dout)};
}

// Row i of a and row j of b.
double dot(const Tensor& a, Index i, const Tensor& b, Index j) {
  double sum = 0;
  for (Index c = 0; c < a.size(1); ++c) sum += double{a.at({i, c})} * double{b.at({j, c})};
  return sum;
}

// Adds row j of x, times the factor, to row i.
void add(const Tensor& to, Index i, double factor, const Tensor& x, Index j) {
  for (Index c = 0; c < x.size(1); ++c) {
    to.data()[i * x.size(1) + c] += real(factor * double{x.at({j, c})});
  }
}

// Pair by pair.
TiledGradients by_pairs(Kind kind, const Tensor& q, const Tensor& k, const Tensor& v,
                        const Tensor& o, const Tensor& logs, const Tensor& dout, Index tile) {
  const Index n = q.size(0), d = q.size(1);
  TiledGradients g{Tensor::zeros({n, d}), Tensor::zeros({n, d}), Tensor::zeros({n, d})};
  const auto mixed_up = [=](Index i, Index j) { return i / tile * tile + j % tile; };
  const auto weight = [&](Index i, Index j) {
    const Index row = kind == along_keys ? mixed_up(i, j) : i;
    return std::exp(dot(q, i, k, j) - (kind == no_logs ? 0 : double{logs.at({row})}));
  };
  for (Index place = 0; place < n * n; ++place) {
    const Index i = place / n, j = place % n, first = j / tile * tile;
    const Index row = kind == along_keys ? mixed_up(i, j) : i;
    double less = kind == no_d ? 0 : dot(dout, row, o, row);
    if (kind == d_of_tile || kind == d_of_weights) less = 0;
    for (Index l = first; l < first + tile && kind == d_of_tile; ++l) {
      less += weight(i, l) * dot(dout, i, v, l);
    }
    for (Index l = 0; l < n && kind == d_of_weights; ++l) less += dot(dout, i, v, l);
    const double p = weight(i, j), ds = p * (dot(dout, i, v, j) - less);
    const Index filed = kind == filed_by_keys ? mixed_up(j, i) : i;
    if (kind != last_tile || j >= n - tile) add(g.q, filed, ds, k, j);
    if (kind == last_tile && i < n - tile) continue;
    add(g.k, j, ds, q, i);
    add(g.v, j, kind == of_ds ? ds : p, dout, i);
  }
  return g;
}

template <class F>
Attempt with(F f, Kind kind) {
  return gradients([=](const auto&... in) { return f(kind, in...); });
}

TiledGradients by_tape(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor&,
                       const Tensor&, const Tensor& dout, Index) {
  Tape tape({q, k, v});
  const Gradients g = tape.backward(matmul(softmax(matmul(q, transpose(k))), v), dout);
  return {g.at(0), g.at(1), g.at(2)};
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, with(by_pairs, kind), with(whole, kind)};
}

NamedTensors inputs(Random& random, Index size) {
  const Index tile = size < 3 ? 1 : 2, n = size < 2 ? 2 : tile * (2 + random.randint(2));
  const Index d = 2 + size / 2;
  const Tensor q = random.normal({n, d}, 0, 0.7), k = random.normal({n, d}, 0, 0.7);
  const Tensor v = random.normal({n, d});
  const Tensor s = matmul(q, transpose(k));  // (n, n)
  return {{"q", q},
          {"k", k},
          {"v", v},
          {"output", matmul(softmax(s), v)},
          {"log_sums", logsumexp(s)},
          {"d_output", random.normal({n, d})},
          {"tile", double(tile)}};
}

const std::vector<KnownMistake> mistakes = {
    known(no_d, "without D",
          "dS = P o dP. D is missing: the weights of a row sum to 1, so when one grows the "
          "others shrink, and D is what brings that in."),
    known(d_of_tile, "D of this tile alone",
          "D is the sum of P o dP over the keys of the tile. It has to be over all keys, "
          "which a tile does not see; dO_i . O_i is that sum, and is known before."),
    known(d_of_weights, "D without the weights",
          "D is the sum of the row of dP. Each number in it has to be multiplied by its "
          "weight P; dO_i . O_i has done that already."),
    known(no_logs, "exponentials in place of weights",
          "P = exp(S): nothing is divided by the sum of the row. L_i is its logarithm, and "
          "exp(S - L) divides by it."),
    known(last_tile, "overwritten by the last tile",
          "The tiles write their gradients in place of adding them, so that only the last "
          "tile counts. A query gets a part from each tile of keys, and a key from each "
          "tile of queries."),
    known(of_ds, "dV from dS",
          "dV is dS^T dO; it is P^T dO. The output is P V, so V gets its gradient "
          "through the weights, not through their gradient."),
    known(along_keys, "L and D along the keys",
          "L and D were subtracted as rows: key b of the tile got the number of query b. Each is a "
          "number per query; unsqueeze(x, 1) makes a column of it, which goes with its row."),
    known(filed_by_keys, "dQ added to the tile of the keys",
          "dK and dV are right. dS K was added up under the number of the tile of keys; it belongs "
          "to the tile of queries.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = gradients(learn::tiles_backward),
       .right = {gradients(solution::tiles_backward), gradients(by_tape), with(whole, right),
                 with(by_pairs, right)},
       .mistakes = mistakes,
       .hints =
           {"First D, a number for each query: the row sums of d_output * output. Then two "
            "loops, over tiles of keys and over tiles of queries.",
            "Keep dq, dk and dv as std::vector of tiles, zeros (tile, d) at first, and add to "
            "tile i of dq and to tile j of dk and dv.",
            "p = exp(matmul(q_i, transpose(k_j)) - L_i); ds = p * (matmul(do_i, "
            "transpose(v_j)) - D_i); dq_i + matmul(ds, k_j), dk_j + matmul(transpose(ds), q_i), "
            "dv_j + matmul(transpose(p), do_i)."}},
      count, arguments);
}
