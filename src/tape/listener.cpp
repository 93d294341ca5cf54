// Calls a listener during the backward pass.
#include <algorithm>

#include "tape/state.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {

Gradients Tape::backward(const Tensor& loss, BackwardListener& listener) {
  state_->find_complete();
  state_->listener = &listener;
  try {
    return backward(loss);
  } catch (...) {
    state_->listener = nullptr;
    throw;
  }
}

// A gradient is complete when the first record that used its tensor has handed on its own; that of
// a tensor that no record used, at once.
void Tape::State::find_complete() {
  std::vector<std::size_t> first_use(records.size(), records.size());
  for (std::size_t record = records.size(); record-- > 0;) {
    for (std::size_t i = 0; i < records[record].input_count; ++i) {
      if (const std::uint32_t node = input(record, i); node != nothing) first_use[node] = record;
    }
  }
  complete_at.clear();
  for (std::size_t i = 0; i < watched.size(); ++i) complete_at.emplace_back(first_use[i], i);
  std::sort(complete_at.begin(), complete_at.end());
}

void Tape::State::call_listener(std::size_t record) {
  while (!complete_at.empty() && complete_at.back().first >= record) {
    const std::size_t position = complete_at.back().second;
    complete_at.pop_back();
    listener->complete(position, gradients[position]);
  }
  listener->after_record();
}

}  // namespace tapestry
