// Step 42. Does it really not see the future?
//
// New here: two tests. Change the future, and no earlier output moves. Then the Jacobian: the
// derivative of every output by every input, computed by the tape. Its zeros show which position
// depends on which at this input.
// Writes out/plots/phase4_jacobian.png; takes about a second.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/jacobian_pictures.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index length = 6, d_model = 16, heads = 4, cached = 3;
const Words words = {"the", "cat", "sat", "on", "the", "mat"};

using Function = std::function<Tensor(const Tensor& x)>;  // (length, d_model) -> the same shape

// Entry (i, j) is || d y_i / d x_j ||, the root of the sum of squares of the d_model * d_model
// derivatives of one position by another. Each backward pass gives those of one output number.
Tensor norms_of_jacobian(const Function& f, const Tensor& x) {
  Tensor squares = Tensor::zeros({length, length});  // (length, length)
  for (Index i = 0; i < length; ++i) {
    for (Index c = 0; c < d_model; ++c) {
      Tensor seed = Tensor::zeros({length, d_model});  // (length, d_model)
      seed.set({i, c}, 1);
      Tape tape({x});
      const Tensor dx = tape.backward(f(x), seed)[x];  // (length, d_model): row j by x_j
      const Tensor row = sum(dx * dx, -1);             // (length)
      for (Index j = 0; j < length; ++j) {
        squares.set({i, j}, double{squares.at({i, j})} + double{row.at({j})});
      }
    }
  }
  return sqrt(squares);  // (length, length)
}

struct Case {
  std::string name;
  Mask mask;  // what each position should see
  Function f;
};

// The classic bug: cutting (length, d_model) straight into (heads, length, d_k). Every shape is
// right, but a head's "words" are pieces of neighbouring words. Joined the same wrong way, or
// rightly.
Tensor wrong_split(const MultiHeadAttention& layer, const Tensor& x, bool joined_rightly) {
  const auto cut = [](const Tensor& t) { return reshape(t, {heads, length, d_model / heads}); };
  const Tensor mixed =  // (heads, length, d_k)
      attention(cut(layer.query(x)), cut(layer.key(x)), cut(layer.value(x)), Mask::causal()).output;
  return layer.output(joined_rightly ? concat_heads(mixed)
                                     : reshape(mixed, {length, d_model}));  // (length, d_model)
}

// The first three words, then the rest one by one, with the keys and values kept from before.
Tensor with_cache(const MultiHeadAttention& layer, const Tensor& x) {
  KeyValueCache cache;
  const Tensor rows = unsqueeze(x, 0);  // (1, length, d_model)
  std::vector<Tensor> parts = {layer(slice(rows, 1, 0, cached), {}, {.cache = &cache})};
  for (Index i = cached; i < length; ++i) {
    parts.push_back(layer(slice(rows, 1, i, i + 1), {}, {.cache = &cache}));  // (1, 1, d_model)
  }
  return squeeze(concat(parts, 1), 0);  // (length, d_model)
}

std::vector<Case> cases(const MultiHeadAttention& layer, const MultiHeadAttention& open) {
  const Mask causal = Mask::causal(), window = causal & Mask::local(1);
  return {
      {"no mask", {}, [&](const Tensor& x) { return open(x); }},
      {"causal", causal, [&](const Tensor& x) { return layer(x); }},
      {"padding: 4 words", causal & Mask::padding({4}),
       [&](const Tensor& x) { return layer(x, Mask::padding({4})); }},
      {"local(1)", window, [&](const Tensor& x) { return layer(x, Mask::local(1)); }},
      {"local(1), two layers", window,
       [&](const Tensor& x) { return layer(layer(x, Mask::local(1)), Mask::local(1)); }},
      {"cached", causal, [&](const Tensor& x) { return with_cache(layer, x); }},
      {"heads cut wrongly", causal, [&](const Tensor& x) { return wrong_split(layer, x, false); }},
      {"... but joined rightly", causal,
       [&](const Tensor& x) { return wrong_split(layer, x, true); }}};
}

// The largest change among some rows: "0" only if it is exactly that.
std::string change(const Tensor& a, const Tensor& b, Index begin, Index end) {
  const double largest = largest_difference(slice(a, 0, begin, end), slice(b, 0, begin, end));
  return largest == 0 ? "0" : formatted("%.2f", largest);
}

