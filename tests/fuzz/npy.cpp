// Arrays of NumPy.
#include "tapestry/io/npy.hpp"

#include "one_array.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tapestry::fuzz::read_both_ways(data, size, tapestry::read_npy, tapestry::read_npy_indices);
  return 0;
}
