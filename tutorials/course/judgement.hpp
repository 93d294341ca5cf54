// What the judge of an exercise finds, before it is put into words.
#pragma once

#include <cstdint>
#include <vector>

#include "course/apart.hpp"
#include "course/exercise.hpp"

namespace tapestry {

struct Judgement {
  enum Verdict { right, not_written, known, unknown, unreadable };
  Verdict verdict = right;
  std::size_t mistake = 0;  // known: which
  // unknown and unreadable: the case that failed first, what was expected there and what came;
  // in unreadable ones nothing came: the process ended there, or the function threw.
  Case at{};
  NamedTensors expected = {};
  Outcome found = {};
  bool is_always_the_same = false;  // other inputs, same results: an answer that was typed in?
  Apart run = {};
};

// The cases of a seed: some of each size, the smallest first.
std::vector<Case> cases_of(std::uint64_t seed);

Judgement judge_attempt(const Exercise& exercise, const Attempt& attempt, std::uint64_t seed);

// The greatest difference of an element, as a share of the largest element expected in that tensor;
// infinite where names, number of tensors, shapes or non-finite elements differ.
double distance(const NamedTensors& found, const NamedTensors& expected);

// By how much an element may differ before two results do: `tolerance` of the largest finite
// element expected.
double allowed_difference(const Tensor& expected, double tolerance);

// Every answer that --prove promises, checked; prints each that is wrong, and a line at the end.
// The number of wrong ones.
int prove(const Exercise& exercise);

}  // namespace tapestry
