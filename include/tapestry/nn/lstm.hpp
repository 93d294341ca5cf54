// Long short-term memory, a recurrent network (Hochreiter & Schmidhuber 1997, with the forget gate
// of Gers et al. 2000).
#pragma once

#include <string>
#include <vector>

#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/module.hpp"

namespace tapestry {

// The state between two positions. Initially empty, which means zeros.
struct LstmState {
  Tensor h;  // (batch, hidden): hidden state
  Tensor c;  // (batch, hidden): cell state
};

struct LstmOptions {
  double forget_bias = 1;  // initially, so that the cell state is kept (Jozefowicz et al. 2015)
  Initializer initializer = init::xavier_uniform;
};

// One step:  i, f, g, o = x W_x + b + h W_h, cut into four
//            c' = sigmoid(f) c + sigmoid(i) tanh(g)
//            h' = sigmoid(o) tanh(c')
// The gates stand side by side, `hidden` columns each, in this order, which is PyTorch's.
struct LstmCell : Module {
  Linear input;   // W_x and b, (in, 4 hidden)
  Linear hidden;  // W_h, (hidden, 4 hidden), without a bias of its own

  // Throws Error for a size below 1.
  LstmCell(Index in, Index hidden, Random& random, const LstmOptions& options = {});

  // x (batch, in) -> the state after it. Throws Error if x or the state does not fit.
  [[nodiscard]] LstmState operator()(const Tensor& x, const LstmState& before = {}) const;

  // The same from gates (batch, 4 hidden) that hold x W_x + b already: one product for many
  // positions.
  [[nodiscard]] LstmState step(const Tensor& gates, const LstmState& before) const;

  Members members() const override;
};

// A cell applied to a sequence from beginning to end.
struct Lstm : Module {
  LstmCell cell;

  Lstm(Index in, Index hidden, Random& random, const LstmOptions& options = {})
      : cell(in, hidden, random, options) {}

  struct Output {
    Tensor outputs;  // (batch, length, hidden): h after each position, zeros after the last
    LstmState last;  // after the last position
  };

  // x (batch, length, in), from the state `before`. Of sequence b only the first lengths[b]
  // positions are real, if lengths are given: what follows (finite) has no effect, and `last` is
  // the state after the last real one, to initialise a decoder for example. Mask::padding(lengths)
  // hides the same positions from attention over `outputs`. The batch axis comes first, as in
  // attention; with the length first, attention would mix the batch.
  // Throws Error if x or the state does not fit, and for lengths that are not one for each
  // sequence, from 0 to the length of x.
  [[nodiscard]] Output operator()(const Tensor& x, const std::vector<Index>& lengths = {},
                                  const LstmState& before = {}) const;

  Members members() const override;
};

}  // namespace tapestry
