// Optimizers and gradient clipping; learning rate schedules are in schedules.hpp.
//
//   Adam adam(model.parameters(), {.learning_rate = 1e-3});
//   Gradients gradients = tape.backward(loss);
//   clip_gradient_norm(gradients, 1.0);  // if some steps are too long
//   adam.step(gradients);
//
// An optimizer writes the new values into the model's own tensors.
#pragma once

#include <concepts>
#include <string>
#include <vector>

#include "tapestry/tape.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The L2 norm of all gradients taken as one vector, computed without overflow. NaN or infinite if
// some gradient is.
[[nodiscard]] double gradient_norm(const Gradients& gradients);

// Scales all gradients in place by max_norm / (norm + 1e-6) where that is below 1, as PyTorch does,
// and returns the norm they had (Pascanu, Mikolov, Bengio 2013). Throws Error, and changes nothing,
// if the norm is NaN or infinite, or max_norm negative or NaN.
double clip_gradient_norm(Gradients& gradients, double max_norm);

// The learning rate: one number. Anything else, such as a function of the step, does not compile.
class LearningRate {
 public:
  constexpr LearningRate() = default;
  constexpr LearningRate(double rate) : rate_(rate) {}
  constexpr operator double() const { return rate_; }

  template <class Other>
    requires(!std::convertible_to<Other, double>)
  LearningRate(const Other&) {
    static_assert(std::same_as<Other, double>,
                  "learning_rate is one number; a schedule goes to train() as "
                  "TrainingOptions.learning_rate, or to set_learning_rate() step by step");
  }

 private:
  double rate_ = 0;
};

// What all optimizers have in common: parameters, a learning rate, and what is remembered of all
// steps. train() and checkpoints take any; one of your own says in update() what a step does.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Makes one step. Throws Error, and changes nothing, if the tape was not given some parameter, or
  // if the state of one was dropped.
  void step(const Gradients& gradients);

  // The same with one gradient for each parameter, in their order, where an undefined one leaves
  // its parameter as it is: another process changes it. Throws Error, and changes nothing, if their
  // number or a shape differs, or if the state of a parameter to be changed was dropped.
  void step(const std::vector<Tensor>& gradients);

  double learning_rate() const { return learning_rate_; }
  void set_learning_rate(double rate);  // for a schedule; throws Error if negative or not a number

  // "adam", "adamw", "sgd": in errors, and in files of checkpoints.
  const std::string& kind() const { return kind_; }
  const Parameters& parameters() const { return parameters_; }

  // What it remembers of all steps, "velocity.<name>" for example, of every parameter. They are its
  // own tensors: what you write into them changes its state.
  const Parameters& state() const { return state_; }
  Index steps() const { return steps_; }  // how many were made
  void set_steps(Index steps);            // to resume from a state; throws Error if negative

  // Frees what is remembered of all parameters but those with the numbers [first, last), whose
  // tensors in state() are undefined from then on; restore_state makes them again, as zeros.
  void drop_state_outside(std::size_t first, std::size_t last);
  void restore_state();

 protected:
  // `memories` are the names of what is remembered, a tensor of zeros for each parameter. Throws
  // Error for a learning rate that is negative or not a number, and for a parameter that is
  // undefined, a strided view, or shares its numbers with another.
  Optimizer(std::string kind, Parameters parameters, double learning_rate,
            const std::vector<std::string>& memories);

  // Of parameter i, in the order of the names.
  const Tensor& memory(std::size_t which, std::size_t i) const {
    return state_[which * parameters_.size() + i].value;
  }

 private:
  // Changes parameter i by its gradient; steps() counts this step already.
  virtual void update(std::size_t i, const Tensor& gradient) = 0;
  void check_gradient(std::size_t i, const Tensor& gradient) const;

  std::string kind_;
  Parameters parameters_;
  double learning_rate_;
  Parameters state_;
  Index steps_ = 0;
};

