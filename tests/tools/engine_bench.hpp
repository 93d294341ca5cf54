// The explorer's engine with small models, and what it answers as numbers.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "analysis/planted_model.hpp"
#include "engine.hpp"
#include "ops/expect.hpp"
#include "process.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/input_format.hpp"

namespace tapestry {

using engine::Answer;
using engine::Engine;
using engine::Json;

// JSON with ' in place of ".
inline Json json(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return Json::parse(text);
}

inline Transformer random_model(Index words, bool is_causal) {
  Random random(3);
  return Transformer(
      {.vocab_size = words,
       .max_length = 8,
       .d_model = 8,
       .num_heads = 2,
       .num_layers = 2,
       .is_causal = is_causal,
       .initializer = [](const Shape& shape, Random& r) { return r.normal(shape, 0, 0.5); }},
      random);
}

// Three models of the words a to f, open under these names.
struct EngineBench {
  TemporaryFolder folder;
  Vocabulary vocabulary{split_words("a b c d e f")};
  Transformer planted = planted_induction(vocabulary.size()),
              decoder = random_model(vocabulary.size(), true),
              encoder = random_model(vocabulary.size(), false);
  Engine engine;

  EngineBench() {
    const std::vector<Words> texts = {split_words("a b c d")};
    Batch next;
    next.inputs = Indices({1, 3}, ids("a b c").values);
    next.targets = Indices({1, 3}, ids("b c d").values);
    Random random(2);
    add("planted", planted, next);
    add("decoder", decoder, next);
    add("encoder", encoder, masked_lm_batch(vocabulary, texts, random));
  }

  Indices ids(const char* text) const { return vocabulary.encode(split_words(text)); }
  std::int32_t id(const char* word) const { return vocabulary.id(word); }
  std::string file(const std::string& name) const { return (folder / name).string(); }

  Answer call(const Json& request) {
    Answer answer = engine.call(request);
    INFO(answer.json.dump());
    REQUIRE(!answer.json.contains("error"));
    return answer;
  }
  Json ask(const std::string& request) { return call(json(request)).json; }

  // The sentence of a refusal.
  std::string refused(const Json& request) {
    const Answer answer = engine.call(request);
    INFO(answer.json.dump());
    REQUIRE(answer.json.contains("error"));
    CHECK(answer.json.size() == 1);
    CHECK(answer.blocks.empty());
    const std::string said = answer.json["error"];
    CHECK(!has(said, "json.exception"));
    CHECK(!has(said, "\n"));
    return said;
  }
  std::string problem(const std::string& request) { return refused(json(request)); }

 private:
  void add(const std::string& name, const Transformer& model, const Batch& batch) {
    write_transformer(folder / name, model, to_metadata(vocabulary, batch));
    call(Json{{"call", "open"}, {"model", name}, {"file", file(name)}});
  }
};

// What a model does while it reads a text, by the names that Capture knows.
using Edits = std::map<std::string, Capture::Replacement>;
struct Seen {
  std::map<std::string, Tensor> parts = {};
  Tensor logits = {};  // (length, vocabulary)
};
inline Seen seen_by(const Transformer& model, const Indices& ids, const Edits& edits = {}) {
  Seen result;
  Capture seen;
  for (const auto& [name, edit] : edits) seen.replace(name, edit);
  result.logits = model(ids, {}, {.need_weights = true});
  for (const Parameter& one : seen.all()) result.parts.insert_or_assign(one.name, one.value);
  return result;
}

// The numbers of a recorded run at {at, shape}.
template <class Number>
std::vector<Number> numbers_at(const Answer& answer, const Json& run, const Json& place) {
  const auto& block = answer.blocks.at(run["numbers"].get<std::size_t>());
  std::size_t count = 1;
  for (const Json& size : place["shape"]) count *= size.get<std::size_t>();
  std::vector<Number> numbers(count);
  const std::size_t at = place["at"].get<std::size_t>();
  REQUIRE(at + count * sizeof(Number) <= block.size());
  std::memcpy(numbers.data(), block.data() + at, count * sizeof(Number));
  return numbers;
}

// The largest difference of numbers; those of other lists are infinitely far.
template <class A, class B>
double apart(const A& a, const B& b) {
  if (std::size(a) != std::size(b)) return infinity;
  double most = 0;
  auto other = std::begin(b);
  for (const auto& one : a) {
    const double x = static_cast<double>(one), y = static_cast<double>(*other++);
    const double far = std::isnan(x) && std::isnan(y) ? 0 : std::abs(x - y);
    most = std::isnan(far) ? infinity : std::max(most, far);
  }
  return most;
}

inline double apart(const Json& list, const Tensor& x) {
  return apart(list.get<std::vector<double>>(), x.values());
}

}  // namespace tapestry
