#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <thread>

#include "course/timing.hpp"
#include "peers.hpp"
#include "report.hpp"
#include "tapestry/format.hpp"
#include "tapestry/kernels.hpp"

namespace tapestry::bench {
namespace {

std::string in_milliseconds(double seconds) {  // four digits, more before the point
  const double ms = 1e3 * seconds;
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(ms))), 0, 5);
  return formatted("%.*f", decimals, ms);
}

// The next line of a curve's table: one row of work, a column for each number of threads.
void print_curve(const std::vector<Result>& curve) {
  const Row& row = curve.front().row;
  std::printf("%-42s", (row.group + " " + row.name).c_str());
  for (const Result& result : curve) {
    std::printf("  %d: %.2fx", result.threads, result.times_one_thread());
  }
  std::printf("\n");
}

}  // namespace

void print_machine(Report& report) {
  std::printf("%s, cores: %d; %s kernels\n", processor().c_str(),
              int(std::thread::hardware_concurrency()), kernel_set().c_str());
  std::printf("peers: OpenBLAS %s (%s kernels), oneDNN %s\n", openblas_version().c_str(),
              openblas_core().c_str(), onednn_version().c_str());
  std::printf("%s\n", report.torch.c_str());
  const double alone = report.limits.at(1).peak_gflops();
  for (auto& [threads, limits] : report.limits) {
    std::printf(
        "limits, threads %2d: %.0f GFLOP/s; reads %.0f GB/s, of 16 MB again and again %.0f\n",
        threads, limits.peak_gflops(), limits.gb_per_second(bytes_beyond_caches()),
        limits.gb_per_second(1 << 24));
    if (threads == 1) continue;
    std::printf("%16s %d threads reach %.2f times one thread's multiply-adds\n", "", threads,
                limits.peak_gflops() / alone);
  }
  std::printf(
      "\nEach line: the best of many calls, caches warm, peers in turn. GF/s: 10^9\n"
      "floating point operations a second. limit: our share of what the machine can do,\n"
      "in multiply-adds (GF/s) or in reading arrays of that size (GB/s; work that also\n"
      "writes can pass 100%%). ratio: the time of the better peer over ours; above 1 we\n"
      "are faster; = means that the two differ by no more than their own best two\n"
      "rounds do. With more threads, our time on one thread is measured again, in the\n"
      "same rounds.\n");
}

void print_heading(const std::string& group) {
  std::printf("\n%-34s thr       ms       speed limit peer    ratio\n", group.c_str());
}

void print_result(const Result& result, bool named) {
  const bool memory = result.limited_by_memory;
  const std::string name = result.threads == 1 ? result.row.name
                                               : formatted("  %.2f times as fast as on 1 thread",
                                                           result.times_one_thread());
  if (result.threads > 1 && !named) std::printf("%s\n", result.row.name.c_str());
  std::printf("%-35s %2d %8s %6.1f %s %4.0f%%", name.c_str(), result.threads,
              in_milliseconds(result.ours()).c_str(),
              memory ? result.gb_per_second() : result.gflops(), memory ? "GB/s" : "GF/s",
              100 * result.share());
  if (result.has_peer()) {
    std::printf(" %-8s %4.2f%s", result.names[result.best_peer()].c_str(), result.ratio(),
                result.is_even() ? "=" : "");
  }
  std::printf("\n");
  for (std::size_t i = result.judged; i < result.names.size(); ++i) {
    std::printf("%-35s %2d %8s   not judged\n", ("  " + result.names[i]).c_str(), result.threads,
                in_milliseconds(result.timings[i].seconds).c_str());
  }
  std::fflush(stdout);
}

void print_means(const std::vector<Result>& of_a_group) {
  std::map<int, std::vector<double>> ratios;
  for (const Result& result : of_a_group) {
    if (result.has_peer()) ratios[result.threads].push_back(result.ratio());
  }
  for (const auto& [threads, of_rows] : ratios) {
    if (of_rows.size() < 2) continue;
    double logarithms = 0;
    for (const double ratio : of_rows) logarithms += std::log(ratio);
    std::printf("%-35s %2d %35s %5.2f\n", "geometric mean of the ratios", threads, "",
                std::exp(logarithms / static_cast<double>(of_rows.size())));
  }
}

void print_curves(const std::vector<Result>& results) {
  const std::vector<std::vector<Result>> found = curves(results);
  if (found.empty()) return;
  std::printf("\nthreads: how many times as fast as one\n");
  for (const std::vector<Result>& curve : found) print_curve(curve);
}

void print_answer_time(const AnswerTime& time) {
  if (time.shortest == 0) return;
  std::printf(
      "\nA thread has the answer of one on another core after %.0f to %.0f ns. The longer,\n"
      "the less a second one helps small work.\n",
      time.shortest, time.longest);
}

void print_memory(const std::vector<Result>& results) {
  bool any = false;
  for (const Result& result : results) {
    if (!result.row.memory || result.threads != 1) continue;
    if (!any) {
      std::printf(
          "\nmemory of training: most that tensors take at once (weights, what Adam remembers,\n"
          "gradients, what is saved for the backward pass)\n");
    }
    any = true;
    std::printf("%-42s  %7.1f MiB\n", result.row.name.c_str(), result.tensors_mib);
  }
}

void print_attention_memory(const AttentionMemory& memory) {
  std::printf("\nmemory of attention, both ways, one head, L%lld D%lld, above the inputs\n",
              static_cast<long long>(memory.length), static_cast<long long>(memory.depth));
  std::printf("tensors alone (output, what is saved, gradients):    %5.1f MiB\n",
              memory.tensors_mib);
  if (memory.process_mib >= 0) {
    std::printf("the whole process, scratch memory of threads (%d) too: %5.1f MiB\n",
                memory.threads, memory.process_mib);
  }
  std::printf("target: %.0f MiB\n", AttentionMemory::target_mib);
}

void print_company(double processors) {
  if (processors < 0.1) return;
  std::printf(
      "\nOther programs kept %.1f processors busy meanwhile: times of all threads, above\n"
      "all, are longer than they should be. Measure again when the machine is quiet.\n",
      processors);
}

Ticker::Ticker(std::size_t total) : total_(total), terminal_(isatty(2) == 1), start_(now()) {}

void Ticker::running(const std::string& what) {
  ++begun_;
  if (!terminal_) return;
  const double each = (now() - start_) / static_cast<double>(std::max<std::size_t>(begun_ - 1, 1));
  const double left = each * static_cast<double>(total_ - begun_ + 1);
  const std::string time = begun_ == 1 ? "" : ", " + std::to_string(std::lround(left)) + " s left";
  std::fprintf(stderr, "\r\033[K%zu/%zu%s: %.50s", begun_, total_, time.c_str(), what.c_str());
}

void Ticker::clear() const {
  if (terminal_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace tapestry::bench
