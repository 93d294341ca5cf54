// Converts tensors, masks and tapes to what plot/ draws; plot/ does not depend on them.
#pragma once

#include <string>
#include <vector>

#include "tapestry/mask.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/diagram.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The elements as doubles, row-major.
[[nodiscard]] std::vector<double> doubles(const Tensor& tensor);

// Attention weights (queries, keys) over their words, from 0 to 1. Throws Error for another rank.
[[nodiscard]] plot::Heatmap attention_heatmap(const Tensor& weights,
                                              const std::vector<std::string>& queries,
                                              const std::vector<std::string>& keys,
                                              const std::string& title);

// White may attend, black may not; for one batch element. Empty labels: positions are written.
[[nodiscard]] plot::Heatmap mask_heatmap(const Mask& mask, const std::vector<std::string>& queries,
                                         const std::vector<std::string>& keys,
                                         const std::string& title, Index batch = 0);

// The records of a tape as boxes, inputs before outputs, with values and gradients where the tape
// kept them (Tape::Keep::values): single numbers in digits, larger tensors as coloured cells.
// For Graphviz: Tape::dot.
[[nodiscard]] plot::Diagram tape_diagram(const Tape& tape, const std::string& title);

// The picture as numbers from 0 (black, transparent) to 1, (height, width, channels). Throws Error
// if its values are not that many.
[[nodiscard]] Tensor image_tensor(const plot::Image& image);

}  // namespace tapestry
