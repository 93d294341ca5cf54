// The picture of step 07: the paths of gradient descent through a valley.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Two weights, by step.
struct WeightPath {
  std::string name;
  std::vector<double> first, second;
};

// Paths through a valley. The loss is a sum of squares, and 0 at the goal alone.
struct ValleyView {
  std::string title;
  std::function<double(const Tensor& w)> loss;  // of w (2)
  Tensor start, goal;                           // (2) each
  std::vector<WeightPath> paths = {};
};

// Both weights from -2 to 3. Grey lines join the points where the loss is 0.01, 0.1, 1 and 4. Above
// them the paths, with a mark for each step.
plot::LineChart valley_chart(const ValleyView& valley);

// Charts of two valleys, side by side. Throws Error unless there are two.
plot::Canvas valleys_picture(const std::vector<ValleyView>& valleys);

}  // namespace tapestry
