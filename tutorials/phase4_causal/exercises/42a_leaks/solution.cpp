#include "phase4.hpp"

namespace learn {

bool causality_passes(const SequenceFunction& f, Index d) {
  Random random(1);
  for (const Index n : {2, 5, 6}) {          // even and odd lengths
    const Tensor x = random.normal({n, d});  // (n, d)
    const Tensor before = f(x);              // (n, d)
    for (Index past = 1; past < n; ++past) {
      const Tensor future = random.normal({n - past, d}, 0, 10);  // (n - past, d): large numbers
      const Tensor changed = concat({slice(x, 0, 0, past), future}, 0);  // (n, d)
      const Tensor after = f(changed);                                   // (n, d)
      const double moved = largest_difference(slice(before, 0, 0, past), slice(after, 0, 0, past));
      if (moved > 1e-5) return false;
    }
  }
  return true;
}

}  // namespace learn
