// Step 65. How can attention be computed on long texts, a few queries at a time?
//
// New here: queries in chunks. Each row of weights depends on one query alone, so the rows may be
// computed one after the other: exact, in less memory, and in training with a checkpoint around
// each chunk (step 6a).
// Writes out/plots/phase6_chunks.png; takes about a second.
#include <cstdio>
#include <vector>

#include "course/if_small.hpp"
#include "course/long_text_pictures.hpp"
#include "course/operands.hpp"
#include "course/peak_memory.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

void estimate() {
  std::printf("1. A matrix of weights, 32 bits each: one head, one layer, one text\n");
  for (const double length : {1024., 8192., 65536., 1048576.}) {
    std::printf("%8.0f words: %10.0f MiB; queries, keys and values of width 64: %5.2f MiB\n",
                length, length * length * 4 / 1024 / 1024, length * 64 * 4 * 3 / 1024 / 1024);
  }
}

// The mask of a chunk must know where in the text its queries stand: mask.part().
Tensor by_chunks(const Operands& x, const Mask& mask, Index chunk, bool checkpointed) {
  const Index length = x.q.size(0);
  std::vector<Tensor> parts;
  for (Index i = 0; i < length; i += chunk) {
    const Tensor queries = rows_of(x.q, i, i + chunk);  // (chunk, width)
    const Mask seen = mask.part(i, queries.size(0), 0, length);
    const auto attend = [seen](const std::vector<Tensor>& in) {
      return attention(in[0], in[1], in[2], seen).output;  // (chunk, width)
    };
    const std::vector<Tensor> in = {queries, x.k, x.v};  // (chunk, width), (length, width) twice
    parts.push_back(checkpointed ? checkpoint(attend, in) : attend(in));
  }
  return concat(parts, 0);  // (length, width)
}

void print_others(const Operands& x, const Mask& causal, const Tensor& expected) {
  const auto library = [&] { return chunked_attention(x.q, x.k, x.v, causal, 64); };
  std::printf("chunked_attention(q, k, v, causal, 64), forward and backward: %.2f MiB\n",
              peak_with_backward(x, library));
  std::vector<Tensor> parts;  // each chunk takes its first query for position 0
  for (Index i = 0; i < x.q.size(0); i += 256) {
    parts.push_back(attention(rows_of(x.q, i, i + 256), x.k, x.v, causal).output);  // (256, width)
  }
  std::printf("The same mask for every chunk, its place forgotten: differs by %.2f\n",
              largest_difference(concat(parts, 0), expected));
}

std::vector<ChunkPeaks> chunks() {
  const Operands x = draw_operands(1024, 64, 13);  // (1024, 64) each
  const Mask causal = Mask::causal();
  const Tensor expected = attention(x.q, x.k, x.v, causal).output;  // (1024, 64)
  std::printf("\n2. Chunks of queries: 1024 words, width 64, causal. Peak memory in MiB\n");
  std::printf("chunk    forward   with backward   with checkpoint   output differs by\n");
  std::vector<ChunkPeaks> peaks;
  for (const Index chunk : {1024, 512, 256, 128, 64, 32}) {
    const auto plain = [&] { return by_chunks(x, causal, chunk, false); };
    const auto again = [&] { return by_chunks(x, causal, chunk, true); };
    const ChunkPeaks now = {chunk, peak_mebibytes(plain), peak_with_backward(x, plain),
                            peak_with_backward(x, again)};
    const double error = largest_difference(again(), expected);
    std::printf("%5d %10.2f %16.2f %17.2f   %s\n", static_cast<int>(chunk), now.forward, now.both,
                now.checkpointed, if_small(error).c_str());
    peaks.push_back(now);
  }
  print_others(x, causal, expected);
  return peaks;
}

}  // namespace

int main() try {
  std::printf("Step 65: queries in chunks (takes about a second)\n\n");
  estimate();
  const std::vector<ChunkPeaks> peaks = chunks();
  plot::write_png(chunks_picture(peaks), "out/plots/phase6_chunks.png");
  std::printf("\nwrote out/plots/phase6_chunks.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
