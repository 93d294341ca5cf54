// The models of the sub-commands: a transformer, or the single head that step 14 writes.
#pragma once

#include <filesystem>
#include <variant>

#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry::command {

// logits = head(words[ids] + positions) W_guess: attention without a residual connection.
struct OneHead {
  Tensor words, positions;       // (vocabulary, d_model), (length, d_model)
  MultiHeadAttention attention;  // of one head
  Tensor guess;                  // (d_model, vocabulary)

  // Throws Error if tensors are missing or their shapes do not fit together.
  explicit OneHead(const Safetensors& file);
  OneHead(const TransformerOptions& sizes, Random& random);

  // Records for Capture under the names of a transformer of one layer.
  Tensor operator()(const Indices& ids, const ForwardContext& pass = {}) const;
};

class Model {
 public:
  explicit Model(Transformer transformer);
  explicit Model(OneHead head);

  // For a single head: the options of an encoder of one layer with its sizes.
  const TransformerOptions& options() const { return options_; }
  bool is_one_head() const { return std::holds_alternative<OneHead>(parts_); }
  const MultiHeadAttention& attention(Index layer) const;
  const Transformer& transformer() const { return std::get<Transformer>(parts_); }

  // ids (length) or (batch, length) -> logits (..., length, vocabulary).
  Tensor operator()(const Indices& ids, const ForwardContext& pass = {}) const;

  Index num_parameters() const;

  // Another one of these sizes, with random weights: numbers of their own, or in a large model
  // pieces of one list of four million.
  Model untrained(std::uint64_t seed) const;

 private:
  TransformerOptions options_;
  std::variant<Transformer, OneHead> parts_;
};

// More than ten million numbers: what takes many passes is left out, or made shorter.
bool is_large(const Model& model);

// The model of a folder; the adapters of a file, if one is named, are merged into it.
Transformer read_folder(const std::filesystem::path& folder,
                        const std::filesystem::path& adapters = {});

// Throws an Error that says what the file is, if it is neither.
Model to_model(const Safetensors& file);

}  // namespace tapestry::command
