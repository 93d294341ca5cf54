// Texts that a model writes, a few words at a time.
#include <algorithm>
#include <numeric>

#include "engine.hpp"
#include "learner.hpp"
#include "tapestry/error.hpp"
#include "text.hpp"

namespace tapestry::engine {
namespace {

using namespace command;

Writer writer_of(const Subject& subject, const std::string& prompt) {
  std::error_code ignored;
  return std::filesystem::is_directory(subject.path, ignored)
             ? writer_of_folder(subject.path, {}, prompt)
             : writer_of_checkpoint(subject.path, prompt);
}

SamplingOptions sampling_in(const Json& request) {
  return {.temperature = real_in(request, "temperature", 1),
          .top_k = number_in(request, "top_k", 0),
          .top_p = real_in(request, "top_p", 1)};
}

// The same, but what was asked last is not computed anew.
NextLogits remembered(NextLogits next) {
  return [next = std::move(next), last = std::vector<std::int32_t>(),
          logits = Tensor()](const Indices& ids) mutable {
    if (last.empty() || ids.values != last) logits = next(ids);  // (vocabulary)
    last = ids.values;
    return logits;
  };
}

// {model, text, temperature, top_k, top_p, repetition_penalty, seed}: begins a text; the one before
// is forgotten. -> length, the model's own limit of new words
Answer write(Engine& engine, const Json& request) {
  Writer writer = writer_of(engine.subject(request), text_in(request, "text"));
  auto text = std::make_unique<Text>(
      Text{writer, remembered(writer.begin()), writer.prompt,
           Random(static_cast<std::uint64_t>(number_in(request, "seed", 1)))});
  for (const std::int32_t id : text->ids.values) {
    text->is_first = text->is_first && text->writer.bytes_of(id, text->is_first).empty();
  }
  text->options.sampling = sampling_in(request);
  text->options.repetition_penalty = real_in(request, "repetition_penalty", 1);
  engine.text = std::move(text);
  return {{{"length", writer.length}}};
}

// The likeliest words, with their probabilities as the model gives them, own (vocabulary), and as
// they are drawn with temperature and the like, drawn (vocabulary).
Json likeliest(const Subject& subject, const Tensor& own, const Tensor& drawn) {
  constexpr std::size_t most = 10;
  const std::vector<real> by_model = own.values(), by_draw = drawn.values();
  const auto probability = [](const std::vector<real>& of, std::int32_t id) {
    return of[static_cast<std::size_t>(id)];
  };
  std::vector<std::int32_t> order(by_model.size());
  std::iota(order.begin(), order.end(), 0);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), middle, order.end(), [&](std::int32_t a, std::int32_t b) {
    const real x = probability(by_model, a), y = probability(by_model, b);
    return x > y || (x == y && a < b);
  });
  Json words = Json::array();
  for (auto id = order.begin(); id != middle; ++id) {
    words.push_back({{"word", subject.word(*id)},
                     {"own", double{probability(by_model, *id)}},
                     {"drawn", double{probability(by_draw, *id)}}});
  }
  return words;
}

// What was written by one step.
Json written(Text& text, const Subject& subject, const GenerationStep& step) {
  const Tensor own = sampling_probabilities(step.logits);  // (vocabulary)
  text.ended = text.writer.ends(step.chosen);
  const std::string bytes = text.writer.bytes_of(step.chosen, text.is_first);
  text.is_first = text.is_first && bytes.empty();
  return {{"word", subject.word(step.chosen)},
          {"text", text.ended ? text.stream.finish() : text.stream.add(bytes)},
          {"own", double{own.at({step.chosen})}},
          {"drawn", double{step.probabilities.at({step.chosen})}}};
}

Text& begun(Engine& engine) {
  if (engine.text) return *engine.text;
  throw Error("no text was begun.");
}

// {model, temperature, top_k, top_p} -> words: the likeliest that may follow the text; it stays as
// it is.
Answer next(Engine& engine, const Json& request) {
  Text& text = begun(engine);
  const Tensor logits = text.next_logits(text.ids);  // (vocabulary)
  const Tensor asked = without_repetition(logits, text.ids, text.options.repetition_penalty);
  return {{{"words", likeliest(engine.subject(request), sampling_probabilities(logits),
                               sampling_probabilities(asked, sampling_in(request)))}}};
}

// {model, count; temperature, top_k, top_p if they change} -> steps: of each new word what
// written() gives; words: the likeliest at the place of the last one; ended
Answer more(Engine& engine, const Json& request) {
  Text& text = begun(engine);
  if (request.contains("temperature")) text.options.sampling = sampling_in(request);
  const Subject& subject = engine.subject(request);
  Json steps = Json::array();
  Tensor logits, drawn;  // (vocabulary), of the last step
  GenerationOptions options = text.options;
  options.max_new_tokens = number_in(request, "count", 1);
  options.after_step = [&](const GenerationStep& step) {
    steps.push_back(written(text, subject, step));
    logits = step.logits;
    drawn = step.probabilities;
  };
  options.stop = [&] { return text.ended; };
  if (!text.ended) text.ids = generate(text.next_logits, text.ids, text.random, options);
  const Json words =
      steps.empty() ? Json::array() : likeliest(subject, sampling_probabilities(logits), drawn);
  return {{{"steps", steps}, {"words", words}, {"ended", text.ended}}};
}

}  // namespace

Calls writing_calls() { return {{"write", write}, {"next", next}, {"more", more}}; }

}  // namespace tapestry::engine
