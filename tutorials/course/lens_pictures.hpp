// The picture of step 50: what layers would say, and their loss.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// What the lens would say at one point of a model: behind each word that was read, the likeliest
// next word and its probability.
struct LikeliestWords {
  std::string point;
  Words words;
  std::vector<double> p;
};

// A row for each point, a cell for each word that was read: the darker, the more probable. Throws
// Error if a row has another length.
void draw_likeliest(plot::Canvas& canvas, const plot::Rect& area, const Words& read,
                    const std::vector<LikeliestWords>& rows);

// A line for each of three seeds: lens and probes, (seeds, points), the first point is the
// embedding. Dashed: `entropy`, the least loss that is possible.
plot::LineChart loss_by_layer(const Tensor& lens, const Tensor& probes, double entropy);

// The words at the left, the losses at the right.
plot::Canvas lens_picture(const Words& read, const std::vector<LikeliestWords>& rows,
                          const plot::LineChart& losses);

}  // namespace tapestry
