#include <cmath>

#include "number_by_number.hpp"
#include "phase7_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::direct_contributions) direct_contributions;
}

namespace {

using Contributions = std::function<decltype(learn::direct_contributions)>;

Attempt of_heads(const Contributions& function) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const SeenAttention layer = {in[0].value, in[1].value, in[2].value, in[3].value};
    const ModelEnd end = {in[4].value, in[5].value, double{in[6].value.item()}, in[7].value};
    NamedTensors results;
    for (std::size_t i = 8; i < in.size(); ++i) {
      const TokenIds ids = tokens_of(in[i].value);
      results.push_back({"for " + in[i].name, function(layer, end, ids.at(0), ids.at(1))});
    }
    return results;
  };
}

// What is done; the defaults are right.
struct How {
  enum { last, first, all, as_key, own_value } position = last;
  enum { of_head, dealt, transposed } rows = of_head;
  enum { held, none, of_head_alone, centred } scale = held;
  bool takes_gain = true, adds_bias = false;
  double token = 1, against = -1;  // what the two logits count
};

// ---- Number by number

Index row_of_w_o(const How& how, Index h, Index c, Index heads, Index d) {
  return how.rows == How::dealt ? c * heads + h : h * d + c;
}

double mixed(const How& how, const SeenAttention& x, Index h, Index c) {
  const Index n = x.values.size(1);
  const auto value = [&](Index j) { return double{x.values.at({h, j, c})}; };
  const auto weight = [&](Index i, Index j) { return double{x.weights.at({h, i, j})}; };
  if (how.position == How::own_value) return value(n - 1);
  return total(n, [&](Index j) {
    if (how.position == How::as_key) return weight(j, n - 1) * value(j);
    if (how.position == How::first) return weight(0, j) * value(j);
    if (how.position == How::last) return weight(n - 1, j) * value(j);
    return value(j) * total(n, [&](Index i) { return weight(i, j); }) / double(n);
  });
}

// What a head writes (d_model), and what the norm makes of it.
std::vector<double> written(const How& how, const SeenAttention& x, Index h) {
  const Index heads = x.values.size(0), d = x.values.size(2), d_model = x.b_o.size(0);
  std::vector<double> result;
  for (Index k = 0; k < d_model; ++k) {
    result.push_back(total(d, [&](Index c) {
      const Index row = row_of_w_o(how, h, c, heads, d);
      const double w = how.rows == How::transposed ? x.w_o.at({k, h * d + c}) : x.w_o.at({row, k});
      return mixed(how, x, h, c) * w;
    }));
    if (how.adds_bias) result.back() += x.b_o.at({k});
  }
  return result;
}

double scale_of(const How& how, const std::vector<double>& row, double eps) {
  if (how.scale == How::none) return 1;
  const auto d = static_cast<double>(row.size());
  double mean = 0, square = 0;
  for (const double x : row) mean += how.scale == How::centred ? x / d : 0;
  for (const double x : row) square += (x - mean) * (x - mean) / d;
  return 1 / std::sqrt(square + eps);
}

Contributions by_numbers(How how) {
  return [=](const SeenAttention& x, const ModelEnd& end, Index token, Index against) {
    const Index heads = x.values.size(0), n = x.values.size(1), d_model = x.b_o.size(0);
    Tensor result = Tensor::zeros({heads});  // (heads)
    for (Index h = 0; h < heads; ++h) {
      const std::vector<double> row = written(how, x, h);
      const bool is_alone = how.scale == How::of_head_alone;
      std::vector<double> stream = row;
      for (Index c = 0; c < d_model && !is_alone; ++c) {
        stream[std::size_t(c)] = end.stream.at({how.position == How::first ? 0 : n - 1, c});
      }
      const double scale = scale_of(how, stream, end.eps);
      result.set({h}, total(d_model, [&](Index c) {
                   const double gain = how.takes_gain ? double{end.gain.at({c})} : 1;
                   const double one = how.token * end.unembedding.at({c, token});
                   const double other = how.against * end.unembedding.at({c, against});
                   return row[std::size_t(c)] * scale * gain * (one + other);
                 }));
    }
    return result;
  };
}

// ---- All heads at once

Tensor mixed_by_tensors(const How& how, const SeenAttention& x) {  // -> (heads, 1, d)
  const Index n = x.values.size(1);
  if (how.position == How::own_value) return slice(x.values, 1, n - 1, n);
  const Tensor weights = how.position == How::as_key ? transpose(x.weights) : x.weights;
  const Tensor all = matmul(weights, x.values);  // (heads, n, d)
  if (how.position == How::all) return mean(all, 1, true);
  return how.position == How::first ? slice(all, 1, 0, 1) : slice(all, 1, n - 1, n);
}

Tensor rows_by_heads(const How& how, const SeenAttention& x) {  // -> (heads, d, d_model)
  const Index heads = x.values.size(0), d = x.values.size(2), d_model = x.b_o.size(0);
  if (how.rows == How::dealt) return transpose(reshape(x.w_o, {d, heads, d_model}), 0, 1);
  return reshape(how.rows == How::transposed ? transpose(x.w_o) : x.w_o, {heads, d, d_model});
}

Contributions by_tensors(How how) {
  return [=](const SeenAttention& x, const ModelEnd& end, Index token, Index against) {
    const Index n = x.values.size(1), i = how.position == How::first ? 0 : n - 1;
    Tensor rows = squeeze(matmul(mixed_by_tensors(how, x), rows_by_heads(how, x)), 1);
    if (how.adds_bias) rows = rows + x.b_o;                       // (heads, d_model)
    Tensor of = slice(end.stream, 0, i, i + 1);                   // (1, d_model)
    if (how.scale == How::of_head_alone) of = rows;               // (heads, d_model)
    if (how.scale == How::centred) of = of - mean(of, -1, true);  // (1, d_model)
    const Tensor root = sqrt(mean(of * of, -1, true) + end.eps);  // (1 or heads, 1)
    if (how.scale != How::none) rows = rows / root;               // (heads, d_model)
    if (how.takes_gain) rows = rows * end.gain;                   // (heads, d_model)
    const auto logits = [&](Index id) {                           // (heads)
      return squeeze(matmul(rows, slice(end.unembedding, 1, id, id + 1)), 1);
    };
    return how.token * logits(token) + how.against * logits(against);
  };
}

