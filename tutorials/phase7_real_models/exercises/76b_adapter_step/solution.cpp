#include "phase7.hpp"

namespace learn {

Tensor adapter_step(AdaptedMap& map, const Tensor& x, const Tensor& dy, double rate) {
  const double scale = map.alpha / double(map.a.size(1));
  const Tensor low = scale * matmul(dy, transpose(map.b));                         // (n, rank)
  const Tensor da = matmul(transpose(x), low);                                     // (in, rank)
  const Tensor db = scale * matmul(transpose(matmul(x, map.a)), dy);               // (rank, out)
  const Tensor dx = matmul(dy, transpose(map.w)) + matmul(low, transpose(map.a));  // (n, in)
  map.a = map.a - rate * da;                                                       // (in, rank)
  map.b = map.b - rate * db;                                                       // (rank, out)
  return dx;
}

}  // namespace learn
