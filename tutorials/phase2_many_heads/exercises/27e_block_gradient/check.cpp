#include "block_parts.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::block_backward) block_backward;
}

namespace {

using In = const Tensor&;
using Parts = const BlockParts&;
using Back = const BlockPartsBackward&;

RowsBackward by_tape(const RowsFunction& f) {
  return [=](In x, In dy) {
    const Tensor rows = x.clone();  // (n, d_model)
    Tape tape({rows});
    return tape.backward(f(rows), dy)[rows];  // (n, d_model)
  };
}

// The inputs after x and dy are the numbers of the parts.
Attempt attempt(const std::function<Tensor(In, Parts, Back, In)>& function) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const BlockParts part = parts_of(in, 2);
    const BlockPartsBackward back{.attention_norm = by_tape(part.attention_norm),
                                  .attention = by_tape(part.attention),
                                  .feed_forward_norm = by_tape(part.feed_forward_norm),
                                  .feed_forward = by_tape(part.feed_forward)};
    return {{"dx", function(in[0].value, part, back, in[1].value)}};
  };
}

Tensor whole_by_tape(In x, Parts part, Back, In dy) {
  const RowsFunction block = [&](In rows) {
    const Tensor middle = rows + part.attention(part.attention_norm(rows));  // (n, d_model)
    return middle + part.feed_forward(part.feed_forward_norm(middle));       // (n, d_model)
  };
  return by_tape(block)(x, dy);  // (n, d_model)
}

struct Form {
  bool adds_dy = true, adds_dmiddle = true;  // the gradients that pass by the layers
  bool reads_middle = true;                  // the backward pass of the second norm, else x
  bool reads_normed = true;                  // those of the layers, else the rows before the norm
  bool norm_last = true;                     // in the backward pass
  bool goes_on = true;                       // with dmiddle, else both halves with dy
};

// The backward pass of y = x + layer(norm(x)), where x are the rows.
Tensor half(const Form& form, bool adds, In rows, In dy, const RowsFunction& norm,
            const RowsBackward& to_norm, const RowsBackward& to_layer) {
  const Tensor seen = form.reads_normed ? norm(rows) : rows;  // (n, d_model)
  const Tensor through = form.norm_last ? to_norm(rows, to_layer(seen, dy))
                                        : to_layer(seen, to_norm(rows, dy));  // (n, d_model)
  return adds ? dy + through : through;                                       // (n, d_model)
}

Attempt by_halves(Form form) {
  return attempt([=](In x, Parts part, Back back, In dy) {
    const Tensor sum = x + part.attention(part.attention_norm(x));  // (n, d_model)
    const Tensor dmiddle =
        half(form, form.adds_dy, form.reads_middle ? sum : x, dy, part.feed_forward_norm,
             back.feed_forward_norm, back.feed_forward);  // (n, d_model)
    const Tensor dx =
        half(form, form.adds_dmiddle, x, form.goes_on ? dmiddle : dy, part.attention_norm,
             back.attention_norm, back.attention);  // (n, d_model)
    return form.goes_on ? dx : dx + dmiddle - dy;   // (n, d_model)
  });
}

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 2 + random.randint(2);
  NamedTensors in{{"x", random.normal({n, d}) * 2 + 1}, {"dy", random.normal({n, d})}};  // (n, d)
  append_parts(in, random, d);
  return in;
}

// ---- The mistakes, written out; every tensor is (n, d_model)

Tensor middle_of(In x, Parts p) { return p.attention(p.attention_norm(x)) + x; }

Tensor overwritten(In x, Parts p, Back b, In dy) {
  const Tensor y = middle_of(x, p);  // (n, d_model)
  const Tensor d = b.feed_forward_norm(y, b.feed_forward(p.feed_forward_norm(y), dy));
  return b.attention_norm(x, b.attention(p.attention_norm(x), d));
}

Tensor at_x(In x, Parts p, Back b, In dy) {
  const Tensor d = b.feed_forward_norm(x, b.feed_forward(p.feed_forward_norm(x), dy)) + dy;
  return b.attention_norm(x, b.attention(p.attention_norm(x), d)) + d;  // (n, d_model)
}

