// Images and labels of MNIST.
#include "tapestry/io/idx.hpp"

#include <vector>

#include "fuzz.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::File input(fuzz::text_of(data, size));
  Tensor tensor;
  Indices indices;
  const bool numbers = fuzz::done([&] { tensor = read_idx(input.path()); });
  const bool whole = fuzz::done([&] { indices = read_idx_indices(input.path()); });
  if (numbers) fuzz::require(tensor.count() <= Index(size), "no more numbers than bytes");
  if (!numbers || !whole) return 0;
  fuzz::require(tensor.shape() == indices.shape, "one shape, however it is read");
  const std::vector<real> values = tensor.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    fuzz::require(double{values[i]} == indices.values[i], "the same number, however it is read");
  }
  return 0;
}
