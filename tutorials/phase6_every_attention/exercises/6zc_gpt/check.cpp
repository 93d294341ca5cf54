#include "gpt_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::gpt_block_forward) gpt_block_forward;
decltype(learn::gpt_block_backward) gpt_block_backward;
decltype(learn::gpt_loss) gpt_loss;
}  // namespace solution

namespace {

using Loss = std::function<decltype(learn::gpt_loss)>;

constexpr std::size_t blocks = 2;

// Inputs: ids and targets (n), the model's tensors, and those that already stand in `gradients`.
Attempt with_gradients(Loss loss) {
  return [loss = std::move(loss)](const NamedTensors& in) -> NamedTensors {
    Gpt w, gradients;
    w.blocks.resize(blocks);
    gradients.blocks.resize(blocks);
    std::size_t at = 2;
    take(in, at, w);
    take(in, at, gradients);
    const double found = loss(w, ids_of(in[0].value), ids_of(in[1].value), gradients);
    NamedTensors results{{"loss", Tensor({1}, {found})}};
    const std::vector<Tensor*> sums = tensors_of(gradients);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t of_block = i - 2;
      std::string name = i == 0 ? "gradients.words" : "gradients.positions";
      if (i >= 2 && of_block < 12 * blocks) {
        name = "gradients.blocks[" + std::to_string(of_block / 12) + "], tensor " +
               std::to_string(of_block % 12);
      } else if (i >= 2) {
        static const char* const last[] = {"gradients.gain", "gradients.shift", "gradients.logits"};
        name = last[of_block - 12 * blocks];
      }
      results.push_back({name, *sums[i]});
    }
    return results;
  };
}

enum Mistake { none, no_positions, last_use_only, overwritten, one_trace, one_block };

// The tape's gradients; then what a mistake makes of them.
double by_tape(Mistake mistake, const Gpt& given, const Indices& ids, const Indices& targets,
               Gpt& gradients) {
  Gpt w = given;
  std::vector<Tensor> watched;
  for (Tensor* one : tensors_of(w)) watched.push_back(*one = one->clone());
  Tape tape(watched);
  const Tensor loss = cross_entropy(gpt_by_library(w, ids), targets);
  const Gradients found = tape.backward(loss);
  const std::vector<Tensor*> sums = tensors_of(gradients);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    Tensor gradient = found[watched[i]];
    if (mistake == last_use_only && i == 0) {  // its rows of words used twice are sums
      const Tensor at_places =
          found[watched[1]];  // (longest, d): one row for each word of the text
      gradient = Tensor::zeros(gradient.shape());
      for (Index place = 0; place < ids.shape[0]; ++place) {
        for (Index c = 0; c < gradient.size(1); ++c) {
          const Index word = ids.values[static_cast<std::size_t>(place)];
          gradient.set({word, c}, double{at_places.at({place, c})});
        }
      }
    }
    if (mistake == no_positions && i == 1) continue;
    std::size_t to = i;
    if (mistake == one_block && i >= 14 && i < 2 + 12 * blocks) to = 2 + (i - 2) % 12;
    *sums[to] = mistake == overwritten ? gradient : *sums[to] + gradient;
  }
  return double{loss.item()};
}

// The model from blocks, and back.
double by_blocks(Mistake mistake, const Gpt& w, const Indices& ids, const Indices& targets,
                 Gpt& g) {
  if (mistake == overwritten) g = zeros_like(g);
  const Index n = ids.shape[0];
  std::vector<BlockTrace> kept(blocks);
  Tensor x = embedding(w.words, ids) + slice(w.positions, 0, 0, n);  // (n, d)
  for (std::size_t i = 0; i < blocks; ++i) {
    x = solution::gpt_block_forward(w.blocks[i], x, kept[i]);
  }
  if (mistake == one_trace) kept.assign(blocks, kept.back());
  const Tensor seen = x.clone();
  Tape tape({seen, w.gain, w.shift, w.logits});
  const Tensor logits = matmul(layer_norm(seen, w.gain, w.shift, Gpt::eps), w.logits);
  const Tensor loss = cross_entropy(logits, targets);
  const Gradients last = tape.backward(loss);
  learn::add_to(g.gain, last[w.gain]);
  learn::add_to(g.shift, last[w.shift]);
  learn::add_to(g.logits, last[w.logits]);
  Tensor dx = last[seen];  // (n, d)
  for (std::size_t i = blocks; i-- > 0;) {
    GptBlock& to = g.blocks[mistake == one_block ? 0 : i];
    dx = solution::gpt_block_backward(w.blocks[i], kept[i], dx, to);
  }
  std::vector<bool> is_used(static_cast<std::size_t>(w.words.size(0)));
  for (Index place = n; place-- > 0;) {
    const Index word = ids.values[static_cast<std::size_t>(place)];
    const bool skips = mistake == last_use_only && is_used[static_cast<std::size_t>(word)];
    is_used[static_cast<std::size_t>(word)] = true;
    for (Index c = 0; c < dx.size(1); ++c) {
      const double d = double{dx.at({place, c})};
      if (!skips) g.words.set({word, c}, double{g.words.at({word, c})} + d);
      if (mistake != no_positions) g.positions.set({place, c}, g.positions.at({place, c}) + d);
    }
  }
  return double{loss.item()};
}

