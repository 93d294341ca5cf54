#include "text/tokenizer_components.hpp"

#include <utility>

#include "text/tokenizer_fields.hpp"

namespace tapestry {
namespace {

NormalizerStep replace_step(const std::string& type, Fields& fields) {
  NormalizerStep step{NormalizerStep::Kind::replace, type};
  std::string expression;
  step.pattern = literal_pattern(fields, expression);
  if (step.pattern.empty()) {
    fields.refuse("has a regular expression, " + in_quotes(expression) +
                  ": only a \"String\" is replaced");
  }
  step.content = fields.text("content");
  return step;
}

NormalizerStep strip_step(const std::string& type, Fields& fields) {
  NormalizerStep step{NormalizerStep::Kind::strip, type};
  step.left = fields.flag("strip_left", true);
  step.right = fields.flag("strip_right", true);
  return step;
}

NormalizerStep bert_step(Fields& fields) {
  const bool lower = fields.flag("lowercase", true);
  return bert_normalizer(fields.flag("clean_text", true), fields.flag("handle_chinese_chars", true),
                         fields.flag("strip_accents", lower), lower);
}

NormalizerStep normalizer_step(const std::string& type, Fields& fields) {
  using Kind = NormalizerStep::Kind;
  constexpr std::pair<const char*, Kind> plain[] = {
      {"NFC", Kind::nfc},   {"NFD", Kind::nfd},         {"NFKC", Kind::nfkc},
      {"NFKD", Kind::nfkd}, {"Lowercase", Kind::lower}, {"StripAccents", Kind::strip_accents}};
  for (const auto& [name, kind] : plain) {
    if (type == name) return {kind, type};
  }
  if (type == "Replace") return replace_step(type, fields);
  if (type == "Strip") return strip_step(type, fields);
  if (type == "BertNormalizer") return bert_step(fields);
  if (type != "Prepend") {
    refuse_type("its normalizer", type,
                "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Prepend, Replace, Strip, "
                "BertNormalizer and Sequence");
  }
  NormalizerStep step{Kind::prepend, type};
  step.content = fields.text("prepend");
  return step;
}

Delimiters delimiters(Fields& fields, const std::string& fallback) {
  constexpr std::pair<const char*, Delimiters> known[] = {
      {"Removed", Delimiters::removed},
      {"Isolated", Delimiters::isolated},
      {"MergedWithPrevious", Delimiters::merged_with_previous},
      {"MergedWithNext", Delimiters::merged_with_next},
      {"Contiguous", Delimiters::contiguous}};
  const std::string behavior = fields.text("behavior", fallback);
  for (const auto& [name, which] : known) {
    if (behavior == name) return which;
  }
  fields.refuse("has a behavior that is not known, " + in_quotes(behavior));
}

PreTokenizerStep split(const std::string& type, Fields& fields) {
  PreTokenizerStep step{PreTokenizerStep::Kind::split, type};
  std::string expression;
  step.text = literal_pattern(fields, expression);
  if (step.text.empty()) {
    step.pattern = known_pattern(expression);
    if (!step.pattern) {
      fields.refuse("has a pattern that is not known, " + in_quotes(expression) +
                    ". Those of GPT-2, GPT-4, Llama 3 and Qwen 2 are");
    }
  }
  step.delimiters = delimiters(fields, "");
  step.inverted = fields.flag("invert", false);
  return step;
}

}  // namespace

PreTokenizerStep metaspace_step(const std::string& type, Fields& fields) {
  using Prepend = PreTokenizerStep::Prepend;
  PreTokenizerStep step{PreTokenizerStep::Kind::metaspace, type};
  step.text = one_character(fields, "replacement");
  fields.text("str_rep", "");  // the same once more
  const bool prefix = fields.flag("add_prefix_space", true);
  const std::string scheme = fields.text("prepend_scheme", prefix ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    fields.refuse("has a prepend_scheme that is not known, " + in_quotes(scheme));
  }
  if (!prefix && scheme != "never") {
    fields.refuse("has add_prefix_space false, but prepend_scheme " + in_quotes(scheme));
  }
  step.prepend = scheme == "always"  ? Prepend::always
                 : scheme == "first" ? Prepend::first
                                     : Prepend::never;
  step.cut = fields.flag("split", true);
  step.delimiters = Delimiters::merged_with_next;
  return step;
}

namespace {

PreTokenizerStep byte_level(const std::string& type, Fields& fields) {
  PreTokenizerStep step{PreTokenizerStep::Kind::byte_level, type};
  step.prefix_space = fields.flag("add_prefix_space", true);
  fields.flag("trim_offsets", true);  // about places in the text, which are not asked for here
  if (fields.flag("use_regex", true)) step.pattern = gpt2_pattern;
  return step;
}

void add_pre_tokenizer(const std::string& type, Fields& fields,
                       std::vector<PreTokenizerStep>& steps) {
  using Kind = PreTokenizerStep::Kind;
  PreTokenizerStep step{Kind::white_space, type};
  step.delimiters = Delimiters::removed;
  if (type == "ByteLevel") return steps.push_back(byte_level(type, fields));
  if (type == "Split") return steps.push_back(split(type, fields));
  if (type == "Metaspace") return steps.push_back(metaspace_step(type, fields));
  if (type == "BertPreTokenizer") {
    for (PreTokenizerStep& each : bert_pre_tokenizer()) steps.push_back(std::move(each));
    return;
  }
  if (type == "Whitespace") {
    step.inverted = true;
  } else if (type == "WhitespaceSplit") {
    step.kind = Kind::white_space_words;
  } else if (type == "Punctuation") {
    step.kind = Kind::punctuation;
    step.delimiters = delimiters(fields, "Isolated");
  } else if (type == "Digits") {
    step.kind = Kind::digits;
    const bool each = fields.flag("individual_digits", false);
    step.delimiters = each ? Delimiters::isolated : Delimiters::contiguous;
  } else {
    refuse_type("its pre_tokenizer", type,
                "ByteLevel, Split, Metaspace, Whitespace, WhitespaceSplit, Punctuation, Digits, "
                "BertPreTokenizer and Sequence");
  }
  steps.push_back(std::move(step));
}

}  // namespace

NormalizerStep bert_normalizer(bool clean, bool chinese, bool accents, bool lower) {
  NormalizerStep step{NormalizerStep::Kind::bert, "BertNormalizer"};
  step.clean = clean;
  step.chinese = chinese;
  step.accents = accents;
  step.lower = lower;
  return step;
}

std::vector<PreTokenizerStep> bert_pre_tokenizer() {
  using Kind = PreTokenizerStep::Kind;
  PreTokenizerStep words{Kind::white_space_words, "BertPreTokenizer (white space)"};
  words.delimiters = Delimiters::removed;
  return {words, {Kind::punctuation, "BertPreTokenizer (punctuation)"}};
}

std::vector<NormalizerStep> normalizer_steps(const Json& json) {
  std::vector<NormalizerStep> steps;
  for_each_component(
      json, "its normalizer", "normalizers",
      [&](const std::string& type, Fields& f) { steps.push_back(normalizer_step(type, f)); });
  return steps;
}

std::vector<PreTokenizerStep> pre_tokenizer_steps(const Json& json) {
  std::vector<PreTokenizerStep> steps;
  for_each_component(
      json, "its pre_tokenizer", "pretokenizers",
      [&](const std::string& type, Fields& f) { add_pre_tokenizer(type, f, steps); });
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i].kind == PreTokenizerStep::Kind::byte_level) {
      throw Error("its pre_tokenizer has " + steps[i + 1].name +
                  " behind ByteLevel, which must come last.");
    }
  }
  return steps;
}

}  // namespace tapestry
