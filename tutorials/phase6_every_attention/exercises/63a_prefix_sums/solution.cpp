#include <cmath>
#include <vector>

#include "phase6.hpp"

namespace learn {

static double phi(double x) { return x > 0 ? x + 1 : std::exp(x); }

Tensor prefix_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Index length = q.size(0), d = q.size(1), d_v = v.size(1);
  Tensor result = Tensor::zeros({length, d_v});  // (length, d_v)
  Tensor sums = Tensor::zeros({d, d_v});         // (d, d_v): S
  Tensor z = Tensor::zeros({d});                 // (d)
  for (Index i = 0; i < length; ++i) {
    for (Index c = 0; c < d; ++c) {  // word i becomes known
      const double key = phi(double{k.at({i, c})});
      z.set({c}, double{z.at({c})} + key);
      for (Index e = 0; e < d_v; ++e) {
        sums.set({c, e}, double{sums.at({c, e})} + key * double{v.at({i, e})});
      }
    }
    double divisor = 0;
    std::vector<double> mixed(std::size_t(d_v), 0.0);
    for (Index c = 0; c < d; ++c) {
      const double query = phi(double{q.at({i, c})});
      divisor += query * double{z.at({c})};
      for (Index e = 0; e < d_v; ++e) mixed[std::size_t(e)] += query * double{sums.at({c, e})};
    }
    for (Index e = 0; e < d_v; ++e) result.set({i, e}, mixed[std::size_t(e)] / divisor);
  }
  return result;
}

}  // namespace learn
