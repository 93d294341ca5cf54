// One growing buffer per thread, so that packing a matrix seldom allocates.
#include <cstdlib>
#include <memory>
#include <string>

#include "kernels/table.hpp"
#include "tapestry/error.hpp"

namespace tapestry::kernels {
namespace {

struct Free {
  void operator()(real* memory) const { std::free(memory); }
};

struct Buffer {
  std::unique_ptr<real, Free> memory;
  Index capacity = 0;
};

thread_local Buffer buffer;

}  // namespace

real* workspace(Index n) {
  if (n <= buffer.capacity) return buffer.memory.get();
  constexpr Index line = 64;  // bytes of a cache line and of the widest register
  const Index wanted = n > 2 * buffer.capacity ? n : 2 * buffer.capacity;
  const Index bytes = (wanted * Index(sizeof(real)) + line - 1) / line * line;
  buffer.capacity = 0;
  buffer.memory.reset();  // freed before the new allocation: its content is not kept
  buffer.memory.reset(static_cast<real*>(std::aligned_alloc(line, std::size_t(bytes))));
  if (!buffer.memory) {
    throw Error(
        "out of memory: " + std::to_string(bytes) +
        " bytes of scratch memory for one thread. Use a smaller batch, shorter sequences or "
        "a smaller model.");
  }
  buffer.capacity = bytes / Index(sizeof(real));
  return buffer.memory.get();
}

}  // namespace tapestry::kernels
