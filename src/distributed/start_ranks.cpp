// Starts ranks on this machine by mpirun, and says in one line what became of them.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "distributed/banner.hpp"
#include "distributed/process.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"

namespace tapestry {
namespace {

constexpr int no_mpirun = 127;

volatile std::sig_atomic_t signal_came = 0, signals_in_all = 0;

void note(int signal) {
  signal_came = signal;
  signals_in_all = signals_in_all + 1;
}

// SIGINT and SIGTERM, while ranks run.
class Signals {
 public:
  Signals() {
    signal_came = 0;
    signals_in_all = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      struct sigaction now{};
      now.sa_handler = note;
      ::sigaction(numbers[i], nullptr, &old_[i]);
      if (old_[i].sa_handler != SIG_IGN) ::sigaction(numbers[i], &now, nullptr);
    }
  }
  ~Signals() {
    for (std::size_t i = 0; i < 2; ++i) ::sigaction(numbers[i], &old_[i], nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static constexpr std::array numbers = {SIGINT, SIGTERM};
  std::array<struct sigaction, 2> old_ = {};
};

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string own_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) throw Error("start_ranks: /proc does not tell this program's file.");
  return {path.data(), static_cast<std::size_t>(length)};
}

// What Open MPI 4.1 (OMPI_) and 5.0 (PRTE_) need to start on any single machine. What the user has
// set stays.
void set_variables(const std::string& board, int threads) {
  const std::pair<const char*, std::string> variables[] = {
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"PRTE_ALLOW_RUN_AS_ROOT", "1"},
      {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
      {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
      // Containers forbid to read another process's memory.
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
      {"OMPI_MCA_smsc", "^cma,knem,xpmem"},
      {"OMPI_MCA_btl_base_warn_component_unused", "0"},
      {"OMPI_MCA_btl", "^tcp"},       // which complains where there is no network
      {"HWLOC_HIDE_ERRORS", "2"},     // and hwloc where there is no /sys
      {"OMPI_MCA_opal_signal", ""},   // no stack trace of a rank that crashes:
      {"UCX_HANDLE_ERRORS", "none"},  // its line is enough
      {"OMP_NUM_THREADS", std::to_string(threads)}};
  for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 0);
  ::setenv(process::board_variable, board.c_str(), 1);
}

// In the child process: becomes mpirun. A group of its own, so that Ctrl-C reaches the starter
// alone, which tells the ranks.
[[noreturn]] void become_mpirun(std::vector<std::string> words, pid_t starter, int errors) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != starter) ::_exit(1);
  ::setenv(process::starter_variable, std::to_string(starter).c_str(), 1);
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(errors, 2);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp("mpirun", pointers.data());
  ::_exit(no_mpirun);
}

