// Where a model departs from the activations that another program computed, and the likely cause.
//
//   const Safetensors expected = read_safetensors("expected.safetensors");
//   const Comparison found = compare(model, expected);
//   if (found.first() != nullptr) std::cout << found.first()->name;
//   for (const Trial& trial : try_changes(model, expected)) ...
#pragma once

#include <string>
#include <vector>

#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// One activation, as expected and as the model computed it.
struct Compared {
  std::string name;      // in the file
  std::string recorded;  // the name that Capture has for it
  double difference;     // the largest, as a part of the largest number that was expected
  double allowed;
  std::vector<Index> place;  // of the largest difference
  double here, there;        // the two numbers at that place

  [[nodiscard]] bool agrees() const { return difference <= allowed; }  // false, too, if it is NaN
};

struct Comparison {
  std::vector<Compared> activations;  // in the order in which a model computes them
  std::vector<std::string> unknown;   // names in the file that the model has no activation for
  // What the model computes after the last that agrees before the first that departs, up to that
  // one: the mistake is in one of these operations. Names of Capture.
  std::vector<std::string> suspects;

  // The first that departs; null if all agree.
  [[nodiscard]] const Compared* first() const;
  // The largest difference as a part of what is allowed.
  [[nodiscard]] double worst() const;
};

// How much may differ.
struct CompareOptions {
  double allowed = 2e-4;          // of the largest number of an activation
  double allowed_weights = 1e-5;  // of attention weights, which are at most 1
  // Weights of large scores may differ by more: by (layer + 1) * this * eps * largest score, where
  // eps = 2^-23 and the largest is that of the keys that have a weight. A score of 200 is rounded
  // by up to 200 eps / 2, which moves its weight, and the layers before add theirs. Two programs in
  // float32 were 0.1 to 3.7 eps * largest score apart, in layer 0 at most 0.6 (stories260K, 32 to
  // 400 tokens, right and with mistakes).
  double allowed_roundings = 2;
};

// Runs the model on `ids` of the file (length) or (batch, length), with its `token_types` if there
// are any, and compares all else in it: `logits`, `weights.i`, the attention weights of layer i,
// and whatever else Capture calls by the name ("blocks.0.output"). Throws Error if there are no
// ids, if they are not words of the model, if an activation has another shape, and if nothing is to
// compare.
[[nodiscard]] Comparison compare(const Transformer& model, const Safetensors& expected,
                                 const CompareOptions& options = {});

// A change of one known kind, and what is different after it.
struct Trial {
  std::string change;  // "silu instead of gelu"
  Comparison result;
};

// The same with one known mistake undone after the other: the layout, width and base of rotary
// positions, the activation, the scale, kind, place and epsilon of norms, masks, windows and the
// parallel residual. The weights stay. Those that do not apply to the model are left out.
[[nodiscard]] std::vector<Trial> try_changes(const Transformer& model, const Safetensors& expected,
                                             const CompareOptions& options = {});

// The same with every two of them at once; these are some hundreds.
[[nodiscard]] std::vector<Trial> try_pairs_of_changes(const Transformer& model,
                                                      const Safetensors& expected,
                                                      const CompareOptions& options = {});

}  // namespace tapestry
