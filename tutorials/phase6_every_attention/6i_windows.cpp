// Step 6i. How does a window slide along a long text?
//
// New here: sliding windows, for a local pattern in less memory. A guide cuts the text into windows
// that overlap, and joins their outputs: more rows than words, and wrong ones. Exact is: blocks of
// queries that do not overlap, each with all keys that its queries may see.
// Writes out/plots/phase6_windows.png; takes less than a second.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/long_text_pictures.hpp"
#include "course/operands.hpp"
#include "course/peak_memory.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

// A guide's windows: [0, w), [step, step + w), ..., each with full attention inside, all joined.
// Window n begins at word n step, and its rows at n window.
Tensor printed(const Operands& x, Index window, Index step) {
  std::vector<Tensor> parts;
  for (Index i = 0; i < x.q.size(0); i += step) {
    const auto inside = [&](const Tensor& all) { return rows_of(all, i, i + window); };
    // (window, width), fewer at the end
    parts.push_back(attention(inside(x.q), inside(x.k), inside(x.v)).output);
  }
  return concat(parts, 0);  // (rows, width)
}

// Of the rows that printed() gives each word, the first and the last.
struct RowsOfWords {
  Tensor first, last;  // (length, width) each
};

RowsOfWords rows_of_words(const Tensor& joined, Index length, Index window, Index step) {
  Indices first({length}, std::vector<std::int32_t>(static_cast<std::size_t>(length))),
      last = first;
  for (Index word = 0; word < length; ++word) {  // it stands in the windows `early` to `late`
    const Index early = word < window ? 0 : (word - window) / step + 1, late = word / step;
    first.values[word] = early * window + word - early * step;
    last.values[word] = late * window + word - late * step;
  }
  return {embedding(joined, first), embedding(joined, last)};
}

// Queries do not overlap, keys do: blocks of 64 queries, each with the keys that they may see.
Tensor blocks_of_queries(const Operands& x, Index window) {
  const Index length = x.q.size(0);
  std::vector<Tensor> outputs;
  for (Index begin = 0; begin < length; begin += 64) {
    const Index end = std::min(begin + 64, length);
    const Index first = std::max<Index>(0, begin - window), last = std::min(end + window, length);
    const Mask seen = Mask::local(window).part(begin, end - begin, first, last - first);
    outputs.push_back(attention(rows_of(x.q, begin, end), rows_of(x.k, first, last),
                                rows_of(x.v, first, last), seen)
                          .output);  // (end - begin, width)
  }
  return concat(outputs, 0);  // (length, width)
}

void compare() {
  const Index length = 512, window = 64, step = window / 2;
  const Operands x = draw_operands(length, 16, 13);  // (length, 16) each
  const Tensor expected = attention(x.q, x.k, x.v, Mask::local(window / 2)).output;  // (512, 16)
  const Tensor all = printed(x, window, step);                                       // (rows, 16)
  std::printf("1. Windows of 64 that overlap by half, as a guide prints them, on 512 words\n");
  std::printf("%d words in, %d rows out\n", int(length), int(all.size(0)));
  std::printf("to make one row for each word, take       largest error   mean error\n");
  const auto print = [&](const char* name, const Tensor& y) {
    const Tensor off = maximum(y - expected, expected - y);  // (length, 16)
    std::printf("%-40s %12.4f %12.4f\n", name, double{max(off).item()}, double{mean(off).item()});
  };
  const RowsOfWords of = rows_of_words(all, length, window, step);
  print("the first of its rows", of.first);
  print("the last", of.last);
  print("their mean", (of.first + of.last) / 2);
  print("blocks of queries, with their keys", blocks_of_queries(x, window / 2));
  print("sliding_window_attention(..., 32)", sliding_window_attention(x.q, x.k, x.v, window / 2));
}

void print_memory() {
  const Operands x = draw_operands(1024, 64, 13);  // (1024, 64) each
  const auto sliding = [&] { return sliding_window_attention(x.q, x.k, x.v, 32); };
  const auto masked = [&] { return attention(x.q, x.k, x.v, Mask::local(32)).output; };
  std::printf("Peak memory, 1024 words, window 32, with backward: %.2f MiB; by a mask: %.2f MiB\n",
              peak_with_backward(x, sliding), peak_with_backward(x, masked));
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

void draw() {
  const Tensor even = Tensor::zeros({64, 4});     // (64, 4): equal scores show what is seen
  const Operands x{even, even, Tensor::eye(64)};  // (64, 4) twice, (64, 64)
  const Tensor sliding = sliding_window_attention(x.q, x.k, x.v, 8);  // (64, 64)
  plot::write_png(windows_picture(sliding, printed(x, 16, 8)), "out/plots/phase6_windows.png");
  std::printf("\nwrote out/plots/phase6_windows.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 6i: sliding windows (takes less than a second)\n\n");
  compare();
  print_memory();
  axes();
  draw();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