// Other libraries' names of options, and what only other optimizers have: with these, too, the
// compiler says what is right.
struct WrongNames {
  double lr = 0, rate = 0, learning_rate = 0;
  double beta1 = 0, beta2 = 0, eps = 0, epsilon = 0, momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  bool decay_all = false;
};

struct SgdOptions {
  LearningRate learning_rate = 0.01;  // at least 0
  double momentum = 0;                // in [0, 1)
  bool nesterov = false;              // only with momentum
  double weight_decay = 0;            // at least 0
  bool decay_all = false;             // tensors of one axis or none too: biases and gains
};

// Stochastic gradient descent (Robbins & Monro 1951) with momentum (Polyak 1964) or Nesterov's
// (1983; Sutskever et al. 2013, in the form that PyTorch gives it), and decoupled weight decay
// (SGDW; Loshchilov & Hutter 2019):
//   velocity = momentum * velocity + gradient
//   move     = velocity, or with nesterov: gradient + momentum * velocity
//   weight   = weight - learning_rate * weight_decay * weight - learning_rate * move
class Sgd : public Optimizer {
 public:
  // Throws Error as Optimizer does, and for an option out of its range.
  explicit Sgd(Parameters parameters, const SgdOptions& options = {});

  template <bool right = false>
  Sgd(Parameters, const WrongNames&) {
    static_assert(
        right,
        "Sgd has learning_rate (elsewhere lr, rate), momentum, nesterov, weight_decay and "
        "decay_all: {.learning_rate = 1e-3}");
  }

 private:
  void update(std::size_t i, const Tensor& gradient) override;

  SgdOptions options_;
};

struct AdamOptions {
  LearningRate learning_rate = 1e-3;  // at least 0
  double beta1 = 0.9;                 // decay rate of the mean, in [0, 1)
  double beta2 = 0.999;               // decay rate of the mean square, in [0, 1)
  double eps = 1e-8;                  // above 0: keeps the division finite
};

// Adam (Kingma & Ba 2015). At step t:
//   mean   = beta1 * mean + (1 - beta1) * gradient
//   square = beta2 * square + (1 - beta2) * gradient^2
//   weight = weight - learning_rate * mean / (1 - beta1^t) / (sqrt(square / (1 - beta2^t)) + eps)
// The divisions by 1 - beta^t undo the bias of means that begin at 0, so that the first step moves
// every weight by `learning_rate` against the sign of its gradient.
class Adam : public Optimizer {
 public:
  // Throws Error as Optimizer does, and for an option out of its range.
  explicit Adam(Parameters parameters, const AdamOptions& options = {});

  template <bool right = false>
  Adam(Parameters, const WrongNames&) {
    static_assert(right,
                  "Adam has learning_rate (elsewhere lr, rate), beta1, beta2 and eps: "
                  "{.learning_rate = 1e-3}; weight_decay is AdamW's");
  }

 protected:
  Adam(std::string kind, Parameters parameters, const AdamOptions& options, double weight_decay,
       bool decay_all);

 private:
  void update(std::size_t i, const Tensor& gradient) override;

  AdamOptions options_;
  double weight_decay_;
  bool decay_all_;
};

struct AdamWOptions {
  LearningRate learning_rate = 1e-3;  // this and the next three as Adam's
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;  // at least 0
  bool decay_all = false;      // tensors of one axis or none too: biases and gains
};

// Adam with decoupled weight decay (Loshchilov & Hutter 2019): before Adam's step,
//   weight = weight - learning_rate * weight_decay * weight
// Biases and gains, which are tensors of one axis or none, do not decay unless decay_all is set: no
// gain has a reason to be near 0.
class AdamW : public Adam {
 public:
  // Throws Error as Adam does.
  explicit AdamW(Parameters parameters, const AdamWOptions& options = {});

  template <bool right = false>
  AdamW(Parameters, const WrongNames&) {
    static_assert(right,
                  "AdamW has learning_rate (elsewhere lr, rate), beta1, beta2, eps, weight_decay "
                  "and decay_all: {.learning_rate = 1e-3}");
  }
};

}  // namespace tapestry
