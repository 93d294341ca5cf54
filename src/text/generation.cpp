#include "tapestry/generation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

namespace tapestry {
namespace {

void check_option(const char* name, double value, bool allowed, const char* range) {
  if (allowed) return;
  throw Error(formatted("sampling_probabilities: %s is %g: it must be %s.", name, value, range));
}

void check(const SamplingOptions& options) {
  const double t = options.temperature, p = options.top_p;
  check_option("temperature", t, t >= 0 && std::isfinite(t), "0 (greedy) or more, and finite");
  check_option("top_k", static_cast<double>(options.top_k), options.top_k >= 0,
               "0 (all words) or more");
  check_option("top_p", p, p > 0 && p <= 1, "above 0, and 1 at most");
  if (t == 0 && (options.top_k != 0 || p != 1)) {
    throw Error(
        "sampling_probabilities: temperature 0 takes the likeliest word, whatever top_k and top_p "
        "are: leave them out, or take a temperature above 0.");
  }
}

// The elements of a vector over the vocabulary; throws Error for anything else.
std::vector<double> numbers(const char* operation, const char* what, const Tensor& tensor) {
  if (!tensor.defined() || tensor.ndim() != 1) {
    throw Error(std::string(operation) + ": " + what + " are " +
                (tensor.defined() ? to_string(tensor.shape()) : "undefined") +
                ": they must be (vocabulary), those of one position. Take it with slice().");
  }
  const std::vector<real> values = tensor.values();
  return std::vector<double>(values.begin(), values.end());
}

[[noreturn]] void refuse(const char* operation, const char* what, std::size_t id, double value,
                         const char* rule) {
  throw Error(std::string(operation) + ": " + what + " of id " + std::to_string(id) + " is " +
              std::to_string(value) + ": " + rule);
}

void check_logits(const std::vector<double>& logits) {
  bool any = false;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (std::isnan(logits[id]) || logits[id] > std::numeric_limits<double>::max()) {
      refuse("sampling_probabilities", "the logit", id, logits[id],
             "logits must be finite or -inf. Did the training diverge?");
    }
    any = any || std::isfinite(logits[id]);
  }
  if (!any) {
    throw Error("sampling_probabilities: none of " + std::to_string(logits.size()) +
                " logits is above -inf: there is no word to sample.");
  }
}

// Ids from the likeliest to the least likely; of equal probabilities the lower id first.
std::vector<std::size_t> by_likelihood(const std::vector<double>& logits) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  return order;
}

}  // namespace

Tensor sampling_probabilities(const Tensor& logits, const SamplingOptions& options) {
  check(options);
  const std::vector<double> values = numbers("sampling_probabilities", "the logits", logits);
  check_logits(values);
  std::vector<std::size_t> kept = by_likelihood(values);
  const double largest = values[kept[0]];
  const Index k = options.temperature == 0 ? 1 : options.top_k;
  if (k > 0) kept.resize(std::min(kept.size(), static_cast<std::size_t>(k)));

  std::vector<double> shares;  // of the words kept, not yet normalised
  const double temperature = options.temperature == 0 ? 1 : options.temperature;
  for (const std::size_t id : kept) {
    shares.push_back(std::exp((values[id] - largest) / temperature));
  }
  const double enough = options.top_p * std::accumulate(shares.begin(), shares.end(), 0.0);
  double sum = 0;
  std::size_t count = 0;
  const auto wanted = [&] { return options.top_p == 1 || count == 0 || sum < enough; };
  while (count < shares.size() && wanted()) sum += shares[count++];

  Tensor probabilities = Tensor::zeros(logits.shape());
  for (std::size_t i = 0; i < count; ++i) {
    probabilities.data()[kept[i]] = static_cast<real>(shares[i] / sum);
  }
  return probabilities;
}

std::int32_t sample(const Tensor& probabilities, Random& random) {
  const std::vector<double> shares = numbers("sample", "the probabilities", probabilities);
  for (std::size_t id = 0; id < shares.size(); ++id) {
    if (shares[id] >= 0 && std::isfinite(shares[id])) continue;
    refuse("sample", "the probability", id, shares[id], "it must be 0 or more, and finite.");
  }
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (total == 0) throw Error("sample: all probabilities are 0: there is nothing to sample.");
  const double drawn = random.uniform() * total;
  double sum = 0;
  std::size_t last = 0;  // with a probability: rounding may leave `drawn` at the end
  for (std::size_t id = 0; id < shares.size(); ++id) {
    if (shares[id] == 0) continue;
    last = id;
    sum += shares[id];
    if (drawn < sum) break;
  }
  return static_cast<std::int32_t>(last);
}

Indices generate(const NextLogits& next_logits, const Indices& prompt, Random& random,
                 const GenerationOptions& options) {
  if (prompt.shape.ndim() != 1 || prompt.values.empty()) {
    throw Error("generate: the prompt is " + to_string(prompt.shape) +
                ": it must be (length) with one id at least, if only that of <bos>.");
  }
  prompt.check("generate");
  if (options.max_new_tokens < 0) {
    throw Error("generate: length is " + std::to_string(options.max_new_tokens) +
                ": it must be 0 or more.");
  }
  Indices ids = prompt;
  for (Index i = 0; i < options.max_new_tokens; ++i) {
    const Tensor logits = next_logits(ids);
    const Tensor probabilities = sampling_probabilities(logits, options.sampling);
    const std::int32_t chosen = sample(probabilities, random);
    if (options.after_step) options.after_step({ids, logits, probabilities, chosen});
    ids.values.push_back(chosen);
    ids.shape = Shape{ids.shape[0] + 1};
    if (chosen == options.eos) break;
  }
  return ids;
}

}  // namespace tapestry
