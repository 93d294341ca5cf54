// The pictures of steps 65 and 6i: memory by chunks of queries, and who is seen by two kinds of
// windows.
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

// A line for each kind of peak.
plot::Canvas chunks_picture(const std::vector<ChunkPeaks>& peaks);

// Who is seen by a sliding window and by windows that are joined, as maps of weights (rows of the
// output, words) up to 1/8.
plot::Canvas windows_picture(const Tensor& sliding, const Tensor& joined);

}  // namespace tapestry
