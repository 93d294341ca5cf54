// Signs of life: what a rank tells the one that waits for it, and when that gives it up.
//
// A rank that computes is alive when it answers. One that waits itself is only as alive as what it
// waits for, so it answers for how long that has been quiet; thus a rank at the end of a chain of
// waits is noticed by all, and so are ranks that wait for each other in a circle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "distributed/board.hpp"

namespace tapestry::signs {

using board::Place;

struct Sign {
  Place place;                  // of the rank that answers
  double quiet = 0;             // seconds since it knew of life: 0, unless it waits
  std::int32_t waits_for = -1;  // at the end of its chain of waits, as far as it knows; -1: none
  Place place_of_that;
  std::int32_t next = -1;  // what it waits for itself
};

// One wait for one rank. Times are seconds of any clock.
class Wait {
 public:
  Wait(int other, double now) : other_(other), last_(now), heard_at_(now) {}

  int other() const { return other_; }
  double quiet(double now) const { return now - last_; }
  const Sign& heard() const { return heard_; }

  // The other has not answered for a while, whatever it said before. (It is asked twice a second.)
  bool silent(double now) const { return now - heard_at_ > 2; }
  // The other waits for `rank`, perhaps by way of others.
  bool waits_back(int rank) const { return heard_.waits_for == rank || heard_.next == rank; }

  // Whether `rank`, which waits, sees the fault itself. Ranks that do tell first; what the rest
  // knows is hearsay.
  bool sees_it(int rank, double now) const {
    return silent(now) || heard_.waits_for < 0 || waits_back(rank);
  }

  void live(double now) { last_ = now; }
  void hear(const Sign& sign, double now) {
    heard_ = sign;
    heard_at_ = now;
    last_ = std::max(last_, now - sign.quiet);
  }

 private:
  int other_;
  double last_;      // when there was life
  double heard_at_;  // when the other answered
  Sign heard_;
};

// The line about the rank that a wait gives up. `mine` is where the waiting rank is; place_of tells
// where a rank was last seen.
template <class PlaceOf>
std::string line_of(const Wait& wait, int rank, const Place& mine, double now, PlaceOf place_of) {
  const std::string seconds = std::to_string(static_cast<int>(wait.quiet(now) + 0.5)) + " s";
  const auto name = [](int of) { return "rank " + std::to_string(of); };
  const int end = wait.heard().waits_for;
  const std::string waiting = name(rank) + " (" + mine.text() + ")";
  const bool silent = wait.silent(now);
  if (!silent && wait.waits_back(rank)) {
    return waiting + " and " + name(wait.other()) + " (" + place_of(wait.other()).text() +
           ") have waited for each other for " + seconds +
           ": all ranks must make the same exchanges.";
  }
  if (!silent && end == wait.other()) {
    return name(end) + ", " + place_of(end).text() +
           ": it and others have waited for each other for " + seconds + "; " + waiting +
           " waits for it: all ranks must make the same exchanges.";
  }
  const int lost = silent || end < 0 ? wait.other() : end;
  return name(lost) + ", " + place_of(lost).text() + ": it has given no sign of life for " +
         seconds + "; " + waiting + " waits for it (longer with TAPESTRY_PATIENCE=60).";
}

}  // namespace tapestry::signs
