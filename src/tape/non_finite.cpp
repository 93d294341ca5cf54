// Finds the first non-finite number on a tape.
#include "tape/non_finite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// The kinds of non-finite numbers in a record's value, and the origin of its infinities.
struct Bad {
  bool nan = false, high = false, low = false;  // a NaN, +inf, -inf
  std::size_t mask = none;                      // the mask record whose infinities reached this one

  bool any() const { return nan || high || low; }
};

Bad look_at(const Tensor& tensor) {
  Bad bad;
  for (const real x : tensor.values()) {
    bad.nan |= std::isnan(x);
    bad.high |= x == INFINITY;
    bad.low |= x == -INFINITY;
  }
  return bad;
}

// Whether a record that makes such numbers from finite ones applies a mask: a `where`, or the sum
// with a tensor that is not on the tape.
bool is_mask(const Tape::Entry& entry, const Bad& bad) {
  const bool added = entry.operation == "add" && entry.inputs.size() == 1 && !bad.high;
  return !bad.nan && (entry.operation == "where" || added);
}

std::string name_of(const std::vector<Tape::Entry>& all, std::size_t i) {
  const std::string label = all[i].label.empty() ? "" : " '" + all[i].label + "'";
  return "record " + std::to_string(i) + ", " + all[i].operation + label;
}

// "3 of its 6 numbers are NaN, 1 is infinite"
std::string bad_numbers(const Tensor& tensor) {
  Index nan = 0, infinite = 0;
  for (const real x : tensor.values()) {
    nan += std::isnan(x) ? 1 : 0;
    infinite += std::isinf(x) ? 1 : 0;
  }
  if (tensor.numel() == 1) return nan > 0 ? "it is NaN" : "it is infinite";
  const auto are = [](Index n, const char* what) {
    return std::string(n == 1 ? " is " : " are ") + what;
  };
  const Index first = nan > 0 ? nan : infinite;
  std::string text = std::to_string(first) + " of its " + std::to_string(tensor.numel()) +
                     " numbers" + are(first, nan > 0 ? "NaN" : "infinite");
  if (nan > 0 && infinite > 0) text += ", " + std::to_string(infinite) + are(infinite, "infinite");
  return text;
}

std::string tell(const std::vector<Tape::Entry>& all, std::size_t i, const Bad& bad, bool made) {
  std::string text = name_of(all, i) + ", is the first with a number that is not finite: " +
                     bad_numbers(all[i].value);
  if (bad.mask != none) {
    text += "; it was made from the infinity that " + name_of(all, bad.mask) +
            ", puts where a mask hides something";
    text += bad.nan ? ". A row with nothing left to see? softmax() gives it zeros, not NaN"
                    : ". Was the answer itself hidden?";
  }
  const bool exact = all[i].operation == "add" || all[i].operation == "multiply";
  if (made && bad.nan && exact && all[i].inputs.size() == 1) {  // finite ones never make a NaN
    text += "; it came with the other operand, which is not on the tape (0 * inf, in a mask?)";
  }
  return text;
}

using Found = std::optional<TapeSteps::NonFinite>;

Found first_bad_value(const std::vector<Tape::Entry>& all) {
  std::vector<Bad> bad(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    bad[i] = look_at(all[i].value);
    if (!bad[i].any()) continue;
    bool from_bad = false;  // from infinities: a NaN would have been the first
    for (const std::size_t input : all[i].inputs) {
      from_bad |= bad[input].any();
      if (bad[input].mask != none) bad[i].mask = bad[input].mask;
    }
    const bool is_loss = i + 1 == all.size() && all[i].value.numel() == 1;
    if (from_bad ? bad[i].nan || is_loss : !is_mask(all[i], bad[i])) {
      return {{i, false, tell(all, i, bad[i], !from_bad)}};
    }
    if (!from_bad) bad[i].mask = i;
  }
  return {};
}

Found first_bad_gradient(const std::vector<Tape::Entry>& all) {
  for (std::size_t i = all.size(); i-- > 0;) {
    if (!all[i].gradient.defined() || !look_at(all[i].gradient).any()) continue;
    std::string sources;
    for (const Tape::Entry& user : all) {
      const std::vector<std::size_t>& inputs = user.inputs;
      const bool gives = std::find(inputs.begin(), inputs.end(), i) != inputs.end();
      if (gives && user.gradient.defined()) {
        const auto number = static_cast<std::size_t>(&user - all.data());
        sources += (sources.empty() ? ", by way of " : " or ") + name_of(all, number);
      }
    }
    return {{i, true,
             "the gradient of " + name_of(all, i) +
                 ", is the first with a number that is not finite: " +
                 bad_numbers(all[i].gradient) + sources}};
  }
  return {};
}

}  // namespace

Found find_non_finite(const std::vector<Tape::Entry>& all) {
  Found value = first_bad_value(all);
  return value ? value : first_bad_gradient(all);
}

std::string Tape::first_non_finite() const {
  const std::vector<Entry> all = entries();
  if (!all.empty() && !all.front().value.defined()) {
    throw Error(
        "first_non_finite: this tape kept no values to look at. Make it with Tape(..., "
        "Tape::Keep::values).");
  }
  const Found found = find_non_finite(all);
  return found ? found->text : "";
}

}  // namespace tapestry
