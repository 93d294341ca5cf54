// Rows that the next task will read or write. Memory takes as long to answer as many multiply-adds,
// so a kernel asks for a few of them after each of its own tiles: then they are in the caches when
// the next task begins. (256 heads of 128 positions: a fifth less time, on Zen 4.)
#pragma once

#include "tapestry/real.hpp"

namespace tapestry::kernels {

class RowsAhead {
 public:
  // Of each matrix: more would have left the caches again.
  static constexpr Index most_rows = 128;
  // Rows asked for at once: with fewer a short task ends too early, more wait for each other.
  static constexpr int at_once = 16;

  // The first of `rows` rows of `width` contiguous numbers, which begin `row` apart; of nullptr
  // none. At most eight matrices.
  void add(const real* data, Index row, Index width, Index rows) {
    if (data == nullptr || rows == 0) return;
    matrices_[count_++] = {data, row, width, rows < most_rows ? rows : most_rows};
  }

  // Asks for the next few of all rows; for none when each was asked for.
  void ask() {
    for (int i = 0; i < at_once && current_ < count_; ++i) {
      Matrix& m = matrices_[current_];
      for (Index j = 0; j < m.width; j += line) __builtin_prefetch(m.data + j, 0, 2);
      m.data += m.row;
      if (--m.rows == 0) ++current_;
    }
  }

  // How many rows were not asked for.
  Index left() const {
    Index rows = 0;
    for (int i = current_; i < count_; ++i) rows += matrices_[i].rows;
    return rows;
  }

 private:
  static constexpr Index line = 16;  // numbers in 64 bytes
  struct Matrix {
    const real* data;
    Index row, width, rows;
  };
  Matrix matrices_[8];
  int count_ = 0, current_ = 0;
};

}  // namespace tapestry::kernels
