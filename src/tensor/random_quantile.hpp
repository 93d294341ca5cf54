// The quantile function of the normal distribution.
#pragma once

namespace tapestry {

// The x that a standard normal number is below with probability p in (0, 1). Algorithm AS 241
// (Wichura 1988), routine PPND16, relative error about 1e-15; the same bits on every machine.
double normal_quantile(double p);

}  // namespace tapestry
