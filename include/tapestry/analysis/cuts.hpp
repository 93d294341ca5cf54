// Cutting parts out of a model (ablation): by how much an answer falls without them, singly and
// together, and beside it parts of the same kinds drawn at random.
//
//   const ModelPart head = parse_part("2.3");
//   cut(model, ids, question, {{head}});          // by how much the answer falls
//   cut_heads(model, ids, question);              // the same for every head: (layers, heads)
//   cut_at_random(model, ids, question, {{head}}, 20, random).spread;  // what other heads do
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/question.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

enum class PartKind {
  head,          // "2.3": head 3 of layer 2
  attention,     // "2.attention": all of its heads, and b_O
  feed_forward,  // "2.mlp"
  link,          // "2.3:7>4": what the query at position 7 takes from the key at 4 in that head
  position,      // "@5": a position of the text, for all others
};

// A part of a model that reads a text. All is counted from 0. What a kind has no use for stays 0.
struct ModelPart {
  PartKind kind = PartKind::head;
  Index layer = 0, head = 0;
  Index query = 0, key = 0;  // of a link
  Index position = 0;        // of a position

  friend bool operator==(const ModelPart&, const ModelPart&) = default;
};

// The short form, as above.
[[nodiscard]] std::string to_string(const ModelPart& part);

// The part of a short form. Throws Error, with all forms, for another text. Whether a model has
// such a part shows when it is cut.
[[nodiscard]] ModelPart parse_part(std::string_view text);

// How parts are cut. The output of a head (before W_O), of a layer's attention (with b_O) and of a
// feed-forward (with its biases) is set to 0. So is the weight of a link; the others of its row
// stay as they are. A position is hidden from all others by the mask, in all layers: their weights
// on what is left sum to 1 again. The position still sees itself. (Michel et al. 2019 cut heads.)
//
// All functions below: ids (length) or (1, length); token types are 0. A fall is the answer to the
// text as it is, less the answer without the part: positive if the part helps, in units of answer()
// (question.hpp). They throw Error for several texts, a position or a token that is not there, a
// model without logits, and while a Capture is active.

// By how much the answer falls when all parts are cut together. Throws Error, too, naming those
// that there are, for a part that the model or the text has not, and for a link whose query does
// not see its key.
[[nodiscard]] double cut(const Transformer& model, const Indices& ids, const Question& question,
                         std::span<const ModelPart> parts);

// By how much it falls for each part alone, the same numbers (to rounding) as cut() gives: every
// head, (layers, heads); every layer's attention and feed-forward, (layers, 2), 0 where there is
// none; every position, (length). A position that the asked one cannot see, however indirectly,
// has exactly 0, and so has, in a decoder, the asked one itself.
[[nodiscard]] Tensor cut_heads(const Transformer& model, const Indices& ids,
                               const Question& question);
[[nodiscard]] Tensor cut_layers(const Transformer& model, const Indices& ids,
                                const Question& question);
[[nodiscard]] Tensor cut_positions(const Transformer& model, const Indices& ids,
                                   const Question& question);

// All three, the same numbers, of one reading of the text as it is.
struct PartFalls {
  Tensor heads = {}, layers = {}, positions = {};  // (layers, heads), (layers, 2), (length)
};
[[nodiscard]] PartFalls cut_each(const Transformer& model, const Indices& ids,
                                 const Question& question);

struct RandomCuts {
  double fall = 0;     // of the parts themselves
  Tensor falls = {};   // (draws): of what was drawn instead
  Spread spread = {};  // of these
  Index as_far = 0;    // how many of them are at least as far from 0, on the same side
};

// The baseline of cut(): each draw cuts as many parts of each kind, drawn at random from those that
// are not among `parts`; within a draw all are different. Where the answer cannot depend on a link
// or a position (it comes later than the one that is asked about, or, of a link, ends elsewhere in
// the last layer), it is not drawn: such a baseline would be no rival. Throws Error for draws below
// 1, without parts, and if there are not as many others.
[[nodiscard]] RandomCuts cut_at_random(const Transformer& model, const Indices& ids,
                                       const Question& question, std::span<const ModelPart> parts,
                                       Index draws, Random& random);

}  // namespace tapestry
