// Images and labels of MNIST.
#include "tapestry/io/idx.hpp"

#include "one_array.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tapestry::fuzz::read_both_ways(data, size, tapestry::read_idx, tapestry::read_idx_indices);
  return 0;
}
