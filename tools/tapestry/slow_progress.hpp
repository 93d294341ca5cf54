// A progress line for work that may be short: it begins, on standard error, after a second.
#pragma once

#include <memory>
#include <string>

#include "course/timing.hpp"
#include "tapestry/progress.hpp"

namespace tapestry::command {

class SlowProgress {
 public:
  // "reading the text", "times": as for Progress.
  SlowProgress(const char* what, const char* unit) : what_(what), unit_(unit), start_(now()) {}

  // `made` of `all` are done. A smaller number than before, or another `all`, begins a new line.
  void operator()(Index made, Index all);

 private:
  void begin(Index all) { line_.reset(), all_ = all, made_ = 0; }

  std::string what_, unit_;
  Index all_ = 0, made_ = 0;
  double start_;
  std::shared_ptr<Progress> line_ = {};  // shared, since functions are copied
};

}  // namespace tapestry::command
