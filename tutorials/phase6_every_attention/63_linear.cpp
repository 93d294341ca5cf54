// Step 63. Can attention do without comparing all pairs?
//
// New here: linear attention. With phi(q) . phi(k) in place of exp(q . k), the sum over the keys
// can be made once, before any query is known: regrouped, as prefix sums, or word by word, as a
// recurrent network would. It is another function than softmax attention, and how far, is shown.
// Writes out/plots/phase6_linear.png; takes about a second. Times are yours, so the lesson quotes
// none of them.
#include <cmath>
#include <cstdio>
#include <vector>

#include "course/if_small.hpp"
#include "course/linear_pictures.hpp"
#include "course/operands.hpp"
#include "course/timing.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

Tensor phi(const Tensor& x) { return elu(x) + 1; }  // shape of x; positive, so that weights are

// The plain way: a matrix of weights, whose rows sum to 1.
Tensor by_weights(const Operands& x, const Mask& mask) {
  const Index length = x.q.size(0);
  const Tensor products = matmul(phi(x.q), transpose(phi(x.k)));    // (length, length)
  const Tensor visible = products * mask.tensor({length, length});  // (length, length)
  return matmul(visible / sum(visible, -1, true), x.v);             // (length, width)
}

// (Q K^T) V = Q (K^T V): the small product first. All queries see all keys.
Tensor regrouped(const Operands& x) {
  const Tensor s = matmul(transpose(phi(x.k)), x.v);   // (width, width)
  const Tensor z = transpose(sum(phi(x.k), 0, true));  // (width, 1)
  return matmul(phi(x.q), s) / matmul(phi(x.q), z);    // (length, width)
}

// Causal: query i needs the sums over the keys up to i. All of them at once, by doubling: after the
// first step each place holds the sum of two places, then of four, ...
Tensor up_to_here(Tensor x) {
  const Index length = x.size(0);
  for (Index step = 1; step < length; step *= 2) {
    const Tensor nothing = Tensor::zeros(x.shape().with(0, step));  // (step, ...)
    x = x + concat({nothing, slice(x, 0, 0, length - step)}, 0);    // (length, ...)
  }
  return x;
}

Tensor by_prefix_sums(const Operands& x) {
  // (length, width, 1) and (length, 1, width)
  const Tensor keys = unsqueeze(phi(x.k), -1), queries = unsqueeze(phi(x.q), -2);
  const Tensor s = up_to_here(matmul(keys, unsqueeze(x.v, -2)));  // (length, width, width)
  const Tensor z = up_to_here(keys);                              // (length, width, 1)
  return squeeze(matmul(queries, s) / matmul(queries, z), -2);    // (length, width)
}

// Causal, word by word: what is known of all words before are the sums s and z, and no more.
Tensor recurrent(const Operands& x) {
  const Index width = x.q.size(1);
  // (width, width) and (width, 1)
  Tensor s = Tensor::zeros({width, width}), z = Tensor::zeros({width, 1});
  std::vector<Tensor> rows;
  for (Index i = 0; i < x.q.size(0); ++i) {
    const auto row = [i](const Tensor& all) { return slice(all, 0, i, i + 1); };  // (1, width)
    const Tensor key = transpose(phi(row(x.k))), query = phi(row(x.q));  // (width, 1), (1, width)
    s = s + matmul(key, row(x.v));                                       // (width, width)
    z = z + key;                                                         // (width, 1)
    rows.push_back(matmul(query, s) / matmul(query, z));                 // (1, width)
  }
  return concat(rows, 0);  // (length, width)
}

void compare() {
  const Operands x = draw_operands(200, 16, 7), large = draw_operands(1024, 64, 7);
  const auto print = [&](const char* name, const Mask& mask, auto f) {
    const double error = largest_difference(f(x), by_weights(x, mask));
    std::printf("%-10s %-26s %-14s %12.0f KiB\n", mask.allows_everything() ? "all keys" : "causal",
                name, if_small(error).c_str(),
                static_cast<double>(peak_memory_of([&] { return f(large); })) / 1024);
  };
  const Mask all, causal = Mask::causal();
  std::printf("1. One function, written down in several ways\n");
  std::printf("%38sdiffers by        memory, 1024 words\n", "");
  print("matrix of weights", all, [&](const Operands& o) { return by_weights(o, all); });
  print("regrouped", all, regrouped);
  print("linear_attention()", all,
        [](const Operands& o) { return linear_attention(o.q, o.k, o.v); });
  print("matrix of weights", causal, [&](const Operands& o) { return by_weights(o, causal); });
  print("prefix sums", causal, by_prefix_sums);
  print("recurrent", causal, recurrent);
  print("causal_linear_attention()", causal,
        [](const Operands& o) { return causal_linear_attention(o.q, o.k, o.v); });
  std::printf(
      "To go on from word 1024, the recurrent form keeps %d numbers, a cache of keys and\n"
      "values %d.\n",
      64 * (64 + 1), 1024 * 2 * 64);
}

