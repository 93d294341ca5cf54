// For tests that compare numbers of threads.
#pragma once

#include "kernels/parallel.hpp"
#include "tapestry/kernels.hpp"

namespace tapestry {

// While in scope, even the smallest work is shared among threads.
class SmallWorkShared {
 public:
  SmallWorkShared() { kernels::divide_everything = true; }
  ~SmallWorkShared() {
    kernels::divide_everything = divided_;
    use_threads(before_);
  }
  SmallWorkShared(const SmallWorkShared&) = delete;
  SmallWorkShared& operator=(const SmallWorkShared&) = delete;

 private:
  bool divided_ = kernels::divide_everything;
  int before_ = threads_in_use();
};

}  // namespace tapestry
