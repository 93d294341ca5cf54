#include "process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace mutants {
namespace {

std::atomic<bool> interrupted{false};
// Process groups to be killed; negative: to be sent SIGTERM, so that make removes incomplete files.
std::array<std::atomic<pid_t>, 1024> groups{};

void end(pid_t group) { ::kill(-std::abs(group), group > 0 ? SIGKILL : SIGTERM); }

void end_children(int) {
  interrupted = true;
  for (const auto& group : groups) {
    if (const pid_t each = group; each != 0) end(each);
  }
}

// A child with a process group of its own.
class Child {
 public:
  // In the child, become() does not return.
  Child(const std::function<void()>& become, bool killed) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("mutants: cannot start a process");
    ::setpgid(pid_, pid_);  // the child's own number is 0 in the child
    if (pid_ == 0) {
      become();
      ::_exit(127);
    }
    const pid_t group = killed ? pid_ : -pid_;
    for (pid_t free = 0; !place_->compare_exchange_strong(free, group); free = 0) ++place_;
    if (interrupted) end(group);
  }

  // Its exit status, as from waitpid, when all of its group has ended.
  int wait() {
    siginfo_t ignored;
    ::waitid(P_PID, static_cast<id_t>(pid_), &ignored, WEXITED | WNOWAIT);
    *place_ = 0;
    ::kill(-pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    if (interrupted) throw Interrupted();
    return status;
  }

 private:
  pid_t pid_;
  std::atomic<pid_t>* place_ = groups.data();
};

void limit(__rlimit_resource what, rlim_t value) {
  const rlimit both{value, value};
  ::setrlimit(what, &both);
}

// Limits that a mutant may reach, and the tests do not. The alarm persists across exec.
void be_limited(double seconds) {
  limit(RLIMIT_AS, rlim_t(12) << 30);             // 1024 ranks as threads have stacks of 8 MB each
  limit(RLIMIT_FSIZE, (rlim_t(1) << 30) + 4096);  // a test makes a file of 1 GiB and a byte
  limit(RLIMIT_CORE, 0);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - double(timer.it_value.tv_sec)) * 1e6);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void talk_to(int in, int out) {
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

void end_children_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction action{};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // nohup
    action.sa_handler = end_children;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

Outcome run_program(std::vector<std::string> words, std::vector<std::string> environment,
                    double seconds) {
  const std::vector<char*> arguments = pointers_to(words), settings = pointers_to(environment);
  const auto become = [&] {
    const int nothing = ::open("/dev/null", O_RDWR);
    talk_to(nothing, nothing);
    be_limited(seconds);
    ::execve(arguments[0], arguments.data(), settings.data());
  };
  const int status = Child(become, true).wait();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return Outcome::too_long;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Outcome::passed : Outcome::failed;
}

bool run_command(const std::string& command,
                 const std::function<void(const std::string&)>& take_line) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("mutants: cannot open a pipe");
  const auto become = [&] {
    talk_to(::open("/dev/null", O_RDONLY), ends[1]);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  };
  Child child(become, false);
  ::close(ends[1]);
  FILE* const lines = ::fdopen(ends[0], "r");
  std::string line;
  for (int c = 0; (c = std::getc(lines)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    take_line(line);
    line.clear();
  }
  std::fclose(lines);
  return child.wait() == 0;
}

}  // namespace mutants
