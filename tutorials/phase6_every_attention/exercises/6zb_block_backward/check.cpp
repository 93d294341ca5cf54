#include "gpt_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::gpt_block_forward) gpt_block_forward;
decltype(learn::gpt_block_backward) gpt_block_backward;
decltype(learn::matmul_backward) matmul_backward;
decltype(learn::layer_norm_backward) layer_norm_backward;
}  // namespace solution

namespace {

using Backward = std::function<decltype(learn::gpt_block_backward)>;

// Inputs: x, dy, the block's twelve tensors, and twelve that already stand in `gradients`.
Attempt backward(Backward pass) {
  return [pass = std::move(pass)](const NamedTensors& in) -> NamedTensors {
    GptBlock w, gradients;
    std::size_t at = 2;
    take(in, at, w);
    take(in, at, gradients);
    BlockTrace kept;
    solution::gpt_block_forward(w, in[0].value, kept);
    NamedTensors results{{"dx", pass(w, kept, in[1].value, gradients)}};  // (n, d)
    static const char* const names[] = {"gain1", "shift1",  "query", "key",
                                        "value", "output",  "gain2", "shift2",
                                        "up",    "up_bias", "down",  "down_bias"};
    const char* const* name = names;
    for (Tensor* one : tensors_of(gradients)) {
      results.push_back({std::string("gradients.") + *name++, *one});
    }
    return results;
  };
}

Attempt by_tape(Slip slip, bool adds = true) {
  return backward(
      [=](const GptBlock& w, const BlockTrace& kept, const Tensor& dy, GptBlock& gradients) {
        GptBlock block = w;
        const Tensor x = kept.x.clone();
        std::vector<Tensor> watched{x};
        for (Tensor* one : tensors_of(block)) watched.push_back(*one = one->clone());
        Tape tape(watched);
        BlockTrace trace;
        const Tensor y = block_by_library(block, x, trace, slip);
        const Gradients found = tape.backward(y, dy);
        const std::vector<Tensor*> sums = tensors_of(gradients);
        for (std::size_t i = 0; i < sums.size(); ++i) {
          *sums[i] = adds ? *sums[i] + found[watched[i + 1]] : found[watched[i + 1]];
        }
        return found[x];
      });
}

// The same pass by products of whole matrices and sums, with the switches in other places.
struct BackwardPass {
  const GptBlock& w;
  const BlockTrace& kept;
  GptBlock& g;
  Slip slip = {};
  bool adds = true;

  void put(Tensor& to, const Tensor& x) const { to = adds ? to + x : x; }

  Tensor product(const Tensor& dy, const Tensor& x, const Tensor& matrix, Tensor& to) const {
    put(to, matmul(transpose(x), dy));
    return matmul(dy, transpose(matrix));
  }

  Tensor norm(const Tensor& x, const Tensor& gain, const Tensor& dy, Tensor& dgain,
              Tensor& dshift) const {
    const Tensor middle = x - mean(x, -1, true);                           // (n, d)
    const Tensor root = sqrt(mean(middle * middle, -1, true) + Gpt::eps);  // (n, 1)
    const Tensor unit = middle / root, s = dy * gain;                      // (n, d)
    put(dgain, sum(dy * unit, 0));
    put(dshift, sum(dy, 0));
    return (s - mean(s, -1, true) - unit * mean(s * unit, -1, true)) / root;
  }

  Tensor attention(const Tensor& dmixed) const {
    const auto joined = [&](const Tensor& x) {  // (heads, n, width) -> (n, d)
      return reshape(permute(x, {1, 0, 2}), kept.x.shape());
    };
    const Tensor parts = heads_of(dmixed);                        // (heads, n, width)
    const Tensor dweights = matmul(parts, transpose(kept.v));     // (heads, n, n)
    const Tensor inner = sum(kept.weights * dweights, -1, true);  // (heads, n, 1)
    const Tensor root(std::sqrt(static_cast<double>(kept.q.size(2))));
    const Tensor ds = kept.weights * (dweights - inner) / root;  // (heads, n, n)
    const Tensor from_q = product(joined(matmul(ds, kept.k)), kept.seen, w.query, g.query);
    const Tensor from_k = product(joined(matmul(transpose(ds), kept.q)), kept.seen, w.key, g.key);
    Tensor dseen =
        product(joined(matmul(transpose(kept.weights), parts)), kept.seen, w.value, g.value);
    if (slip.back_query) dseen = dseen + from_q;
    if (slip.back_key) dseen = dseen + from_k;
    return dseen;  // (n, d)
  }

