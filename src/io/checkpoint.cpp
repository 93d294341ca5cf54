#include "tapestry/io/checkpoint.hpp"

#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

const char* const kind_key = "optimizer";

void check_name(const char* what, const std::string& name, bool taken, const std::string& prefix) {
  if (!taken) return;
  throw Error(std::string("save_checkpoint: the ") + what + " '" + name +
              "' has a name that is kept for the optimizer, as is all that begins with '" + prefix +
              "'. Give it another name.");
}

Index steps_from(const std::filesystem::path& path, const std::string& key,
                 const std::string& text) {
  Index steps{};
  if (read_number(text, steps) && steps >= 0) return steps;
  throw Error("read_checkpoint: " + path.string() + ": " + in_quotes(key) +
              " must be a whole number of 0 or more.");
}

// Which optimizer wrote it. Files of the time when there was only Adam do not say so.
std::string kind_in(const Safetensors& file) {
  const auto kind = file.metadata.find(kind_key);
  const bool said = kind != file.metadata.end() && file.metadata.contains(kind->second + ".steps");
  return said ? kind->second : "adam";
}

void check_kind(const Optimizer& optimizer, const Checkpoint& checkpoint) {
  const std::string& kind = checkpoint.kind;
  if (kind == optimizer.kind() || (kind == "adam" && optimizer.kind() == "adamw")) return;
  const std::string holds = kind.empty() ? "weights alone, without what an optimizer remembers"
                                         : "what the optimizer " + in_quotes(kind) +
                                               " remembers, not " + in_quotes(optimizer.kind());
  throw Error("load_checkpoint: the file holds " + holds +
              ". Use load_parameters(model, checkpoint.weights), and begin the training anew" +
              (kind.empty() ? "." : ", or train with the same optimizer."));
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Parameters& model,
                     const Optimizer& optimizer,
                     const std::map<std::string, std::string>& configuration) {
  const std::string prefix = optimizer.kind() + ".";
  for (const auto& [name, value] : model) {
    check_name("parameter", name, name.starts_with(prefix), prefix);
  }
  for (const auto& [key, text] : configuration) {
    check_name("text", key, key == kind_key || key.starts_with(prefix), prefix);
  }
  Parameters tensors = model;
  for (const Parameter& memory : optimizer.state()) {
    tensors.push_back({prefix + memory.name, memory.value});
  }
  std::map<std::string, std::string> metadata = configuration;
  metadata[kind_key] = optimizer.kind();
  metadata[prefix + "steps"] = std::to_string(optimizer.steps());
  write_safetensors(path, tensors, metadata);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  Safetensors file = read_safetensors(path);
  Checkpoint checkpoint{.kind = kind_in(file)};
  const std::string prefix = checkpoint.kind + ".", steps_key = prefix + "steps";
  const auto part = [&](auto& all, auto& weights, auto& optimizer) {
    for (auto& tensor : all) {
      const bool remembered = tensor.name.starts_with(prefix);
      if (remembered) tensor.name.erase(0, prefix.size());
      (remembered ? optimizer : weights).push_back(std::move(tensor));
    }
  };
  part(file.tensors, checkpoint.weights.tensors, checkpoint.optimizer.tensors);
  part(file.skipped, checkpoint.weights.skipped, checkpoint.optimizer.skipped);
  const bool has_steps = file.metadata.contains(steps_key);
  for (const auto& [key, text] : file.metadata) {
    if (key == steps_key) checkpoint.steps = steps_from(path, key, text);
    const bool own = key.starts_with(prefix) || (key == kind_key && text == checkpoint.kind);
    if (!own) checkpoint.weights.metadata[key] = text;
  }
  const Safetensors& memories = checkpoint.optimizer;
  if (!has_steps && memories.tensors.empty() && memories.skipped.empty()) checkpoint.kind.clear();
  return checkpoint;
}

void load_checkpoint(const Parameters& model, Optimizer& optimizer, const Checkpoint& checkpoint) {
  check_kind(optimizer, checkpoint);
  // All in one list, so that nothing is changed before everything is known to fit.
  const std::string prefix = checkpoint.kind + ".";
  Parameters own = model;
  Safetensors file = checkpoint.weights;
  const auto append = [&](auto& list, const auto& more) {
    for (auto one : more) {
      one.name.insert(0, prefix);
      list.push_back(std::move(one));
    }
  };
  append(own, optimizer.state());
  append(file.tensors, checkpoint.optimizer.tensors);
  append(file.skipped, checkpoint.optimizer.skipped);
  load_parameters(own, file);
  optimizer.set_steps(checkpoint.steps);
}

}  // namespace tapestry
