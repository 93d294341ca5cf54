// The picture of step 65: who is seen by two kinds of windows, and memory by chunks of queries.
#pragma once

#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The peak of memory in MiB with so many queries in a chunk.
struct ChunkPeaks {
  Index chunk;
  double forward, both, checkpointed;  // both: forward and backward; last with checkpoints as well
};

// At the left who is seen by a sliding window and by windows that are joined, as maps of weights
// (rows of the output, words) up to 1/8. At the right a line for each kind of peak.
plot::Canvas long_text_picture(const Tensor& sliding, const Tensor& joined,
                               const std::vector<ChunkPeaks>& peaks);

}  // namespace tapestry