  Tensor operator()(const Tensor& dy) const {
    put(g.down_bias, sum(dy, 0));
    const Tensor dactive = product(dy, kept.active, w.down, g.down);  // (n, f)
    const double c = std::sqrt(2 / M_PI);
    const Tensor u = c * (kept.up + 0.044715 * kept.up * kept.up * kept.up), t = tanh(u);
    const Tensor slope = (1 + t) / 2 + kept.up / 2 * (1 - t * t) * c *
                                           (1 + 3 * 0.044715 * kept.up * kept.up);  // (n, f)
    const Tensor dup = dactive * slope;
    put(g.up_bias, sum(dup, 0));
    Tensor dmiddle = norm(kept.middle, w.gain2, product(dup, kept.seen2, w.up, g.up), g.gain2,
                          g.shift2);  // (n, d)
    if (slip.back_middle) dmiddle = dmiddle + dy;
    const Tensor dmixed = product(dmiddle, kept.mixed, w.output, g.output);         // (n, d)
    const Tensor dx = norm(kept.x, w.gain1, attention(dmixed), g.gain1, g.shift1);  // (n, d)
    return slip.back_input ? dx + dmiddle : dx;
  }
};

Attempt by_products(Slip slip, bool adds = true) {
  return backward([=](const GptBlock& w, const BlockTrace& kept, const Tensor& dy, GptBlock& g) {
    return BackwardPass{w, kept, g, slip, adds}(dy);
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = 4 * size + 4, f = 2 * d + random.randint(2);
  NamedTensors in{{"x", random.normal({n, d}, 0.5)}, {"dy", random.normal({n, d})}};  // (n, d)
  append(in, random_block(random, d, f));
  append(in, random_block(random, d, f));
  return in;
}

KnownMistake mistake(const char* name, const char* sentence, const Slip& slip) {
  return {name, sentence, by_tape(slip), by_products(slip)};
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = backward(learn::gpt_block_backward),
       .right = {backward(solution::gpt_block_backward), by_tape({}), by_products({})},
       .mistakes =
           {mistake("no gradient around attention",
                    "dx is only what comes back through the first norm. x was also added to "
                    "attention's output, so the gradient of `middle` belongs to dx, too.",
                    {.back_input = false}),
            mistake("no gradient around the feed-forward part",
                    "The gradient of `middle` is only what comes back through the second norm. "
                    "`middle` was also added to the output, so dy belongs to it, too.",
                    {.back_middle = false}),
            mistake("dseen from the values alone",
                    "`seen` made queries, keys and values. Its gradient is the sum of all three; "
                    "here only that of the values came back.",
                    {.back_query = false, .back_key = false}),
            mistake("dseen without the queries",
                    "`seen` made queries, keys and values. The part that comes back through the "
                    "queries is missing in its gradient.",
                    {.back_query = false}),
            {"gradients overwritten",
             "The gradients replace what stood in `gradients`. They have to be added to it: "
             "several "
             "texts make one step.",
             by_tape({}, false), by_products({}, false)}},
       .hints =
           {"Begin at the end of 6za and go up, line by line. matmul_backward(dy, x, matrix) "
            "gives da, the gradient of x, and db, that of the matrix.",
            "dmiddle = dy + layer_norm_backward(kept.middle, w.gain2, Gpt::eps, dseen2).dx; "
            "then split_into_heads of the gradient of kept.mixed, and for each head 16a and 16b.",
            "join_heads(dq) goes back through w.query, join_heads(dk) through w.key, "
            "join_heads(dv) through w.value; the three da together are dseen."}},
      count, arguments);
}
