// What is made in the page without training: the tapes of small programs, and hand-made models.
#include <algorithm>
#include <cmath>

#include "course/tape_programs.hpp"
#include "engine.hpp"
#include "hand_model.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/tape_file.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::engine {
namespace {

using namespace command;

// {} -> programs: [{name, formula}]
Answer tape_programs(Engine&, const Json&) {
  Json programs = Json::array();
  for (const std::string& name : tape_program_names()) {
    programs.push_back({{"name", name}, {"formula", TapeProgram(name).formula()}});
  }
  return {{{"programs", programs}}};
}

// {program} -> steps: as tape_file.hpp has them
Answer tape(Engine&, const Json& request) {
  const TapeSteps steps = tape_program_steps(text_in(request, "program"));
  return {{{"steps", Json::parse(to_json(steps))}}};
}

// ---- Hand-made models

// A matrix.
Json to_json(const Tensor& x) {
  Json values = Json::array();
  for (const real value : x.values()) values.push_back(double{value});
  return {{"shape", {x.size(0), x.size(1)}}, {"values", values}};
}

// {shape: [rows, columns], values} of a head, or an undefined tensor.
Tensor matrix_in(const Json& head, const char* name) {
  const auto found = head.find(name);
  if (found == head.end() || found->is_null()) return {};
  const std::string of = "the matrix " + in_quotes(name);
  std::vector<Index> shape;
  const Json values = list_in(*found, "values");
  Index count = 1;
  for (const Json& given : list_in(*found, "shape")) {
    const Index size = given.is_number_integer() ? given.get<Index>() : 0;
    if (size < 1 || size > 10'000) throw Error(of + " has no such shape.");
    shape.push_back(size);
    if (shape.size() <= 2) count *= size;
  }
  if (shape.size() != 2 || std::ssize(values) != count) {
    throw Error(of + " does not have rows times columns numbers.");
  }
  std::vector<real> numbers;
  for (const Json& one : values) {
    if (!one.is_number() || !std::isfinite(one.get<real>())) {
      const Index at = std::ssize(numbers);
      throw Error(of + " has no finite number in row " + std::to_string(at / shape[1]) +
                  ", column " + std::to_string(at % shape[1]) + ".");
    }
    numbers.push_back(one.get<real>());
  }
  return Tensor({shape[0], shape[1]}, numbers);  // (rows, columns)
}

HandMadeHead head_in(const Json& given) {
  HandMadeHead head{number_in(given, "layer", 0), number_in(given, "head", 0)};
  if (given.contains("phrase")) head.phrase = phrase_of(text_in(given, "phrase"));
  head.matrices = {matrix_in(given, "query"), matrix_in(given, "key"), matrix_in(given, "value"),
                   matrix_in(given, "output")};
  return head;
}

Json to_json(const HandScores& scores) {
  return {{"whole", scores.whole}, {"right", scores.right}, {"loss", scores.loss}};
}

// Throws Error unless the model predicts the next word among these.
void check_fits(const Subject& subject, const Material& material) {
  const auto& words = material.vocabulary.words();
  bool same = subject.model.options().vocab_size == material.vocabulary.size();
  for (std::size_t i = 0; same && i < words.size(); ++i) {
    same = subject.id(words[i]) == static_cast<std::int32_t>(i);
  }
  if (!same) throw Error("it does not have the words of " + material.name + ".");
  if (subject.guess != Guess::next_word || !subject.model.options().is_causal) {
    throw Error("it does not predict the next word.");
  }
  check_length(subject.model.options(), material.length, "positions", "");
}

// Scores of the model `beside`, or why there are none.
void score_beside(const Engine& engine, const Json& request, const HandModel& made,
                  const Batch& batch, Json& answer) {
  if (!request.contains("beside")) return;
  try {
    const Subject& subject = engine.subject({{"model", request["beside"]}});
    check_fits(subject, made.material);
    const bool untrained = flag_in(request, "untrained");
    answer["beside"] =
        to_json(scores_of(untrained ? subject.model.untrained(0) : subject.model, batch));
  } catch (const Error& error) {
    answer["beside_problem"] = error.what();
  }
}

Index positions_for(const Material& material, const Json& request) {
  return std::max(material.length, number_in(request, "length", material.length));
}

// {model, file, task, length, sharpness, heads: [{layer, head, phrase, query, key, value, output}],
// beside, untrained}: makes a model by hand (hand_made.hpp), writes its checkpoint, and opens it;
// `length`: positions, if the task needs less; matrices {shape, values} as in `matrices` replace
// those of the phrase -> words, description, parameters, prompt, and of the task's held-out texts
// scores {whole, right, loss} `hand`, `chance`, and `beside` or `beside_problem`
Answer hand(Engine& engine, const Json& request) {
  const Material what = material(text_in(request, "task"), 64);
  std::vector<HandMadeHead> heads;
  for (const Json& head : list_in(request, "heads")) heads.push_back(head_in(head));
  const Path path = text_in(request, "file");
  const HandModel made = make_by_hand(path, what, positions_for(what, request),
                                      real_in(request, "sharpness", 20), heads);
  const Batch batch = hand_test(what);
  Subject subject = subject_of(made.file);
  Answer answer{{{"words", made.words},
                 {"description", subject.description},
                 {"parameters", subject.model.num_parameters()},
                 {"prompt", what.prompt},
                 {"texts", hand_texts},
                 {"test_is", what.test_is},
                 {"has_answers", what.has_answers},
                 {"hand", to_json(scores_of(subject.model, batch))},
                 {"chance", to_json(scores_of_chance(what.vocabulary.size(), batch))}}};
  score_beside(engine, request, made, batch, answer.json);
  write_transformer(path, made.file->model.transformer(), made.metadata);
  engine.subjects.insert_or_assign(text_in(request, "model"), std::move(subject));
  return answer;
}

// What the columns of the residual stream, the rows of a matrix, stand for: [{group, names}]
Json rows_of(const Material& material, const HandMadeOptions& sizes) {
  Json words = material.vocabulary.words(), positions = Json::array();
  for (Index i = 0; i < sizes.max_length; ++i) positions.push_back(std::to_string(i));
  Json rows = {{{"group", "the word"}, {"names", words}},
               {{"group", "its position"}, {"names", positions}}};
  for (const Phrase phrase : all_phrases) {
    rows.push_back({{"group", "found by: " + to_string(phrase)}, {"names", words}});
  }
  rows.push_back({{"group", "the constant"}, {"names", {"1000"}}});
  return rows;
}

// {task, length, sharpness, phrase} -> rows, and query, key, value: {shape, values}
Answer matrices(Engine&, const Json& request) {
  const Material what = material(text_in(request, "task"), 64);
  const HandMadeOptions sizes =
      hand_sizes(what, positions_for(what, request), real_in(request, "sharpness", 20));
  const HandMadeMatrices m = matrices_of(phrase_of(text_in(request, "phrase")), sizes);
  return {{{"rows", rows_of(what, sizes)},
           {"query", to_json(m.query)},
           {"key", to_json(m.key)},
           {"value", to_json(m.value)}}};
}

}  // namespace

Calls making_calls() {
  return {{"tape_programs", tape_programs}, {"tape", tape}, {"hand", hand}, {"matrices", matrices}};
}

}  // namespace tapestry::engine
