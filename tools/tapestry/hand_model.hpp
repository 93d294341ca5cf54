// A hand-made model for a task, and how well it does there, as `tapestry hand` and the explorer's
// page have it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "material.hpp"
#include "model_file.hpp"
#include "tapestry/models/hand_made.hpp"

namespace tapestry::command {

inline constexpr const char* hand_metadata_key = "hand.heads";  // by which its files are known

struct HandModel {
  Material material;
  std::vector<HandMadeHead> heads;
  std::string words;  // "0.0 previous word, 1.0 what followed the same word"
  Metadata metadata;
  std::shared_ptr<const ModelFile> file;
};

// The sizes for texts of that material, whose beginning is <bos> if it has one. Throws Error for
// less than 1 position.
HandMadeOptions hand_sizes(const Material& material, Index positions, double sharpness);

// `path`: where it will be written. Throws Error as hand_made does.
HandModel make_by_hand(const std::filesystem::path& path, const Material& material, Index positions,
                       double sharpness, const std::vector<HandMadeHead>& heads);

// Shares of 1, of texts and of words; loss in nats.
struct HandScores {
  double whole, right, loss;
};

// 100 texts, the same as in the table of `tapestry train` with seed 1.
inline constexpr Index hand_texts = 100;
Batch hand_test(const Material& material);

HandScores scores_of(const Model& model, const Batch& batch);

// What guessing blindly reaches: an answer of n words with a chance of 1 / words^n.
HandScores scores_of_chance(Index words, const Batch& batch);

}  // namespace tapestry::command
