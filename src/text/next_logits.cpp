// The logits of the next word from a decoder that keeps what it has read.
#include <algorithm>
#include <utility>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

class Reader {
 public:
  Reader(const Transformer& model, Index positions, std::int32_t first)
      : model_(model), positions_(positions), first_(first) {}

  Tensor operator()(const Indices& ids) {
    if (ids.shape.ndim() != 1 || ids.values.empty()) {
      throw Error("next_logits_of: ids are " + to_string(ids.shape) +
                  ": they must be (length) with one id at least.");
    }
    if (std::cmp_greater(ids.values.size(), positions_)) return beyond(ids);
    const bool follows = ids.values.size() > read_.size() &&
                         std::equal(read_.begin(), read_.end(), ids.values.begin());
    if (!follows) forget();
    const std::vector<std::int32_t> newest(
        ids.values.begin() + static_cast<std::ptrdiff_t>(read_.size()), ids.values.end());
    const Tensor logits = read(newest);
    read_.insert(read_.end(), newest.begin(), newest.end());
    return logits;
  }

 private:
  // All caches are of other positions then.
  Tensor beyond(const Indices& ids) {
    forget();
    std::vector<std::int32_t> last(ids.values.end() - positions_, ids.values.end());
    if (first_ >= 0) last.front() = first_;
    const Tensor logits = read(last);
    forget();
    return logits;
  }

  Tensor read(const std::vector<std::int32_t>& ids) {
    const Indices batch({1, static_cast<Index>(ids.size())}, ids);
    return reshape(model_.next(batch, caches_, NextOf::last), {model_.options.vocab_size});
  }

  void forget() {
    caches_.clear();
    read_.clear();
  }

  const Transformer& model_;
  Index positions_;
  std::int32_t first_;
  std::vector<KeyValueCache> caches_;
  std::vector<std::int32_t> read_;  // what the caches hold
};

}  // namespace

NextLogits next_logits_of(const Transformer& model, Index positions, std::int32_t first) {
  if (positions < 1) {
    throw Error("next_logits_of: positions is " + std::to_string(positions) +
                ": it must be at least 1.");
  }
  return Reader(model, positions, first);
}

}  // namespace tapestry
