// Training checkpoints: model and optimiser state in one file.
//
//   save_checkpoint("out/checkpoints/model.safetensors", model.parameters(), adam,
//                   {{"d_model", "64"}});
//
//   const Checkpoint checkpoint = read_checkpoint("out/checkpoints/model.safetensors");
//   Model model(std::stoi(checkpoint.weights.metadata.at("d_model")));
//   load_parameters(model.parameters(), checkpoint.weights);         // to use it, or
//   load_checkpoint(model.parameters(), adam, checkpoint);           // to train it further
//
// It is a safetensors file: the weights by their names, and the state of the optimizer. Of
// Adam these are the tensors "adam.mean.<name>" and "adam.square.<name>" and the texts "adam.steps"
// and "optimizer", which is "adam"; of others likewise. Everything whose name begins
// with "adam." belongs to the optimizer; a reader of weights leaves it out.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tapestry/io/safetensors.hpp"
#include "tapestry/optim.hpp"

namespace tapestry {

struct Checkpoint {
  Safetensors weights = {};    // as in a file of weights alone; metadata: the model's configuration
  Safetensors optimizer = {};  // "mean.<name>", "square.<name>"; empty for a file of weights alone
  std::string kind = {};       // of the optimizer, "adam" say; empty in a file of weights alone
  Index steps = 0;             // that the optimizer had made
};

// Writes the file atomically, as write_safetensors does: an interrupted save leaves the old one.
// Training resumes from it bitwise equal. Not saved: learning rates and other options; make the
// optimizer with the same ones. Throws Error as write_safetensors does, for a
// text "optimizer", and for a name of a weight or text that begins with the optimizer's kind and a
// dot.
void save_checkpoint(const std::filesystem::path& path, const Parameters& model,
                     const Optimizer& optimizer,
                     const std::map<std::string, std::string>& configuration = {});

// Reads a checkpoint, or a file of weights alone. Throws Error as read_safetensors does, and for a
// count of steps that is no whole number.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& path);

// Copies weights, the state of the optimizer and its count of steps into a model and an optimizer
// of the same shapes and names. AdamW takes Adam's state, too. Throws Error, and changes nothing,
// if they do not fit, which it lists, if the optimizer is of another kind, or if the checkpoint has
// weights alone.
void load_checkpoint(const Parameters& model, Optimizer& optimizer, const Checkpoint& checkpoint);

}  // namespace tapestry
