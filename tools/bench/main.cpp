// bench: how fast the library is on this machine, beside its peers and beside the machine's limits.
// `make bench` builds and runs it; --help tells the rest.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
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
#include "torch_peer.hpp"

namespace tapestry::bench {

std::size_t Result::best_peer() const {
  const auto faster = [](const Timing& a, const Timing& b) { return a.seconds < b.seconds; };
  const auto end = timings.begin() + static_cast<std::ptrdiff_t>(judged);
  const auto best = std::min_element(timings.begin() + 1, end, faster);
  return static_cast<std::size_t>(best - timings.begin());
}

namespace {

constexpr char memory_row[] = "memory of attention";
constexpr char busy_row[] = "busy machine, training";

// Rows that take minutes, or a gigabyte on disk: only for who asks for them.
bool is_asked(const Options& options, const std::string& name) {
  const bool on_request = name == busy_row || name.starts_with("models ");
  return options.ask_for(name) && (!on_request || !options.words.empty() || options.list);
}

std::vector<Row> choose_rows(const Options& options) {
  std::vector<Row> rows;
  add_matmul_rows(rows);
  add_softmax_rows(rows);
  add_memory_rows(rows);
  add_attention_rows(rows);
  add_model_rows(rows);
  add_models_rows(rows);
  std::erase_if(rows,
                [&](const Row& row) { return !is_asked(options, row.group + " " + row.name); });
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

// Those who could not go on are left out; who is not judged comes last.
void take(std::vector<Contestant>& contestants, std::vector<Timing>& timings, Result& result) {
  for (const bool judged : {true, false}) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      if (contestants[i].is_judged != judged || std::isinf(timings[i].seconds)) continue;
      result.names.push_back(contestants[i].name);
      result.timings.push_back(timings[i]);
    }
    if (judged) result.judged = result.names.size();
  }
}

Contestant alone(Contestant contestant) {
  contestant.threads = 1;
  return contestant;
}

Result measure(const Row& row, int threads, double seconds, Limits& limits, Torch& torch) {
  use_threads_everywhere(threads);
  Result result{row, threads, {}, {}};
  const double before = static_cast<double>(memory_stats().live_bytes);
  std::vector<Contestant> contestants = row.prepare();
  result.tensors_mib = most_memory_mib(contestants.front(), before);
  if (threads == 1) torch.join(row.group + " " + row.name, contestants);
  std::vector<Contestant> racing = contestants;
  if (threads > 1) racing.push_back(alone(contestants.front()));
  std::vector<Timing> timings = race(racing, threads, seconds);
  result.alone_seconds = (threads > 1 ? timings.back() : timings.front()).seconds;
  take(contestants, timings, result);
  const double arithmetic = row.flops / limits.peak_gflops() / 1e9;
  const double moving = row.bytes / limits.gb_per_second(row.bytes) / 1e9;
  result.limit_seconds = std::max(arithmetic, moving);
  result.limited_by_memory = moving > arithmetic;
  return result;
}

void measure_rows(const Options& options, const std::vector<Row>& rows, Torch& torch,
                  Report& report) {
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
    if (threads > 1) report.answer_time.measure();
    of_group.push_back(measure(*row, threads, options.seconds, limits_for(report, threads), torch));
    ticker.clear();
    if (const std::string lost = torch.lost(); !lost.empty()) std::printf("%s\n", lost.c_str());
    print_result(of_group.back(), i > 0 && work[i - 1].first == row);
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
  if (is_asked(options, busy_row)) report.busy = measure_busy(most);
  const Company company;
  limits_for(report, 1);
  limits_for(report, threads_in_use());
  std::optional<Torch> torch(options.python);
  report.torch = torch->description(limits_for(report, 1).peak_gflops());
  print_machine(report);
  if (options.ask_for(memory_row)) report.attention_memory.push_back(measure_attention_memory());
  measure_rows(options, rows, *torch, report);
  torch.reset();  // its time counts as ours once it has ended
  print_curves(report.results);
  print_answer_time(report.answer_time);
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
  hold_peers_to_our_instructions(words);
  run(options);
} catch (const tapestry::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
