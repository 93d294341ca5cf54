#include "tensor/random_quantile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tapestry {
namespace {

// ln(x) for x in (0, 1] by arithmetic that IEEE 754 fixes to the last bit; libm's log differs
// between systems. ln(m * 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1)).
double portable_log(double x) {
  int exponent;
  double m = std::frexp(x, &exponent);  // in [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double t = (m - 1) / (m + 1), square = t * t;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * std::numbers::ln2 + 2 * t * sum;
}

double polynomial(const std::array<double, 8>& coefficients, double x) {
  double sum = 0;
  for (std::size_t i = coefficients.size(); i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// Coefficients of algorithm AS 241 (Wichura 1988), routine PPND16: ratios of two polynomials for
// the centre of the distribution, its tails, and its far tails.
constexpr std::array<double, 8> centre_top = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                              1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                              4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                              3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr std::array<double, 8> centre_bottom = {1,
                                                 4.2313330701600911252e+1,
                                                 6.8718700749205790830e+2,
                                                 5.3941960214247511077e+3,
                                                 2.1213794301586595867e+4,
                                                 3.9307895800092710610e+4,
                                                 2.8729085735721942674e+4,
                                                 5.2264952788528545610e+3};
constexpr std::array<double, 8> tail_top = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                            5.76949722146069140550e0,  3.64784832476320460504e0,
                                            1.27045825245236838258e0,  2.41780725177450611770e-1,
                                            2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> tail_bottom = {1,
                                               2.05319162663775882187e0,
                                               1.67638483018380384940e0,
                                               6.89767334985100004550e-1,
                                               1.48103976427480074590e-1,
                                               1.51986665636164571966e-2,
                                               5.47593808499534494600e-4,
                                               1.05075007164441684324e-9};
constexpr std::array<double, 8> far_top = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                           1.78482653991729133580e0,  2.96560571828504891230e-1,
                                           2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array<double, 8> far_bottom = {1,
                                              5.99832206555887937690e-1,
                                              1.36929880922735805310e-1,
                                              1.48753612908506148525e-2,
                                              7.86869131145613259100e-4,
                                              1.84631831751005468180e-5,
                                              1.42151175831644588870e-7,
                                              2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(centre_top, r) / polynomial(centre_bottom, r);
  }
  const double r = std::sqrt(-portable_log(std::min(p, 1 - p)));
  const double tail = r <= 5 ? polynomial(tail_top, r - 1.6) / polynomial(tail_bottom, r - 1.6)
                             : polynomial(far_top, r - 5) / polynomial(far_bottom, r - 5);
  return std::copysign(tail, q);
}

}  // namespace tapestry
