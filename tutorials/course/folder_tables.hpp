// What is in the folder of a llama, name by name, in the tables of step 72.
#pragma once

#include <filesystem>

#include "tapestry/io/weight_files.hpp"

namespace tapestry {

// The entries of config.json that decide what is computed, in its order; with their values, and
// what they become: "hidden_size": 64 becomes d_model = 64.
void print_config(const std::filesystem::path& folder);

// The tensors outside the layers and of layer 0: name, shape, and what each is. Then how many
// tensors and numbers there are in all.
void print_tensors(const WeightFiles& files);

}  // namespace tapestry
