#include "gpt_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::gpt_block_forward) gpt_block_forward;
}

namespace {

using Block = std::function<decltype(learn::gpt_block_forward)>;

// Inputs: x and the block's twelve tensors. Results: y, and what was kept.
Attempt forward(Block block) {
  return [block = std::move(block)](const NamedTensors& in) -> NamedTensors {
    GptBlock w;
    std::size_t at = 1;
    take(in, at, w);
    BlockTrace kept;
    const Tensor y = block(w, in[0].value, kept);  // (n, d)
    return {{"y", y},
            {"kept.x", kept.x},
            {"kept.seen", kept.seen},
            {"kept.q", kept.q},
            {"kept.k", kept.k},
            {"kept.v", kept.v},
            {"kept.weights", kept.weights},
            {"kept.mixed", kept.mixed},
            {"kept.middle", kept.middle},
            {"kept.seen2", kept.seen2},
            {"kept.up", kept.up},
            {"kept.active", kept.active}};
  };
}

Attempt by_library(Slip slip) {
  return forward([=](const GptBlock& w, const Tensor& x, BlockTrace& kept) {
    return block_by_library(w, x, kept, slip);
  });
}

// Head by head, from columns of the matrices; weights by plain exponentials.
void attend_by_columns(const GptBlock& w, BlockTrace& kept, const Slip& slip) {
  const Index n = kept.x.size(0), width = kept.x.size(1) / Gpt::heads;
  std::vector<Tensor> q, k, v, all, mixed;
  for (Index head = 0; head < Gpt::heads; ++head) {
    const auto columns = [&](const Tensor& matrix) {  // (n, width)
      return matmul(kept.seen, slice(matrix, 1, head * width, (head + 1) * width));
    };
    q.push_back(columns(w.query)), k.push_back(columns(w.key)), v.push_back(columns(w.value));
    Tensor weights = Tensor::zeros({n, n});
    for (Index i = 0; i < n; ++i) {
      double total = 0;
      std::vector<double> row(static_cast<std::size_t>(n));
      for (Index j = 0; j < (slip.is_masked ? i + 1 : n); ++j) {
        double score = 0;
        for (Index c = 0; c < width; ++c) {
          score += double{q.back().at({i, c})} * double{k.back().at({j, c})};
        }
        score /= std::sqrt(static_cast<double>(width) * slip.width_of_scale);
        total += row[static_cast<std::size_t>(j)] = std::exp(score);
      }
      for (Index j = 0; j < n; ++j) weights.set({i, j}, row[static_cast<std::size_t>(j)] / total);
    }
    all.push_back(weights);
    mixed.push_back(matmul(weights, v.back()));
  }
  const auto stacked = [&](const std::vector<Tensor>& parts) {  // (heads, n, ...)
    std::vector<Tensor> raised;
    for (const Tensor& part : parts) raised.push_back(unsqueeze(part, 0));
    return concat(raised, 0);
  };
  kept.q = stacked(q), kept.k = stacked(k), kept.v = stacked(v), kept.weights = stacked(all);
  kept.mixed = concat(mixed, 1);
}

Attempt by_columns(Slip slip) {
  return forward([=](const GptBlock& w, const Tensor& x, BlockTrace& kept) {
    const auto norm = [](const Tensor& y, const Tensor& gain, const Tensor& shift) {
      const Tensor middle = y - mean(y, -1, true);  // (n, d)
      return middle / sqrt(mean(middle * middle, -1, true) + Gpt::eps) * gain + shift;
    };
    kept.x = x;
    const Tensor normed = norm(x, w.gain1, w.shift1);  // (n, d)
    kept.seen = slip.attends_to_normed ? normed : x;
    attend_by_columns(w, kept, slip);
    Tensor middle = slip.output ? matmul(kept.mixed, w.output) : kept.mixed;  // (n, d)
    if (slip.adds_input) middle = middle + (slip.adds_normed ? normed : x);
    kept.middle = middle;
    kept.seen2 = norm(middle, w.gain2, w.shift2);
    kept.up = w.up_bias + matmul(kept.seen2, w.up);  // (n, f)
    const Tensor u = std::sqrt(2 / M_PI) * (kept.up + 0.044715 * kept.up * kept.up * kept.up);
    kept.active = 0.5 * kept.up * (1 + tanh(u));
    const Tensor down = matmul(kept.active, w.down) + w.down_bias;  // (n, d)
    return slip.adds_middle ? down + middle : down;
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = 4 * size + 4, f = 2 * d + random.randint(2);
  NamedTensors in{{"x", random.normal({n, d}, 0.5)}};  // (n, d)
  append(in, random_block(random, d, f));
  return in;
}

KnownMistake mistake(const char* name, const char* sentence, const Slip& slip) {
  return {name, sentence, by_library(slip), by_columns(slip)};
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = forward(learn::gpt_block_forward),
       .right = {forward(solution::gpt_block_forward), by_library({}), by_columns({})},
       .mistakes =
           {mistake("no mask",
                    "Each word also attends to later ones. A model that is asked for the next word "
                    "then reads the answer, and cannot write a text.",
                    {.is_masked = false}),
            mistake("scaled by all columns",
                    "The scores are divided by the root of d, the width of all heads together. A "
                    "query has d / heads numbers; the root of that is the scale.",
                    {.width_of_scale = static_cast<double>(Gpt::heads)}),
            mistake("attention without its norm",
                    "Queries, keys and values are made from x. In a pre-norm block they are made "
                    "from its layer norm.",
                    {.attends_to_normed = false}),
            mistake(
                "no residual around attention",
                "The output of attention takes the place of x; it should be added to x. Without "
                "this path the gradient reaches early layers through every product.",
                {.adds_input = false}),
            mistake("no residual around the feed-forward part",
                    "The output of the feed-forward part takes the place of `middle`; it should be "
                    "added to it.",
                    {.adds_middle = false}),
            mistake(
                "the residual begins behind the norm",
                "What is added to attention's output is the norm of x. It has to be x itself, so "
                "that the sum goes through all blocks unchanged.",
                {.adds_normed = true}),
            mistake(
                "no output map",
                "The heads' outputs are joined and added as they are. The matrix `output` has to "
                "mix them first.",
                {.output = false})},
       .hints = {"Go through the list from above to below; each line is one or two calls.",
                 "In the loop over heads: matmul_forward(matrix_of(kept.q, head), "
                 "transposed(matrix_of(kept.k, head))), divided by the root of d / heads, then "
                 "masked_softmax(scores, causal_mask(n, n, 0)).",
                 "put_matrix(mixed, head, matmul_forward(weights, matrix_of(kept.v, head))) fills "
                 "(heads, n, d / heads); join_heads makes (n, d) of it."}},
      count, arguments);
}
