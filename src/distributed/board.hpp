// A board in shared memory, of one machine: where each rank is, for whoever has to name it when it
// can no longer tell. start_ranks() makes it, the ranks write on it.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "tapestry/real.hpp"

namespace tapestry::board {

// Where a rank is. Written by its process and read by others at any time: a text may be half old.
struct Place {
  std::int64_t step = -1;  // -1: it has not said
  std::array<char, 48> operation = {};

  void set(Index new_step, const char* new_operation);
  std::string text() const;  // "step 7, backward pass"
};

// One rank's part of the board.
struct Slot {
  std::atomic<std::int32_t> process = 0;  // its number; 0: not started yet
  std::atomic<std::int32_t> ended = 0;    // 1: in order, with all others
  std::atomic<std::int64_t> failed = 0;   // when it has written `fault`, in ns; 0: it has not
  Place place;
  std::array<char, 512> fault = {};
};

class Board {
 public:
  Board() = default;
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board();

  void make(int ranks);  // throws Error if there is no memory for it
  bool open(const char* path,
            int ranks);  // one that another process has made; false: there is none
  explicit operator bool() const { return slots_ != nullptr; }

  int size() const { return size_; }
  Slot& operator[](int rank) const { return slots_[rank]; }
  std::string path() const;  // by which other processes open it; the maker's

 private:
  bool map(int ranks);

  Slot* slots_ = nullptr;
  int size_ = 0, file_ = -1;
};

// Writes that a rank has failed; the first line of each stays.
void write_fault(Slot& slot, const std::string& line);

// The line of the rank that failed first, or "".
std::string first_fault(const Board& board);

}  // namespace tapestry::board
