#include "course/one_text.hpp"

#include <cmath>

#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry {

Effect operator-(const Effect& a, const Effect& b) {
  return {a.logit - b.logit, a.log_probability - b.log_probability};
}

Effect Reader::operator()(const std::string& name, const Tensor& factors) const {
  Capture reach;
  reach.replace(layer + name, [&](const Tensor& numbers) { return numbers * factors; });
  const Tensor logits = model(ids, {}, {.need_weights = true});  // (1, length, vocabulary)
  const Tensor last = slice(logits, 1, -1, logits.size(1));      // (1, 1, vocabulary)
  return {double{last.at({0, 0, right})} - double{mean(last).item()},
          double{log_softmax(last).at({0, 0, right})}};
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

Tensor factors_without(const std::vector<Index>& heads) {
  Tensor factors = Tensor::ones({std::ssize(all_heads), 1, 1});  // (heads, 1, 1)
  for (const Index head : heads) factors.set({head, 0, 0}, 0);
  return factors;
}

Reader reader_of(const Transformer& model, const TinyTask& task, const Words& words) {
  const Words reads(words.begin(), words.end() - 1);
  return {model, next_word_batch(task.vocabulary(), {reads}).inputs,
          task.vocabulary().id(words.back())};
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

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

}  // namespace tapestry
