// One growing buffer per thread, so that packing a matrix seldom allocates.
#include <algorithm>
#include <memory>
#include <new>
#include <string>

#include "kernels/table.hpp"
#include "tapestry/error.hpp"

namespace tapestry::kernels {
namespace {

constexpr std::align_val_t line{64};  // bytes of a cache line and of the widest register

struct Free {
  void operator()(real* memory) const { ::operator delete(memory, line); }
};

struct Buffer {
  std::unique_ptr<real, Free> memory;
  Index capacity = 0;
};

thread_local Buffer buffer;

}  // namespace

real* workspace(Index n) {
  if (n <= buffer.capacity) return buffer.memory.get();
  const Index wanted = std::max(n, 2 * buffer.capacity);
  const std::size_t bytes = std::size_t(wanted) * sizeof(real);
  buffer.capacity = 0;
  buffer.memory.reset();  // freed before the new allocation: its content is not kept
  buffer.memory.reset(static_cast<real*>(::operator new(bytes, line, std::nothrow)));
  if (!buffer.memory) {
    throw Error(
        "out of memory: " + std::to_string(bytes) +
        " bytes of scratch memory for one thread. Use a smaller batch, shorter sequences or "
        "a smaller model.");
  }
  buffer.capacity = wanted;
  return buffer.memory.get();
}

}  // namespace tapestry::kernels
