#include "tapestry/io/checkpoint.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

constexpr std::string_view prefix = "adam.";
const char* const steps_key = "adam.steps";

void check_name(const char* what, const std::string& name) {
  if (!name.starts_with(prefix)) return;
  throw Error(std::string("save_checkpoint: the ") + what + " '" + name +
              "' begins with 'adam.', which is kept for the optimiser. Give it another name.");
}

Index steps_from(const std::filesystem::path& path, const std::string& text) {
  Index steps = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (problem == std::errc() && end == text.data() + text.size() && steps >= 0) return steps;
  throw Error("read_checkpoint: " + path.string() +
              ": 'adam.steps' must be a whole number of 0 or more.");
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Parameters& model, const Adam& adam,
                     const std::map<std::string, std::string>& configuration) {
  for (const Parameter& parameter : model) check_name("parameter", parameter.name);
  for (const auto& [key, text] : configuration) check_name("text", key);
  Parameters tensors = model;
  for (const Parameter& memory : adam.state()) {
    tensors.push_back({std::string(prefix) + memory.name, memory.value});
  }
  std::map<std::string, std::string> metadata = configuration;
  metadata[steps_key] = std::to_string(adam.steps());
  write_safetensors(path, tensors, metadata);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  Safetensors file = read_safetensors(path);
  Checkpoint checkpoint;
  const auto part = [](auto& all, auto& weights, auto& optimiser) {
    for (auto& tensor : all) {
      const bool remembered = tensor.name.starts_with(prefix);
      if (remembered) tensor.name.erase(0, prefix.size());
      (remembered ? optimiser : weights).push_back(std::move(tensor));
    }
  };
  part(file.tensors, checkpoint.weights.tensors, checkpoint.optimizer.tensors);
  part(file.skipped, checkpoint.weights.skipped, checkpoint.optimizer.skipped);
  for (const auto& [key, text] : file.metadata) {
    if (key == steps_key) checkpoint.steps = steps_from(path, text);
    if (!key.starts_with(prefix)) checkpoint.weights.metadata[key] = text;
  }
  return checkpoint;
}

void load_checkpoint(const Parameters& model, Adam& adam, const Checkpoint& checkpoint) {
  const Safetensors& memories = checkpoint.optimizer;
  if (memories.tensors.empty() && memories.skipped.empty() && !checkpoint.weights.tensors.empty()) {
    throw Error(
        "load_checkpoint: the file holds weights alone, without what Adam remembers. Use "
        "load_parameters(model, checkpoint.weights), and begin the training anew.");
  }
  // All in one list, so that nothing is changed before everything is known to fit.
  Parameters own = model;
  Safetensors file = checkpoint.weights;
  const auto append = [](auto& list, const auto& more) {
    for (auto one : more) {
      one.name.insert(0, prefix);
      list.push_back(std::move(one));
    }
  };
  append(own, adam.state());
  append(file.tensors, memories.tensors);
  append(file.skipped, memories.skipped);
  load_parameters(own, file);
  adam.set_steps(checkpoint.steps);
}

}  // namespace tapestry
