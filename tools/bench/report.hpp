// The output: the screen, out/bench.json and two pictures.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "limits.hpp"
#include "row.hpp"

namespace tapestry::bench {

// The memory of attention, above its inputs, at a length where the weights would fill a gigabyte.
struct AttentionMemory {
  Index length = 0, depth = 0;
  int threads = 1;
  double tensors_mib = 0;   // most in use at once: the output, what is saved, the gradients
  double process_mib = -1;  // how much the process grew: also by scratch memory for each thread
                            // and by whatever the allocator rounds up; -1: unknown
  static constexpr double target_mib = 64;
};
// Before other work, whose memory in the allocator could make the process grow by more.
AttentionMemory measure_attention_memory();

// Training beside processes that use all processors: its time with one thread and with all.
struct Cost {
  double wall = 0, processor = 0;  // seconds
};
struct Busy {
  int others = 0, threads = 1;
  Cost one, all;
};
// Starts the other processes itself. Before other work: threads of peers wait actively, too.
std::vector<Busy> measure_busy(int threads);

struct Report {
  std::string selection;         // from --rows; empty: everything
  std::map<int, Limits> limits;  // by number of threads
  AnswerTime answer_time;        // measured beside each row of more than one
  std::string torch;             // which PyTorch takes part, or why none does
  std::vector<Result> results;
  std::vector<AttentionMemory> attention_memory;  // none or one
  std::vector<Busy> busy;
  double company = -1;  // how many processors other programs kept busy meanwhile; -1: unknown
};

void print_machine(Report& report);
void print_heading(const std::string& group);
// `named`: the row's name was printed already.
void print_result(const Result& result, bool named);
void print_means(const std::vector<Result>& of_a_group);  // geometric means of the ratios
void print_curves(const std::vector<Result>& results);
void print_answer_time(const AnswerTime& time);
void print_memory(const std::vector<Result>& results);  // of the rows that request it
void print_attention_memory(const AttentionMemory& memory);
void print_busy(const std::vector<Busy>& results);
void print_company(double processors);

void write_json(const Report& report, const std::filesystem::path& file);
// False if there is nothing to draw.
bool draw_roofline(Report& report, const std::filesystem::path& file);
bool draw_threads(const Report& report, const std::filesystem::path& file);

// The results of each row that was measured for several numbers of threads.
std::vector<std::vector<Result>> curves(const std::vector<Result>& results);

// A progress line with what runs and the time left, if standard error is a terminal. It is updated
// in place, and cleared for lines on standard output.
class Ticker {
 public:
  explicit Ticker(std::size_t total);
  void running(const std::string& what);  // the next of `total` begins
  void clear() const;

 private:
  std::size_t total_, begun_ = 0;
  bool terminal_;
  double start_;
};

}  // namespace tapestry::bench
