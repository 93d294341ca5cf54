// Step 65. How can attention be used on long texts?
//
// New here: two ways to need less memory. Queries in chunks: exact. And windows that slide along
// the text: exact for a local pattern, if they overlap as they should.
// Writes out/plots/phase6_long.png; takes about a second.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "course/long_text_pictures.hpp"
#include "course/operands.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

Tensor rows(const Tensor& x, Index begin, Index end) {
  return slice(x, -2, begin, std::min(end, x.size(-2)));  // (end - begin, width)
}

double peak_mebibytes(const std::function<void()>& f) {
  return static_cast<double>(peak_memory_of(f)) / 1024 / 1024;
}

// f attends with x.
double peak_with_backward(const Operands& x, const std::function<Tensor()>& f) {
  return peak_mebibytes([&] {
    Tape tape({x.q, x.k, x.v});
    const Tensor y = f();  // (length, width)
    tape.backward(y, y);
  });
}

// ---- chunks of queries

void estimate() {
  std::printf("1. A matrix of weights, 32 bits each: one head, one layer, one text\n");
  for (const double length : {1024., 8192., 65536., 1048576.}) {
    std::printf("%8.0f words: %10.0f MiB; queries, keys and values of width 64: %5.2f MiB\n",
                length, length * length * 4 / 1024 / 1024, length * 64 * 4 * 3 / 1024 / 1024);
  }
}

// Each row of weights depends on one query alone, so the rows may be computed one after the other.
// The mask of a chunk must know where in the text its queries stand: mask.part().
Tensor by_chunks(const Operands& x, const Mask& mask, Index chunk, bool checkpointed) {
  const Index length = x.q.size(0);
  std::vector<Tensor> parts;
  for (Index i = 0; i < length; i += chunk) {
    const Tensor queries = rows(x.q, i, i + chunk);  // (chunk, width)
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
    parts.push_back(attention(rows(x.q, i, i + 256), x.k, x.v, causal).output);  // (256, width)
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
                now.checkpointed, error < 1e-5 ? "less than 1e-5" : "TOO MUCH");
    peaks.push_back(now);
  }
  print_others(x, causal, expected);
  return peaks;
}

// ---- sliding windows

// A guide's windows: [0, w), [step, step + w), ..., each with full attention inside, all joined.
// Window n begins at word n step, and its rows at n window.
Tensor printed(const Operands& x, Index window, Index step) {
  std::vector<Tensor> parts;
  for (Index i = 0; i < x.q.size(0); i += step) {
    const auto inside = [&](const Tensor& all) { return rows(all, i, i + window); };
    // (window, width), fewer at the end
    parts.push_back(attention(inside(x.q), inside(x.k), inside(x.v)).output);
  }
  return concat(parts, 0);  // (rows, width)
}

// Queries do not overlap, keys do: blocks of 64 queries, each with the keys that they may see.
Tensor blocks_of_queries(const Operands& x, Index window) {
  const Index length = x.q.size(0);
  std::vector<Tensor> outputs;
  for (Index begin = 0; begin < length; begin += 64) {
    const Index end = std::min(begin + 64, length);
    const Index first = std::max<Index>(0, begin - window), last = std::min(end + window, length);
    const Mask seen = Mask::local(window).part(begin, end - begin, first, last - first);
    outputs.push_back(
        attention(rows(x.q, begin, end), rows(x.k, first, last), rows(x.v, first, last), seen)
            .output);  // (end - begin, width)
  }
  return concat(outputs, 0);  // (length, width)
}

void windows() {
  const Index length = 512, window = 64, step = window / 2;
  const Operands x = draw_operands(length, 16, 13);  // (length, 16) each
  const Tensor expected = attention(x.q, x.k, x.v, Mask::local(window / 2)).output;  // (512, 16)
  const Tensor all = printed(x, window, step);                                       // (rows, 16)
  std::printf("\n3. Windows of 64 that overlap by half, as a guide prints them, on 512 words\n");
  std::printf("%d words in, %d rows out\n", int(length), int(all.size(0)));
  std::printf("to make one row for each word, take       largest error   mean error\n");
  const auto print = [&](const char* name, const Tensor& y) {
    const Tensor off = maximum(y - expected, expected - y);  // (length, 16)
    std::printf("%-40s %12.4f %12.4f\n", name, double{max(off).item()}, double{mean(off).item()});
  };
  Indices first({length}, std::vector<std::int32_t>(length)), last = first;
  for (Index word = 0; word < length; ++word) {  // it stands in the windows `early` to `late`
    const Index early = word < window ? 0 : (word - window) / step + 1, late = word / step;
    first.values[word] = early * window + word - early * step;
    last.values[word] = late * window + word - late * step;
  }
  const Tensor of_first = embedding(all, first), of_last = embedding(all, last);  // (length, 16)
  print("the first of its rows", of_first);
  print("the last", of_last);
  print("their mean", (of_first + of_last) / 2);
  print("blocks of queries, with their keys", blocks_of_queries(x, window / 2));
  print("sliding_window_attention(..., 32)", sliding_window_attention(x.q, x.k, x.v, window / 2));
  const Operands large = draw_operands(1024, 64, 13);  // (1024, 64) each
  const auto sliding = [&] { return sliding_window_attention(large.q, large.k, large.v, 32); };
  const auto masked = [&] { return attention(large.q, large.k, large.v, Mask::local(32)).output; };
  std::printf("Peak memory, 1024 words, window 32, with backward: %.2f MiB; by a mask: %.2f MiB\n",
              peak_with_backward(large, sliding), peak_with_backward(large, masked));
}

// The guide's layer reads (batch, length, width) as (length, batch, width).
void axes() {
  Random random(5);
  const Tensor x = random.normal({2, 6, 8});  // (2, 6, 8)
  const auto moved = [&](bool own) {          // how far text 0, word 3 moves
    Tensor changed = x.clone();               // (2, 6, 8)
    for (Index i = 0; i < 8; ++i) changed.set({own ? 0 : 1, own ? 2 : 3, i}, 0);
    const auto output = [](const Tensor& in) {
      const Tensor t = transpose(in, 0, 1);  // (6, 2, 8): it takes the length for the batch
      const Tensor y = transpose(attention(t, t, t).output, 0, 1);  // (2, 6, 8)
      return slice(slice(y, 0, 0, 1), 1, 3, 4);                     // (1, 1, 8)
    };
    return largest_difference(output(x), output(changed));
  };
  std::printf("Batch and length exchanged: word 3 of text 0 moves by %.2f when word 2 of its own\n",
              moved(true));
  std::printf("text changes, and by %.2f when word 3 of the other text does\n", moved(false));
}

void draw(const std::vector<ChunkPeaks>& peaks) {
  const Tensor even = Tensor::zeros({64, 4});     // (64, 4): equal scores show what is seen
  const Operands x{even, even, Tensor::eye(64)};  // (64, 4) twice, (64, 64)
  const Tensor sliding = sliding_window_attention(x.q, x.k, x.v, 8);  // (64, 64)
  plot::write_png(long_text_picture(sliding, printed(x, 16, 8), peaks),
                  "out/plots/phase6_long.png");
  std::printf("\nwrote out/plots/phase6_long.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 65: long texts (takes about a second)\n\n");
  estimate();
  const std::vector<ChunkPeaks> peaks = chunks();
  windows();
  axes();
  draw(peaks);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
