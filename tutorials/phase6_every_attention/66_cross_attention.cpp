// Step 66. How does one sequence look into another?
//
// New here: queries from one sequence, keys and values from another (cross-attention). Two lengths,
// two widths, padding on both sides; which of the two needs a mask; the three uses of attention in
// one table; and what happens if the axes of batch and length are confused.
// Writes out/plots/phase6_cross_attention.png; takes less than a second.
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index heads = 2, d_k = 8;

// Two sentences: the sources have 5 and 3 words, what is written so far has 4 and 2.
const std::vector<Index> source_lengths = {5, 3}, target_lengths = {4, 2};

struct Data {
  Tensor x, context;  // (2, 4, 16) for queries; (2, 5, 24) for keys and values
  MultiHeadAttention layer;
};

Data make_data() {
  Random random(42);
  const Tensor x = random.normal({2, 4, 16}), context = random.normal({2, 5, 24});
  return {
      x, context,
      MultiHeadAttention(16, heads, random, {.d_context = 24, .initializer = init::lecun_normal})};
}

// x with one row replaced by noise; the same shape.
Tensor with_noise(const Tensor& x, Index batch, Index place) {
  Random random(7);
  Tensor changed = x.clone();  // (2, length, width)
  for (Index i = 0; i < x.size(2); ++i) changed.set({batch, place, i}, random.normal());
  return changed;
}

// How far the output of one sentence moved, over its first `length` rows.
double moved(const Tensor& a, const Tensor& b, Index batch, Index length) {
  const auto rows = [&](const Tensor& y) {
    return slice(slice(y, 0, batch, batch + 1), 1, 0, length);  // (1, length, width)
  };
  return largest_difference(rows(a), rows(b));
}

void print_second(const Tensor& weights) {
  std::printf("weights of the second sentence, head 0: 5 keys, 2 of them <pad>\n");
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 5; ++j) std::printf(" %.2f", double{weights.at({1, 0, i, j})});
    std::printf("%s\n", i < target_lengths[1] ? "" : "   <pad> asks, too");
  }
}

// Cross-attention, written out: queries from x, keys and values from the context. `real` is 1
// for words, 0 for <pad>.
void written_out(const Data& data) {
  const Tensor q = split_heads(matmul(data.x, data.layer.query.weight), heads);      // (2, 2, 4, 8)
  const Tensor k = split_heads(matmul(data.context, data.layer.key.weight), heads);  // (2, 2, 5, 8)
  const Tensor v = split_heads(matmul(data.context, data.layer.value.weight), heads);  // as k
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(double{d_k});    // (2, heads, 4, 5)
  const Tensor real = Mask::padding(source_lengths).tensor(scores.shape());  // (2, 1, 4, 5)
  const Tensor weights = softmax(where(real, scores, -infinity));            // (2, heads, 4, 5)
  const Tensor mixed = concat_heads(matmul(weights, v));                     // (2, 4, 16)
  const Tensor output = matmul(mixed, data.layer.output.weight);             // (2, 4, 16)

  std::printf("1. Written out\n");
  const auto print = [](const char* name, const Tensor& tensor) {
    std::printf("%-28s %s\n", name, to_string(tensor.shape()).c_str());
  };
  print("x, what asks", data.x);
  print("context, what answers", data.context);
  print("queries of two heads", q);
  print("keys and values", k);
  print("scores and weights", weights);
  print("output, as long as x", output);
  print_second(weights);
  const Tensor across =
      data.layer.cross_attend(data.x, data.context, Mask::padding(source_lengths));  // (2, 4, 16)
  const double difference = largest_difference(output, across);
  std::printf("MultiHeadAttention::cross_attend differs by %.1g: %s\n\n", difference,
              difference < 1e-5 ? "the same" : "NOT THE SAME");
}

// <pad> is replaced by noise: do the two real rows of the second sentence move?
void padding_on_both_sides(const Data& data) {
  const Mask words_only = Mask::padding(source_lengths);
  const auto change = [&](const Tensor& x, const Tensor& context, const Mask& mask) {
    return moved(data.layer.cross_attend(data.x, data.context, mask),
                 data.layer.cross_attend(x, context, mask), 1, target_lengths[1]);
  };
  const Tensor source_noise = with_noise(data.context, 1, 4),
               target_noise = with_noise(data.x, 1, 3);  // (2, 5, 24), (2, 4, 16)
  std::printf("2. Noise in place of <pad>: how far the rows of real words move\n");
  std::printf("in the source, no mask     %.2f\n", change(data.x, source_noise, Mask()));
  std::printf("in the source, with mask   %.2f\n", change(data.x, source_noise, words_only));
  std::printf("in the target, no mask     %.2f\n", change(target_noise, data.context, Mask()));
  // (2, 4, 16)
  const Tensor nothing = data.layer.cross_attend(data.x, data.context, Mask::padding({5, 0}));
  std::printf("a source without words: output between %.2f and %.2f\n\n",
              double{min(slice(nothing, 0, 1, 2)).item()},
              double{max(slice(nothing, 0, 1, 2)).item()});
}

