#include "phase4.hpp"

namespace learn {

NextWords next_words(const Indices& text) {
  const Index rows = text.shape[0], n = text.shape[1];
  std::vector<std::int32_t> inputs, targets;
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i + 1 < n; ++i) {
      const auto at = static_cast<std::size_t>(row * n + i);
      const std::int32_t next = text.values[at + 1];
      inputs.push_back(text.values[at]);
      targets.push_back(next == 0 ? -1 : next);
    }
  }
  return {Indices({rows, n - 1}, inputs), Indices({rows, n - 1}, targets)};
}

}  // namespace learn
