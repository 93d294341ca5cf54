// Tells on standard error, from the second second on, how many readings of a text are made.
#pragma once

#include <chrono>
#include <memory>

#include "tapestry/progress.hpp"

namespace tapestry::command {

class ReadingProgress {
 public:
  // `made` of `all` are done. A smaller number than before, or another `all`, begins a new line.
  void operator()(Index made, Index all);

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::time_point now() { return Clock::now(); }

  void begin(Index all) { line_.reset(), all_ = all, made_ = 0; }

  Index all_ = 0, made_ = 0;
  Clock::time_point start_ = now();
  std::shared_ptr<Progress> line_ = {};  // shared, since functions are copied
};

}  // namespace tapestry::command