// Self-attention over the source, masked self-attention over the target, and from one to the other.
void three_uses(const Data& data) {
  Random random(43);
  const MultiHeadAttention source(24, heads, random, {.initializer = init::lecun_normal});
  const MultiHeadAttention target(16, heads, random,
                                  {.is_causal = true, .initializer = init::lecun_normal});
  // (2, 4, 16) and (2, 5, 24)
  const Tensor later = with_noise(data.x, 0, 3), other = with_noise(data.context, 0, 4);
  const auto cell = [](std::optional<double> number) {
    return number ? formatted("%.2f", *number) : "-";
  };
  const auto print = [&](const char* use_and_mask, std::optional<double> first,
                         std::optional<double> second) {
    std::printf("%s %10s %10s\n", use_and_mask, cell(first).c_str(), cell(second).c_str());
  };
  std::printf(
      "3. Three uses of attention. Right: how far output 0 moves when the last word of the\n");
  std::printf("   target, or of the source, becomes another (-: it is not read at all)\n");
  std::printf("use      Q from   K, V     mask      scores     target     source\n");
  const auto change = [](const Tensor& a, const Tensor& b) { return moved(a, b, 0, 1); };
  const Mask words_only = Mask::padding(source_lengths);
  print("self     source   source   <pad>     5 x 5 ", {},
        change(source(data.context, words_only), source(other, words_only)));
  print("masked   target   target   causal    4 x 4 ", change(target(data.x), target(later)), {});
  const auto cross = [&](const Tensor& x, const Tensor& context) {
    return data.layer.cross_attend(x, context, words_only);  // (2, 4, 16)
  };
  const Tensor y = cross(data.x, data.context);  // (2, 4, 16)
  print("cross    target   source   <pad>     4 x 5 ", change(y, cross(later, data.context)),
        change(y, cross(data.x, other)));
  std::printf("\n");
}

// A layer that expects (length, batch, width), given (batch, length, width).
void axes_confused(const Data& data) {
  Random random(44);
  // (2, 5, 16) and (2, 5, 24)
  const Tensor x = random.normal({2, 5, 16}), other = with_noise(data.context, 1, 0);
  const auto confused = [&](const Tensor& context) {  // (2, 5, 16)
    return transpose(data.layer.cross_attend(transpose(x, 0, 1), transpose(context, 0, 1)), 0, 1);
  };
  // (2, 5, 16) each
  const Tensor right = data.layer.cross_attend(x, data.context), wrong = confused(data.context);
  std::printf("4. Batch and length confused: a word of sentence 1 becomes another\n");
  std::printf("%27s sentence 0 moves by  shape of the output\n", "");
  std::printf("(batch, length, width)      %.2f                 %s\n",
              moved(right, data.layer.cross_attend(x, other), 0, 5),
              to_string(right.shape()).c_str());
  std::printf("read as (length, batch, ..) %.2f                 %s\n",
              moved(wrong, confused(other), 0, 5), to_string(wrong.shape()).c_str());
  try {
    data.layer.cross_attend(transpose(data.x, 0, 1), transpose(data.context, 0, 1));
    std::printf("with two lengths it runs as well\n\n");
  } catch (const Error& error) {
    std::printf("with two lengths: %s\n\n", error.what());
  }
}

void draw() {
  const std::vector<std::string> source = {"cats", "see", "dogs", "<pad>", "<pad>"};
  const std::vector<std::string> target = {"<bos>", "gati", "kane", "vedin"};
  const Mask words_only = Mask::padding({3});
  plot::Canvas canvas(1200, 430, 1.5);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 3);
  plot::draw(canvas, panels[0], mask_heatmap(words_only, source, source, "self, over the source"));
  plot::draw(canvas, panels[1],
             mask_heatmap(Mask::causal(), target, target, "masked, over the target"));
  plot::draw(canvas, panels[2],
             mask_heatmap(words_only, target, source, "cross, from target to source"));
  plot::write_png(canvas, "out/plots/phase6_cross_attention.png");
  std::printf("wrote out/plots/phase6_cross_attention.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 66: cross-attention (takes less than a second)\n\n");
  const Data data = make_data();
  written_out(data);
  padding_on_both_sides(data);
  three_uses(data);
  axes_confused(data);
  draw();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
