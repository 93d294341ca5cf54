// `tapestry compare`: where a model departs from the activations of another program, and why.
#include "tapestry/models/compare.hpp"

#include <algorithm>

#include "commands.hpp"
#include "course/timing.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// The names are from a file, and may have any bytes.
void print_names(const std::string& what, const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(in_quotes(name));
  print("%s\n", folded(what + ": " + (names.empty() ? "none" : joined(quoted)), 2).c_str());
}

void print_table(const Comparison& found) {
  print("%s%12s%12s\n", left("activation", 40).c_str(), "difference", "allowed");
  for (const Compared& one : found.activations) {
    print("%s%12.1e%12.1e%s\n", left(one.name, 40).c_str(), one.difference, one.allowed,
          one.agrees() ? "" : "  departs");
  }
  print("%s\n", folded("Differences are the largest, as parts of the largest expected number, of "
                       "attention weights of 1.",
                       0)
                    .c_str());
}

std::string place_of(const Compared& one) {
  const char* const axes[] = {"head ", "query ", "key "};
  const bool weights = one.recorded.ends_with(".attention.weights");
  std::string text;
  for (std::size_t i = 0; i < one.place.size(); ++i) {
    const std::size_t from_end = one.place.size() - i;
    const char* const name = weights && from_end <= 3 ? axes[3 - from_end] : "";
    text += (i == 0 ? "" : ", ") + std::string(name) + std::to_string(one.place[i]);
  }
  return text;
}

void print_departure(const Comparison& found) {
  const Compared& first = *found.first();
  print("\n%s\n", folded("The first to depart is " + first.name +
                             (first.name == first.recorded ? "" : ", " + first.recorded) + ": at " +
                             place_of(first) + " it is " + formatted("%.6g", first.here) +
                             ", but " + formatted("%.6g", first.there) + " was expected.",
                         0)
                      .c_str());
  print("%s\n",
        folded("Computed since the last that agrees: " + joined(found.suspects) + ".", 2).c_str());
}

bool print_agreeing(const std::vector<Trial>& trials) {
  bool any = false;
  for (const Trial& trial : trials) {
    if (trial.result.first() != nullptr) continue;
    any = true;
    print("%s\n", folded("All agrees with " + trial.change + ".", 2).c_str());
  }
  return any;
}

// The change with which most agrees, if that is more than without it.
void print_nearest(const Comparison& found, const std::vector<Trial>& trials) {
  const auto agreeing = [](const Comparison& one) {
    return std::count_if(one.activations.begin(), one.activations.end(),
                         [](const Compared& c) { return c.agrees(); });
  };
  const Trial* most = nullptr;
  for (const Trial& trial : trials) {
    const auto count = agreeing(trial.result);
    if (count > agreeing(most == nullptr ? found : most->result)) most = &trial;
  }
  if (most == nullptr) return;
  print("%s\n", folded("More agrees with " + most->change + "; then the first to depart is " +
                           most->result.first()->name + ".",
                       2)
                    .c_str());
}

// The changes with which all agrees; two at once only if that takes a short time.
void print_causes(const Comparison& found, const Transformer& model, const Safetensors& expected) {
  std::vector<Trial> trials;
  const double taken = seconds_of([&] { trials = try_changes(model, expected); });
  print("\nTried %zu changes of one known kind each.\n", trials.size());
  if (print_agreeing(trials)) return;
  print("None alone makes all agree.\n");
  flush();
  if (taken * static_cast<double>(trials.size()) / 2 < 20) {
    const std::vector<Trial> pairs = try_pairs_of_changes(model, expected);
    print("Tried %zu pairs of them.\n", pairs.size());
    if (print_agreeing(pairs)) return;
    print("None makes all agree.\n");
  }
  print_nearest(found, trials);
}

// Two kinds of GELU differ by less than is allowed: so what agrees may still fit badly.
void print_better_fit(const Comparison& found, const std::vector<Trial>& trials) {
  const auto best = std::min_element(
      trials.begin(), trials.end(),
      [](const Trial& a, const Trial& b) { return a.result.worst() < b.result.worst(); });
  constexpr double clearly = 8;
  if (best == trials.end() || !(found.worst() > clearly * best->result.worst())) return;
  print("%s\n", folded("But it agrees " + formatted("%.0f", found.worst() / best->result.worst()) +
                           " times as well with " + best->change + ".",
                       0)
                    .c_str());
}

}  // namespace

void compare(const CompareOptions& options) {
  std::vector<std::string> passed_over;
  const std::string architecture = read_config(options.folder).architecture;
  const Transformer model = read_model(options.folder, &passed_over);
  const Safetensors expected = read_safetensors(options.expected);
  print("%s: %s, %td layers of %td heads, width %td, %td words\n", options.folder.c_str(),
        architecture.c_str(), model.options.num_layers, model.options.num_heads,
        model.options.d_model, model.options.vocab_size);
  if (options.verbose) print_names("No weights, passed over", passed_over);
  flush();
  const Comparison found = tapestry::compare(model, expected);
  if (!found.unknown.empty()) {
    print_names("Not compared, as the model has nothing of the name", found.unknown);
  }
  print_table(found);
  if (found.first() == nullptr) {
    print("\nAll agrees.\n");
    return print_better_fit(found, try_changes(model, expected));
  }
  print_departure(found);
  flush();
  print_causes(found, model, expected);
  throw Error("the model departs from " + options.expected.string() + " at " + found.first()->name +
              ".");
}

}  // namespace tapestry::command
