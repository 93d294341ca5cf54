// Step 65. How can attention be used on long texts?
//
// New here: two ways to need less memory. Queries in chunks: exact. And windows that slide along
// the text: exact for a local pattern, if they overlap as they should.
// Writes out/plots/phase6_long.png; takes about a second.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

struct Operands {
  Tensor q, k, v;  // (length, width) each
};

Operands draw_operands(Index length, Index width) {
  Random random(13);
  return {random.normal({length, width}), random.normal({length, width}),
          random.normal({length, width})};
}

Tensor rows(const Tensor& x, Index begin, Index end) {
  return slice(x, -2, begin, std::min(end, x.size(-2)));  // (end - begin, width)
}

double peak_mebibytes(const std::function<void()>& f) {
  return static_cast<double>(peak_memory_of(f)) / 1024 / 1024;
}

using Function = std::function<Tensor(const Operands&)>;

double peak_with_backward(const Function& f, const Operands& x) {
  return peak_mebibytes([&] {
    Tape tape({x.q, x.k, x.v});
    const Tensor y = f(x);  // (length, width)
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

// What is wrong if each chunk takes its first query for position 0.
double error_of_forgotten_place(const Operands& x, const Mask& mask, const Tensor& expected) {
  std::vector<Tensor> parts;
  for (Index i = 0; i < x.q.size(0); i += 256) {
    parts.push_back(attention(rows(x.q, i, i + 256), x.k, x.v, mask).output);  // (256, width)
  }
  return largest_difference(concat(parts, 0), expected);
}

void print_library(const Operands& x, const Mask& causal, const Tensor& expected) {
  const auto library = [&](const Operands& o) {
    return chunked_attention(o.q, o.k, o.v, causal, 64);
  };
  std::printf("chunked_attention(q, k, v, causal, 64), forward and backward: %.2f MiB\n",
              peak_with_backward(library, x));
  std::printf("The same mask for every chunk, its place forgotten: differs by %.2f\n",
              error_of_forgotten_place(x, causal, expected));
}

plot::LineChart chunks() {
  const Operands x = draw_operands(1024, 64);  // (1024, 64) each
  const Mask causal = Mask::causal();
  const Tensor expected = attention(x.q, x.k, x.v, causal).output;  // (1024, 64)
  std::printf("\n2. Chunks of queries: 1024 words, width 64, causal. Peak memory in MiB\n");
  std::printf("chunk    forward   with backward   with checkpoint   output differs by\n");
  plot::Series forward{"forward", {}, {}, true, true},
      both{"forward and backward", {}, {}, true, true},
      less{"forward and backward, checkpointed", {}, {}, true, true};
  for (const Index chunk : {1024, 512, 256, 128, 64, 32}) {
    const auto plain = [&](const Operands& o) { return by_chunks(o, causal, chunk, false); };
    const auto again = [&](const Operands& o) { return by_chunks(o, causal, chunk, true); };
    for (plot::Series* line : {&forward, &both, &less}) {
      line->x.push_back(static_cast<double>(chunk));
    }
    forward.y.push_back(peak_mebibytes([&] { plain(x); }));
    both.y.push_back(peak_with_backward(plain, x));
    less.y.push_back(peak_with_backward(again, x));
    const double error = largest_difference(again(x), expected);
    std::printf("%5d %10.2f %16.2f %17.2f   %s\n", static_cast<int>(chunk), forward.y.back(),
                both.y.back(), less.y.back(), error < 1e-5 ? "less than 1e-5" : "TOO MUCH");
  }
  print_library(x, causal, expected);
  return {.title = "Chunks of queries: peak memory, 1024 words",
          .x_axis = {.name = "queries in a chunk", .log = true},
          .y_axis = {.name = "MiB", .low = 0},
          .series = {forward, both, less}};
}

// ---- sliding windows

// A guide's windows: [0, w), [w/2, 3w/2), ..., each with full attention inside; all are joined.
struct Windows {
  Tensor outputs;       // (rows, width): all of them, one window after the other
  Indices first, last;  // of the rows that a word has, one or two
};

Windows printed(const Operands& x, Index window) {
  const Index length = x.q.size(0);
  const Indices none({length}, std::vector<std::int32_t>(static_cast<std::size_t>(length), -1));
  Windows all{{}, none, none};
  std::vector<Tensor> parts;
  std::int32_t count = 0;
  for (Index i = 0; i < length; i += window / 2) {
    const Tensor q = rows(x.q, i, i + window);  // (window, width), fewer at the end
    // (window, width)
    parts.push_back(attention(q, rows(x.k, i, i + window), rows(x.v, i, i + window)).output);
    for (auto word = static_cast<std::size_t>(i); word < static_cast<std::size_t>(i + q.size(0));
         ++word, ++count) {
      all.last.values[word] = count;
      if (all.first.values[word] < 0) all.first.values[word] = count;
    }
  }
  all.outputs = concat(parts, 0);  // (rows, width)
  return all;
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
  const Index length = 512, window = 64;
  const Operands x = draw_operands(length, 16);  // (length, 16) each
  const Tensor expected = attention(x.q, x.k, x.v, Mask::local(window / 2)).output;  // (512, 16)
  const Windows all = printed(x, window);
  std::printf("\n3. Windows of 64 that overlap by half, as a guide prints them, on 512 words\n");
  std::printf("%d words in, %d rows out\n", static_cast<int>(length),
              static_cast<int>(all.outputs.size(0)));
  std::printf("to make one row for each word, take       largest error   mean error\n");
  const auto print = [&](const char* name, const Tensor& y) {
    const Tensor off = maximum(y - expected, expected - y);  // (length, 16)
    std::printf("%-40s %12.4f %12.4f\n", name, double{max(off).item()}, double{mean(off).item()});
  };
  // (length, 16) each
  const Tensor first = embedding(all.outputs, all.first), last = embedding(all.outputs, all.last);
  print("the first of its rows", first);
  print("the last", last);
  print("their mean", (first + last) / 2);
  print("blocks of queries, with their keys", blocks_of_queries(x, window / 2));
  print("sliding_window_attention(..., 32)", sliding_window_attention(x.q, x.k, x.v, window / 2));
  const Operands large = draw_operands(1024, 64);  // (1024, 64) each
  const Function sliding = [](const Operands& o) {
    return sliding_window_attention(o.q, o.k, o.v, 32);
  };
  const Function masked = [](const Operands& o) {
    return attention(o.q, o.k, o.v, Mask::local(32)).output;
  };
  std::printf("Peak memory, 1024 words, window 32, with backward: %.2f MiB; by a mask: %.2f MiB\n",
              peak_with_backward(sliding, large), peak_with_backward(masked, large));
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

// ---- the picture

plot::Heatmap map_of(const Tensor& weights, const std::string& title, const std::string& subtitle) {
  plot::Heatmap map;
  map.rows = weights.size(0);
  map.columns = weights.size(1);
  map.values = doubles(weights);
  map.title = title;
  map.subtitle = subtitle;
  map.row_axis = "row of the output";
  map.column_axis = "word that is seen";
  map.print = plot::PrintValues::never;
  map.high = 0.125;
  map.colour_bar_name = "weight";
  return map;
}

void draw(const plot::LineChart& by_chunk) {
  const Index length = 64;
  const Tensor even = Tensor::zeros({length, 4});     // (length, 4): equal scores show what is seen
  const Operands x{even, even, Tensor::eye(length)};  // (length, 4) twice, (length, length)
  const Tensor guide = printed(x, 16).outputs;        // (rows, length)
  plot::Canvas canvas(1500, 520);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 3);
  plot::draw(canvas, panels[0],
             map_of(sliding_window_attention(x.q, x.k, x.v, 8), "Sliding window, 8 to each side",
                    "64 words, equal scores: 64 rows"));
  plot::draw(canvas, panels[1],
             map_of(guide, "Windows of 16, joined as a guide prints it",
                    "64 words, equal scores: " + std::to_string(guide.size(0)) + " rows"));
  plot::draw(canvas, panels[2], by_chunk);
  plot::write_png(canvas, "out/plots/phase6_long.png");
  std::printf("\nwrote out/plots/phase6_long.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 65: long texts (takes about a second)\n\n");
  estimate();
  const plot::LineChart by_chunk = chunks();
  windows();
  axes();
  draw(by_chunk);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