// As a guide prints it, or with another number in place of its 1e-8.
Tensor printed(const Operands& x, double more = 1e-8) {
  const Tensor q = elu(x.q) + 1, k = elu(x.k) + 1;               // (length, width) each
  const Tensor qkv = matmul(q, matmul(transpose(k), x.v));       // (length, width)
  return qkv / (matmul(q, transpose(sum(k, -2, true))) + more);  // (length, width)
}

void printed_code() {
  Operands x = draw_operands(64, 16, 7);
  x.v = Tensor::ones({64, 16});  // (64, 16)
  std::printf(
      "\n2. A guide's code. All values are 1, so every mean of them is 1; smallest output\n");
  std::printf("q and k minus     0       4       8      12      16      20\n");
  const auto print = [&](const char* name, auto f) {
    std::printf("%-11s", name);
    for (const double shift : {0., 4., 8., 12., 16., 20.}) {
      const Operands low{x.q - shift, x.k - shift, x.v};          // (64, 16) each
      const double least = std::abs(double{min(f(low)).item()});  // so that no nan has a sign
      std::printf("%8.4f", least);
    }
    std::printf("\n");
  };
  print("printed", [](const Operands& o) { return printed(o); });
  print("no 1e-8", [](const Operands& o) { return printed(o, 0); });
  print("library", [](const Operands& o) { return linear_attention(o.q, o.k, o.v); });
  x = draw_operands(64, 16, 7);  // (64, 16) each
  Operands changed = x;
  changed.k = concat({slice(x.k, 0, 0, 63), slice(x.k, 0, 63, 64) * -1}, 0);  // (64, 16)
  const auto moved = [](const Tensor& a, const Tensor& b) {
    return largest_difference(slice(a, 0, 0, 63), slice(b, 0, 0, 63));
  };
  std::printf("The last of 64 keys changes; outputs before it move by\n");
  std::printf("printed %.3f, recurrent %.3f\n", moved(printed(x), printed(changed)),
              moved(recurrent(x), recurrent(changed)));
}

// The weights of both for the same q and k.
LinearAndSoftmax weights_of(double gain) {
  const Tensor x = draw_operands(24, 16, 7).q * gain;  // (24, 16): words look for themselves, q = k
  return {attention(x, x, x).weights, explicit_linear_attention(x, x, x).weights};
}

double on_itself(const Tensor& weights) {
  return double{sum(weights * Tensor::eye(weights.size(0))).item()} /
         static_cast<double>(weights.size(0));
}

std::vector<OnItself> compare_with_softmax() {
  std::printf("\n3. Another function than softmax: 24 words look for themselves, q = k\n");
  std::printf(
      "q and k times       weight on itself     weight that lies elsewhere, mean of rows\n");
  std::printf("                   softmax    linear\n");
  std::vector<OnItself> found;
  for (const double gain : {0.25, 0.5, 1., 2., 4., 8., 16.}) {
    const LinearAndSoftmax w = weights_of(gain);
    const Tensor apart = maximum(w.softmax - w.linear, 0);  // (24, 24)
    found.push_back({gain, on_itself(w.softmax), on_itself(w.linear)});
    std::printf("%13.2f      %8.3f  %8.3f     %8.3f\n", gain, found.back().softmax,
                found.back().linear, double{sum(apart).item()} / 24);
  }
  return found;
}

void time_both() {
  std::printf("\n4. Milliseconds here, causal, width 64\n");
  std::printf("words      softmax, fused       linear      ratio\n");
  for (const Index length : {256, 1024, 4096, 8192}) {
    const Operands x = draw_operands(length, 64, 7);  // (length, 64) each
    const double soft =
        processor_seconds([&] { (void)fused_attention(x.q, x.k, x.v, Mask::causal()); });
    const double line = processor_seconds([&] { (void)causal_linear_attention(x.q, x.k, x.v); });
    std::printf("%5d %19.2f %12.2f %10.2f\n", static_cast<int>(length), 1e3 * soft, 1e3 * line,
                soft / line);
  }
}

}  // namespace

int main() try {
  std::printf("Step 63: linear attention (takes about a second)\n\n");
  use_threads(1);  // so that processor time is time
  compare();
  printed_code();
  const std::vector<OnItself> found = compare_with_softmax();
  time_both();
  plot::write_png(linear_picture(weights_of(1), found), "out/plots/phase6_linear.png");
  std::printf("\nwrote out/plots/phase6_linear.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
