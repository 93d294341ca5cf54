#include "tapestry/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

// "3.2 s", "4 min", "2.5 h"
std::string duration(double seconds) {
  if (seconds < 100) return formatted("%.1f s", seconds);
  if (seconds < 100 * 60) return formatted("%.0f min", seconds / 60);
  return formatted("%.1f h", seconds / 3600);
}

// Cut to the width of a line that is updated in place, and padded to overwrite the text before.
std::string fitted(const std::string& line) {
  constexpr int columns = 79;
  const std::string text = cut_to_width(line, columns);
  return text + std::string(static_cast<std::size_t>(columns - display_width(text)), ' ');
}

}  // namespace

Progress::Progress(std::string what, Index total, std::string unit, const ProgressOptions& options)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      before_(options.done),
      tokens_(options.tokens),
      done_(options.done),
      live_(options.live.value_or(isatty(2) == 1)),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (live_ && done_ > before_) std::fputc('\n', stderr);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step(const std::string& note) {
  ++done_;
  const bool every_fifth =
      done_ * 5 / std::max<Index>(total_, 1) != (done_ - 1) * 5 / std::max<Index>(total_, 1);
  const bool due = live_ ? seconds() - last_print_ > 0.1 || done_ == total_ : every_fifth;
  if (due) print(note);
}

void Progress::print(const std::string& note) {
  last_print_ = seconds();
  const double rate = static_cast<double>(done_ - before_) / std::max(last_print_, 1e-9);
  const double left = static_cast<double>(total_ - done_) / rate;
  const double shown = tokens_ > 0 ? rate * static_cast<double>(tokens_) : rate;
  const std::string speed =
      formatted(", %.*f%s/s, ", shown < 10 ? 1 : 0, shown, tokens_ > 0 ? " tokens" : "");
  const std::string line = what_ + " " + std::to_string(done_) + "/" + std::to_string(total_) +
                           " " + unit_ + speed + duration(left) + " left  " + note;
  if (live_) {  // standard error is unbuffered
    std::fprintf(stderr, "\r%s", fitted(line).c_str());
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

}  // namespace tapestry
