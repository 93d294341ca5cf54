// What becomes of a prediction without parts, or with parts from another text.
#include <cmath>

#include "engine.hpp"
#include "learner.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/analysis/patching.hpp"
#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "text.hpp"

namespace tapestry::engine {
namespace {

using namespace command;

const Transformer& transformer(const Subject& subject) {
  if (!subject.model.is_one_head() && subject.guess != Guess::other) {
    return subject.model.transformer();
  }
  throw Error("this model says no words: cuts and patches need one that does.");
}

std::int32_t token_in(const Subject& subject, const Json& request, const char* name) {
  const std::string word = text_in(request, name);
  const std::int32_t id = subject.id(word);
  if (id >= 0) return id;
  throw Error(in_quotes(word) + " is not one of the model's " + subject.unit + ".");
}

// {position, token, against}: without a token the likeliest one.
Question question_in(const Subject& subject, const Reading& reading, const Json& request) {
  Question question{.position = number_in(request, "position", -1)};
  question.token = request.contains("token")
                       ? token_in(subject, request, "token")
                       : likeliest_token(subject.model(reading.ids), question.position);
  if (request.contains("against")) question.against = token_in(subject, request, "against");
  return question;
}

Json numbers(const Tensor& x) {
  Json list = Json::array();
  for (const real value : x.values()) {
    list.push_back(std::isfinite(value) ? Json(double{value}) : Json(nullptr));
  }
  return list;
}

Json of_cut(const RandomCuts& cut) {
  return {{"fall", cut.fall},
          {"random_mean", cut.spread.mean},
          {"random_deviation", cut.spread.deviation},
          {"as_far", cut.as_far}};
}

// {model, text, position, token, against, parts, draws, seed} -> token, answer, each: [fall,
// random_mean, random_deviation, as_far] of each part alone, together: the same of all
// (analysis/cuts.hpp); without parts heads (layers x heads), layers, positions: of each alone.
Answer effects(Engine& engine, const Json& request) {
  const Subject& subject = engine.subject(request);
  const Transformer& model = transformer(subject);
  const Reading reading = read_text_for(subject, text_in(request, "text"));
  const Question question = question_in(subject, reading, request);
  Answer result{{{"token", subject.word(question.token)},
                 {"answer", double{answer(subject.model(reading.ids), question).item()}}}};
  std::vector<ModelPart> parts;
  for (const std::string& part : texts_in(request, "parts")) parts.push_back(parse_part(part));
  if (parts.empty()) {
    const PartFalls falls = cut_each(model, reading.ids, question);
    result.json["heads"] = numbers(falls.heads);
    result.json["layers"] = numbers(falls.layers);
    result.json["positions"] = numbers(falls.positions);
    return result;
  }
  const Index draws = number_in(request, "draws", 20);
  const auto of = [&](std::span<const ModelPart> some) {
    Random random(static_cast<std::uint64_t>(number_in(request, "seed", 1)));
    return of_cut(cut_at_random(model, reading.ids, question, some, draws, random));
  };
  for (const ModelPart& part : parts) result.json["each"].push_back(of({&part, 1}));
  result.json["together"] = of(parts);
  return result;
}

// {model, text, from, position, token, against} -> token, clean, corrupted, residual, heads: the
// effects (analysis/patching.hpp) of what `text` would be with parts of the text `from`.
Answer patch(Engine& engine, const Json& request) {
  const Subject& subject = engine.subject(request);
  const Transformer& model = transformer(subject);
  const Reading clean = read_text_for(subject, text_in(request, "from")),
                corrupted = read_text_for(subject, text_in(request, "text"));
  const Question question = question_in(subject, clean, request);
  const Patches patches = tapestry::patch(model, clean.ids, corrupted.ids, question);
  return {{{"token", subject.word(question.token)},
           {"clean", patches.clean},
           {"corrupted", patches.corrupted},
           {"residual", numbers(patches.residual)},
           {"heads", numbers(patches.heads)}}};
}

}  // namespace

Calls asking_calls() { return {{"effects", effects}, {"patch", patch}}; }

}  // namespace tapestry::engine
