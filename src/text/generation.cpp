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
#include "tensor/raw.hpp"

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
              exact_text(value) + ": " + rule);
}

void check_logits(const std::vector<double>& logits) {
  bool any = false;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const bool finite = std::isfinite(logits[id]);
    if (!finite && logits[id] != -std::numeric_limits<double>::infinity()) {
      refuse("sampling_probabilities", "the logit", id, logits[id],
             "logits must be finite or -inf. Did the training diverge?");
    }
    any = any || finite;
  }
  if (!any) {
    throw Error("sampling_probabilities: none of " + std::to_string(logits.size()) +
                " logits is above -inf: there is no word to sample.");
  }
}

// The id that greedy takes: of equal logits the lowest.
std::size_t likeliest(const std::vector<double>& logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// Ids from the likeliest on; of equal logits the lower id first. They are sorted only as far as
// take() is called.
class ByLikelihood {
 public:
  explicit ByLikelihood(const std::vector<double>& logits) : ids_(logits.size()), less_{logits} {
    std::iota(ids_.begin(), ids_.end(), std::size_t{0});
    std::make_heap(ids_.begin(), ids_.end(), less_);
  }
  bool empty() const { return ids_.empty(); }
  std::size_t take() {
    std::pop_heap(ids_.begin(), ids_.end(), less_);
    const std::size_t id = ids_.back();
    ids_.pop_back();
    return id;
  }

 private:
  struct Less {
    const std::vector<double>& logits;
    bool operator()(std::size_t a, std::size_t b) const {
      return logits[a] != logits[b] ? logits[a] < logits[b] : a > b;
    }
  };
  std::vector<std::size_t> ids_;
  Less less_;
};

// The words that top_k and top_p keep; `shares` are their probabilities, not yet normalised.
std::vector<std::size_t> kept_words(const std::vector<double>& logits,
                                    const std::vector<double>& shares, const SamplingOptions& how) {
  std::vector<std::size_t> kept(shares.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  const bool first_k = how.top_k > 0 && std::cmp_less(how.top_k, kept.size());
  if (!first_k && how.top_p == 1) return kept;
  ByLikelihood order(logits);
  if (first_k) {
    kept.resize(static_cast<std::size_t>(how.top_k));
    for (std::size_t& id : kept) id = order.take();
  }
  if (how.top_p == 1) return kept;
  double enough = 0, sum = 0;
  for (const std::size_t id : kept) enough += how.top_p * shares[id];
  std::vector<std::size_t> likely;
  for (std::size_t i = 0; i < kept.size() && (i == 0 || sum < enough); ++i) {
    likely.push_back(first_k ? kept[i] : order.take());
    sum += shares[likely.back()];
  }
  return likely;
}

}  // namespace

Tensor sampling_probabilities(const Tensor& logits, const SamplingOptions& options) {
  check(options);
  const std::vector<double> values = numbers("sampling_probabilities", "the logits", logits);
  check_logits(values);
  Tensor probabilities = Tensor::zeros(logits.shape());
  const std::size_t largest = likeliest(values);
  if (options.temperature == 0) {
    raw(probabilities)[largest] = 1;
    return probabilities;
  }
  std::vector<double> shares;
  for (const double logit : values) {
    shares.push_back(std::exp((logit - values[largest]) / options.temperature));
  }
  const std::vector<std::size_t> kept = kept_words(values, shares, options);
  double sum = 0;
  for (const std::size_t id : kept) sum += shares[id];
  for (const std::size_t id : kept) raw(probabilities)[id] = static_cast<real>(shares[id] / sum);
  return probabilities;
}

Tensor without_repetition(const Tensor& logits, const Indices& ids, double penalty) {
  if (!(penalty > 0 && std::isfinite(penalty))) {
    throw Error(formatted("without_repetition: the penalty is %g: it must be above 0, and finite.",
                          penalty));
  }
  const std::vector<double> before = numbers("without_repetition", "the logits", logits);
  const Tensor result = logits.clone();
  for (const std::int32_t id : ids.values) {
    if (id < 0 || std::cmp_greater_equal(id, before.size())) {
      throw Error("without_repetition: there is no logit of id " + std::to_string(id) + ".");
    }
    const double logit = before[static_cast<std::size_t>(id)];
    raw(result)[id] = static_cast<real>(logit > 0 ? logit / penalty : logit * penalty);
  }
  return result;
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
    throw Error("generate: max_new_tokens is " + std::to_string(options.max_new_tokens) +
                ": it must be 0 or more.");
  }
  if (options.eos < -1) {
    throw Error("generate: eos is " + std::to_string(options.eos) +
                ": it must be the id of a word, or -1 for none.");
  }
  Indices ids = prompt;
  for (Index i = 0; i < options.max_new_tokens; ++i) {
    const Tensor logits = next_logits(ids);
    const double penalty = options.repetition_penalty;
    const Tensor probabilities = sampling_probabilities(
        penalty == 1 ? logits : without_repetition(logits, ids, penalty), options.sampling);
    const std::int32_t chosen = sample(probabilities, random);
    if (options.after_step) options.after_step({ids, logits, probabilities, chosen});
    ids.values.push_back(chosen);
    ids.shape = Shape{static_cast<Index>(ids.values.size())};
    if (options.stop && options.stop()) break;
    if (chosen == options.eos) break;
  }
  return ids;
}

}  // namespace tapestry
