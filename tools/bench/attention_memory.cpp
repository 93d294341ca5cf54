#include <malloc.h>

#include <fstream>
#include <string>

#include "ours.hpp"
#include "report.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/memory.hpp"

namespace tapestry::bench {
namespace {

constexpr double mib = 1 << 20;

// Resets the system's record of this process's peak size; false: it cannot.
bool reset_largest_size() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

double largest_size_mib() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word != "VmHWM:") continue;
    double kib = 0;
    file >> kib;
    return kib / 1024;
  }
  return 0;
}

}  // namespace

AttentionMemory measure_attention_memory() {
  AttentionMemory memory;
  memory.length = 16384;
  memory.depth = 64;
  memory.threads = threads_in_use();
  const Shape shape{memory.length, memory.depth};
  const Tensor q = numbers(shape), k = numbers(shape), v = numbers(shape), dy = numbers(shape);
  const Contestant both =
      ours_both_ways({q, k, v}, [=] { return fused_attention(q, k, v, Mask::causal()); }, dy);
  release_pooled_memory();
  malloc_trim(0);
  reset_peak_memory();
  const bool can_ask = reset_largest_size();
  const double tensors_before = static_cast<double>(memory_stats().live_bytes);
  const double process_before = largest_size_mib();
  both.run();
  memory.tensors_mib = (static_cast<double>(memory_stats().peak_bytes) - tensors_before) / mib;
  if (can_ask) memory.process_mib = largest_size_mib() - process_before;
  return memory;
}

}  // namespace tapestry::bench
