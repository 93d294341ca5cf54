#include "tapestry/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"
#include "training/progress_line.hpp"

namespace tapestry {
namespace {

// Cut to the width of a line that is updated in place, and padded to overwrite the text before.
std::string fitted(const std::string& line) {
  constexpr int columns = 79;
  const std::string text = cut_to_width(line, columns);
  return text + std::string(static_cast<std::size_t>(columns - display_width(text)), ' ');
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 100) return formatted("%.1f s", seconds);
  if (seconds < 100 * 60) return formatted("%.0f min", seconds / 60);
  return formatted("%.1f h", seconds / 3600);
}

std::string speed_and_rest(const Pace& pace) {
  const double rate = static_cast<double>(pace.done - pace.before) / std::max(pace.seconds, 1e-9);
  const double left = static_cast<double>(pace.total - pace.done) / rate;
  const bool in_tokens = pace.tokens > 0;
  const double shown = in_tokens ? rate * static_cast<double>(pace.tokens) : rate;
  return formatted("%.*f%s/s, ", shown < 10 ? 1 : 0, shown, in_tokens ? " tokens" : "") +
         duration_text(left) + " left";
}

bool line_is_due(bool live, double seconds_since_last, Index done, Index total) {
  if (live) return seconds_since_last > 0.1 || done == total;
  return total == 0 || done * 5 % total < 5;
}

Progress::Progress(std::string what, Index total, std::string unit, const ProgressOptions& options)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      before_(options.done),
      tokens_(options.tokens),
      done_(options.done),
      live_(options.live.value_or(isatty(STDERR_FILENO))),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (live_ && done_ > before_) std::fputc('\n', stderr);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step(const std::string& note) {
  ++done_;
  if (line_is_due(live_, seconds() - last_print_, done_, total_)) print(note);
}

void Progress::print(const std::string& note) {
  last_print_ = seconds();
  const std::string line =
      what_ + " " + std::to_string(done_) + "/" + std::to_string(total_) + " " + unit_ + ", " +
      speed_and_rest({done_, before_, total_, tokens_, last_print_}) + "  " + note;
  if (live_) {  // standard error is unbuffered
    std::fprintf(stderr, "\r%s", fitted(line).c_str());
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

}  // namespace tapestry
