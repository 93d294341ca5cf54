#include "analysis/part.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "tapestry/error.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

// Reads a short form from its beginning.
struct Scanner {
  std::string_view rest;

  bool number(Index& value) {
    const char* const end = rest.data() + rest.size();
    if (rest.empty() || rest.front() < '0' || rest.front() > '9') return false;
    const auto [stop, error] = std::from_chars(rest.data(), end, value);
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    return error == std::errc();
  }
  bool word(std::string_view expected) {
    if (!rest.starts_with(expected)) return false;
    rest.remove_prefix(expected.size());
    return true;
  }
  bool done() const { return rest.empty(); }
};

std::optional<ModelPart> parsed(std::string_view text) {
  Scanner in{text};
  ModelPart part;
  if (in.word("@")) {
    part.kind = PartKind::position;
    return in.number(part.position) && in.done() ? std::optional(part) : std::nullopt;
  }
  if (!in.number(part.layer) || !in.word(".")) return std::nullopt;
  if (in.word("attention")) {
    part.kind = PartKind::attention;
  } else if (in.word("mlp")) {
    part.kind = PartKind::feed_forward;
  } else if (!in.number(part.head)) {
    return std::nullopt;
  } else if (in.word(":")) {
    part.kind = PartKind::link;
    if (!in.number(part.query) || !in.word(">") || !in.number(part.key)) return std::nullopt;
  }
  return in.done() ? std::optional(part) : std::nullopt;
}

std::string up_to(Index count) { return "0 to " + std::to_string(count - 1); }

[[noreturn]] void missing(const ModelPart& part, const std::string& there_are) {
  throw Error("cut: there is no part " + to_string(part) + ": " + there_are + ".");
}

void check_layer(const Reading& reading, const ModelPart& part) {
  const TransformerOptions& o = reading.model.options;
  if (part.layer >= 0 && part.layer < o.num_layers) return;
  missing(part, o.num_layers == 0 ? "the model has no layers"
                                  : "the model's layers are " + up_to(o.num_layers));
}

void check_link(const Reading& reading, const ModelPart& part) {
  for (const Index at : {part.query, part.key}) {
    if (at >= 0 && at < reading.length) continue;
    missing(part, "the text's positions are " + up_to(reading.length));
  }
  if (sees(reading.model, part.layer, part.query, part.key)) return;
  const Index window = reading.model.blocks[static_cast<std::size_t>(part.layer)].attention.window;
  std::string rule = "position " + std::to_string(part.query) + " does not see position " +
                     std::to_string(part.key) + " there";
  if (reading.model.options.is_causal) rule += ", only itself and those before";
  if (window > 0) rule += ", within a window of " + std::to_string(window);
  missing(part, rule);
}

// Sets numbers [begin, begin + count) of a tensor to 0.
void clear(const Tensor& x, Index begin, Index count) {
  std::fill(raw(x) + begin, raw(x) + begin + count, real(0));
}

Overwrite clear_all() {
  return [](const Tensor& x, Index) { clear(x, 0, x.numel()); };
}

Overwrite clear_head(Index head) {
  return [head](const Tensor& x, Index) {  // (heads, positions, d_v)
    const Index size = x.size(1) * x.size(2);
    clear(x, head * size, size);
  };
}

Overwrite clear_link(const ModelPart& link) {
  return [link](const Tensor& x, Index first) {  // (heads, queries, keys)
    const Index query = link.query - first;
    if (query < x.size(1)) clear(x, (link.head * x.size(1) + query) * x.size(2) + link.key, 1);
  };
}

// The first position at which anything differs without the part.
Index first_of(const ModelPart& part) {
  if (part.kind == PartKind::link) return part.query;
  return part.kind == PartKind::position ? part.position + 1 : 0;
}

Change change_of(const ModelPart& part) {
  switch (part.kind) {
    case PartKind::attention:
      return {part.layer, Where::attention, clear_all()};
    case PartKind::feed_forward:
      return {part.layer, Where::feed_forward, clear_all()};
    case PartKind::link:
      return {part.layer, Where::weights, clear_link(part)};
    case PartKind::head:
    case PartKind::position:
      break;
  }
  return {part.layer, Where::heads, clear_head(part.head)};
}

}  // namespace

