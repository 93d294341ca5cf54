#include "changes.hpp"

#include <functional>
#include <limits>
#include <map>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

using Edit = Capture::Replacement;
using Edits = std::map<std::string, std::vector<Edit>>;  // by the name that Capture knows

std::string of_block(Index layer, const char* name) {
  return "blocks." + std::to_string(layer) + "." + name;
}

void check(const std::string& what, const char* name, Index number, Index end) {
  if (number >= 0 && number < end) return;
  throw Error(what + ": there is no " + name + " " + std::to_string(number) + ", only 0 to " +
              std::to_string(end - 1) + ".");
}

// ---- Cuts

void check_part(const Subject& subject, Index length, const ModelPart& part) {
  const std::string what = to_string(part);
  const TransformerOptions& o = subject.model.options();
  if (part.kind == PartKind::position) return check(what, "position", part.position, length);
  check(what, "layer", part.layer, o.num_layers);
  if (part.kind == PartKind::feed_forward && !o.has_feed_forward) {
    throw Error(what + ": this model has attention only.");
  }
  if (part.kind == PartKind::head || part.kind == PartKind::link) {
    check(what, "head", part.head, o.num_heads);
  }
  if (part.kind != PartKind::link) return;
  check(what, "position", part.query, length);
  check(what, "position", part.key, length);
  if (mask_of(subject.model.attention(part.layer)).allows(0, part.query, part.key)) return;
  throw Error(what + ": position " + std::to_string(part.query) + " does not see position " +
              std::to_string(part.key) + " there.");
}

// x with what lies at index `at` of an axis taken from y, of the same shape.
Tensor spliced(const Tensor& x, const Tensor& y, Index axis, Index at) {
  return concat(
      {slice(x, axis, 0, at), slice(y, axis, at, at + 1), slice(x, axis, at + 1, x.size(axis))},
      axis);
}

Tensor zeros_like(const Tensor& x) { return Tensor::zeros(x.shape()); }

// scores (1, heads, length, length): no other position sees this one.
Tensor hidden(const Tensor& all, Index position) {
  Tensor scores = all.clone();  // (1, heads, length, length)
  for (Index head = 0; head < scores.size(1); ++head) {
    for (Index query = 0; query < scores.size(2); ++query) {
      if (query == position) continue;
      scores.set({0, head, query, position}, -std::numeric_limits<double>::infinity());
    }
  }
  return scores;
}

void add_cut(Edits& edits, const ModelPart& part, Index layers) {
  switch (part.kind) {
    case PartKind::head:
      edits[of_block(part.layer, "attention.heads")].push_back(
          [part](const Tensor& x) { return spliced(x, zeros_like(x), 1, part.head); });
      break;
    case PartKind::link:
      edits[of_block(part.layer, "attention.weights")].push_back([part](const Tensor& x) {
        Tensor weights = x.clone();  // (1, heads, length, length)
        weights.set({0, part.head, part.query, part.key}, 0);
        return weights;
      });
      break;
    case PartKind::attention:
      edits[of_block(part.layer, "attention.output")].push_back(zeros_like);
      break;
    case PartKind::feed_forward:
      edits[of_block(part.layer, "feed_forward")].push_back(zeros_like);
      break;
    case PartKind::position:
      for (Index layer = 0; layer < layers; ++layer) {
        edits[of_block(layer, "attention.scores")].push_back(
            [part](const Tensor& x) { return hidden(x, part.position); });
      }
      break;
  }
}

// ---- Weights that are held

Tensor with_held(const Tensor& all, const Held& held) {
  Tensor weights = all.clone();  // (1, heads, length, length)
  const ModelPart& at = held.link;
  const double others = 1 - double{all.at({0, at.head, at.query, at.key})};
  const double scale = others > 0 ? (1 - held.weight) / others : 0;
  for (Index key = 0; key < weights.size(3); ++key) {
    const double weight = double{all.at({0, at.head, at.query, key})};
    weights.set({0, at.head, at.query, key}, key == at.key ? held.weight : weight * scale);
  }
  return weights;
}

