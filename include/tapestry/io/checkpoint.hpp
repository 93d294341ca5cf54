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
// It is a safetensors file: the weights by their names, and Adam's state, as tensors
// "adam.mean.<name>" and "adam.square.<name>" and the text "adam.steps". Everything whose name
// begins with "adam." belongs to the optimiser; a reader of weights leaves it out.
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
  Index steps = 0;             // of the optimiser
};

// Writes the file atomically, as write_safetensors does: an interrupted save leaves the old one.
// Training resumes from it bitwise equal. Not saved: learning rates and other options; make Adam
// with the same ones. Throws Error as write_safetensors does, and for a name of a weight or text
// that begins with "adam.".
void save_checkpoint(const std::filesystem::path& path, const Parameters& model, const Adam& adam,
                     const std::map<std::string, std::string>& configuration = {});

// Reads a checkpoint, or a file of weights alone. Throws Error as read_safetensors does, and for a
// count of steps that is no whole number.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// Copies weights, Adam's state and its count of steps into a model and an Adam of the same shapes
// and names. Throws Error, and changes nothing, if some do not fit (it lists them), or if the
// checkpoint has weights alone.
void load_checkpoint(const Parameters& model, Adam& adam, const Checkpoint& checkpoint);

}  // namespace tapestry
