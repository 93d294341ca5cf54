#include "course/tape_programs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

// Each declares a tensor, and shows the line: WATCH(w, 0.5) is "w = Tensor(0.5)" with a gradient,
// CONSTANT the same without one, LINE(y, tanh(s)) is "y = tanh(s)".
#define WATCH(name, ...) const Tensor name = run.watch(#name, #__VA_ARGS__, Tensor(__VA_ARGS__))
#define CONSTANT(name, ...) \
  const Tensor name = run.constant(#name, #__VA_ARGS__, Tensor(__VA_ARGS__))
#define LINE(name, ...) \
  const Tensor name = run.line(#name, #__VA_ARGS__, [&] { return __VA_ARGS__; })

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor neuron(TapeProgram& run) {
  WATCH(w, 0.5);                        // ()
  WATCH(b, -0.3);                       // ()
  LINE(product, w * 2);                 // ()
  LINE(y, tanh(product + b));           // ()
  LINE(difference, y - 0.2);            // ()
  LINE(loss, difference * difference);  // ()
  return loss;
}

Tensor softmax_of_three(TapeProgram& run) {
  WATCH(s, {3}, {1, -0.5, 0.5});                          // (3)
  LINE(up, exp(s));                                       // (3)
  LINE(total, sum(up));                                   // ()
  LINE(weights, up / total);                              // (3)
  LINE(loss, -log(squeeze(slice(weights, 0, 2, 3), 0)));  // ()
  return loss;
}

Tensor one_head(TapeProgram& run) {
  CONSTANT(x, {3, 2}, {1, 0, 0, 1, 1, 1});                 // (3, 2)
  WATCH(W_Q, {2, 2}, {1, 0.5, -0.5, 1});                   // (2, 2)
  WATCH(W_K, {2, 2}, {0.5, -1, 1, 0.5});                   // (2, 2)
  WATCH(W_V, {2, 2}, {1, 0, 0.5, 1});                      // (2, 2)
  LINE(Q, matmul(x, W_Q));                                 // (3, 2)
  LINE(K, matmul(x, W_K));                                 // (3, 2)
  LINE(V, matmul(x, W_V));                                 // (3, 2)
  LINE(scores, matmul(Q, transpose(K)) / std::sqrt(2.0));  // (3, 3)
  LINE(weights, softmax(scores));                          // (3, 3)
  LINE(output, matmul(weights, V));                        // (3, 2)
  CONSTANT(target, {3, 2}, {2, -1, -1, 2, 0, 0});          // (3, 2)
  LINE(loss, mse(output, target));                         // ()
  return loss;
}

// Row 1 sees nothing: its largest score is -inf, and -inf - -inf is NaN.
Tensor masked_row(TapeProgram& run) {
  WATCH(s, {2, 3}, {1, -0.5, 0.5, 2, 0, 1});               // (2, 3)
  CONSTANT(mask, {2, 3}, {0, 0, -inf, -inf, -inf, -inf});  // (2, 3)
  LINE(masked, s + mask);                                  // (2, 3)
  LINE(highest, max(masked, -1, true));                    // (2, 1)
  LINE(shifted, masked - highest);                         // (2, 3)
  LINE(up, exp(shifted));                                  // (2, 3)
  LINE(naive, up / sum(up, -1, true));                     // (2, 3)
  LINE(right, softmax(masked));                            // (2, 3)
  LINE(loss, mse(naive, right));                           // ()
  return loss;
}

#undef WATCH
#undef CONSTANT
#undef LINE

struct Calculation {
  const char* name;
  const char* formula;
  Tensor (*run)(TapeProgram& program);
};

constexpr Calculation calculations[] = {
    {"neuron", "loss = (tanh(w x + b) - 0.2)^2, where x = 2", neuron},
    {"softmax", "loss = -ln(exp(s_2) / sum_j exp(s_j)): three scores, the last one wanted",
     softmax_of_three},
    {"attention", "three words of width 2: mse(softmax(Q K^T / sqrt(2)) V, target)", one_head},
    {"masked", "a naive softmax of a row that is masked as a whole, beside softmax()", masked_row}};

const Calculation& named(const std::string& name) {
  for (const Calculation& one : calculations) {
    if (name == one.name) return one;
  }
  const std::vector<std::string> names = tape_program_names();
  const std::string similar = closest(name, names);
  std::string list;
  for (const std::string& known : names) {
    list += (list.empty() ? "" : known == names.back() ? " and " : ", ") + known;
  }
  throw Error(in_quotes(name) + " is not a model; there are " + list + "." +
              (similar.empty() ? "" : " Did you mean " + similar + "?"));
}

}  // namespace

std::vector<std::string> tape_program_names() {
  std::vector<std::string> names;
  for (const Calculation& one : calculations) names.emplace_back(one.name);
  return names;
}

TapeProgram::TapeProgram(const std::string& name) : name_(name) {
  const Calculation& calculation = named(name);
  formula_ = calculation.formula;
  loss_ = calculation.run(*this);
}

void TapeProgram::begin() {
  if (!tape_) tape_.emplace(inputs_, Tape::Keep::values);
}

Tensor TapeProgram::watch(const char* name, const char* code, const Tensor& value) {
  lines_.push_back({std::string(name) + " = Tensor(" + code + ")", name});
  inputs_.push_back({name, value});
  return value;
}

Tensor TapeProgram::constant(const char* name, const char* code, const Tensor& value) {
  lines_.push_back({std::string(name) + " = Tensor(" + code + ")", ""});
  return value;
}

TapeSteps TapeProgram::steps() const {
  TapeSteps steps = tape_steps(*tape_, lines_);
  steps.name = name_;
  steps.formula = formula_;
  return steps;
}

TapeSteps tape_program_steps(const std::string& name) {
  TapeProgram program(name);
  (void)program.tape().backward(program.loss());
  return program.steps();
}

}  // namespace tapestry
