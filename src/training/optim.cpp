#include "tapestry/optim.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include "kernels/parallel_all.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

namespace tapestry {
namespace {

// NaN and infinities are outside of every range.
void check_option(const char* optimiser, const char* name, double value, bool allowed,
                  const char* range) {
  if (allowed && std::isfinite(value)) return;
  throw Error(formatted("%s: %s is %g: it must be %s.", optimiser, name, value, range));
}

void check_rate(const char* optimiser, double rate) {
  check_option(optimiser, "learning_rate", rate, rate >= 0, "0 or more, and finite");
}

void check_fraction(const char* optimiser, const char* name, double value) {
  const bool below = static_cast<real>(value) < 1;  // a float that rounds to 1 forgets nothing
  check_option(optimiser, name, value, value >= 0 && below, "in [0, 1)");
}

void check_parameters(const std::string& optimiser, const Parameters& parameters) {
  std::map<const void*, std::string> names;  // by buffer
  for (const Parameter& parameter : parameters) {
    const std::string named = optimiser + ": parameter '" + parameter.name + "' ";
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

std::vector<Tensor> zeros_like(const Parameters& parameters) {
  std::vector<Tensor> zeros;
  for (const Parameter& parameter : parameters) {
    zeros.push_back(Tensor::zeros(parameter.value.shape()));
  }
  return zeros;
}

// The gradient of every parameter, all looked up before the first one is used.
std::vector<Tensor> gradients_of(const std::string& optimiser, const Parameters& parameters,
                                 const Gradients& gradients) {
  std::vector<Tensor> found;
  for (const Parameter& parameter : parameters) {
    try {
      found.push_back(gradients[parameter.value]);
    } catch (const Error&) {
      throw Error(optimiser + ": there is no gradient for parameter '" + parameter.name + "' " +
                  to_string(parameter.value.shape()) +
                  ". Give the tape the same parameters as the optimiser.");
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
    squares += kernels::sum_squares(gradient.data(), gradient.count());
  }
  return std::sqrt(squares);
}

namespace {

// "gradient 3 (4, 5)": the first one that holds a NaN or an infinity.
std::string first_not_finite(const Gradients& gradients) {
  std::size_t i = 0;
  while (i + 1 < gradients.size() &&
         std::isfinite(kernels::sum_squares(gradients.at(i).data(), gradients.at(i).count()))) {
    ++i;
  }
  return "gradient " + std::to_string(i) + " " + to_string(gradients.at(i).shape());
}

}  // namespace

double clip_gradient_norm(Gradients& gradients, double max_norm) {
  if (!(max_norm >= 0)) {
    throw Error("clip_gradient_norm: max_norm is " + std::to_string(max_norm) +
                ": it must be 0 or more.");
  }
  const double norm = gradient_norm(gradients);
  if (!std::isfinite(norm)) {
    throw Error("clip_gradient_norm: the norm is " + std::to_string(norm) + ", from " +
                first_not_finite(gradients) +
                " in the order of the tape's list on. Nothing was changed. Skip this step, or find "
                "the first bad number with Tape::first_non_finite().");
  }
  const double divisor = norm + 1e-6;  // as PyTorch: gradients of nothing but zeros stay so
  if (divisor <= max_norm) return norm;
  const auto scale = static_cast<real>(max_norm / divisor);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& gradient = gradients.at(i);
    kernels::Sizes sizes{1, {gradient.count()}};
    const Index every = 1, same = 0;
    kernels::binary(kernels::active().multiply, sizes, gradient.data(), &every, &scale, &same,
                    gradient.data());
  }
  return norm;
}

// ---------------------------------------------------------------- SGD

Sgd::Sgd(Parameters parameters, const SgdOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  check_rate("sgd", options.learning_rate);
  check_fraction("sgd", "momentum", options.momentum);
  check_parameters("sgd", parameters_);
  velocities_ = zeros_like(parameters_);
}

void Sgd::step(const Gradients& gradients) {
  const std::vector<Tensor> found = gradients_of("sgd", parameters_, gradients);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& weight = parameters_[i].value;
    kernels::sgd(weight.data(), found[i].data(), velocities_[i].data(),
                 static_cast<real>(options_.learning_rate), static_cast<real>(options_.momentum),
                 weight.count());
  }
}

void Sgd::set_learning_rate(double rate) {
  check_rate("sgd", rate);
  options_.learning_rate = rate;
}

// ---------------------------------------------------------------- Adam

Adam::Adam(Parameters parameters, const AdamOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  check_rate("adam", options.learning_rate);
  check_fraction("adam", "beta1", options.beta1);
  check_fraction("adam", "beta2", options.beta2);
  check_option("adam", "eps", options.eps, static_cast<real>(options.eps) > 0,
               "above 0, and finite");
  check_option("adam", "weight_decay", options.weight_decay, options.weight_decay >= 0,
               "0 or more, and finite");
  check_parameters("adam", parameters_);
  means_ = zeros_like(parameters_);
  squares_ = zeros_like(parameters_);
}

void Adam::step(const Gradients& gradients) {
  const std::vector<Tensor> found = gradients_of("adam", parameters_, gradients);
  ++steps_;
  const auto number = [](double x) { return static_cast<real>(x); };
  kernels::AdamStep step{};
  step.rate = number(options_.learning_rate);
  step.beta1 = number(options_.beta1);
  step.beta2 = number(options_.beta2);
  step.epsilon = number(options_.eps);
  // From the rounded betas that the kernel uses: 1 - beta2 magnifies the difference 1000 times.
  const auto t = static_cast<double>(steps_);
  step.correction1 = number(1 - std::pow(static_cast<double>(step.beta1), t));
  step.correction2 = number(1 - std::pow(static_cast<double>(step.beta2), t));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& weight = parameters_[i].value;
    const bool decays = options_.decay_all || weight.ndim() >= 2;
    step.weight_decay = decays ? number(options_.weight_decay) : 0;
    kernels::adam(weight.data(), found[i].data(), means_[i].data(), squares_[i].data(), step,
                  weight.count());
  }
}

void Adam::set_learning_rate(double rate) {
  check_rate("adam", rate);
  options_.learning_rate = rate;
}

Parameters Adam::state() const {
  Parameters state;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    state.push_back({"mean." + parameters_[i].name, means_[i]});
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    state.push_back({"square." + parameters_[i].name, squares_[i]});
  }
  return state;
}

void Adam::set_steps(Index steps) {
  if (steps < 0) {
    throw Error("adam: " + std::to_string(steps) + " steps: it must be 0 or more.");
  }
  steps_ = steps;
}

// ---------------------------------------------------------------- rates for each step

namespace {

void check_count(const char* schedule, const char* name, Index value, Index least) {
  if (value >= least) return;
  throw Error(std::string(schedule) + ": " + name + " is " + std::to_string(value) +
              ": it must be at least " + std::to_string(least) + ".");
}

}  // namespace

double inverse_square_root_schedule(Index step, Index d_model, Index warmup) {
  check_count("inverse_square_root_schedule", "step", step, 1);
  check_count("inverse_square_root_schedule", "d_model", d_model, 1);
  check_count("inverse_square_root_schedule", "warmup_steps", warmup, 1);
  const auto s = static_cast<double>(step), w = static_cast<double>(warmup);
  return std::min(1 / std::sqrt(s), s / (w * std::sqrt(w))) /
         std::sqrt(static_cast<double>(d_model));
}

double cosine_schedule(Index step, const CosineOptions& options) {
  check_count("cosine_schedule", "step", step, 1);
  check_count("cosine_schedule", "steps", options.steps, 1);
  check_option("cosine_schedule", "warmup_steps", static_cast<double>(options.warmup_steps),
               options.warmup_steps >= 0 && options.warmup_steps < options.steps,
               "0 or more, and below steps");
  check_option("cosine_schedule", "peak", options.peak, options.peak >= 0, "0 or more, and finite");
  check_option("cosine_schedule", "floor", options.floor,
               options.floor >= 0 && options.floor <= options.peak, "in 0 .. peak");
  if (step >= options.steps) return options.floor;
  const auto part = [](Index steps, Index of) {
    return static_cast<double>(steps) / static_cast<double>(of);
  };
  if (step <= options.warmup_steps) return options.peak * part(step, options.warmup_steps);
  const double way = part(step - options.warmup_steps, options.steps - options.warmup_steps);
  return options.floor +
         (options.peak - options.floor) * (1 + std::cos(std::numbers::pi * way)) / 2;
}

}  // namespace tapestry
