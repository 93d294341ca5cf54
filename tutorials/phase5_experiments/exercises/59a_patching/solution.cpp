#include "phase5.hpp"

namespace learn {

Tensor with_patch(const Tensor& to, const Tensor& from, Index head, Index position) {
  Tensor result = to.clone();  // (heads, n, d)
  for (Index c = 0; c < to.size(2); ++c) {
    result.set({head, position, c}, double{from.at({head, position, c})});
  }
  return result;
}

Tensor restored_shares(const OpenModel& model, const Tensor& clean, const Tensor& corrupted) {
  const Tensor from = model.heads(clean), to = model.heads(corrupted);  // (heads, n, d) each
  const double clean_answer = model.answer(clean, from);
  const double corrupted_answer = model.answer(corrupted, to);
  Tensor shares = Tensor::zeros({to.size(0), to.size(1)});  // (heads, n)
  for (Index head = 0; head < to.size(0); ++head) {
    for (Index i = 0; i < to.size(1); ++i) {
      const double patched = model.answer(corrupted, with_patch(to, from, head, i));
      shares.set({head, i}, (patched - corrupted_answer) / (clean_answer - corrupted_answer));
    }
  }
  return shares;
}

}  // namespace learn
