#include "recording.hpp"

#include <cmath>

#include "recorded_run.hpp"
#include "slow_progress.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/version.hpp"

namespace tapestry::command {
namespace {

const char* to_string(Kind kind) {
  return kind == Kind::learned ? "learned" : kind == Kind::untrained ? "untrained" : "snapshot";
}

const char* to_string(Guess guess) {
  return guess == Guess::next_word ? "next" : guess == Guess::hidden_word ? "hidden" : "none";
}

// Of each layer: what stands between products and weights.
Json attention_of(const Model& model) {
  Json layers = Json::array();
  for (Index i = 0; i < model.options().num_layers; ++i) {
    const MultiHeadAttention& one = model.attention(i);
    const double width = static_cast<double>(one.query.weight.size(1)) / double(one.num_heads);
    layers.push_back({{"scale", one.scores.scale.value_or(1 / std::sqrt(width))},
                      {"softcap", one.scores.softcap},
                      {"window", one.window}});
  }
  return layers;
}

Json about(const Reader& reader) {
  const Subject& subject = reader.subject;
  const TransformerOptions& options = subject.model.options();
  const MultiHeadAttention& first = subject.model.attention(0);
  return {{"name", reader.name},
          {"about", subject.description},
          {"kind", to_string(reader.kind)},
          {"of", reader.of},
          {"step", reader.step ? Json(*reader.step) : Json(nullptr)},
          {"loss", reader.loss ? Json(*reader.loss) : Json(nullptr)},
          {"layers", options.num_layers},
          {"heads", options.num_heads},
          {"groups", first.num_key_value_heads},
          {"width", first.query.weight.size(1) / first.num_heads},
          {"causal", options.is_causal},
          {"single_head", subject.model.is_one_head()},
          {"guess", to_string(subject.guess)},
          {"unit", subject.unit},
          {"spaced", subject.spaced},
          {"parameters", subject.model.num_parameters()},
          {"attention", attention_of(subject.model)}};
}

// The place of a text among those recorded; the same words are one text for all models.
std::size_t place_of(const std::string& given, const Reading& reading, Json& texts) {
  const Json entry = {{"given", given}, {"words", reading.labels}, {"ids", reading.ids.values}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i] == entry) return i;
  }
  texts.push_back(entry);
  return texts.size() - 1;
}

}  // namespace

Recording record(const std::vector<Reader>& readers, const std::vector<std::string>& texts,
                 Baselines wanted) {
  Json all = {{"format", 1}, {"program", "tapestry " + version()}};
  for (const char* list : {"models", "texts", "patterns", "words", "runs"}) {
    all[list] = Json::array();
  }
  for (const Pattern pattern : all_patterns)
    all["patterns"].push_back(tapestry::to_string(pattern));
  Recording recording;
  WordList words;
  SlowProgress progress("reading", "texts");
  const Index readings = std::ssize(readers) * std::ssize(texts);
  progress(0, readings);
  for (std::size_t model = 0; model < readers.size(); ++model) {
    const Reader& reader = readers[model];
    all["models"].push_back(about(reader));
    for (const std::string& text : texts) {
      const Reading reading = read_text_for(reader.subject, text);
      Json run = {{"model", model},
                  {"text", place_of(text, reading, all["texts"])},
                  {"numbers", recording.numbers.size()}};
      Block block;
      const bool baselines = reader.kind == Kind::learned && wanted == Baselines::of_learned;
      run.update(recorded_run(reader.subject, reading, reader.changes, baselines, block, words));
      all["runs"].push_back(run);
      recording.numbers.push_back(std::move(block.bytes));
      progress(std::ssize(recording.numbers), readings);
    }
  }
  all["words"] = words.words;
  recording.json = std::move(all);
  return recording;
}

}  // namespace tapestry::command
