// A tape step by step: forward in the order of recording, then backward in the order in which the
// gradients were made, with what each record adds to each of its inputs; and the first number that
// is not finite, with what led to it.
//
//   Tape tape({w, b}, Tape::Keep::values);
//   ...
//   tape.backward(loss);
//   const TapeSteps steps = tape_steps(tape);
//   write_tape_steps("steps.json", steps);      // io/tape_file.hpp
//
// `tapestry tape --step steps.json` then steps through it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/tape.hpp"

namespace tapestry {

// A line of the program that is shown beside the steps. Its label is that of the last record that
// it makes (Tape::label), or of a watched tensor; empty: it makes none.
struct ShownLine {
  std::string text, label;
};

struct TapeSteps {
  struct Line {
    std::string text, label;
    std::optional<std::size_t> record = {};  // none: no record has this label
  };

  struct Record {
    std::string operation;  // "matmul", or "watched"
    std::string label;      // else empty
    std::vector<std::size_t> inputs = {};
    std::optional<std::size_t> line = {};  // of the program, that made it
    Shape shape = {};
    Tensor value = {};         // undefined in a file that left it out, because it is long
    Tensor gradient = {};      // undefined, too, before backward, and where the pass did not come
    std::string summary = {};  // of the value: least, largest, mean, NaN, infinities
    std::size_t saved_bytes = 0;
  };

  // What a record adds to the gradient of an input, and what that then is; shaped like the input.
  // Undefined in a file that left them out.
  struct Given {
    std::size_t to;
    Tensor contribution, sum;
  };

  // The backward function of a record. A value that is used twice gets two contributions.
  struct BackwardStep {
    std::size_t record;
    std::vector<Given> gives = {};  // none, if no gradient passes it
  };

  // An element that led to the first number that is not finite.
  struct Cause {
    std::size_t record;
    bool in_gradient;               // an element of its gradient, not of its value
    std::vector<Index> place = {};  // one position for each axis
    double value = 0;
    std::string why = {};  // "-inf - -inf is NaN, of masked [1, 0] and highest [1, 0]"
  };

  struct NonFinite {
    std::size_t record;
    bool in_gradient;
    std::string text = {};           // as Tape::first_non_finite tells it
    std::vector<Cause> causes = {};  // from that number back to where it began
  };

  std::string name = {}, formula = {};  // of the calculation, for people
  std::vector<Line> lines = {};
  std::vector<Record> records = {};         // forward steps: all, in this order
  std::vector<BackwardStep> backward = {};  // empty before Tape::backward
  std::optional<NonFinite> non_finite = {};
};

// The steps of a tape that was made with Tape::Keep::values, before its backward pass or after it.
// A record without a line's label belongs to the line of the next record that has one. Two records
// may have one label: the line is then the first's that no earlier line has. Throws Error for a
// tape that kept no values.
[[nodiscard]] TapeSteps tape_steps(const Tape& tape, const std::vector<ShownLine>& lines = {});

}  // namespace tapestry
