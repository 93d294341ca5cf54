#include "tapestry/models/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

bool has(const Safetensors& file, const std::string& name) {
  return std::any_of(file.tensors.begin(), file.tensors.end(),
                     [&](const Parameter& one) { return one.name == name; });
}

Indices whole_numbers(const Safetensors& file, const char* name) {
  if (!has(file, name)) {
    throw Error("compare: the file has no \"ids\", the tokens to run the model on.");
  }
  const Tensor tensor = file[name];  // (length) or (batch, length)
  Indices result;
  result.shape = tensor.shape();
  for (const real number : tensor.values()) {
    if (!(number >= 0 && number < real(1 << 24)) || number != std::floor(number)) {
      throw Error(std::string("compare: ") + name + " must be whole numbers from 0 on.");
    }
    result.values.push_back(static_cast<std::int32_t>(number));
  }
  return result;
}

// "weights.3" is "blocks.3.attention.weights".
std::string recorded_name(const std::string& name) {
  constexpr std::string_view weights = "weights.";
  if (!name.starts_with(weights)) return name;
  return "blocks." + name.substr(weights.size()) + ".attention.weights";
}

// By how much attention weights may differ, for that many blocks before theirs.
double allowed_for(const Tensor& all_scores, const Tensor& all_weights, Index before,
                   const CompareOptions& options) {
  // (..., queries, keys) each
  const Tensor scores = all_scores.contiguous(), weights = all_weights.contiguous();
  double largest = 0;
  for (Index i = 0; i < weights.numel(); ++i) {
    if (raw(weights)[i] > 0) largest = std::max(largest, std::abs(double{raw(scores)[i]}));
  }
  constexpr double eps = std::numeric_limits<float>::epsilon();
  return std::max(options.allowed_weights,
                  static_cast<double>(before + 1) * options.allowed_roundings * eps * largest);
}

Compared compared(const std::string& name, const std::string& recorded, const Tensor& computed,
                  const Tensor& expected, double allowed) {
  // here (...) or (1, ...), there (...)
  const Tensor here = computed.contiguous(), there = expected.contiguous();
  Shape shape = here.shape();  // that of one sequence may begin with a batch of one
  if (shape.ndim() == there.ndim() + 1 && shape[0] == 1) shape = shape.removed(0);
  if (shape != there.shape()) {
    throw Error("compare: " + in_quotes(name) + " is " + to_string(there.shape()) +
                " in the file, but " + to_string(shape) + " in the model.");
  }
  const bool weights = recorded.ends_with(".attention.weights");
  Compared result{name, recorded, {}, allowed, {}, {}, {}};
  double largest = weights ? 1 : 0, most = -1;
  Index at{};
  for (Index i = 0; i < there.numel(); ++i) {
    const double one = raw(here)[i], other = raw(there)[i], apart = std::abs(one - other);
    largest = std::max(largest, std::abs(other));
    if (std::isnan(most) || !(apart > most || std::isnan(apart))) continue;
    most = apart;  // the first NaN counts as the largest
    at = i;
    result.here = one;
    result.there = other;
  }
  result.difference = std::max(most, 0.0) / std::max(largest, 1e-30);  // a NaN stays
  for (int axis = shape.ndim() - 1; axis >= 0; at /= shape[axis--]) {
    result.place.insert(result.place.begin(), at % shape[axis]);
  }
  return result;
}

}  // namespace

const Compared* Comparison::first() const {
  const auto found = std::find_if(activations.begin(), activations.end(),
                                  [](const Compared& one) { return !one.agrees(); });
  return found == activations.end() ? nullptr : &*found;
}

double Comparison::worst() const {
  double worst = 0;
  for (const Compared& one : activations) {
    const double part = one.difference / one.allowed;
    worst = std::isnan(part) ? std::numeric_limits<double>::infinity() : std::max(worst, part);
  }
  return worst;
}

Comparison compare(const Transformer& model, const Safetensors& expected,
                   const CompareOptions& options) {
  const Indices ids = whole_numbers(expected, "ids");
  const bool typed = has(expected, "token_types");
  const Indices types = typed ? whole_numbers(expected, "token_types") : Indices();
  const Capture seen;
  model(ids, {}, {.need_weights = true, .token_type_ids = typed ? &types : nullptr});
  Comparison result;
  std::set<std::string> done = {"ids", "token_types"};
  Tensor scores;     // (..., queries, keys), of the last layer that was seen
  Index before = 0;  // blocks
  for (const Parameter& record : seen.all()) {
    double allowed = options.allowed;
    if (record.name.ends_with(".attention.scores")) scores = record.value;
    if (record.name.ends_with(".attention.weights")) {
      allowed = allowed_for(scores, record.value, before++, options);
    }
    if (result.first() == nullptr) result.suspects.push_back(record.name);
    for (const Parameter& wanted : expected.tensors) {
      if (recorded_name(wanted.name) != record.name) continue;
      result.activations.push_back(
          compared(wanted.name, record.name, record.value, wanted.value, allowed));
      done.insert(wanted.name);
      if (result.first() == nullptr) result.suspects.clear();
    }
  }
  if (result.first() == nullptr) result.suspects.clear();
  for (const Parameter& wanted : expected.tensors) {
    if (!done.contains(wanted.name)) result.unknown.push_back(wanted.name);
  }
  if (!result.activations.empty()) return result;
  throw Error(
      "compare: the file has nothing to compare: logits, weights.0, or another name that Capture "
      "has, such as blocks.0.output.");
}

}  // namespace tapestry