Tensor without_norms(In x, Parts p, Back b, In dy) {
  const Tensor y = middle_of(x, p);                                     // (n, d_model)
  const Tensor d = b.feed_forward_norm(y, b.feed_forward(y, dy)) + dy;  // (n, d_model)
  return b.attention_norm(x, b.attention(x, d)) + d;                    // (n, d_model)
}

Tensor norm_first(In x, Parts p, Back b, In dy) {
  const Tensor y = middle_of(x, p);
  const Tensor d = b.feed_forward(p.feed_forward_norm(y), b.feed_forward_norm(y, dy)) + dy;
  return b.attention(p.attention_norm(x), b.attention_norm(x, d)) + d;
}

Tensor side_by_side(In x, Parts p, Back b, In dy) {
  const Tensor y = middle_of(x, p);
  const Tensor second = b.feed_forward_norm(y, b.feed_forward(p.feed_forward_norm(y), dy));
  return second + b.attention_norm(x, b.attention(p.attention_norm(x), dy)) + dy;
}

const std::vector<KnownMistake> mistakes = {
    {"the direct way forgotten",
     "Only what comes back through the layers counts; the gradient that passes beside them is "
     "overwritten. In x + f(x) both ways add up.",
     by_halves({.adds_dy = false, .adds_dmiddle = false}), attempt(overwritten)},
    {"dy left out of dmiddle",
     "dmiddle is only what comes back through the feed-forward layer. The result is middle plus "
     "that layer, so dy itself belongs to dmiddle, too.",
     by_halves({.adds_dy = false}), attempt([](In x, Parts p, Back b, In dy) {
       const Tensor y = middle_of(x, p);                                     // (n, d_model)
       const Tensor made = b.feed_forward(p.feed_forward_norm(y), dy);       // (n, d_model)
       const Tensor d = b.feed_forward_norm(y, made);                        // (n, d_model)
       return b.attention_norm(x, b.attention(p.attention_norm(x), d)) + d;  // (n, d_model)
     })},
    {"dmiddle left out of dx",
     "dx is only what comes back through attention. middle is x plus attention, so dmiddle itself "
     "belongs to dx, too.",
     by_halves({.adds_dmiddle = false}), attempt([](In x, Parts p, Back b, In dy) {
       const Tensor y = middle_of(x, p);                                 // (n, d_model)
       const Tensor made = b.feed_forward(p.feed_forward_norm(y), dy);   // (n, d_model)
       const Tensor d = b.feed_forward_norm(y, made) + dy;               // (n, d_model)
       return b.attention_norm(x, b.attention(p.attention_norm(x), d));  // (n, d_model)
     })},
    {"the second half at x",
     "The gradient of the feed-forward half is taken at x. It read middle, and its slopes are "
     "those at the rows that it read.",
     by_halves({.reads_middle = false}), attempt(at_x)},
    {"the layers at rows before the norm",
     "back.attention and back.feed_forward get rows before the norm. Each needs the rows that its "
     "part read: those behind the norm.",
     by_halves({.reads_normed = false}), attempt(without_norms)},
    {"the norm first",
     "The gradient goes through the norm first, then through the layer. In the forward pass the "
     "norm came first, so in the backward pass it comes last.",
     by_halves({.norm_last = false}), attempt(norm_first)},
    {"attention gets dy",
     "Attention's backward pass starts from dy. What attention made was added to middle, so its "
     "gradient is dmiddle, in which the way through the feed-forward half is counted, too.",
     by_halves({.goes_on = false}), attempt(side_by_side)}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = attempt(learn::block_backward),
                .right = {attempt(solution::block_backward), by_halves({}), attempt(whole_by_tape)},
                .mistakes = mistakes,
                .hints = {"Forward first: keep what attention read, middle, and what feed_forward "
                          "read. Then back, the second line before the first.",
                          "dmiddle is dy plus what comes back through feed_forward and then its "
                          "norm. dx is dmiddle plus what comes back through attention and then its "
                          "norm.",
                          "dmiddle = dy + back.feed_forward_norm(middle, back.feed_forward(seen, "
                          "dy)), where seen is part.feed_forward_norm(middle); likewise dx."}},
               count, arguments);
}
