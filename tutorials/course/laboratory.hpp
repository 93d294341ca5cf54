// The laboratory: the same queries, keys and values through every way of this library to compute
// attention, with what explicit attention makes of them beside it, the time and the memory.
//
//   const LaboratoryInput input = laboratory_input({.length = 1024});
//   for (const Variant& variant : attention_variants(input.sizes)) {
//     const Measurement found = measure(variant, input);
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/mask.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct LaboratorySizes {
  Index batch = 1, num_heads = 4, length = 256;
  Index width = 32;        // of one head
  bool is_causal = false;  // no query sees a later key
  Index window = 32;       // of local attention, to either side
  Index stride = 32, block = 64, global = 4;
  Index chunk = 64;  // queries at a time in chunked attention
};

// What a variant is beside softmax attention of all pairs of a query and a key (causal: of all
// pairs but those with a later key).
enum class VariantKind {
  exact,    // the same numbers
  pattern,  // softmax attention of fewer pairs
  other,    // another function
};

struct Variant {
  std::string name = {}, about = {};  // "local", "at most 32 positions away"
  VariantKind kind = {};
  double time_growth = 0, memory_growth = 0;  // in theory they grow as the length to these powers
  Mask mask = {};                             // the pairs that it sees
  std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v)> run = {};

  // The same function, with all weights written out: softmax attention under the mask, for linear
  // attention the linear kind, for grouped heads with copies of their keys and values. Of q it may
  // get a part, with that part of the mask.
  std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask)>
      reference = {};

  std::string skipped = {};       // why it is not run with these sizes at all; "": it is
  std::string forward_only = {};  // why it has no backward pass; "": it has
};

// All variants, explicit attention first; q, k and v are (batch, heads, length, width), of any
// batch and length. Those that share keys and values among heads read the first ones of k and v.
// Throws Error for a size below 1 (window, global: below 0).
std::vector<Variant> attention_variants(const LaboratorySizes& sizes);

struct LaboratoryOptions {
  double seconds = 5;                // skip what would take longer,
  std::optional<double> bytes = {};  // or need more; not given: 80 % of what is free at the time
  int repeats = 5;            // the median of so many times counts; of fewer where one takes long
  double least_time = 0.002;  // seconds; what is shorter is run several times in a row
  double compared_pairs = 1 << 24;  // of a query and a key: most that are compared
};

// Throws Error for sizes as above, and for tensors that do not fit into options.bytes.
void check_fits(const LaboratorySizes& sizes, const LaboratoryOptions& options = {});

struct LaboratoryInput {
  LaboratorySizes sizes;
  Tensor q, k, v;   // (batch, heads, length, width): normal numbers
  Tensor d_output;  // handed back in the backward pass: normal numbers, and zeros above row `first`
  Index first;      // queries from here on are compared: all, unless that would take long
  Tensor full;      // their outputs by softmax attention of all pairs
};

// Throws Error as above.
LaboratoryInput laboratory_input(const LaboratorySizes& sizes,
                                 const LaboratoryOptions& options = {}, std::uint64_t seed = 1);

// One pass through a variant: forward, or forward and backward.
struct Timing {
  std::string skipped = {};  // why there are no numbers; "": there are
  double seconds = 0;
  double bytes = 0;  // of tensors, most at one time, beyond the input (memory.hpp); without the
                     // scratch memory of kernels, which does not grow with the length
  double error = 0;  // largest absolute difference from `reference`: of outputs, of gradients
};

struct Measurement {
  Timing forward = {}, forward_backward = {};
  double error_vs_full = 0;  // largest difference of the outputs from input.full
};

// What is expected to be too long or too large, by a run with fewer positions and the growth in
// theory, is skipped; the reason says how much it would need. Gives memory back to the system.
Measurement measure(const Variant& variant, const LaboratoryInput& input,
                    const LaboratoryOptions& options = {});

// The power of x with which y grows: the slope of the straight line that is closest (least squares)
// to the points on logarithmic axes. NaN for less than two different x. Throws Error for lists of
// different lengths, and for numbers that are not above 0.
double growth(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace tapestry
