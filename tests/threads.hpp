// For tests that compare numbers of threads.
#pragma once

#include <omp.h>

#include "kernels/parallel.hpp"

namespace tapestry {

// While it lives, even the smallest work is shared among threads; then all is as before.
class SmallWorkShared {
 public:
  SmallWorkShared() { kernels::divide_everything = true; }
  ~SmallWorkShared() {
    kernels::divide_everything = false;
    omp_set_num_threads(before_);
  }
  SmallWorkShared(const SmallWorkShared&) = delete;
  SmallWorkShared& operator=(const SmallWorkShared&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

}  // namespace tapestry