KnownMistake mistake(const char* name, const char* sentence, const How& how) {
  return {name, sentence, of_heads(by_numbers(how)), of_heads(by_tensors(how))};
}

// Two pairs of tokens: between one pair the bias may happen to make no difference. w_o is square,
// so that its columns could be taken for rows. The stream is what was there before, whose mean is
// far from 0, plus what the heads and the bias write.
NamedTensors inputs(Random& random, Index size) {
  const Index heads = size < 3 ? size : 2 + random.randint(2), n = size + 1, d = 2 + size / 2;
  const Index d_model = heads * d, tokens = size + 2;
  const Tensor weights = softmax(random.normal({heads, n, n}));  // (heads, n, n)
  const Tensor values = random.normal({heads, n, d}) + 0.5;      // (heads, n, d)
  const Tensor w_o = random.normal({d_model, d_model});          // (heads d, d_model)
  const Tensor b_o = random.normal({d_model});                   // (d_model)
  const Tensor joined = reshape(transpose(matmul(weights, values), 0, 1), {n, d_model});
  const Tensor before = random.normal({n, d_model}, 6, 2) * random.uniform({n, 1}, 0.7, 2);
  const Index token = random.randint(tokens), against = (token + 1) % tokens;
  NamedTensors in = {{"weights", weights},
                     {"values", values},
                     {"w_o", w_o},
                     {"b_o", b_o},
                     {"stream", before + matmul(joined, w_o) + b_o},
                     {"gain", random.uniform({d_model}, 0.5, 2)},
                     {"eps", Tensor(0.1)},
                     {"unembedding", random.normal({d_model, tokens})},
                     {"token, against", tensor_of({token, against})}};
  if (size > 1)
    in.push_back({"two others", tensor_of({(token + 2) % tokens, (token + 3) % tokens})});
  return in;
}

const std::vector<KnownMistake> mistakes = {
    mistake("no scale",
            "What the heads write is not multiplied by the norm's scale. The unembedding reads the "
            "stream behind the norm: without the scale the contributions are in no unit of logits, "
            "and do not add up to their difference.",
            {.scale = How::none}),
    mistake(
        "each head normalised alone",
        "The norm is applied to what each head writes. Then every head is as large as any other, "
        "however little it wrote. The scale is that of the whole stream, the same for all heads.",
        {.scale = How::of_head_alone}),
    mistake("divided by the deviation",
            "The mean was subtracted before the stream was squared. The last norm is an RMS norm: "
            "its scale is made of the numbers as they are.",
            {.scale = How::centred}),
    mistake("no gain",
            "The norm's gain is left out. The unembedding reads what the norm makes, gain and all.",
            {.takes_gain = false}),
    mistake("rows dealt out in turn",
            "Head h got rows h, h + heads, h + 2 heads, ... of w_o. Its rows are neighbours: those "
            "from h d on.",
            {.rows = How::dealt}),
    mistake("columns of w_o in place of rows",
            "Each head got its columns of w_o, not its rows. Rows belong to what the heads have "
            "mixed, columns to the residual stream.",
            {.rows = How::transposed}),
    mistake("the bias counted for each head",
            "b_o is added to what each head writes. It is added once, and belongs to no head: what "
            "it contributes has a line of its own, or the sum has it as often as there are heads.",
            {.adds_bias = true}),
    mistake("the first position",
            "Everything is read at the first position. The next token is said at the last one.",
            {.position = How::first}),
    mistake(
        "the mean over all positions",
        "What a head writes is averaged over all positions. The logits of the last position read "
        "only what was written there.",
        {.position = How::all}),
    mistake("weights read by columns",
            "The weights are those with which all queries read the last token. A row of weights "
            "belongs to a query: take the last row, not the last column.",
            {.position = How::as_key}),
    mistake("the weights are not used",
            "Each head's value at the last position was taken, as if it looked only at that. It "
            "writes a mixture of all values, by its weights.",
            {.position = How::own_value}),
    mistake("one logit only",
            "This is what each head adds to the logit of `token`. A head that raises all logits "
            "changes nothing; subtract what it adds to that of `against`.",
            {.against = 0}),
    mistake("the wrong sign",
            "The logit of `token` is subtracted from that of `against`. A head that speaks for "
            "`token` has to get a number above 0.",
            {.token = -1, .against = 1}),
    mistake("no scale and no gain",
            "Two things, both of the norm. Neither its scale nor its gain is there; without them, "
            "what the heads write is not what the unembedding reads.",
            {.scale = How::none, .takes_gain = false})};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = of_heads(learn::direct_contributions),
       .right = {of_heads(solution::direct_contributions), of_heads(by_numbers({})),
                 of_heads(by_tensors({}))},
       .mistakes = mistakes,
       .hints = {"The scale is one number for all heads: compute it first, of the last row of "
                 "end.stream. Then a loop over heads.",
                 "For head h: the last row of its weights times its values, (1, d); that times "
                 "slice(layer.w_o, 0, h * d, h * d + d), (1, d_model).",
                 "Then the sum over c of written(c) * scale * end.gain.at({c}) * "
                 "(end.unembedding.at({c, token}) - end.unembedding.at({c, against}))."}},
      count, arguments);
}
