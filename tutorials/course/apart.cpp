#include "course/apart.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "course/learn.hpp"
#include "course/timing.hpp"

namespace tapestry {
namespace {

// ---- What the child writes to the pipe, and the parent reads: bytes, one record a case.

using Bytes = std::string;

void put(Bytes& to, std::uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(Bytes& to, const std::string& text) {
  put(to, text.size());
  to += text;
}

void put(Bytes& to, const Outcome& outcome) {
  put(to, std::uint64_t{outcome.kind});
  put(to, outcome.text);
  put(to, outcome.results.size());
  for (const NamedTensor& result : outcome.results) {
    put(to, result.name);
    const bool defined = result.value.defined();
    put(to, defined ? static_cast<std::uint64_t>(result.value.ndim()) : ~std::uint64_t{0});
    if (!defined) continue;
    for (int axis = 0; axis < result.value.ndim(); ++axis) {
      put(to, static_cast<std::uint64_t>(result.value.size(axis)));
    }
    const std::vector<real> values = result.value.values();
    to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(real));
  }
}

class Reader {
 public:
  explicit Reader(const Bytes& bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }

  std::string text() {
    const std::size_t size = number();
    return {take(size), size};
  }

  Tensor tensor() {
    const std::uint64_t ndim = number();
    if (ndim == ~std::uint64_t{0}) return {};
    std::vector<Index> sizes;
    for (std::uint64_t axis = 0; axis < ndim; ++axis) {
      sizes.push_back(static_cast<Index>(number()));
    }
    Tensor read = Tensor::empty(Shape(std::span<const Index>(sizes)));  // (sizes)
    const auto bytes = static_cast<std::size_t>(read.numel()) * sizeof(real);
    const char* from = take(bytes);
    if (bytes) std::memcpy(read.data(), from, bytes);
    return read;
  }

 private:
  const char* take(std::size_t size) {
    if (size > bytes_.size() - at_) throw Error("the process ended in the middle of a result");
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  const Bytes& bytes_;
  std::size_t at_ = 0;
};

std::vector<Outcome> outcomes_in(const Bytes& bytes) {
  std::vector<Outcome> outcomes;
  Reader reader(bytes);
  try {
    while (!reader.at_end()) {
      Outcome one{static_cast<Outcome::Kind>(reader.number()), reader.text(), {}};
      for (std::uint64_t left = reader.number(); left > 0; --left) {
        std::string name = reader.text();
        one.results.push_back({std::move(name), reader.tensor()});
      }
      outcomes.push_back(std::move(one));
    }
  } catch (const Error&) {  // it ended while it wrote: that case has no outcome
  }
  return outcomes;
}

// ---- The child

Outcome try_once(const Exercise& exercise, const Attempt& attempt, const Case& one) {
  const NamedTensors inputs = inputs_of(exercise, one), before = inputs_of(exercise, one);
  Outcome outcome;
  try {
    outcome.results = attempt(inputs);
  } catch (const NotWrittenYet&) {
    return {.kind = Outcome::not_written};
  } catch (const std::exception& error) {
    return {.kind = Outcome::threw, .text = error.what()};
  } catch (...) {
    return {.kind = Outcome::threw, .text = "what it threw is not a std::exception"};
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].value.values() == before[i].value.values()) continue;
    return {.kind = Outcome::changed_input, .text = inputs[i].name};
  }
  return outcome;
}

[[noreturn]] void be_child(const Exercise& exercise, const Attempt& attempt,
                           const std::vector<Case>& cases, int results, int said) {
  ::dup2(said, 1);
  ::dup2(said, 2);
  // What exit() would tidy up belongs to the parent: its temporary files, say.
  std::atexit([] { std::fflush(nullptr), ::_exit(0); });
  const rlimit most{std::uint64_t{16} << 20, std::uint64_t{16} << 20};  // what is printed, in bytes
  ::setrlimit(RLIMIT_FSIZE, &most);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  for (const Case& one : cases) {
    Bytes bytes;
    put(bytes, try_once(exercise, attempt, one));
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t wrote = ::write(results, bytes.data() + at, bytes.size() - at);
      if (wrote < 0 && errno != EINTR) ::_exit(2);
      if (wrote > 0) at += static_cast<std::size_t>(wrote);
    }
  }
  std::fflush(nullptr);
  ::_exit(0);
}

// ---- The parent

// Bytes that a process holds in memory, 0 if it is gone.
double resident(pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/statm";
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (!file) return 0;
  long all = 0, pages = 0;
  const int read = std::fscanf(file, "%ld %ld", &all, &pages);
  std::fclose(file);
  return read == 2 ? static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

// Reads all that the child writes to the pipe, until it ends or takes too much of something.
Apart::Ending read_all(int pipe, pid_t child, double seconds, Bytes& bytes) {
  const double until = now() + seconds, most = resident(::getpid()) + 1e9;
  for (char part[4096];;) {
    pollfd one{pipe, POLLIN, 0};
    const int ready = ::poll(&one, 1, 20);
    if (now() > until) return Apart::too_long;
    if (resident(child) > most) return Apart::too_large;
    if (ready <= 0) continue;
    const ssize_t size = ::read(pipe, part, sizeof part);
    if (size == 0) return Apart::finished;
    if (size > 0) bytes.append(part, static_cast<std::size_t>(size));
  }
}

std::string said_in(std::FILE* file) {
  std::string text(std::size_t{64} << 10, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

}  // namespace

NamedTensors inputs_of(const Exercise& exercise, const Case& one) {
  Random random(one.seed, static_cast<std::uint64_t>(one.size));
  return exercise.inputs(random, one.size);
}

Apart run_apart(const Exercise& exercise, const Attempt& attempt, const std::vector<Case>& cases,
                double seconds) {
  std::FILE* said = std::tmpfile();
  int ends[2] = {-1, -1};
  if (!said || ::pipe(ends) != 0) throw Error("there is no room for a process's results");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    be_child(exercise, attempt, cases, ends[1], ::fileno(said));
  }
  ::close(ends[1]);
  if (child < 0) throw Error(std::string("no process could be started: ") + std::strerror(errno));
  Apart apart;
  Bytes bytes;
  apart.ending = read_all(ends[0], child, seconds, bytes);
  if (apart.ending != Apart::finished) ::kill(child, SIGKILL);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  apart.outcomes = outcomes_in(bytes);
  apart.said = said_in(said);
  std::fclose(said);
  if (apart.ending != Apart::finished) return apart;
  if (WIFSIGNALED(status)) {
    apart.ending = Apart::signalled;
    apart.signal = WTERMSIG(status);
  } else if (apart.outcomes.size() < cases.size()) {
    apart.ending = Apart::left;
  }
  return apart;
}

}  // namespace tapestry
