#include <cmath>

#include "adapter_check.hpp"
#include "number_by_number.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::adapter_step) adapter_step;
}

namespace {

using Step = std::function<decltype(learn::adapter_step)>;

// Two steps, one after the other: what the first one left is what the second one moves.
Attempt stepped(const Step& step) {
  return [=](const NamedTensors& in) -> NamedTensors {
    AdaptedMap map = map_of(in, 2);
    const double rate = double{in[6].value.item()};
    const Tensor first = step(map, in[0].value, in[1].value, rate);   // (n, in)
    const Tensor second = step(map, in[0].value, in[1].value, rate);  // (n, in)
    return {
        {"w", map.w}, {"a", map.a}, {"b", map.b}, {"dx", first}, {"dx of the second step", second}};
  };
}

// What is done; the defaults are right.
struct How {
  bool scaled = true, scales_dx = true;
  bool moves_w = false, moves_a = true, moves_b = true;
  double direction = -1;
  enum { before, after_a, after_both } b_sees = before;  // the gradient of B; after_both: dx, too
  bool dx_by_w = true, dx_by_adapter = true;
  bool divides = false;  // by the number of rows
};

// ---- By the library's operations

Tensor gradient_of_map(const How& how, const AdaptedMap& map, const Tensor& dy) {  // -> (n, in)
  const double scale = how.scaled && how.scales_dx ? map.alpha / double(map.a.size(1)) : 1;
  Tensor dx = Tensor::zeros({dy.size(0), map.w.size(0)});  // (n, in)
  if (how.dx_by_w) dx = dx + matmul(dy, transpose(map.w));
  if (how.dx_by_adapter) {
    dx = dx + scale * matmul(matmul(dy, transpose(map.b)), transpose(map.a));
  }
  return dx;
}

Step by_library(How how) {
  return [=](AdaptedMap& map, const Tensor& x, const Tensor& dy, double rate) {
    const double scale = how.scaled ? map.alpha / double(map.a.size(1)) : 1;
    const double by = how.direction * rate / (how.divides ? double(x.size(0)) : 1);
    const AdaptedMap old = map;
    const Tensor to = scale * transpose(x);                         // (in, n)
    const Tensor da = matmul(to, matmul(dy, transpose(old.b)));     // (in, rank)
    if (how.moves_a) map.a = old.a + by * da;                       // (in, rank)
    const Tensor& a = how.b_sees == How::before ? old.a : map.a;    // (in, rank)
    const Tensor db = scale * matmul(transpose(matmul(x, a)), dy);  // (rank, out)
    if (how.moves_b) map.b = old.b + by * db;                       // (rank, out)
    const Tensor dx = gradient_of_map(how, how.b_sees == How::after_both ? map : old, dy);
    if (how.moves_w) map.w = old.w + by * matmul(transpose(x), dy);  // (in, out)
    return dx;                                                       // (n, in)
  };
}

// ---- Number by number

// The product of a^T and b, of a and b^T.
Numbers columns_by_columns(const Numbers& a, const Numbers& b) {
  return matrix(a.columns(), b.columns(), [&](Index i, Index j) {
    return total(a.rows(), [&](Index k) { return a(k, i) * b(k, j); });
  });
}

Numbers rows_by_rows(const Numbers& a, const Numbers& b) {
  return matrix(a.rows(), b.rows(), [&](Index i, Index j) {
    return total(a.columns(), [&](Index k) { return a(i, k) * b(j, k); });
  });
}

Numbers product(const Numbers& a, const Numbers& b) {
  return matrix(a.rows(), b.columns(), [&](Index i, Index j) {
    return total(a.columns(), [&](Index k) { return a(i, k) * b(k, j); });
  });
}

Tensor moved(const Numbers& from, double by, const Numbers& gradient) {
  return matrix(from.rows(), from.columns(),
                [&](Index i, Index j) { return from(i, j) + by * gradient(i, j); })
      .tensor();
}

Step by_loops(How how) {
  return [=](AdaptedMap& map, const Tensor& tx, const Tensor& tdy, double rate) {
    const Numbers x(tx), dy(tdy), w(map.w), a(map.a), b(map.b);
    const double full = map.alpha / double(a.columns()), scale = how.scaled ? full : 1;
    const double by = how.direction * rate / (how.divides ? double(x.rows()) : 1);
    if (how.moves_a) map.a = moved(a, by * scale, columns_by_columns(x, rows_by_rows(dy, b)));
    const Numbers seen(how.b_sees == How::before ? a.tensor() : map.a);
    if (how.moves_b) map.b = moved(b, by * scale, columns_by_columns(product(x, seen), dy));
    if (how.moves_w) map.w = moved(w, by, columns_by_columns(x, dy));
    const bool is_late = how.b_sees == How::after_both;
    const Numbers last_a(is_late ? map.a : a.tensor()), last_b(is_late ? map.b : b.tensor());
    const Numbers one = rows_by_rows(dy, w), other = rows_by_rows(rows_by_rows(dy, last_b), last_a);
    return matrix(x.rows(), x.columns(),
                  [&](Index i, Index j) {
                    const double second = other(i, j) * (how.scales_dx ? scale : 1);
                    return (how.dx_by_w ? one(i, j) : 0) + (how.dx_by_adapter ? second : 0);
                  })
        .tensor();
  };
}

// By the tape: the loss whose gradient by y is dy.
Tensor by_tape(AdaptedMap& map, const Tensor& x, const Tensor& dy, double rate) {
  const double scale = map.alpha / double(map.a.size(1));
  const Gradients d = [&] {
    Tape tape({x, map.a, map.b});
    const Tensor y = matmul(x, map.w) + scale * matmul(matmul(x, map.a), map.b);  // (n, out)
    return tape.backward(sum(y * dy));
  }();
  const Tensor da = d[map.a], db = d[map.b];  // (in, rank), (rank, out)
  map.a = map.a - rate * da;                  // (in, rank)
  map.b = map.b - rate * db;                  // (rank, out)
  return d[x];                                // (n, in)
}

KnownMistake mistake(const char* name, const char* sentence, const How& how) {
  return {name, sentence, stepped(by_library(how)), stepped(by_loops(how))};
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, width = 3 + size, out = 3 + random.randint(3);
  const Index rank = size == 1 ? 2 : 2 + random.randint(2);
  NamedTensors in = {{"x", random.normal({n, width})}, {"dy", random.normal({n, out})}};
  append_map(in, random, width, out, rank);
  in.push_back({"rate", Tensor(random.uniform({}, 0.05, 0.1))});
  return in;
}

const std::vector<KnownMistake> mistakes = {
    mistake("W is trained, too",
            "W moves as well. It has to stay as it is: then many adapters can share one model, and "
            "an optimizer needs no memory for it.",
            {.moves_w = true}),
    mistake("no scale",
            "alpha / rank is left out everywhere. What counts alpha / rank times forwards does so "
            "backwards: it stands in all three gradients.",
            {.scaled = false}),
    mistake("no scale in dx", "A and B are right. In dx the adapter's part lacks alpha / rank.",
            {.scales_dx = false}),
    mistake("B sees the new A",
            "A was moved before the gradient of B was computed, which then is that of another map. "
            "Compute both gradients first.",
            {.b_sees = How::after_a}),
    mistake("all see the new weights",
            "A was moved before the gradient of B was computed, and both before dx. Compute all "
            "gradients first, at the weights that made y.",
            {.b_sees = How::after_both}),
    mistake(
        "only B moves",
        "A stays as it was. With A fixed, B can only choose among the columns that A began with.",
        {.moves_a = false}),
    mistake("only A moves",
            "B stays as it was. B begins as zeros, so nothing would ever be learned.",
            {.moves_b = false}),
    mistake("uphill",
            "rate times the gradients is added. It has to be subtracted: the loss should become "
            "smaller.",
            {.direction = 1}),
    mistake("divided by the rows",
            "The gradients are divided by the number of rows. If the loss is a mean, dy has that "
            "already; here they are sums over the rows.",
            {.divides = true}),
    mistake("dx without the adapter",
            "dx is dy W^T alone. x went through the adapter, too, and both ways count.",
            {.dx_by_adapter = false}),
    mistake("dx without the map",
            "dx goes through the adapter alone. W is not trained, but the gradient passes through "
            "it to the layers before: a fixed map is not a border.",
            {.dx_by_w = false}),
    mistake(
        "W is trained, too, and no scale",
        "Two things at once. W moves, and has to stay; and alpha / rank is missing in all three "
        "gradients.",
        {.scaled = false, .moves_w = true})};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = stepped(learn::adapter_step),
       .right = {stepped(solution::adapter_step), stepped(by_library({})), stepped(by_loops({})),
                 stepped(by_tape)},
       .mistakes = mistakes,
       .hints = {"Compute da, db and dx first, with the weights as they are; then move map.a and "
                 "map.b. map.w is only read.",
                 "dy B^T is needed twice: matmul(dy, transpose(map.b)), (n, rank). All shapes have "
                 "to come out: da is (in, rank) like A, db (rank, out) like B.",
                 "da = s * matmul(transpose(x), matmul(dy, transpose(map.b))); db = s * "
                 "matmul(transpose(matmul(x, map.a)), dy); map.a = map.a - rate * da."}},
      count, arguments);
}