void change_the_future(const std::vector<Case>& list, const Tensor& x, Random& random) {
  std::printf("1. Change the last two words: how far outputs 1 to 4 move, and 5 to 6\n");
  std::printf("%-26s other words          swapped\n", "");
  const Tensor past = slice(x, 0, 0, 4);                                           // (4, 16)
  const Tensor noise = concat({past, random.normal({2, d_model})}, 0);             // (6, 16)
  const Tensor swapped = concat({past, slice(x, 0, 5, 6), slice(x, 0, 4, 5)}, 0);  // (6, 16)
  for (const Case& one : list) {
    const Tensor before = one.f(x), a = one.f(noise), b = one.f(swapped);  // (length, d_model)
    std::printf("%-24s %8s %8s %11s %8s\n", one.name.c_str(), change(before, a, 0, 4).c_str(),
                change(before, a, 4, 6).c_str(), change(before, b, 0, 4).c_str(),
                change(before, b, 4, 6).c_str());
  }
}

// With learned positions the order of words matters, also without a mask: a swap is a change, then.
void swap_with_positions() {
  std::printf("\n2. Untrained transformers without a mask: outputs 1 to 4, last two swapped\n");
  std::printf("%10slearned positions   no positions\n", "");
  for (const Index layers : {1, 2}) {
    std::printf("%td layer%s", layers, layers == 1 ? " " : "s");
    for (const Positions positions : {Positions::learned, Positions::none}) {
      Random random(7);
      const Transformer model({.vocab_size = 10,
                               .max_length = length,
                               .d_model = d_model,
                               .num_heads = heads,
                               .num_layers = layers,
                               .is_causal = false,
                               .positions = positions,
                               .initializer = init::xavier_uniform},
                              random);
      const Tensor before = model(Indices({length}, {4, 5, 6, 7, 8, 9}));  // (length, 10)
      const Tensor after = model(Indices({length}, {4, 5, 6, 7, 9, 8}));   // (length, 10)
      std::printf("%18s", change(before, after, 0, 4).c_str());
    }
    std::printf("\n");
  }
}

// The largest derivative of an output by a later input.
double largest_ahead(const Tensor& norms) {  // (length, length)
  return double{max(norms * (1 - Mask::causal().tensor(norms.shape()))).item()};
}

// A leak that is shut at this x: y_i takes from the next word what is larger than 4 in it.
void hide_a_leak(const MultiHeadAttention& layer, const Tensor& x) {
  const auto leaking = [&](const Tensor& in) {
    const Tensor next = concat({slice(in, 0, 1, length), Tensor::zeros({1, d_model})}, 0);
    return layer(in) + maximum(next - 4, 0);  // (length, d_model)
  };
  const Tensor louder =
      concat({slice(x, 0, 0, 4), slice(x, 0, 4, 6) * 10}, 0);  // (length, d_model)
  std::printf("\n4. A leak that is shut at this x: largest derivative with j > i: %g\n",
              largest_ahead(norms_of_jacobian(leaking, x)));
  std::printf("   The last two words times 10: outputs 1 to 4 move by %s\n",
              change(leaking(x), leaking(louder), 0, 4).c_str());
}

// Compares the pattern of zeros with the mask.
void judge(const Case& one, const Tensor& norms) {
  int missing = 0, surplus = 0;  // open in the mask but 0; hidden by the mask but not 0
  for (Index i = 0; i < length; ++i) {
    for (Index j = 0; j < length; ++j) {
      const double norm = double{norms.at({i, j})};
      missing += one.mask.allows(0, i, j) && norm == 0;
      surplus += !one.mask.allows(0, i, j) && norm != 0;
    }
  }
  std::printf("%-24s %14.2g %12d %15d\n", one.name.c_str(), largest_ahead(norms), missing, surplus);
}

}  // namespace

int main() try {
  std::printf("Step 42: causality, proved (takes about a second)\n\n");
  Random random(7), same(7);
  const MultiHeadAttention layer(d_model, heads, random,
                                 {.is_causal = true, .initializer = init::xavier_uniform});
  const MultiHeadAttention open(d_model, heads, same,
                                {.initializer = init::xavier_uniform});  // unmasked
  const Tensor x = random.normal({length, d_model});                     // (length, d_model)
  const std::vector<Case> list = cases(layer, open);
  change_the_future(list, x, random);
  swap_with_positions();

  std::printf("\n3. || d y_i / d x_j || for all i and j, %lld backward passes for each\n",
              static_cast<long long>(length * d_model));
  std::printf("%-24s largest, j > i   open but 0   hidden, not 0\n", "");
  std::vector<NamedMask> masks;
  std::vector<Tensor> norms;
  for (const Case& one : list) {
    norms.push_back(norms_of_jacobian(one.f, x));  // (length, length)
    judge(one, norms.back());
    masks.push_back({one.name, one.mask});
  }
  std::printf("cached and causal differ by %s\n",
              largest_difference(norms[1], norms[5]) < 1e-5 ? "less than 1e-5" : "TOO MUCH");

  hide_a_leak(layer, x);
  plot::write_png(masks_beside_derivatives(words, masks, norms), "out/plots/phase4_jacobian.png");
  std::printf("\nwrote out/plots/phase4_jacobian.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
