// Small calculations whose tapes are printed, drawn and stepped through: a neuron, a softmax, one
// head of attention, and a softmax written without care, which makes NaN of a row that is masked.
//
// The lines that are shown are the code that runs: a macro makes both of the same words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tapestry/tape_steps.hpp"

namespace tapestry {

// In the order in which they are best looked at.
std::vector<std::string> tape_program_names();

// A calculation that ran on a tape of its own, which records until `tape().backward(loss())`.
class TapeProgram {
 public:
  // Runs it. Throws Error for a name that is none of tape_program_names(), and if another tape
  // records on this thread.
  explicit TapeProgram(const std::string& name);

  const std::string& name() const { return name_; }
  const std::string& formula() const { return formula_; }         // one line for people
  const std::vector<ShownLine>& lines() const { return lines_; }  // each a line of its code
  const Parameters& inputs() const { return inputs_; }            // the watched tensors
  const Tensor& loss() const { return loss_; }                    // ()
  Tape& tape() { return *tape_; }

  // The steps so far, with name, formula and lines.
  TapeSteps steps() const;

  // ---- For the calculations themselves: each line is kept as text, and runs.
  Tensor watch(const char* name, const char* code, const Tensor& value);
  Tensor constant(const char* name, const char* code, const Tensor& value);
  template <class Code>
  Tensor line(const char* name, const char* code, const Code& run) {
    begin();
    const Tensor value = run();
    tape_->label(value, name);
    lines_.push_back({std::string(name) + " = " + code, name});
    return value;
  }

 private:
  void begin();  // the recording, before the first line

  std::string name_, formula_;
  std::vector<ShownLine> lines_;
  Parameters inputs_;
  std::optional<Tape> tape_;
  Tensor loss_;
};

// The steps of such a calculation, forward and backward.
TapeSteps tape_program_steps(const std::string& name);

}  // namespace tapestry
