#include "block_parts.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::block_forward) block_forward;
}

namespace {

using Block = std::function<Tensor(const Tensor&, const BlockParts&)>;

// The inputs after x are the numbers of the parts.
Attempt blocked(const Block& block) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"result", block(in[0].value, parts_of(in, 1))}};
  };
}

struct Form {
  enum Adds { rows, normed, nothing };
  Adds first = rows, second = rows;  // to what attention makes, and the feed-forward layer
  enum { before, behind, missing } norm = before;
  enum { middle, x } reads = middle, keeps = middle;  // the feed-forward layer
  bool exchanges_norms = false;
};

// A layer and what is added to it, as one function of the rows it reads and those it keeps.
Tensor with_residual(const Form& form, Form::Adds adds, const Tensor& reads, const Tensor& keeps,
                     const RowsFunction& norm, const RowsFunction& layer) {
  const Tensor seen = form.norm == Form::before ? norm(reads) : reads;  // (n, d_model)
  Tensor made = layer(seen);                                            // (n, d_model)
  if (adds == Form::rows) made = keeps + made;                          // (n, d_model)
  if (adds == Form::normed) made = seen + made;                         // (n, d_model)
  return form.norm == Form::behind ? norm(made) : made;                 // (n, d_model)
}

Attempt by_steps(Form form) {
  return blocked([=](const Tensor& x, const BlockParts& part) {
    const RowsFunction &first = part.attention_norm, &second = part.feed_forward_norm;
    const bool turned = form.exchanges_norms;
    const Tensor y = with_residual(form, form.first, x, x, turned ? second : first, part.attention);
    return with_residual(form, form.second, form.reads == Form::x ? x : y,
                         form.keeps == Form::x ? x : y, turned ? first : second,
                         part.feed_forward);  // (n, d_model)
  });
}

using Parts = const BlockParts&;
using In = const Tensor&;

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 2 + random.randint(2);
  NamedTensors in{{"x", random.normal({n, d}) * 2 + 1}};  // (n, d)
  append_parts(in, random, d);
  return in;
}

const std::vector<KnownMistake> mistakes = {
    {"no residual connections",
     "What each layer makes replaces the rows; it has to be added to them. Without the sum, what "
     "a layer does not keep is lost, and no gradient passes by a layer.",
     by_steps({.first = Form::nothing, .second = Form::nothing}), blocked([](In x, Parts p) {
       return p.feed_forward(p.feed_forward_norm(p.attention(p.attention_norm(x))));
     })},
    {"no residual connection around attention",
     "What attention makes replaces the rows. It has to be added to x, as the second sum adds to "
     "middle.",
     by_steps({.first = Form::nothing}), blocked([](In x, Parts p) {
       const Tensor y = p.attention(p.attention_norm(x));  // (n, d_model)
       return p.feed_forward(p.feed_forward_norm(y)) + y;  // (n, d_model)
     })},
    {"no residual connection around the feed-forward layer",
     "The result is what the feed-forward layer makes. It has to be added to middle, as attention "
     "was added to x.",
     by_steps({.second = Form::nothing}), blocked([](In x, Parts p) {
       const Tensor y = p.attention(p.attention_norm(x)) + x;  // (n, d_model)
       return p.feed_forward(p.feed_forward_norm(y));          // (n, d_model)
     })},
    {"the normed rows are added to attention",
     "Attention is added to the rows after the norm, not to x as it was. Was the norm's result "
     "written over x?",
     by_steps({.first = Form::normed}), blocked([](In x, Parts p) {
       const Tensor a = p.attention_norm(x), y = p.attention(a) + a;  // (n, d_model)
       return p.feed_forward(p.feed_forward_norm(y)) + y;             // (n, d_model)
     })},
    {"the normed rows are added",
     "The rows are added after the norm, not as they were. So the stream of rows is rescaled in "
     "each block; only what a layer reads is to be normed.",
     by_steps({.first = Form::normed, .second = Form::normed}), blocked([](In x, Parts p) {
       const Tensor a = p.attention_norm(x), y = a + p.attention(a);  // (n, d_model)
       const Tensor b = p.feed_forward_norm(y);                       // (n, d_model)
       return p.feed_forward(b) + b;                                  // (n, d_model)
     })},
    {"the norm behind the sum",
     "The norms stand behind the sums: the order of the first transformers, called post-norm. "
     "Here a norm stands before its layer, and the sum is not normed.",
     by_steps({.norm = Form::behind}), blocked([](In x, Parts p) {
       const Tensor y = p.attention_norm(p.attention(x) + x);  // (n, d_model)
       return p.feed_forward_norm(p.feed_forward(y) + y);      // (n, d_model)
     })},
    {"no norms", "The layers read the rows as they are. Each has to read them through its norm.",
     by_steps({.norm = Form::missing}), blocked([](In x, Parts p) {
       const Tensor y = p.attention(x) + x;  // (n, d_model)
       return p.feed_forward(y) + y;         // (n, d_model)
     })},
    {"the feed-forward layer reads x",
     "The feed-forward layer reads the rows as they came into the block. It has to read those to "
     "which attention has added: middle.",
     by_steps({.reads = Form::x}), blocked([](In x, Parts p) {
       const Tensor both = p.attention(p.attention_norm(x)) +
                           p.feed_forward(p.feed_forward_norm(x));  // (n, d_model)
       return both + x;                                             // (n, d_model)
     })},
    {"attention is dropped from the sum",
     "The second sum adds to x. What attention made is then only read by the feed-forward layer, "
     "and missing in the result: add to middle.",
     by_steps({.keeps = Form::x}), blocked([](In x, Parts p) {
       const Tensor y = p.attention(p.attention_norm(x)) + x;  // (n, d_model)
       return p.feed_forward(p.feed_forward_norm(y)) + x;      // (n, d_model)
     })},
    {"norms exchanged",
     "Attention reads through the norm of the feed-forward layer, and the reverse. Each norm has "
     "learned its own gain and shift.",
     by_steps({.exchanges_norms = true}), blocked([](In x, Parts p) {
       const Tensor y = p.attention(p.feed_forward_norm(x)) + x;  // (n, d_model)
       return p.feed_forward(p.attention_norm(y)) + y;            // (n, d_model)
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = blocked(learn::block_forward),
                .right = {blocked(solution::block_forward), by_steps({})},
                .mistakes = mistakes,
                .hints = {"Two lines, one for each layer: first the norm, then the layer, then the "
                          "sum.",
                          "The first line makes middle of x. The second does with middle what the "
                          "first did with x, with the other norm and the other layer.",
                          "middle = x + part.attention(part.attention_norm(x)); return middle + "
                          "part.feed_forward(part.feed_forward_norm(middle))."}},
               count, arguments);
}
