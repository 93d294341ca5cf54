#include "tapestry/optim.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "kernels/parallel_all.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tensor/raw.hpp"
#include "training/check_option.hpp"

namespace tapestry {
namespace {

void check_fraction(const std::string& optimizer, const char* name, double value) {
  const bool below = static_cast<real>(value) < 1;  // as a float it must be below 1, too
  check_option(optimizer, name, value, value >= 0 && below, "in [0, 1)");
}

void check_parameters(const std::string& optimizer, const Parameters& parameters) {
  std::map<const void*, std::string> names;  // by buffer
  for (const Parameter& parameter : parameters) {
    const std::string named = optimizer + ": parameter '" + parameter.name + "' ";
    if (!parameter.value.defined()) throw Error(named + "is undefined: it holds no numbers.");
    if (!parameter.value.is_contiguous()) {
      throw Error(named + to_string(parameter.value.shape()) +
                  " is a strided view. List the tensor that owns the numbers.");
    }
    const auto [other, is_new] = names.try_emplace(parameter.value.buffer().id(), parameter.name);
    if (!is_new) {
      throw Error(named + "shares its numbers with '" + other->second +
                  "' and would be updated twice. List every tensor once.");
    }
  }
}

// The gradient of every parameter, all looked up before the first one is used.
std::vector<Tensor> gradients_of(const std::string& optimizer, const Parameters& parameters,
                                 const Gradients& gradients) {
  std::vector<Tensor> found;
  for (const Parameter& parameter : parameters) {
    try {
      found.push_back(gradients[parameter.value]);
    } catch (const Error&) {
      throw Error(optimizer + ": there is no gradient for parameter '" + parameter.name + "' " +
                  to_string(parameter.value.shape()) +
                  ". Give the tape the same parameters as the optimizer.");
    }
  }
  return found;
}

}  // namespace

// ---------------------------------------------------------------- the norm of gradients

double gradient_norm(const Gradients& gradients) {
  double squares = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& gradient = gradients.at(i);
    squares += kernels::sum_squares(raw(gradient), gradient.numel());
  }
  return std::sqrt(squares);
}

namespace {

// "gradient 3 (4, 5)": the first one that holds a NaN or an infinity.
std::string first_not_finite(const Gradients& gradients) {
  std::size_t i = 0;
  while (i + 1 < gradients.size() &&
         std::isfinite(kernels::sum_squares(raw(gradients.at(i)), gradients.at(i).numel()))) {
    ++i;
  }
  return "gradient " + std::to_string(i) + " " + to_string(gradients.at(i).shape());
}

}  // namespace

double clip_gradient_norm(Gradients& gradients, double max_norm) {
  if (!(max_norm >= 0)) {
    throw Error("clip_gradient_norm: max_norm is " + exact_text(max_norm) +
                ": it must be 0 or more.");
  }
  const double norm = gradient_norm(gradients);
  if (!std::isfinite(norm)) {
    throw Error("clip_gradient_norm: the norm is " + exact_text(norm) + ", from " +
                first_not_finite(gradients) +
                " in the order of the tape's list on. Nothing was changed. Skip this step, or find "
                "the first bad number with Tape::first_non_finite().");
  }
  const double divisor = norm + 1e-6;  // as PyTorch: zero gradients stay zero
  if (divisor <= max_norm) return norm;
  const auto scale = static_cast<real>(max_norm / divisor);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& gradient = gradients.at(i);
    kernels::Sizes sizes{1, {gradient.numel()}};
    const Index every = 1, same = 0;
    kernels::binary(kernels::active().of<kernels::Multiply>(), sizes, raw(gradient), &every, &scale,
                    &same, raw_to_change(gradient));
  }
  return norm;
}

// ---------------------------------------------------------------- what all optimizers share

Optimizer::Optimizer(std::string kind, Parameters parameters, double learning_rate,
                     const std::vector<std::string>& memories)
    : kind_(std::move(kind)), parameters_(std::move(parameters)) {
  set_learning_rate(learning_rate);
  check_parameters(kind_, parameters_);
  for (const std::string& memory : memories) {
    for (const auto& [name, value] : parameters_) {
      state_.push_back({memory + "." + name, Tensor::zeros(value.shape())});
    }
  }
}

void Optimizer::step(const Gradients& gradients) {
  step(gradients_of(kind_, parameters_, gradients));
}

void Optimizer::step(const std::vector<Tensor>& gradients) {
  if (gradients.size() != parameters_.size()) {
    throw Error(kind_ + ": there are " + std::to_string(gradients.size()) + " gradients, but " +
                std::to_string(parameters_.size()) + " parameters: give one for each.");
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].defined()) check_gradient(i, gradients[i]);
  }
  ++steps_;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].defined()) update(i, gradients[i]);
  }
}

