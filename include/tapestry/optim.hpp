// Optimisers, gradient clipping and learning rate schedules.
//
//   Adam adam(model.parameters(), {.learning_rate = 1e-3});
//   Gradients gradients = tape.backward(loss);
//   clip_gradient_norm(gradients, 1.0);  // if some steps are too long
//   adam.step(gradients);
//
// An optimiser writes the new values into the model's own tensors.
#pragma once

#include <concepts>
#include <vector>

#include "tapestry/tape.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The L2 norm of all gradients taken as one vector, computed without overflow. NaN or infinite if
// some gradient is.
double gradient_norm(const Gradients& gradients);

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
                  "TrainingOptions.learning_rate, or to "
                  "set_learning_rate() step by step");
  }

 private:
  double rate_ = 0;
};

// Other libraries' names of `learning_rate`, and what may stand beside them: with these, too, the
// compiler says what is right.
struct WrongNamesOfLearningRate {
  double lr = 0, rate = 0, momentum = 0, weight_decay = 0;
};

struct SgdOptions {
  LearningRate learning_rate = 0.01;  // at least 0
  double momentum = 0;                // in [0, 1)
};

// Stochastic gradient descent (Robbins & Monro 1951) with momentum (Polyak 1964):
//   velocity = momentum * velocity + gradient
//   weight   = weight - learning_rate * velocity
class Sgd {
 public:
  // Throws Error for an option out of its range, and for a parameter that is undefined, a strided
  // view, or shares its numbers with another.
  explicit Sgd(Parameters parameters, const SgdOptions& options = {});

  template <bool right = false>
  Sgd(Parameters, const WrongNamesOfLearningRate&) {
    static_assert(
        right, "Sgd has learning_rate (elsewhere lr, rate) and momentum: {.learning_rate = 1e-3}");
  }

  // Throws Error, and changes nothing, if the tape was not given some parameter.
  void step(const Gradients& gradients);

  double learning_rate() const { return options_.learning_rate; }
  void set_learning_rate(
      double rate);  // for a schedule; throws Error if it is negative or not a number

 private:
  Parameters parameters_;
  SgdOptions options_;
  std::vector<Tensor> velocities_;
};

struct AdamOptions {
  LearningRate learning_rate = 1e-3;  // at least 0
  double beta1 = 0.9;                 // decay rate of the mean, in [0, 1)
  double beta2 = 0.999;               // decay rate of the mean square, in [0, 1)
  double eps = 1e-8;                  // above 0: keeps the division finite
  double weight_decay = 0;            // at least 0
  bool decay_all = false;             // tensors of rank 0 and 1 too: biases and gains
};

// Adam (Kingma & Ba 2015) with decoupled weight decay (AdamW; Loshchilov & Hutter 2019). At step t:
//   mean   = beta1 * mean + (1 - beta1) * gradient
//   square = beta2 * square + (1 - beta2) * gradient^2
//   weight = weight - learning_rate * weight_decay * weight
//            - learning_rate * mean / (1 - beta1^t) / (sqrt(square / (1 - beta2^t)) + eps)
// The divisions by 1 - beta^t undo the bias of means that begin at 0, so that the first step moves
// every weight by `learning_rate` against the sign of its gradient. Biases and gains, which are
// tensors of rank 0 and 1, do not decay unless decay_all is set: no gain has a reason to be near 0.
class Adam {
 public:
  // Throws Error as Sgd does.
  explicit Adam(Parameters parameters, const AdamOptions& options = {});

  template <bool right = false>
  Adam(Parameters, const WrongNamesOfLearningRate&) {
    static_assert(right,
                  "Adam has learning_rate (elsewhere lr, rate), beta1, beta2, eps, "
                  "weight_decay and decay_all: {.learning_rate = 1e-3}");
  }

  // Throws Error, and changes nothing, if the tape was not given some parameter.
  void step(const Gradients& gradients);

  double learning_rate() const { return options_.learning_rate; }
  void set_learning_rate(
      double rate);  // for a schedule; throws Error if it is negative or not a number

  const Parameters& parameters() const { return parameters_; }

  // What it remembers of all steps: "mean.<name>" and "square.<name>" of every parameter, in the
  // order of the list. They are its own tensors: what you write into them changes its state.
  Parameters state() const;
  Index steps() const { return steps_; }  // how many were made
  void set_steps(Index steps);            // to go on from a state; throws Error if negative

 private:
  Parameters parameters_;
  AdamOptions options_;
  std::vector<Tensor> means_;
  std::vector<Tensor> squares_;
  Index steps_ = 0;
};

// ---- rates for each step, to be given to set_learning_rate. Steps are counted from 1.

// d_model^-0.5 * min(step^-0.5, step * warmup^-1.5): up in a line for `warmup` steps, then down as
// 1 / sqrt(step) (Vaswani et al. 2017, equation 3). It is highest at step = warmup, where it is
// 1 / sqrt(d_model * warmup). Throws Error if any of the three is below 1.
double inverse_square_root_schedule(Index step, Index d_model, Index warmup);

struct CosineOptions {
  double peak = 1e-3;
  double floor = 0;        // in 0 .. peak
  Index warmup_steps = 0;  // steps until the peak, at least 0 and below `steps`
  Index steps = 1000;      // until the floor, at least 1
};

// peak * step / warmup_steps for `warmup_steps` steps, then half a cosine wave down to `floor`,
// which it has from step `steps` on (Loshchilov & Hutter 2017, without restarts). Throws Error for
// a step below 1 and for an option out of its range.
double cosine_schedule(Index step, const CosineOptions& options);

}  // namespace tapestry
