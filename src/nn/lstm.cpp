#include "tapestry/nn/lstm.hpp"

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

// Both parts of a state (batch, hidden): zeros where it is empty.
LstmState begun(const LstmState& state, Index batch, Index hidden) {
  const Shape shape{batch, hidden};
  const auto part = [&](const char* name, const Tensor& x) {
    if (!x.defined()) return Tensor::zeros(shape);  // (batch, hidden)
    if (x.shape() == shape) return x;
    throw Error(std::string("lstm: the state's ") + name + " is " + to_string(x.shape()) +
                ", but must be (batch, hidden), here " + to_string(shape) + ".");
  };
  return {part("h", state.h), part("c", state.c)};
}

void check(const Tensor& x, int rank, const char* shape, Index in) {
  if (x.ndim() == rank && x.size(-1) == in) return;
  throw Error("lstm: x is " + to_string(x.shape()) + ": it must be " + shape +
              " with in = " + std::to_string(in) + ".");
}

void check(const std::vector<Index>& lengths, const Shape& x) {
  if (lengths.empty()) return;
  if (static_cast<Index>(lengths.size()) != x[0]) {
    throw Error("lstm: x is " + to_string(x) + ", but there are " + std::to_string(lengths.size()) +
                " lengths: one for each sequence is needed.");
  }
  for (const Index length : lengths) {
    if (length >= 0 && length <= x[1]) continue;
    throw Error("lstm: x is " + to_string(x) + ": a length of " + std::to_string(length) +
                " is not from 0 to " + std::to_string(x[1]) + ".");
  }
}

// (batch, 1): 1 where position t is real
Tensor real_at(Index t, const std::vector<Index>& lengths) {
  std::vector<real> keep;
  for (const Index length : lengths) keep.push_back(t < length);
  return Tensor({static_cast<Index>(keep.size()), 1}, std::span<const real>(keep));
}

}  // namespace

LstmCell::LstmCell(Index in, Index size, Random& random, const LstmOptions& options)
    : input(in, 4 * size, random, {.initializer = options.initializer}),
      hidden(size, 4 * size, random, {.initializer = options.initializer, .bias = false}) {
  for (Index i = size; i < 2 * size; ++i) input.bias.set({i}, options.forget_bias);
}

LstmState LstmCell::step(const Tensor& gates, const LstmState& before) const {
  const Index size = hidden.weight.size(0);
  check(gates, 2, "(batch, 4 hidden)", 4 * size);
  const LstmState old = begun(before, gates.size(0), size);
  const std::vector<Tensor> part = split(gates + hidden(old.h), 4, -1);  // (batch, hidden) each
  // (batch, hidden) each
  const Tensor in = sigmoid(part[0]), keep = sigmoid(part[1]), show = sigmoid(part[3]);
  const Tensor c = keep * old.c + in * tanh(part[2]);  // (batch, hidden)
  return {show * tanh(c), c};                          // (batch, hidden) each
}

LstmState LstmCell::operator()(const Tensor& x, const LstmState& before) const {
  check(x, 2, "(batch, in)", input.weight.size(0));
  return step(input(x), before);
}

Lstm::Output Lstm::operator()(const Tensor& x, const std::vector<Index>& lengths,
                              const LstmState& before) const {
  check(x, 3, "(batch, length, in)", cell.input.weight.size(0));
  check(lengths, x.shape());
  const Index length = x.size(1), size = cell.hidden.weight.size(0);
  LstmState state = begun(before, x.size(0), size);
  const Tensor gates = cell.input(x);  // (batch, length, 4 hidden)
  std::vector<Tensor> shown;
  for (Index t = 0; t < length; ++t) {
    LstmState next = cell.step(squeeze(slice(gates, 1, t, t + 1), 1), state);
    if (lengths.empty()) {
      shown.push_back(next.h);  // (batch, hidden)
    } else {
      const Tensor keep = real_at(t, lengths);                              // (batch, 1)
      shown.push_back(where(keep, next.h, 0));                              // (batch, hidden)
      next = {where(keep, next.h, state.h), where(keep, next.c, state.c)};  // (batch, hidden) each
    }
    state = next;
  }
  // (batch, length, hidden)
  const Tensor all = length == 0 ? Tensor::zeros({x.size(0), 0, size}) : stack(shown, 1);
  return {all, state};
}

Members LstmCell::members() const { return {{"input", input}, {"hidden", hidden}}; }

Members Lstm::members() const { return cell.members(); }

}  // namespace tapestry
