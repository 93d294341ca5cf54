#include "tapestry/nn/lstm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"

using namespace tapestry;

namespace {

Lstm scattered(Index in, Index hidden) {
  Random random(6);
  Lstm layer(in, hidden, random);
  scatter(layer.parameters(), random);
  return layer;
}

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

// h and c of one sequence after each of the first `length` positions, by loops over numbers.
struct Trace {
  std::vector<std::vector<double>> h, c;  // [position][unit]
};

Trace by_loops(const Lstm& layer, const Tensor& x, Index batch, Index length) {
  const Index size = layer.cell.hidden.weight.size(0);
  const auto gate = [&](Index t, Index column, const std::vector<double>& h) {
    double sum = double{layer.cell.input.bias.at({column})};
    for (Index i = 0; i < x.size(2); ++i) {
      sum += double{x.at({batch, t, i})} * double{layer.cell.input.weight.at({i, column})};
    }
    for (Index i = 0; i < size; ++i) {
      sum += h[static_cast<std::size_t>(i)] * double{layer.cell.hidden.weight.at({i, column})};
    }
    return sum;
  };
  Trace trace;
  std::vector<double> h(static_cast<std::size_t>(size), 0), c = h;
  for (Index t = 0; t < length; ++t) {
    std::vector<double> next = h;
    for (Index u = 0; u < size; ++u) {
      const auto at = static_cast<std::size_t>(u);
      const double in = sigma(gate(t, u, h)), keep = sigma(gate(t, size + u, h));
      const double candidate = std::tanh(gate(t, 2 * size + u, h));
      c[at] = keep * c[at] + in * candidate;
      next[at] = sigma(gate(t, 3 * size + u, h)) * std::tanh(c[at]);
    }
    h = next;
    trace.h.push_back(h);
    trace.c.push_back(c);
  }
  return trace;
}

// What is wrong with the output for these lengths, or "".
std::string wrong(const Lstm& layer, const Tensor& x, const std::vector<Index>& lengths) {
  const Lstm::Output y = layer(x, lengths);
  const Index size = layer.cell.hidden.weight.size(0);
  std::string text;
  for (Index b = 0; b < x.size(0); ++b) {
    const Index length = lengths.empty() ? x.size(1) : lengths[static_cast<std::size_t>(b)];
    const Trace trace = by_loops(layer, x, b, length);
    std::vector<double> all, h(static_cast<std::size_t>(size), 0), c = h;
    for (const auto& row : trace.h) all.insert(all.end(), row.begin(), row.end());
    all.resize(static_cast<std::size_t>(x.size(1) * size), 0);
    if (length > 0) h = trace.h.back(), c = trace.c.back();
    text += difference(slice(y.outputs, 0, b, b + 1), {1, x.size(1), size}, all, nearly);
    text += difference(slice(y.last.h, 0, b, b + 1), {1, size}, h, nearly);
    text += difference(slice(y.last.c, 0, b, b + 1), {1, size}, c, nearly);
  }
  return text;
}

}  // namespace

TEST_CASE("an LSTM does what the equations say, also where sequences end early", "[phase6][nn]") {
  const Lstm layer = scattered(3, 4);
  for (const Index length : {1, 2, 31, 33}) {
    const Tensor x = random_tensor({3, length, 3}, 2);
    CAPTURE(length);
    CHECK(wrong(layer, x, {}) == "");
    CHECK(wrong(layer, x, {length, length / 2, 0}) == "");
  }
  const Lstm::Output none = layer(Tensor::zeros({2, 0, 3}));
  CHECK(none.outputs.shape() == Shape{2, 0, 4});
  CHECK(difference_to(none.last.h, Tensor::zeros({2, 4})) == "");
}

TEST_CASE("cells step by step, and in two halves, give what the layer gives", "[phase6][nn]") {
  const Lstm layer = scattered(3, 4);
  const Tensor x = random_tensor({2, 7, 3}, 2);
  const Lstm::Output whole = layer(x);
  LstmState state;
  for (Index t = 0; t < 7; ++t) {
    state = layer.cell(squeeze(slice(x, 1, t, t + 1), 1), state);
    CHECK(difference_to(state.h, squeeze(slice(whole.outputs, 1, t, t + 1), 1), nearly) == "");
  }
  CHECK(difference_to(state.c, whole.last.c, nearly) == "");
  const Lstm::Output first = layer(slice(x, 1, 0, 3));
  const Lstm::Output second = layer(slice(x, 1, 3, 7), {}, first.last);
  CHECK(difference_to(concat({first.outputs, second.outputs}, 1), whole.outputs, nearly) == "");
  CHECK(difference_to(second.last.c, whole.last.c, nearly) == "");
  const Lstm::Output nothing = layer(slice(x, 1, 3, 7), {0, 0}, first.last);
  CHECK(same_bits(nothing.last.h, first.last.h));
}

TEST_CASE("an LSTM does not read what lies behind a sequence's length", "[phase6][nn]") {
  const Lstm layer = scattered(3, 4);
  const Tensor x = random_tensor({2, 5, 3}, 2);
  Tensor other = x.clone();
  for (Index t = 3; t < 5; ++t) other.set({1, t, 0}, 100);
  const Lstm::Output one = layer(x, {5, 3}), two = layer(other, {5, 3});
  CHECK(same_bits(one.outputs, two.outputs));
  CHECK(same_bits(one.last.c, two.last.c));
  const Tensor by_x = slope([&](const Tensor& in) { return layer(in, {5, 3}).outputs; }, x);
  CHECK(difference_to(slice(slice(by_x, 0, 1, 2), 1, 3, 5), Tensor::zeros({1, 2, 3})) == "");
}

