// Exercises that know the mistake that was made. An exercise is a folder of three files,
// tutorials/phase*/exercises/NMx_name/:
//   task.cpp      what the learner gets: the task, and a function that says `not_written_yet()`
//   solution.cpp  the same file with the function written
//   check.cpp     a program: inputs, right forms, known mistakes, hints; its main calls judge()
// The judge runs the learner's function on fresh inputs, in a process of its own. If a result is
// wrong, it is compared with what each known mistake makes of the same inputs; who agrees with one
// everywhere made that mistake, however it is written.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct NamedTensor {
  std::string name;
  Tensor value;
};
using NamedTensors = std::vector<NamedTensor>;

// The function that is asked for, or several, as the judge sees them: from inputs to results.
using Attempt = std::function<NamedTensors(const NamedTensors&)>;

// The attempt that calls `function` with the inputs, in their order; its result gets that name.
template <class... In>
Attempt attempt(std::string result, std::function<Tensor(In...)> function) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return [&]<std::size_t... i>(std::index_sequence<i...>) -> NamedTensors {
      return {{result, function(in.at(i).value...)}};
    }(std::index_sequence_for<In...>());
  };
}

// The result of a learner's test (Exercise::faults): whether it lets all right ones pass, and each
// of the wrong ones.
template <class Test, class F>
NamedTensors passes(const Test& test, const std::vector<F>& right, const std::vector<F>& wrong) {
  std::vector<real> passed = {1};
  for (const F& f : right) {
    if (!test(f)) passed[0] = 0;
  }
  for (const F& f : wrong) passed.push_back(test(f) ? 1 : 0);
  return {{"passes", Tensor({static_cast<Index>(passed.size())}, passed)}};  // (1 + faults)
}

struct KnownMistake {
  std::string name;
  std::string sentence;  // what was done, and why it matters: the judge's whole answer
  Attempt wrong;         // the wrong code
  Attempt also;          // the same mistake written in another way; it must be named, too
};

struct Exercise {
  static constexpr Index sizes = 4;

  // Inputs of a size, 1 to `sizes`: the smallest that can fail first, shown to the learner, and at
  // the largest every two mistakes differ. Shapes may be drawn, too. They are what is returned for
  // the same generator every time.
  std::function<NamedTensors(Random&, Index size)> inputs;
  Attempt learner;
  std::vector<Attempt> right;  // the solution first, then other right forms
  std::vector<KnownMistake> mistakes;
  std::vector<std::string> hints;  // three; the last is nearly the answer
  // Of an exercise that asks for a test: the planted faults that it has to catch. Its only result
  // then is the tensor "passes" (1 + faults): 1 where the test let a function pass, the right one
  // first. The judge says which faults were not caught.
  std::vector<std::string> faults = {};
  // Results agree when no element differs by more than this times the largest expected element.
  double tolerance = 1e-4;
};

// What check.cpp's main returns. Arguments:
//   (none)          judges the learner's function with a fresh seed: 0 right, 1 wrong by a known
//                   mistake or without a result, 2 not written, 3 wrong otherwise, 4 no check
//   --seed N        the same with the seed that an answer named
//   --picture PATH  where a picture of a wrong matrix beside the right one goes
//   --hint N        prints hint 1, 2 or 3
//   --prove         judges the solution, other right forms, each mistake in both ways, a function
//                   that ends the program, and the learner's as one that is not written; then
//                   compares all mistakes with 20 seeds. 0 if every answer is what it has to be
int judge(const Exercise& exercise, int count, char** arguments);

}  // namespace tapestry
