#include "suite.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace mutants {
namespace {

// Limits that a mutant may run into, and the tests do not.
constexpr rlim_t memory = rlim_t(8) << 30, file_size = rlim_t(1) << 30;

void limit(int what, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(what == 0 ? RLIMIT_AS : what == 1 ? RLIMIT_FSIZE : RLIMIT_CORE, &both);
}

// In the child: its own group, so that all its children can be ended with it, and an alarm, which
// outlives exec.
[[noreturn]] void become(char* const* arguments, char* const* environment, double seconds) {
  setsid();
  const int nothing = open("/dev/null", O_RDWR);
  for (int file = 0; file < 3; ++file) dup2(nothing, file);
  limit(0, memory);
  limit(1, file_size);
  limit(2, 0);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - double(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

// As Catch2 wants a name that is to be taken word by word.
std::string escaped(const std::string& name) {
  std::string all;
  for (const char c : name) {
    if (c == ',' || c == '[' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

std::vector<std::string> lines_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("mutants: cannot run " + command);
  char part[4096];
  while (const std::size_t size = fread(part, 1, sizeof part, pipe)) text.append(part, size);
  pclose(pipe);
  std::vector<std::string> lines;
  for (std::size_t from = 0, to; (to = text.find('\n', from)) != std::string::npos; from = to + 1) {
    lines.push_back(text.substr(from, to - from));
  }
  return lines;
}

std::vector<unsigned char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<std::string> test_names(const std::string& program) {
  // Catch2 2 lists bare names by the first, 3 by the second; both after the program's own line.
  for (const char* option : {" --list-test-names-only", " --list-tests --verbosity quiet"}) {
    std::vector<std::string> names = lines_of(program + option + " 2>/dev/null");
    if (names.size() < 2) continue;
    names.erase(names.begin());
    return names;
  }
  throw std::runtime_error("mutants: " + program + " lists no tests");
}

Outcome run_test(const std::string& program, const std::string& name, int mutant, double seconds,
                 const std::string& reached) {
  std::vector<std::string> words = {program, escaped(name)};
  std::vector<std::string> settings;
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::string(*each).rfind("TAPESTRY_MUTANT", 0) != 0) settings.push_back(*each);
  }
  if (mutant != no_mutant) settings.push_back("TAPESTRY_MUTANT=" + std::to_string(mutant));
  if (!reached.empty()) settings.push_back("TAPESTRY_MUTANTS_REACHED=" + reached);
  std::vector<char*> arguments, environment;
  for (std::string& word : words) arguments.push_back(word.data());
  for (std::string& setting : settings) environment.push_back(setting.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("mutants: cannot start a process");
  if (child == 0) become(arguments.data(), environment.data(), seconds);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  kill(-child, SIGKILL);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return Outcome::too_long;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Outcome::passed : Outcome::failed;
}

std::vector<Test> record(const std::string& program, const std::string& folder, std::size_t mutants,
                         int jobs) {
  const std::vector<std::string> names = test_names(program);
  std::vector<Test> tests(names.size());
  in_parallel(names.size(), jobs, [&](std::size_t i) {
    const std::string path = folder + "/reached-" + std::to_string(i);
    std::ofstream(path) << std::string(4096, '\0');
    const double start = now();
    Outcome outcome = run_test(program, names[i], no_mutant, 300, path);
    if (outcome != Outcome::passed) outcome = run_test(program, names[i], no_mutant, 300, path);
    if (outcome != Outcome::passed) {
      throw std::runtime_error("mutants: a test fails though nothing is mutated: " + names[i]);
    }
    tests[i] = {names[i], now() - start, bytes_of(path)};
    tests[i].reached.resize(mutants);
    std::remove(path.c_str());
  });
  return tests;
}

}  // namespace mutants
