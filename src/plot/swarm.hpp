// Dots side by side: those that would cover each other are moved across the axis of values.
#pragma once

#include <vector>

namespace tapestry::plot {

// What a dot covers along the axis of values: the places of its two ends, without the radius. Both
// are its centre, but for a dot with an arrow.
struct Extent {
  double from, to;
};

// For each dot how far it is moved, so that any two stand `apart` at least. The lowest are placed
// first, equal ones in the order given, and each goes as little to the side as it can; to the
// positive side where both are equal.
std::vector<double> swarm(const std::vector<Extent>& dots, double apart);

}  // namespace tapestry::plot
