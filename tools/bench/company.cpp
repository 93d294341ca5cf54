#include "company.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "course/timing.hpp"

namespace tapestry::bench {
namespace {

// Seconds that all processors together were busy since the machine started; negative: unknown.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0,
         stolen = 0;
  file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen;
  if (!file || name != "cpu") return -1;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return (user + nice + system + interrupts + soft + stolen) / ticks;
}

// Seconds of this program and of those that it started and that have ended.
double own_seconds() {
  rusage ended{};
  getrusage(RUSAGE_CHILDREN, &ended);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return processor_now() + seconds(ended.ru_utime) + seconds(ended.ru_stime);
}

}  // namespace

Company::Company() : start_(now()), busy_(busy_seconds()), own_(own_seconds()) {}

double Company::processors() const {
  const double busy = busy_seconds();
  if (busy < 0 || busy_ < 0) return -1;
  return (busy - busy_ - (own_seconds() - own_)) / (now() - start_);
}

}  // namespace tapestry::bench
