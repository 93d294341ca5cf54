// A tape as entries with labels, and as a table.
#include <algorithm>
#include <utility>

#include "tape/state.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {
namespace {

std::string bytes_text(std::size_t bytes) {
  if (bytes < 10'000) return formatted("%zu B", bytes);
  if (bytes < 10'000'000) return formatted("%.1f KiB", static_cast<double>(bytes) / 1024);
  return formatted("%.1f MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string inputs_text(const Tape::Entry& entry) {
  std::string text;
  for (const std::size_t input : entry.inputs)
    text += (text.empty() ? "" : " ") + std::to_string(input);
  return text;
}

}  // namespace

// Not by node_of, which refuses what an operation must not read: what a checkpoint's function made,
// and views made before the tape. They are not on the tape, and a name loses no gradient.
void Tape::label(const Tensor& tensor, std::string_view name) {
  if (tensor.tape_ == state_->serial) {
    state_->labels[tensor.node_] = name;
    return;
  }
  const bool constant = tensor.tape_ == Tensor::detached_id || !tensor.defined();
  if (constant || state_->is_made_in_part(tensor)) return;
  const std::size_t* const node = state_->watched_at.find(tensor);
  if (node == nullptr || State::is_earlier_view(tensor, state_->watched[*node])) return;
  state_->labels[*node] = name;
}

std::size_t Tape::size() const { return state_->records.size(); }

std::vector<Tape::Entry> Tape::entries() const {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < size(); ++i) {
    const Record& record = state_->records[i];
    Entry entry{record.operation, "", record.shape, {}, record.saved_bytes, {}, {}};
    for (std::size_t k = 0; k < record.input_count; ++k) {
      const std::uint32_t input = state_->inputs[record.first_input + k];
      if (input != State::nothing) entry.inputs.push_back(input);
    }
    if (const auto label = state_->labels.find(i); label != state_->labels.end()) {
      entry.label = label->second;
    }
    if (i < state_->values.size()) entry.value = state_->values[i];
    if (i < state_->kept_gradients.size()) entry.gradient = state_->kept_gradients[i];
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Tape::Contribution> Tape::contributions() const { return state_->contributions; }

std::string Tape::table() const {
  const std::vector<Entry> all = entries();
  int width = 16;
  for (const Entry& entry : all) width = std::max(width, static_cast<int>(entry.operation.size()));
  std::string text = formatted("%5s  %-*s %-9s %-18s %10s  %s\n", "#", width, "operation", "inputs",
                               "shape", "saved", "label");
  std::size_t total = 0, number = 0;
  for (const Entry& entry : all) {
    text += formatted("%5zu  %-*s %-9s %-18s %10s  %s", number++, width, entry.operation.c_str(),
                      inputs_text(entry).c_str(), to_string(entry.shape).c_str(),
                      bytes_text(entry.saved_bytes).c_str(), entry.label.c_str());
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
    total += entry.saved_bytes;
  }
  return text + "saved for the backward pass: " + bytes_text(total) + "\n";
}

}  // namespace tapestry
