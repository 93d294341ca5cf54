// From a number that is not finite back to what it was made from, element by element.
#include <algorithm>
#include <cmath>

#include "tape/made_from.hpp"
#include "tape/non_finite.hpp"
#include "tapestry/format.hpp"

namespace tapestry {
namespace {

using Entries = std::vector<Tape::Entry>;

std::string number_text(double value) {
  return std::isnan(value) ? "NaN" : formatted("%.6g", value);
}

std::string name_of(const Entries& all, std::size_t i) {
  return all[i].label.empty() ? all[i].operation + " (record " + std::to_string(i) + ")"
                              : all[i].label;
}

std::string name_of(const Entries& all, const Element& element) {
  std::string list;
  for (const Index position : place_of(all[element.record].shape, element.number)) {
    list += (list.empty() ? "" : ", ") + std::to_string(position);
  }
  return name_of(all, element.record) + (list.empty() ? "" : " [" + list + "]");
}

// ---- In words

std::string infix_of(const std::string& operation) {
  if (operation == "add") return " + ";
  if (operation == "subtract") return " - ";
  if (operation == "multiply") return " * ";
  return operation == "divide" ? " / " : "";
}

// "-inf - -inf is NaN, of masked [1, 0] and highest [1, 0]"
std::string tell_same_place(const Entries& all, const Element& made,
                            const std::vector<Element>& from) {
  const std::string& operation = all[made.record].operation;
  std::vector<std::string> numbers, names;
  for (const Element& one : from) {
    numbers.push_back(number_text(one.value));
    if (names.empty() || names.back() != name_of(all, one)) names.push_back(name_of(all, one));
  }
  if (is_of_two(operation) && from.size() == 1) {
    numbers.emplace_back("?");
    names.emplace_back("a number that is not on the tape");
  }
  const std::string infix = infix_of(operation);
  // Of a difference the tape does not say which side is missing.
  const bool is_infix =
      !infix.empty() && (numbers.back() != "?" || operation == "add" || operation == "multiply");
  std::string text = is_infix ? "" : operation + "(";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += (i == 0 ? "" : is_infix ? infix : ", ") + numbers[i];
  }
  text += (is_infix ? "" : ")") + (" is " + number_text(made.value)) + ", of ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : " and ") + names[i];
  return text;
}

// "all of them -inf", "2 of them inf, 1 of them -inf", "all of them finite"
std::string kinds(const std::vector<double>& values) {
  std::string text;
  for (const char* const kind : {"inf", "-inf"}) {
    const auto count = std::count_if(values.begin(), values.end(), [&](double value) {
      return !std::isfinite(value) && number_text(value) == kind;
    });
    if (count == 0) continue;
    if (count == std::ssize(values)) return std::string("all of them ") + kind;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " of them " + kind;
  }
  return text.empty() ? "all of them finite" : text;
}

std::string tell_many(const Entries& all, const Element& made,
                      const std::vector<std::vector<Element>>& from) {
  std::string text = all[made.record].operation + " is " + number_text(made.value);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::vector<double> values;
    for (const Element& one : from[i]) values.push_back(one.value);
    if (values.empty()) continue;
    const bool one = values.size() == 1;
    text += (i == 0 ? ", of " : " and ") +
            (one ? name_of(all, from[i].front())
                 : std::to_string(values.size()) + " numbers of " +
                       name_of(all, from[i].front().record)) +
            ", " + (one ? "which is " + number_text(values.front()) : kinds(values));
  }
  return text;
}

// ---- One step back

std::vector<std::vector<Element>> inputs_of(const Entries& all, const Element& made) {
  std::vector<std::vector<Element>> result;
  for (const std::size_t input : all[made.record].inputs) {
    const std::vector<real> values = all[input].value.values();
    std::vector<Element>& list = result.emplace_back();
    for (const Index number : made_from(all, made, input)) {
      list.push_back({input, number, double{values[static_cast<std::size_t>(number)]}});
    }
  }
  return result;
}

