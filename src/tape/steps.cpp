// A tape as steps.
#include <algorithm>
#include <utility>

#include "tape/non_finite.hpp"
#include "tapestry/error.hpp"
#include "tapestry/tape_steps.hpp"

namespace tapestry {
namespace {

TapeSteps::Record record_of(Tape::Entry entry) {
  TapeSteps::Record record;
  record.summary = summary(entry.value);
  record.operation = std::move(entry.operation);
  record.label = std::move(entry.label);
  record.inputs = std::move(entry.inputs);
  record.shape = entry.shape;
  record.value = std::move(entry.value);
  record.gradient = std::move(entry.gradient);
  record.saved_bytes = entry.saved_bytes;
  return record;
}

// Binds each line to its record, and each record to the line that it is part of.
void bind_lines(TapeSteps& steps, const std::vector<ShownLine>& lines) {
  for (const ShownLine& line : lines) {
    steps.lines.push_back({line.text, line.label});
    if (line.label.empty()) continue;
    const auto found = std::find_if(
        steps.records.begin(), steps.records.end(),
        [&](const TapeSteps::Record& one) { return one.label == line.label && !one.line; });
    if (found == steps.records.end()) continue;
    found->line = steps.lines.size() - 1;
    steps.lines.back().record = static_cast<std::size_t>(found - steps.records.begin());
  }
  std::optional<std::size_t> line;
  for (auto record = steps.records.rbegin(); record != steps.records.rend(); ++record) {
    if (record->operation == "watched") break;
    if (record->line) line = record->line;
    record->line = line;
  }
}

// Every record that had a gradient when the pass came to it.
std::vector<TapeSteps::BackwardStep> backward_steps(
    const std::vector<TapeSteps::Record>& records,
    const std::vector<Tape::Contribution>& contributions) {
  std::vector<TapeSteps::BackwardStep> steps;
  auto next = contributions.begin();
  for (std::size_t i = records.size(); i-- > 0;) {
    if (records[i].operation == "watched" || !records[i].gradient.defined()) continue;
    steps.push_back({i});
    for (; next != contributions.end() && next->from == i; ++next) {
      steps.back().gives.push_back({next->to, next->added, next->sum});
    }
  }
  return steps;
}

}  // namespace

TapeSteps tape_steps(const Tape& tape, const std::vector<ShownLine>& lines) {
  std::vector<Tape::Entry> entries = tape.entries();
  if (!entries.empty() && !entries.front().value.defined()) {
    throw Error(
        "tape_steps: this tape kept no values to show. Make it with Tape(..., "
        "Tape::Keep::values).");
  }
  TapeSteps steps;
  const std::vector<Tape::Contribution> contributions = tape.contributions();
  steps.non_finite = find_non_finite(entries);
  if (steps.non_finite) {
    steps.non_finite->causes = causes_of(*steps.non_finite, entries, contributions);
  }
  for (Tape::Entry& entry : entries) steps.records.push_back(record_of(std::move(entry)));
  steps.backward = backward_steps(steps.records, contributions);
  bind_lines(steps, lines);
  return steps;
}

}  // namespace tapestry