Attempt tape_form(Mistake mistake) {
  return with_gradients([=](const Gpt& w, const Indices& ids, const Indices& targets, Gpt& g) {
    return by_tape(mistake, w, ids, targets, g);
  });
}

Attempt block_form(Mistake mistake) {
  return with_gradients([=](const Gpt& w, const Indices& ids, const Indices& targets, Gpt& g) {
    return by_blocks(mistake, w, ids, targets, g);
  });
}

// One trace for all blocks: each block's forward pass writes over what the one before kept.
Attempt shared_trace() {
  return with_gradients([](const Gpt& w, const Indices& ids, const Indices& targets, Gpt& g) {
    Gpt exact = zeros_like(g);
    const double loss = by_blocks(none, w, ids, targets, exact);
    Gpt wrong = zeros_like(g);
    BlockTrace kept;
    Tensor x = embedding(w.words, ids) + slice(w.positions, 0, 0, ids.shape[0]);  // (n, d)
    for (const GptBlock& block : w.blocks) x = solution::gpt_block_forward(block, x, kept);
    Tape tape({x});
    const Tensor logits = matmul(layer_norm(x, w.gain, w.shift, Gpt::eps), w.logits);
    Tensor dx = tape.backward(cross_entropy(logits, targets))[x];  // (n, d)
    for (std::size_t i = blocks; i-- > 0;) {
      dx = solution::gpt_block_backward(w.blocks[i], kept, dx, wrong.blocks[i]);
    }
    wrong.gain = exact.gain, wrong.shift = exact.shift, wrong.logits = exact.logits;
    const Tensor marks = embedding(Tensor::eye(w.words.size(0)), ids);  // (n, words)
    wrong.words = matmul(transpose(marks), dx);
    const Index rest = w.positions.size(0) - ids.shape[0];
    wrong.positions = concat({dx, Tensor::zeros({rest, dx.size(1)})}, 0);
    const std::vector<Tensor*> to = tensors_of(g), from = tensors_of(wrong);
    for (std::size_t i = 0; i < to.size(); ++i) learn::add_to(*to[i], *from[i]);
    return loss;
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 2, words = size + 1, d = 4 * size + 4, f = 2 * d;  // some word comes twice
  std::vector<real> ids, targets;
  for (Index i = 0; i < n; ++i) {
    ids.push_back(static_cast<real>(random.randint(words)));
    targets.push_back(static_cast<real>(random.randint(words)));
  }
  NamedTensors in{{"ids", Tensor({n}, ids)}, {"targets", Tensor({n}, targets)}};
  append(in, random_gpt(random, words, n + 1, d, f, blocks));
  append(in, random_gpt(random, words, n + 1, d, f, blocks));
  return in;
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = with_gradients(learn::gpt_loss),
       .right = {with_gradients(solution::gpt_loss), tape_form(none), block_form(none)},
       .mistakes =
           {{"positions without gradient",
             "The gradient of x reached the table of words, and not that of positions. Both were "
             "added to make x, so both get it.",
             tape_form(no_positions), block_form(no_positions)},
            {"the last use of a word only",
             "A word that stands in the text several times gets the gradient of its last place. It "
             "should get the sum over all places.",
             tape_form(last_use_only), block_form(last_use_only)},
            {"gradients overwritten",
             "The gradients replace what stood in `gradients`. They have to be added to it: "
             "several "
             "texts make one step.",
             tape_form(overwritten), block_form(overwritten)},
            {"one trace for all blocks",
             "All blocks keep their values in one BlockTrace, so the backward pass of block 0 "
             "reads "
             "what block 1 kept. Each block needs its own.",
             block_form(one_trace), shared_trace()},
            {"all gradients in block 0",
             "The gradients of all blocks are added to those of block 0. Block i has its own, "
             "gradients.blocks[i].",
             tape_form(one_block), block_form(one_block)}},
       .hints = {"First the forward pass down to the loss, with std::vector<BlockTrace> "
                 "kept(w.blocks.size()); then every line of it backwards.",
                 "slice(w.positions, 0, 0, n) has the first n rows; broadcast_add adds them to "
                 "embedding_forward(w.words, ids).",
                 "After the loop over blocks from last to first, dx goes to both tables: "
                 "add_to(g.words, embedding_backward(dx, ids, w.words.size(0))), and the first n "
                 "rows of g.positions: Tensor used = slice(g.positions, 0, 0, n)."}},
      count, arguments);
}
