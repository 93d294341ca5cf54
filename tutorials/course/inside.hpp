// What several steps need to look into a trained model: examples, rows that count, cuts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// A model of the same options with random weights. (A file does not tell how weights started.)
Transformer untrained(const Transformer& model, Initializer initializer, std::uint64_t seed = 7);

// The first held-out sequence, of this seed, with so many letters in the prompt and in the answer.
TaskSequence example_of(const TinyTask& task, Index letters, Index said, std::uint64_t seed = 6);

// The letters of the prompt in random order; what comes behind the prompt stays as it is. What is
// to be said now stands at another place, and in induction behind another letter.
TaskSequence with_mixed_prompt(TaskSequence sequence, Random& random);

// The rows with a target, for only they count in the loss: they see what they see in the model,
// the others nothing. Padding is not seen.
Mask rows_with_targets(const Batch& batch, bool causal);

// The weights of each layer when a model reads ids: (rows, heads, length, length) each. No mask
// hides padding, which in a causal model no word before it sees. Throws Error as Capture does, if
// another one is active.
std::vector<Tensor> weights_of(const Transformer& model, const Indices& ids);

struct HeadOf {
  Index layer, head;
};

// Where one head looks in one text: ids (1, length) -> (length, length).
Tensor map_of_head(const Transformer& model, const Indices& ids, HeadOf head);

// The mean weight of a head on these keys; weights (rows, heads, queries, keys), keys (rows,
// queries), -1 for a row that does not count. NaN if none does.
double mean_weight(const Tensor& weights, Index head, const Indices& keys);

// The same of each head of a causal model that reads ids (rows, queries), those of layer 0 first.
std::vector<double> mean_weights(const Transformer& model, const Indices& ids, const Indices& keys);

// The key of the letter before, at the letters 2 to 4 of the prompt: (rows, length) as the batch,
// -1 elsewhere.
Indices letter_before(const Batch& batch);

// 200 held-out sequences, and for each row that says a letter of the answer three keys in the
// prompt; -1 for a row that does not count.
struct PromptKeys {
  Batch batch;     // (200, length)
  Indices letter;  // where the letter to be said stands, if only once
  Indices place;   // where it stood before the prompt's letters were mixed
  Indices behind;  // behind the letter just read
};
// With `mix` the prompts are mixed, and only rows count in which these are three different keys.
PromptKeys prompt_keys(const TinyTask& task, bool mix);

// The same numbers, keys or targets, where the letter to be said, the target, is one of these, as
// "a-d"; -1 elsewhere. All (rows, length).
Indices where_said(const std::string& letters, Indices numbers, const Indices& targets,
                   const Vocabulary& vocabulary);

// How far back, in positions, these keys stand, and the weights look (mean of all heads). Both are
// means over the same rows, those that count; keys and weights as above. NaN if none does.
double mean_distance(const Indices& keys);
double mean_distance(const Tensor& weights, const Indices& keys);

// The share of rows in which the model says the letter that stands at the key; said, read and keys
// (rows, length), -1 for a row that does not count. NaN if none does.
double share_said(const Indices& said, const Indices& read, const Indices& keys);

// What the output of an ablated head becomes (before W_O): zeros, or at each position the mean of
// its outputs over the rows of the batch that reach so far.
enum class Replacement { zero, mean };

// That mean: (1, heads, length, d_v) for the outputs (rows, heads, length, d_v) of a layer's heads.
Tensor usual_output(const Tensor& heads, const Batch& batch);

// From now on, while `capture` is active, passes of the model over this batch, which must stay as
// long, have such outputs of these heads.
void replace_heads(Capture& capture, const Transformer& model, const Batch& batch,
                   const std::vector<HeadOf>& cut, Replacement by);

// How well a model says the targets of a batch while the outputs of some heads are replaced.
// Throws Error as Capture does, if another one is active.
struct Said {
  double log_probability;  // of the right word, mean of all targets
  double right;            // the share of rows with all targets right
  double log_odds;         // ln(p / (1 - p)) of the right word, mean of all targets
};
Said said_without(const Transformer& model, const Batch& batch, const std::vector<HeadOf>& cut,
                  Replacement by = Replacement::zero);

}  // namespace tapestry
