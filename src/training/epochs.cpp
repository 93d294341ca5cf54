#include "tapestry/epochs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"

namespace tapestry {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw Error("Epochs: " + problem); }

// The shape of the result of take(), after all checks.
Shape taken_shape(const Shape& data, const Indices& ids) {
  ids.check("take");
  if (data.ndim() < 1) throw Error("take: data is (): it has no items.");
  for (std::size_t i = 0; i < ids.values.size(); ++i) {
    if (ids.values[i] >= 0 && ids.values[i] < data[0]) continue;
    throw Error("take: id " + std::to_string(ids.values[i]) + " at place " + std::to_string(i) +
                " is none of the " + std::to_string(data[0]) + " items of " + to_string(data) +
                ".");
  }
  std::vector<Index> sizes(ids.shape.begin(), ids.shape.end());
  sizes.insert(sizes.end(), data.begin() + 1, data.end());
  return Shape(std::span<const Index>(sizes));
}

Index width(const Shape& data) { return data.removed(0).numel(); }

}  // namespace

Epochs::Epochs(Index items, Index batch_size, std::uint64_t seed, const EpochOptions& options)
    : items_(items), batch_size_(batch_size), batches_(), seed_(seed), options_(options) {
  const std::string sizes =
      std::to_string(items) + " items in batches of " + std::to_string(batch_size);
  if (items < 1 || batch_size < 1) refuse(sizes + ": both must be at least 1.");
  if (items > std::numeric_limits<std::int32_t>::max()) {
    refuse(sizes + ": 2147483647 items are the limit.");
  }
  batches_ = items / batch_size + (!options.drop_last && items % batch_size > 0);
  if (batches_ == 0) refuse(sizes + ": none would be left with drop_last. Use smaller batches.");
}

Indices Epochs::batch(Index step) {
  if (step < 1) refuse("there is no step " + std::to_string(step) + ": they begin at 1.");
  deal((step - 1) / batches_ + 1);
  return cut((step - 1) % batches_);
}

std::vector<Indices> Epochs::epoch(Index number) {
  if (number < 1) refuse("there is no epoch " + std::to_string(number) + ": they begin at 1.");
  deal(number);
  std::vector<Indices> list;
  for (Index i = 0; i < batches_; ++i) list.push_back(cut(i));
  return list;
}

void Epochs::deal(Index epoch) {
  if (epoch == dealt_) return;
  if (options_.shuffle) {
    order_ = Random(seed_, static_cast<std::uint64_t>(epoch)).permutation(items_);
  } else if (order_.empty()) {
    order_.resize(static_cast<std::size_t>(items_));
    std::iota(order_.begin(), order_.end(), Index{0});
  }
  dealt_ = epoch;
}

Indices Epochs::cut(Index number) const {
  const Index first = number * batch_size_, last = std::min(first + batch_size_, items_);
  return {{last - first}, {order_.begin() + first, order_.begin() + last}};
}

Tensor take(const Tensor& data, const Indices& ids) {
  const Shape shape = taken_shape(data.shape(), ids);
  return reshape(embedding(reshape(data, {data.size(0), width(data.shape())}), ids), shape);
}

Indices take(const Indices& data, const Indices& ids) {
  data.check("take");
  const Shape shape = taken_shape(data.shape, ids);
  const Index size = width(data.shape);
  std::vector<std::int32_t> values;
  for (const std::int32_t id : ids.values) {
    const auto first = data.values.begin() + id * size;
    values.insert(values.end(), first, first + size);
  }
  return {shape, std::move(values)};
}

}  // namespace tapestry
