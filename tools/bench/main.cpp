// bench: how fast the library is on this machine, beside its peers and beside the machine's limits.
// `make bench` builds and runs it; --help tells the rest.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "clock.hpp"
#include "company.hpp"
#include "options.hpp"
#include "peers.hpp"
#include "report.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/memory.hpp"

namespace tapestry::bench {

std::size_t Result::best_peer() const {
  const auto faster = [](const Timing& a, const Timing& b) { return a.seconds < b.seconds; };
  const auto best = std::min_element(timings.begin() + 1, timings.end(), faster);
  return static_cast<std::size_t>(best - timings.begin());
}

namespace {

constexpr char memory_row[] = "memory of attention";
constexpr char busy_row[] = "busy machine, training";

std::vector<Row> choose_rows(const Options& options) {
  std::vector<Row> rows;
  add_matmul_rows(rows);
  add_softmax_rows(rows);
  add_memory_rows(rows);
  add_attention_rows(rows);
  add_model_rows(rows);
  add_models_rows(rows);
  std::erase_if(rows, [&](const Row& row) { return !options.ask_for(row.group + " " + row.name); });
  if (rows.empty() && !options.ask_for(memory_row) && !options.ask_for(busy_row)) {
    refuse("no row is called \"" + options.rows + "\" (--list names them)");
  }
  return rows;
}

std::vector<int> thread_counts(const Options& options, const Row& row) {
  const int most = threads_in_use();
  std::set<int> counts(options.threads.begin(), options.threads.end());
  if (counts.empty()) counts = {1, most};
  for (int count = 2; row.curve && options.threads.empty() && count < most; count *= 2) {
    counts.insert(count);
  }
  return {counts.begin(), counts.end()};
}

Limits& limits_for(Report& report, int threads) {
  const auto place = report.limits.lower_bound(threads);
  if (place != report.limits.end() && place->first == threads) return place->second;
  Limits* fewer = place == report.limits.begin() ? nullptr : &std::prev(place)->second;
  return report.limits.emplace(threads, Limits(threads, fewer)).first->second;
}

// Most that tensors take at once while `ours` runs, above `before` bytes.
double most_memory_mib(const Contestant& ours, double before) {
  reset_peak_memory();
  if (ours.before) ours.before();
  ours.seconds ? void(ours.seconds()) : ours.run();
  return (static_cast<double>(memory_stats().peak_bytes) - before) / (1 << 20);
}

Result measure(const Row& row, int threads, double seconds, Limits& limits) {
  use_threads_everywhere(threads);
  Result result{row, threads, {}, {}};
  const double before = static_cast<double>(memory_stats().live_bytes);
  const std::vector<Contestant> contestants = row.prepare();
  result.tensors_mib = most_memory_mib(contestants.front(), before);
  for (const Contestant& contestant : contestants) result.names.push_back(contestant.name);
  result.timings = race(contestants, threads, seconds);
  const double arithmetic = row.flops / limits.peak_gflops() / 1e9;
  const double moving = row.bytes / limits.gb_per_second(row.bytes) / 1e9;
  result.limit_seconds = std::max(arithmetic, moving);
  result.limited_by_memory = moving > arithmetic;
  return result;
}

void measure_rows(const Options& options, const std::vector<Row>& rows, Report& report) {
  std::vector<std::pair<const Row*, int>> work;
  for (const Row& row : rows) {
    for (const int threads : thread_counts(options, row)) work.emplace_back(&row, threads);
  }
  Ticker ticker(work.size());
  std::vector<Result> of_group;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto& [row, threads] = work[i];
    if (i == 0 || work[i - 1].first->group != row->group) print_heading(row->group);
    ticker.running(row->group + " " + row->name);
    of_group.push_back(measure(*row, threads, options.seconds, limits_for(report, threads)));
    ticker.clear();
    print_result(of_group.back());
    report.results.push_back(of_group.back());
    if (i + 1 < work.size() && work[i + 1].first->group == row->group) continue;
    print_means(of_group);
    of_group.clear();
  }
}

void check_writable(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (!problem && access(folder.c_str(), W_OK) != 0) {
    problem = std::error_code(errno, std::generic_category());
  }
  if (problem)
    throw Error("bench: cannot write into " + folder.string() + ": " + problem.message());
}

void write_files(Report& report, const std::filesystem::path& folder) {
  const auto said = [](const std::filesystem::path& file) { std::printf("%s\n", file.c_str()); };
  std::printf("\nwrote\n");
  write_json(report, folder / "bench.json");
  said(folder / "bench.json");
  if (draw_roofline(report, folder / "plots/bench_roofline.png")) {
    said(folder / "plots/bench_roofline.png");
  }
  if (draw_threads(report, folder / "plots/bench_threads.png")) {
    said(folder / "plots/bench_threads.png");
  }
}

void run(const Options& options) {
  const std::vector<Row> rows = choose_rows(options);
  Report report;
  report.selection = options.rows;
  if (options.list) {
    for (const Row& row : rows) std::printf("%s %s\n", row.group.c_str(), row.name.c_str());
    for (const char* const row : {memory_row, busy_row}) {
      if (options.ask_for(row)) std::printf("%s\n", row);
    }
    return;
  }
  check_writable(options.out / "plots");  // better now than after four minutes
  const std::vector<int>& asked = options.threads;
  const int most = asked.empty() ? threads_in_use() : *std::ranges::max_element(asked);
  if (options.ask_for(busy_row)) report.busy = measure_busy(most);
  const Company company;
  limits_for(report, 1);
  limits_for(report, threads_in_use());
  print_machine(report);
  if (options.ask_for(memory_row)) report.attention_memory.push_back(measure_attention_memory());
  measure_rows(options, rows, report);
  print_curves(report.results);
  print_memory(report.results);
  for (const AttentionMemory& memory : report.attention_memory) print_attention_memory(memory);
  print_busy(report.busy);
  report.company = company.processors();
  print_company(report.company);
  write_files(report, options.out);
}

}  // namespace
}  // namespace tapestry::bench

int main(int count, char** words) try {
  using namespace tapestry::bench;
  const Options options = read_options(count, words);
  give_openblas_its_best(words);
  run(options);
} catch (const tapestry::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
