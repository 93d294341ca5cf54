#include "course/one_text.hpp"

#include <algorithm>
#include <cmath>

#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry {
namespace {

Tensor last_of(const Tensor& rows) {  // (1, length, width) -> (1, 1, width)
  return slice(rows, 1, -1, rows.size(1));
}

Effect effect_of(const Tensor& logits, const Reader& reader) {
  const Tensor last = last_of(logits);  // (1, 1, vocabulary)
  const double level{mean(last).item()};
  return {double{last.at({0, 0, reader.right})} - level,
          double{log_softmax(last).at({0, 0, reader.right})},
          double{last.at({0, 0, reader.other})} - level};
}

Tensor row_of(const std::vector<double>& values) {  // (1, count)
  return Tensor({1, std::ssize(values)}, std::vector<real>(values.begin(), values.end()));
}

Tensor factors_without(const std::vector<Index>& heads) {  // (heads, 1, 1): 0 for these, else 1
  Tensor factors = Tensor::ones({std::ssize(all_heads), 1, 1});  // (heads, 1, 1)
  for (const Index head : heads) factors.set({head, 0, 0}, 0);
  return factors;
}

}  // namespace

Effect operator-(const Effect& a, const Effect& b) {
  return {a.logit - b.logit, a.log_probability - b.log_probability, a.other - b.other};
}

Effect Reader::operator()(const std::string& name, const Tensor& factors) const {
  Capture reach;
  reach.replace(layer + name, [&](const Tensor& numbers) { return numbers * factors; });
  const Tensor logits = model(ids, {}, {.need_weights = true});  // (1, length, vocabulary)
  return effect_of(logits, *this);
}

Effect Reader::with_link(Index key, const std::vector<Index>& in, double factor) const {
  const Index length = ids.shape[1];
  Tensor factors =
      Tensor::ones({std::ssize(all_heads), length, length});  // (heads, length, length)
  for (const Index head : in) factors.set({head, length - 1, key}, factor);
  return (*this)(".weights", factors);
}

Effect Reader::without_heads(const std::vector<Index>& cut) const {
  return (*this)(".heads", factors_without(cut));
}

Index other_letter(const TinyTask& task, Index right, Random& random) {
  Index letter = right;
  while (letter == right) {
    letter = task.vocabulary().id(std::string(1, static_cast<char>('a' + random.randint(16))));
  }
  return letter;
}

Reader reader_of(const Transformer& model, const TinyTask& task, const Words& words) {
  const Words reads(words.begin(), words.end() - 1);
  return {model, next_word_batch(task.vocabulary(), {reads}).inputs,
          task.vocabulary().id(words.back())};
}

HeadCut head_cut(const Reader& reader, const std::vector<Index>& heads) {
  const Transformer& model = reader.model;
  const Tensor factors = factors_without(heads);  // (heads, 1, 1)
  Capture reach;
  reach.replace(layer + ".heads", [&](const Tensor& outputs) { return outputs * factors; });
  const Tensor logits = model(reader.ids, {}, {.need_weights = true});  // (1, length, vocabulary)
  const Tensor rows = reach["blocks.1.output"];                         // (1, length, d_model)
  const double deviation = spread(last_of(rows)).deviation;
  const Effect left = effect_of(logits, reader);
  // What the norm adds is what is left of a row of zeros.
  const Tensor added = model.lm_head((*model.norm)(rows * 0));  // (1, length, vocabulary)
  return {left, deviation, (left.logit - effect_of(added, reader).logit) * deviation};
}

Index said_with_exchanged(const Reader& reader, Index key, Index other,
                          const std::vector<Index>& in) {
  const Index length = reader.ids.shape[1];
  Tensor exchange = Tensor::zeros({length, length});  // (length, length)
  for (Index k = 0; k < length; ++k) {
    exchange.set({k, k == key ? other : k == other ? key : k}, 1);
  }
  const Tensor keep = factors_without(in);  // (heads, 1, 1)
  Capture reach;
  reach.replace(layer + ".weights", [&](const Tensor& weights) {
    return weights * keep + matmul(weights, exchange) * (1.0 - keep);
  });
  // (1, length, vocabulary)
  const Tensor logits = reader.model(reader.ids, {}, {.need_weights = true});
  return argmax(last_of(logits)).values[0];
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Spread spread_of(const std::vector<double>& values) { return spread(row_of(values)); }

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

double same_order(const std::vector<double>& a, const std::vector<double>& b) {
  const auto sizes = [](const std::vector<double>& row) {
    const Tensor x = row_of(row);  // (1, keys)
    return maximum(x, -x);
  };
  return double{rank_agreement(sizes(a), sizes(b)).item()};
}

bool same_greatest(const std::vector<double>& a, const std::vector<double>& b) {
  const auto place = [](const std::vector<double>& row) {
    return std::ranges::max_element(row) - row.begin();
  };
  return place(a) == place(b);
}

RowAgreement row_agreement(const Tensor& a, const Tensor& b) {
  RowAgreement result = {0, 0};
  const Index length = a.size(0);
  for (Index row = 2; row < length; ++row) {
    std::vector<double> of_a, of_b;
    for (Index key = 0; key <= row; ++key) {
      of_a.push_back(double{a.at({row, key})});
      of_b.push_back(double{b.at({row, key})});
    }
    const double share = 1 / static_cast<double>(length - 2);
    result.correlation += correlation(of_a, of_b) * share;
    result.same_greatest += same_greatest(of_a, of_b) ? share : 0;
  }
  return result;
}

}  // namespace tapestry