void Optimizer::check_gradient(std::size_t i, const Tensor& gradient) const {
  const auto& [name, value] = parameters_[i];
  if (gradient.shape() != value.shape() || !gradient.is_contiguous()) {
    throw Error(kind_ + ": the gradient of '" + name + "' is " + to_string(gradient.shape()) +
                ": it must be contiguous and shaped like the parameter, " +
                to_string(value.shape()) + ".");
  }
  for (std::size_t at = i; at < state_.size(); at += parameters_.size()) {
    if (state_[at].value.defined()) continue;
    throw Error(kind_ + ": what was remembered of '" + name +
                "' was dropped here: another process changes it. Give no gradient for it, or call "
                "restore_state and load a checkpoint.");
  }
}

void Optimizer::drop_state_outside(std::size_t first, std::size_t last) {
  for (std::size_t at = 0; at < state_.size(); ++at) {
    const std::size_t i = at % parameters_.size();
    if (i < first || i >= last) state_[at].value = Tensor();
  }
}

void Optimizer::restore_state() {
  for (std::size_t at = 0; at < state_.size(); ++at) {
    const Tensor& parameter = parameters_[at % parameters_.size()].value;
    if (!state_[at].value.defined()) state_[at].value = Tensor::zeros(parameter.shape());
  }
}

void Optimizer::set_learning_rate(double rate) {
  check_option(kind_, "learning_rate", rate, rate >= 0, "0 or more, and finite");
  learning_rate_ = rate;
}

void Optimizer::set_steps(Index steps) {
  if (steps < 0) {
    throw Error(kind_ + ": " + std::to_string(steps) + " steps: it must be 0 or more.");
  }
  steps_ = steps;
}

namespace {

real number(double x) { return static_cast<real>(x); }

void check_decay(const std::string& optimizer, double decay, bool decay_all) {
  check_option(optimizer, "weight_decay", decay, decay >= 0, "0 or more, and finite");
  check_option(optimizer, "decay_all", decay_all, !decay_all || decay > 0,
               "false where weight_decay is 0");
}

real decay_of(const Tensor& weight, double weight_decay, bool decay_all) {
  return decay_all || weight.ndim() >= 2 ? number(weight_decay) : 0;
}

}  // namespace

// ---------------------------------------------------------------- SGD

Sgd::Sgd(Parameters parameters, const SgdOptions& o)
    : Optimizer("sgd", std::move(parameters), o.learning_rate, {"velocity"}), options_(o) {
  check_fraction("sgd", "momentum", o.momentum);
  check_option("sgd", "nesterov", o.nesterov, !o.nesterov || o.momentum > 0,
               "false where there is no momentum");
  check_decay("sgd", o.weight_decay, o.decay_all);
}

void Sgd::update(std::size_t i, const Tensor& gradient) {
  const Tensor& weight = parameters()[i].value;
  const kernels::SgdStep step{number(learning_rate()), number(options_.momentum),
                              decay_of(weight, options_.weight_decay, options_.decay_all),
                              options_.nesterov};
  kernels::sgd(raw_to_change(weight), raw(gradient), raw(memory(0, i)), step, weight.numel());
}

// ---------------------------------------------------------------- Adam

Adam::Adam(Parameters parameters, const AdamOptions& options)
    : Adam("adam", std::move(parameters), options, 0, false) {}

Adam::Adam(std::string kind, Parameters parameters, const AdamOptions& o, double weight_decay,
           bool decay_all)
    : Optimizer(kind, std::move(parameters), o.learning_rate, {"mean", "square"}),
      options_(o),
      weight_decay_(weight_decay),
      decay_all_(decay_all) {
  check_fraction(kind, "beta1", o.beta1);
  check_fraction(kind, "beta2", o.beta2);
  check_option(kind, "eps", o.eps, number(o.eps) > 0, "above 0, and finite");
  check_decay(kind, weight_decay, decay_all);
}

void Adam::update(std::size_t i, const Tensor& gradient) {
  const Tensor& weight = parameters()[i].value;
  kernels::AdamStep step{};
  step.rate = number(learning_rate());
  step.beta1 = number(options_.beta1);
  step.beta2 = number(options_.beta2);
  step.epsilon = number(options_.eps);
  // From the rounded betas that the kernel uses: 1 - beta2 magnifies the difference 1000 times.
  const auto t = static_cast<double>(steps());
  step.correction1 = number(1 - std::pow(static_cast<double>(step.beta1), t));
  step.correction2 = number(1 - std::pow(static_cast<double>(step.beta2), t));
  step.weight_decay = decay_of(weight, weight_decay_, decay_all_);
  kernels::adam(raw_to_change(weight), raw(gradient), raw(memory(0, i)), raw(memory(1, i)), step,
                weight.numel());
}

AdamW::AdamW(Parameters parameters, const AdamWOptions& o)
    : Adam("adamw", std::move(parameters), {o.learning_rate, o.beta1, o.beta2, o.eps},
           o.weight_decay, o.decay_all) {}

}  // namespace tapestry