// The job while it runs.
class Job {
 public:
  Job(const board::Board& board, int count) : board_(board), told_(std::size_t(count)) {
    std::vector<std::string> words = {"mpirun",    "-np",  std::to_string(count),
                                      "--bind-to", "none", own_program()};
    const std::vector<std::string> own = own_arguments();
    if (!own.empty()) words.insert(words.end(), own.begin() + 1, own.end());
    const int threads = std::max(1, threads_in_use() / count);
    const pid_t starter = ::getpid();
    const std::string path = board.path();
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("start_ranks: there is no pipe.");
    errors_ = ends[0];
    mpirun_ = ::fork();
    if (mpirun_ == 0) {
      set_variables(path, threads);
      become_mpirun(words, starter, ends[1]);
    }
    ::close(ends[1]);
    if (mpirun_ > 0) return;
    ::close(errors_);
    throw Error("start_ranks: this machine starts no more processes.");
  }
  ~Job() { ::close(errors_); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Shows what ranks write and passes signals on until mpirun has ended; returns waitpid's status.
  int run() {
    int status = 0;
    for (bool open = true; ::waitpid(mpirun_, &status, WNOHANG) == 0;) {
      pass_signals_on();
      if (open) {
        open = read_some(20);
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
    while (read_some(0)) {
    }
    return status;
  }

  // What is left if mpirun was killed. The ranks end with it by themselves, too.
  void kill_rest() const {
    for (int looks = 0; looks < 200; ++looks) {
      bool any = false;
      for (int rank = 0; rank < board_.size(); ++rank) {
        const pid_t process = board_[rank].process;
        any = (process > 0 && ::kill(process, SIGKILL) == 0) || any;
      }
      if (!any) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  const Banner& banner() const { return banner_; }

 private:
  // False at the end of what there is.
  bool read_some(int milliseconds) {
    pollfd wanted{errors_, POLLIN, 0};
    if (::poll(&wanted, 1, milliseconds) <= 0) return milliseconds > 0;
    std::array<char, 4096> letters{};
    const ssize_t count = ::read(errors_, letters.data(), letters.size());
    if (count < 0) return errno == EINTR;
    if (count == 0) return false;
    line_.append(letters.data(), static_cast<std::size_t>(count));
    for (std::size_t end; (end = line_.find('\n')) != line_.npos; line_.erase(0, end + 1)) {
      const std::string line = line_.substr(0, end);
      if (banner_.is_of_rank(line)) std::fprintf(stderr, "%s\n", line.c_str());
    }
    return true;
  }

  // To ranks, for mpirun would end them; those that start late hear it, too.
  void pass_signals_on() {
    if (signal_came == 0) return;
    if (signals_in_all > 1) ::kill(mpirun_, SIGTERM);
    for (int rank = 0; rank < board_.size(); ++rank) {
      const pid_t process = board_[rank].process;
      if (process <= 0 || told_[std::size_t(rank)]) continue;
      told_[std::size_t(rank)] = true;
      ::kill(process, signal_came);
    }
  }

  const board::Board& board_;
  std::vector<bool> told_;
  pid_t mpirun_ = 0;
  int errors_ = -1;
  std::string line_;
  Banner banner_;
};

// Ranks of this process were appended to these files; what follows goes behind.
void go_to_end_of_output() {
  std::fflush(nullptr);
  for (const int stream : {1, 2}) ::lseek(stream, 0, SEEK_END);
}

std::string line_of(const board::Board& board, const Banner& banner, int status) {
  const std::string told = board::first_fault(board);
  if (!told.empty()) return told;
  bool in_order = true;
  for (int rank = 0; rank < board.size(); ++rank) in_order = in_order && board[rank].ended != 0;
  if (in_order) return "";  // rank 0 has said what there is to say
  const auto place = [&](int rank) {
    return "rank " + std::to_string(rank) + ", " + board[rank].place.text() + ": ";
  };
  if (WIFSIGNALED(status)) {
    return place(0) + "mpirun, which had started the ranks, was killed by signal " +
           std::to_string(WTERMSIG(status)) + ".";
  }
  const auto rank = banner.rank();
  if (rank && *rank < board.size()) return place(*rank) + "its process " + banner.how() + ".";
  std::fputs(banner.text().c_str(), stderr);
  return "mpirun ended with status " + std::to_string(WEXITSTATUS(status)) + "; see above.";
}

}  // namespace

JobEnd start_ranks(int count) {
  if (count < 1 || count > 1024) {
    throw Error("start_ranks: count is " + std::to_string(count) + ": it must be 1 to 1024.");
  }
  if (mpi_version().empty()) {
    throw Error("start_ranks: " + std::to_string(count) +
                " ranks need MPI, and this program was built without: build it by make MPI=1.");
  }
  std::fflush(nullptr);
  board::Board board;
  board.make(count);
  const Signals signals;
  Job job(board, count);
  const int status = job.run();
  job.kill_rest();
  go_to_end_of_output();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_mpirun && job.banner().text().empty()) {
    throw Error("start_ranks: there is no mpirun on this machine; install openmpi-bin.");
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, line_of(board, job.banner(), status)};
}

}  // namespace tapestry