void add_held(Edits& edits, const Subject& subject, Index length, const Held& held) {
  check_part(subject, length, held.link);
  if (held.link.kind != PartKind::link) {
    throw Error("a weight is held at a link, as in 1.0:7>4, not at " + to_string(held.link) + ".");
  }
  if (!(held.weight >= 0 && held.weight <= 1)) {
    throw Error(to_string(held.link) + ": a weight is between 0 and 1, not " +
                exact_text(held.weight) + ".");
  }
  edits[of_block(held.link.layer, "attention.weights")].push_back(
      [held](const Tensor& x) { return with_held(x, held); });
}

// ---- What comes from another text

std::string name_of(const Patched& patched) {
  if (patched.place == Patched::Place::head) return of_block(patched.layer, "attention.heads");
  return patched.layer == 0 ? "embedding" : of_block(patched.layer - 1, "output");
}

void check_place(const Subject& subject, Index length, const Patched& patched) {
  const TransformerOptions& o = subject.model.options();
  const bool is_head = patched.place == Patched::Place::head;
  check("patch", "layer", patched.layer, o.num_layers + (is_head ? 0 : 1));
  if (is_head) return check("patch", "head", patched.head, o.num_heads);
  check("patch", "position", patched.position, length);
}

// `seen` is active, and changes nothing yet: what it records of the other text, the reading after
// it records anew.
void add_patched(Edits& edits, const Capture& seen, const Subject& subject, const Reading& reading,
                 const Changes& changes) {
  const Reading other = read_text_for(subject, changes.patched_from);
  const Index length = reading.ids.shape[0];
  if (other.ids.shape[0] != length) {
    throw Error("patch: the texts have " + std::to_string(length) + " and " +
                std::to_string(other.ids.shape[0]) + " " + subject.unit +
                ": make them equally long.");
  }
  std::map<std::string, Tensor> seen_there;
  static_cast<void>(subject.model(other.ids, {.need_weights = true}));
  for (const Patched& patched : changes.patched) {
    check_place(subject, length, patched);
    seen_there[name_of(patched)] = seen[name_of(patched)];
  }
  for (const Patched& patched : changes.patched) {
    const bool is_head = patched.place == Patched::Place::head;
    edits[name_of(patched)].push_back(
        [is_head, patched, from = seen_there[name_of(patched)]](const Tensor& x) {
          // heads (1, heads, length, head_dim), or the stream (..., length, d_model)
          return is_head ? spliced(x, from, 1, patched.head)
                         : spliced(x, from, x.ndim() - 2, patched.position);
        });
  }
}

}  // namespace

Patched parse_patched(const std::string& text) {
  const std::size_t dot = text.find('.'), at = text.find('@');
  const std::size_t split = dot == text.npos ? at : dot;
  Patched patched;
  if (split != text.npos && read_number(text.substr(0, split), patched.layer)) {
    const bool is_head = split == dot;
    patched.place = is_head ? Patched::Place::head : Patched::Place::stream;
    Index& number = is_head ? patched.head : patched.position;
    if (read_number(text.substr(split + 1), number)) return patched;
  }
  throw Error(in_quotes(text) + " is no place to patch: write 1.0 for head 0 of layer 1, or 1@4 " +
              "for the residual stream before layer 1 at position 4.");
}

void change(Capture& seen, const Subject& subject, const Reading& reading, const Changes& changes) {
  if (changes.empty()) return;
  if (subject.model.is_one_head()) {
    throw Error("a single head has no parts to cut, hold or patch: take a transformer.");
  }
  const Index length = reading.ids.shape[0];
  Edits edits;
  if (!changes.patched.empty()) add_patched(edits, seen, subject, reading, changes);
  for (const Held& held : changes.held) add_held(edits, subject, length, held);
  for (const ModelPart& part : changes.cut) {
    check_part(subject, length, part);
    add_cut(edits, part, subject.model.options().num_layers);
  }
  for (auto& [name, list] : edits) {
    seen.replace(name, [in_order = std::move(list)](const Tensor& given) {
      Tensor x = given;
      for (const Edit& edit : in_order) x = edit(x);
      return x;
    });
  }
}

}  // namespace tapestry::command
