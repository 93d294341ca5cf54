#include "text/tokenizer_components.hpp"
#include "text/tokenizer_fields.hpp"

namespace tapestry {
namespace {

using Kind = DecoderStep::Kind;

DecoderStep metaspace(const std::string& type, Fields& fields) {
  const PreTokenizerStep same = metaspace_step(type, fields);
  DecoderStep step{Kind::metaspace, type};
  step.content = same.text;
  step.prepended = same.prepend != PreTokenizerStep::Prepend::never;
  return step;
}

DecoderStep strip(const std::string& type, Fields& fields) {
  DecoderStep step{Kind::strip, type};
  step.content = one_character(fields, "content");
  step.left = static_cast<std::size_t>(fields.count("start"));
  step.right = static_cast<std::size_t>(fields.count("stop"));
  return step;
}

DecoderStep replace(const std::string& type, Fields& fields) {
  DecoderStep step{Kind::replace, type};
  std::string expression;
  step.pattern = literal_pattern(fields, expression);
  if (step.pattern.empty()) fields.refuse("has a regular expression: only a \"String\" is known");
  step.content = fields.text("content");
  return step;
}

DecoderStep decoder_step(const std::string& type, Fields& fields) {
  if (type == "Metaspace") return metaspace(type, fields);
  if (type == "ByteFallback") return {Kind::byte_fallback, type};
  if (type == "Strip") return strip(type, fields);
  if (type == "Replace") return replace(type, fields);
  if (type == "Fuse") return {Kind::fuse, type};
  if (type == "ByteLevel") {
    for (const char* other : {"add_prefix_space", "trim_offsets", "use_regex"}) {
      fields.flag(other, true);  // written because the pre-tokenizer has them; no decoder uses them
    }
    return {Kind::byte_level, type};
  }
  if (type != "WordPiece") {
    refuse_type("its decoder", type,
                "ByteLevel, Metaspace, ByteFallback, Fuse, Strip, Replace, WordPiece and Sequence");
  }
  DecoderStep step{Kind::word_piece, type};
  step.content = fields.text("prefix", "##");
  step.clean = fields.flag("cleanup", true);
  return step;
}

}  // namespace

std::vector<DecoderStep> decoder_steps(const Json& json) {
  std::vector<DecoderStep> steps;
  for_each_component(json, "its decoder", "decoders", [&](const std::string& type, Fields& f) {
    steps.push_back(decoder_step(type, f));
  });
  return steps;
}

}  // namespace tapestry
