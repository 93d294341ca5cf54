// What becomes of a prediction without parts, or with parts from another text.
#include <cmath>

#include "engine.hpp"
#include "learner.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/analysis/patching.hpp"
#include "tapestry/capture.hpp"
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

// Of parts cut together, beside others of the same kinds; without these, and why, where there are
// not as many others.
Json fall_of(const Transformer& model, const Reading& reading, const Question& question,
             std::span<const ModelPart> parts, const Json& request) {
  Random random(static_cast<std::uint64_t>(number_in(request, "seed", 1)));
  const double fall = cut(model, reading.ids, question, parts);
  try {
    return of_cut(cut_at_random(model, reading.ids, question, parts,
                                number_in(request, "draws", 20), random));
  } catch (const Error& error) {
    return {{"fall", fall}, {"no_others", error.what()}};
  }
}

// {model, untrained, text, position, token, against, parts, draws, seed} -> token, answer, each:
// [fall, random_mean, random_deviation, as_far] of each part alone, together: the same of all
// (analysis/cuts.hpp); without parts heads (layers x heads), layers, positions: of each alone.
Answer effects(Engine& engine, const Json& request) {
  const Subject subject = engine.asked(request);
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
  const auto of = [&](std::span<const ModelPart> some) {
    return fall_of(model, reading, question, some, request);
  };
  for (const ModelPart& part : parts) result.json["each"].push_back(of({&part, 1}));
  result.json["together"] = parts.size() > 1 ? of(parts) : result.json["each"][0];
  return result;
}

// (length, vocabulary)
Tensor logits_with(const Subject& subject, const Reading& reading, const Changes& changes) {
  Capture seen;
  change(seen, subject, reading, changes);
  return subject.model(reading.ids, {.need_weights = true});
}

// How far the changes move the answer of a text towards that of the text that parts come from: as
// `tapestry patch` asks, the token that the one makes likeliest, against that of the other. null if
// both answer alike.
Json share(const Subject& subject, const Changes& changes, Index position, const Tensor& own,
           const Tensor& changed) {
  const Tensor there = subject.model(read_text_for(subject, changes.patched_from).ids);
  const Question question{.position = position,
                          .token = likeliest_token(there, position),
                          .against = likeliest_token(own, position)};
  const auto of = [&](const Tensor& logits) { return double{answer(logits, question).item()}; };
  if (question.token == *question.against || !have_gap(of(there), of(own))) return nullptr;
  return {{"token", subject.word(question.token)},
          {"against", subject.word(*question.against)},
          {"clean", of(there)},
          {"corrupted", of(own)},
          {"share", (of(changed) - of(own)) / (of(there) - of(own))}};
}

// {model, untrained, text, position, cut, held, patched, from} -> words: of the likeliest word as
// it is, and with the changes if that is another one: word, before and after, its ln(probability)
// without and with them; share (as above), if anything is patched.
Answer answers(Engine& engine, const Json& request) {
  const Subject subject = engine.asked(request);
  transformer(subject);
  const Reading reading = read_text_for(subject, text_in(request, "text"));
  const Changes changes = changes_in(request);
  const Index position = number_in(request, "position", -1);
  const Tensor own = subject.model(reading.ids), changed = logits_with(subject, reading, changes);
  std::vector<std::int32_t> tokens = {likeliest_token(own, position)};
  const std::int32_t now = likeliest_token(changed, position);
  if (now != tokens[0]) tokens.push_back(now);
  Answer result{{{"words", Json::array()}}};
  for (const std::int32_t token : tokens) {
    const Question question{.position = position, .token = token};
    result.json["words"].push_back({{"word", subject.word(token)},
                                    {"before", double{answer(own, question).item()}},
                                    {"after", double{answer(changed, question).item()}}});
  }
  if (!changes.patched.empty()) {
    result.json["share"] = share(subject, changes, position, own, changed);
  }
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

Calls asking_calls() { return {{"effects", effects}, {"answers", answers}, {"patch", patch}}; }

}  // namespace tapestry::engine