std::string tell(const Entries& all, const Element& made,
                 const std::vector<std::vector<Element>>& from) {
  if (from.empty()) return "it was given so";
  const bool singles = std::all_of(from.begin(), from.end(),
                                   [](const auto& elements) { return elements.size() == 1; });
  if (!is_of_same_place(all[made.record].operation) || !singles) return tell_many(all, made, from);
  std::vector<Element> each;
  for (const std::vector<Element>& elements : from) each.push_back(elements.front());
  return tell_same_place(all, made, each);
}

// The element to go on with: the last input's first infinity. There is no NaN among them, for the
// first on a tape is where the search began.
const Element* worst(const std::vector<std::vector<Element>>& from) {
  const Element* found = nullptr;
  for (const std::vector<Element>& elements : from) {
    const auto bad = std::find_if(elements.begin(), elements.end(),
                                  [](const Element& one) { return !std::isfinite(one.value); });
    if (bad != elements.end()) found = &*bad;
  }
  return found;
}

// A NaN, if there is one: the infinities beside it may be those of a mask.
Element first_bad(std::size_t record, const Tensor& tensor) {
  const std::vector<real> values = tensor.values();
  auto bad = std::find_if(values.begin(), values.end(), [](real x) { return std::isnan(x); });
  if (bad == values.end()) {
    bad = std::find_if(values.begin(), values.end(), [](real x) { return !std::isfinite(x); });
  }
  return {record, bad - values.begin(), double{*bad}};
}

TapeSteps::Cause cause(const Entries& all, const Element& of, bool in_gradient, std::string why) {
  return {of.record, in_gradient, place_of(all[of.record].shape, of.number), of.value,
          std::move(why)};
}

// The first contribution that is not finite there, and the gradient that it was made from: that
// came earlier, and so is finite.
std::vector<TapeSteps::Cause> gradient_causes(
    const Entries& all, const Element& bad, const std::vector<Tape::Contribution>& contributions) {
  const auto at = [](const Tensor& x, Index number) {
    return double{x.values()[static_cast<std::size_t>(number)]};
  };
  const auto guilty =
      std::find_if(contributions.begin(), contributions.end(), [&](const Tape::Contribution& one) {
        return one.to == bad.record && !std::isfinite(at(one.added, bad.number));
      });
  if (guilty == contributions.end()) {
    return {cause(all, bad, true, "finite contributions add up to it, or it was the seed")};
  }
  const Tape::Entry& giver = all[guilty->from];
  const std::string name = name_of(all, guilty->from);
  std::vector<TapeSteps::Cause> causes = {cause(all, bad, true,
                                                "the backward pass of " + name + " adds " +
                                                    number_text(at(guilty->added, bad.number)) +
                                                    " to it")};
  if (giver.shape != all[bad.record].shape) return causes;
  const double dy = at(giver.gradient, bad.number);
  causes.push_back(cause(all, {guilty->from, bad.number, dy}, true,
                         "its gradient is finite, so it is the slope of " + giver.operation +
                             " that is not, where " + name_of(all, bad.record) + " is " +
                             number_text(at(all[bad.record].value, bad.number)) + " and " + name +
                             " is " + number_text(at(giver.value, bad.number))));
  return causes;
}

}  // namespace

std::vector<TapeSteps::Cause> causes_of(const TapeSteps::NonFinite& found, const Entries& all,
                                        const std::vector<Tape::Contribution>& contributions) {
  const Tape::Entry& entry = all[found.record];
  Element bad = first_bad(found.record, found.in_gradient ? entry.gradient : entry.value);
  if (found.in_gradient) return gradient_causes(all, bad, contributions);
  std::vector<TapeSteps::Cause> causes;
  for (;;) {
    const std::vector<std::vector<Element>> from = inputs_of(all, bad);
    causes.push_back(cause(all, bad, false, tell(all, bad, from)));
    const Element* const next = worst(from);
    if (next == nullptr) return causes;
    bad = *next;
  }
}

}  // namespace tapestry