std::string to_string(const ModelPart& part) {
  const std::string layer = std::to_string(part.layer) + ".";
  switch (part.kind) {
    case PartKind::attention:
      return layer + "attention";
    case PartKind::feed_forward:
      return layer + "mlp";
    case PartKind::link:
      return layer + std::to_string(part.head) + ":" + std::to_string(part.query) + ">" +
             std::to_string(part.key);
    case PartKind::position:
      return "@" + std::to_string(part.position);
    case PartKind::head:
      break;
  }
  return layer + std::to_string(part.head);
}

ModelPart parse_part(std::string_view text) {
  if (const std::optional<ModelPart> part = parsed(text)) return *part;
  throw Error(
      "'" + std::string(text) +
      "' is no part of a model: write 2.3 for head 3 of layer 2, 2.attention, 2.mlp for its "
      "feed-forward, '2.3:7>4' for the link from position 7 to 4 in that head, or @5 for a "
      "position.");
}

bool sees(const Transformer& model, Index layer, Index query, Index key) {
  const MultiHeadAttention& attention = model.blocks[static_cast<std::size_t>(layer)].attention;
  if (attention.is_causal && key > query) return false;
  return attention.window == 0 || std::abs(query - key) < attention.window;
}

void check_part(const Reading& reading, const ModelPart& part) {
  const TransformerOptions& o = reading.model.options;
  if (part.kind == PartKind::position) {
    if (part.position >= 0 && part.position < reading.length) return;
    missing(part, "the text's positions are " + up_to(reading.length));
  }
  check_layer(reading, part);
  const bool of_head = part.kind == PartKind::head || part.kind == PartKind::link;
  if (of_head && (part.head < 0 || part.head >= o.num_heads)) {
    missing(part, "the model's layers are " + up_to(o.num_layers) + ", the heads of each " +
                      up_to(o.num_heads));
  }
  if (part.kind == PartKind::feed_forward && !o.has_feed_forward) {
    missing(part, "this model has attention only");
  }
  if (part.kind == PartKind::link) check_link(reading, part);
}

TextVariant without(const Reading& reading, std::span<const ModelPart> parts) {
  TextVariant variant{.first = reading.length};
  for (const ModelPart& part : parts) {
    check_part(reading, part);
    variant.first = std::min(variant.first, first_of(part));
    if (part.kind == PartKind::position) {
      variant.hidden.push_back(part.position);
    } else {
      variant.changes.push_back(change_of(part));
    }
  }
  return variant;
}

Index count_of(const Reading& reading, PartKind kind) {
  const Index layers = reading.model.options.num_layers;
  const Index heads = layers * reading.model.options.num_heads;
  if (kind == PartKind::position) return reading.length;
  if (kind == PartKind::head) return heads;
  return kind == PartKind::link ? heads * reading.length * reading.length : layers;
}

ModelPart part_of(const Reading& reading, PartKind kind, Index i) {
  const Index heads = reading.model.options.num_heads, length = reading.length;
  if (kind == PartKind::position) return {.kind = kind, .position = i};
  if (kind == PartKind::head) return {.kind = kind, .layer = i / heads, .head = i % heads};
  if (kind != PartKind::link) return {.kind = kind, .layer = i};
  const Index pairs = length * length, head = i / pairs;
  return {.kind = kind,
          .layer = head / heads,
          .head = head % heads,
          .query = i % pairs / length,
          .key = i % length};
}

bool can_matter(const Reading& reading, const ModelPart& part) {
  if (part.kind == PartKind::position) {
    return !reading.model.options.is_causal || part.position < reading.position;
  }
  if (part.kind != PartKind::link) return true;
  const bool last = part.layer == reading.model.options.num_layers - 1;
  return (last ? part.query == reading.position : part.query < reading.end) &&
         sees(reading.model, part.layer, part.query, part.key);
}

}  // namespace tapestry
