// PyTorch in a process of its own, which works and tells the seconds. A process that dies, hangs or
// talks nonsense is ended and not asked again; `problem` says what was wrong.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>

#include "tapestry/format.hpp"
#include "torch_rows.hpp"

namespace tapestry::bench {

class TorchProcess {
 public:
  // `python` is a line for the shell, "python3" or "chroot /srv/trixie python3". Each answer may
  // take `patience` seconds.
  explicit TorchProcess(const std::string& python, double patience = 60) : patience_(patience) {
    start(python);
    const std::string hello = answer();
    const std::size_t end = hello.rfind(' ');
    if (hello.rfind("PyTorch ", 0) == 0 && end > 8 && read_number(hello.substr(end + 1), gflops_)) {
      version_ = hello.substr(8, end - 8);
    } else if (problem_.empty()) {
      give_up(hello.rfind("none ", 0) == 0 ? hello.substr(5) : "it said \"" + hello + "\"");
    }
  }
  TorchProcess(const TorchProcess&) = delete;
  TorchProcess& operator=(const TorchProcess&) = delete;
  ~TorchProcess() { end(); }

  bool is_there() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  const std::string& version() const { return version_; }
  double gflops() const { return gflops_; }  // of a product of 512 x 512 x 512

  // Before 2.6 there was no fused attention for the processor, or a slow one: shown, not judged.
  bool is_judged() const {
    int major = 0, minor = 0;
    const std::size_t dot = version_.find('.'), next = version_.find('.', dot + 1);
    return dot != std::string::npos && read_number(version_.substr(0, dot), major) &&
           read_number(version_.substr(dot + 1, next - dot - 1), minor) &&
           (major > 2 || (major == 2 && minor >= 6));
  }

  // Makes a row's work ready; false if it has no such work.
  bool prepares(const std::string& row) {
    ask("row " + row);
    const std::string said = answer();
    if (is_there() && said != "yes" && said != "no") give_up("it said \"" + said + "\"");
    return is_there() && said == "yes";
  }

  // The seconds of one call of what it made ready; nothing once it is gone.
  std::optional<double> seconds() {
    ask("time");
    const std::string said = answer();
    double seconds = 0;
    if (is_there() && !(read_number(said, seconds) && seconds > 0)) {
      give_up("it said \"" + said + "\"");
    }
    return is_there() ? std::optional(seconds) : std::nullopt;
  }

 private:
  void start(const std::string& python) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return give_up("it cannot be started");
    }
    const std::string line = "exec " + python + " -u -c \"$0\" 2>/dev/null";
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      setpgid(0, 0);  // a shell that does not exec is ended with what it started
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      dup2(ends[1], 0);
      dup2(ends[1], 1);
      execl("/bin/sh", "sh", "-c", line.c_str(), torch_rows, static_cast<char*>(nullptr));
      _exit(127);
    }
    close(ends[1]);
    stream_ = ends[0];
    if (process_ < 0) give_up("it cannot be started");
  }

  void ask(const std::string& line) {
    if (!is_there()) return;
    const std::string text = line + "\n";
    if (send(stream_, text.data(), text.size(), MSG_NOSIGNAL) != ssize_t(text.size())) {
      give_up("it ended");
    }
  }

  std::string answer() {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(patience_);
    while (is_there()) {
      if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
        const std::string line = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return line;
      }
      const double left = std::chrono::duration<double>(until - Clock::now()).count();
      pollfd ready{stream_, POLLIN, 0};
      if (left <= 0 || poll(&ready, 1, int(1e3 * left) + 1) == 0) {
        give_up("it gave no answer within " + formatted("%g", patience_) + " seconds");
        break;
      }
      char text[4096];
      const ssize_t count = read(stream_, text, sizeof text);
      if (count <= 0) {
        give_up("it ended");
      } else {
        heard_.append(text, std::size_t(count));
      }
      if (heard_.size() > 1 << 16) give_up("it said more than one line");
    }
    return {};
  }

  void give_up(const std::string& why) {
    problem_ = why;
    end();
  }

  void end() {
    if (stream_ >= 0) close(stream_);
    if (process_ > 0) {
      kill(-process_, SIGKILL);
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    stream_ = process_ = -1;
  }

  double patience_, gflops_ = 0;
  pid_t process_ = -1;
  int stream_ = -1;
  std::string heard_, version_, problem_;
};

}  // namespace tapestry::bench
