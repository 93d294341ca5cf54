// `tapestry doctor`: checks everything that pictures and training need.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>

#include "commands.hpp"
#include "screen.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/format.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

std::string compiler() {
#ifdef __clang__
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string kernels() {
  std::string text = kernel_set() + " (this machine can run:";
  for (const std::string& name : kernel_sets()) text += " " + name;
  return text + ")";
}

std::string threads() {
  const char* const asked = std::getenv("OMP_NUM_THREADS");
  if (asked != nullptr && *asked != '\0' && thread_count_in(asked) == 0) {
    throw Error("OMP_NUM_THREADS is " + in_quotes(asked) + ", which is not a number of threads; " +
                std::to_string(threads_in_use()) + " are used. Set a number of 1 or more.");
  }
  return std::to_string(threads_in_use()) + " in use, " +
         std::to_string(std::thread::hardware_concurrency()) + " processors";
}

std::string ranks() {
  const std::string mpi = mpi_version();
  return mpi.empty() ? "threads only; processes by make MPI=1" : "processes, by " + mpi;
}

// The same attention by every set, compared with the plain loops.
std::string attention_agrees() {
  Random random(1);
  const Tensor q = random.normal({2, 17, 8}), k = random.normal({2, 17, 8});
  const std::string chosen = kernel_set();
  use_kernel_set("reference");
  const Tensor expected = attention(q, k, k).output;
  use_kernel_set(chosen);
  const double difference = std::max(largest_difference(attention(q, k, k).output, expected),
                                     largest_difference(fused_attention(q, k, k), expected));
  if (!(difference < 1e-4)) throw Error("differs from plain loops by " + exact_text(difference));
  return "same as plain loops";
}

std::string fonts() {
  plot::Canvas canvas(60, 20);
  canvas.text({2, 15}, "attention");
  for (const plot::Colour& pixel : canvas.pixels()) {
    if (pixel.r < 128) return "built into the program";
  }
  throw Error("letters are not drawn");
}

std::string can_write(const Path& folder) {
  const Path probe = folder / ".tapestry-doctor";
  write_file_atomically("write", probe, std::span<const std::byte>());
  std::filesystem::remove(probe);
  return "can be written";
}

// Prints one line; true if all is well.
bool check(const std::string& name, const std::function<std::string()>& look) {
  try {
    print("  ok    %s %s\n", left(name, 16).c_str(), folded(look(), 25).c_str());
    return true;
  } catch (const std::exception& error) {
    print("  FAIL  %s %s\n", left(name, 16).c_str(), folded(error.what(), 25).c_str());
    return false;
  }
}

}  // namespace

void doctor() {
  int failed = 0;
  const auto look = [&](const std::string& name, const std::function<std::string()>& test) {
    if (!check(name, test)) ++failed;
  };
  look("compiler", compiler);
  look("kernels", kernels);
  look("attention", attention_agrees);
  look("threads", threads);
  look("ranks", ranks);
  look("fonts", fonts);
  look("out/plots", [] { return can_write("out/plots"); });
  look("out/checkpoints", [] { return can_write("out/checkpoints"); });
  if (failed > 0) throw Error(std::to_string(failed) + " of 8 checks failed, as listed.");
  print("all is well\n");
}

}  // namespace tapestry::command