TEST_CASE("the gradients of an LSTM are right", "[phase6][nn]") {
  const Lstm layer = scattered(2, 3);
  for (const Index length : {1, 2, 31, 33}) {
    const Tensor x = random_tensor({2, length, 2}, 3);
    const auto everything = [&](const std::vector<Index>& lengths) {
      const Lstm::Output y = layer(x, lengths);
      return concat({y.outputs, unsqueeze(y.last.h, 1), unsqueeze(y.last.c, 1)}, 1);
    };
    CAPTURE(length);
    CHECK(wrong_gradient_of(layer.parameters(), [&] { return everything({}); }) == "");
    CHECK(wrong_gradient_of(layer.parameters(), [&] { return everything({length, length / 2}); }) ==
          "");
  }
  const Function f = [&](const std::vector<Tensor>& in) {
    const Lstm::Output y = layer(in[0], {4, 2}, {in[1], in[2]});
    return concat({y.outputs, unsqueeze(y.last.c, 1)}, 1);
  };
  CHECK(wrong_gradient(f, {random_tensor({2, 4, 2}, 1), random_tensor({2, 3}, 2),
                           random_tensor({2, 3}, 3)}) == "");
}

TEST_CASE("a decoder attends to what an encoder read, not to its padding", "[phase6][nn]") {
  Random random(2);
  const Lstm encoder(3, 4, random), decoder(3, 4, random);
  const MultiHeadAttention attend(4, 2, random);
  const std::vector<Index> lengths = {6, 2};
  const Tensor source = random_tensor({2, 6, 3}, 1), target = random_tensor({2, 3, 3}, 2);
  const auto run = [&](const Tensor& from) {
    const Lstm::Output read = encoder(from, lengths);
    const Tensor states = decoder(target, {}, read.last).outputs;
    return attend.cross_attend(states, read.outputs, Mask::padding(lengths));
  };
  Tensor other = source.clone();
  other.set({1, 4, 0}, 50);
  CHECK(run(source).shape() == Shape{2, 3, 4});
  CHECK(same_bits(run(source), run(other)));
}

TEST_CASE("an LSTM learns to remember the first word", "[phase6][nn]") {
  Random random(1);
  const Lstm layer(2, 8, random);
  const Linear out(8, 2, random);
  const Parameters all = parameters({{"lstm", layer}, {"out", out}});
  Adam adam(all, {.learning_rate = 0.02});
  Random data(2);
  double loss = 0;
  for (int step = 0; step < 150; ++step) {
    Tensor x = data.normal({16, 8, 2});
    std::vector<std::int32_t> right;
    for (Index b = 0; b < 16; ++b) {
      right.push_back(static_cast<std::int32_t>(data.randint(2)));
      x.set({b, 0, 0}, right.back() == 1 ? 2 : -2);
    }
    Tape tape(all);
    const Tensor y = cross_entropy(out(layer(x).last.h), Indices({16}, right));
    loss = double{y.item()};
    adam.step(tape.backward(y));
  }
  CHECK(loss < 0.1);
}

TEST_CASE("an LSTM names its parameters, and begins by keeping", "[phase6][nn]") {
  Random random(1);
  const Lstm layer(3, 2, random);
  CHECK(names(layer.parameters("encoder.")) == std::vector<std::string>{"encoder.input.weight",
                                                                        "encoder.input.bias",
                                                                        "encoder.hidden.weight"});
  CHECK(layer.cell.input.weight.shape() == Shape{3, 8});
  CHECK(layer.cell.hidden.weight.shape() == Shape{2, 8});
  CHECK(difference(layer.cell.input.bias, {8}, {0, 0, 1, 1, 0, 0, 0, 0}) == "");
}

TEST_CASE("an LSTM says what does not fit", "[phase6][nn]") {
  Random random(1);
  const Lstm layer(3, 2, random);
  const Tensor x = Tensor::zeros({2, 5, 3});
  CHECK(complaint([&] { layer(Tensor::zeros({2, 5, 4})); },
                  {"lstm: x is (2, 5, 4)", "(batch, length, in)", "in = 3"}) == "");
  CHECK(complaint([&] { layer(Tensor::zeros({5, 3})); }, {"lstm: x is (5, 3)"}) == "");
  CHECK(complaint([&] { layer.cell(x); }, {"(batch, in)"}) == "");
  CHECK(complaint([&] { layer(x, {5}); }, {"1 lengths", "one for each sequence"}) == "");
  CHECK(complaint([&] { layer(x, {5, 6}); }, {"length of 6", "from 0 to 5"}) == "");
  CHECK(complaint([&] { layer(x, {5, -1}); }, {"length of -1"}) == "");
  CHECK(complaint([&] { layer(x, {}, {Tensor::zeros({2, 3}), {}}); },
                  {"state's h is (2, 3)", "(2, 2)"}) == "");
  CHECK(complaint([&] { layer.cell.step(Tensor::zeros({2, 7}), {}); },
                  {"lstm: x is (2, 7)", "4 hidden"}) == "");
  CHECK(layer(x, {5, 0}).outputs.shape() == Shape{2, 5, 2});
  CHECK(Lstm(1, 1, random)(Tensor::zeros({1, 1, 1})).outputs.shape() == Shape{1, 1, 1});
  CHECK(complaint([&] { Lstm(0, 2, random); }, {"at least 1"}) == "");
  CHECK(complaint([&] { Lstm(2, 0, random); }, {"at least 1"}) == "");
}
