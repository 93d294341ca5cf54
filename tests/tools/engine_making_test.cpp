// The explorer's engine: tapes of small programs, and hand-made models.
#include <algorithm>

#include "course/tape_programs.hpp"
#include "engine_bench.hpp"
#include "hand_model.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/io/tape_file.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// The heads of induction.
const char* const two_heads =
    "[{'layer': 0, 'head': 0, 'phrase': 'previous word'}, {'layer': 1, 'head': 0, 'phrase': "
    "'what followed the same word'}]";

std::string hand(const EngineBench& bench, const std::string& heads, const std::string& more = "") {
  return "{'call': 'hand', 'model': 'h', 'file': '" + bench.file("hand.safetensors") +
         "', 'task': 'induction', 'heads': " + heads + more + "}";
}

// A matrix {shape, values}.
double far_from(const Json& given, const Tensor& x) {
  if (given["shape"] != Json({x.size(0), x.size(1)})) return infinity;
  return apart(given["values"], x);
}

const command::Material& task() {
  static const command::Material material = command::material("induction", 64);
  return material;
}

}  // namespace

TEST_CASE("the engine's tapes are those of the programs", "[tools][engine]") {
  Engine engine;
  const Json programs = engine.call(json("{'call': 'tape_programs'}")).json["programs"];
  REQUIRE(programs.size() == tape_program_names().size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::string name = programs[i]["name"];
    CHECK(name == tape_program_names()[i]);
    CHECK(programs[i]["formula"] == TapeProgram(name).formula());
    const Json steps = engine.call({{"call", "tape"}, {"program", name}}).json["steps"];
    CHECK(steps == Json::parse(to_json(tape_program_steps(name))));
    CHECK(tape_steps_from_json(steps.dump()).formula == programs[i]["formula"].get<std::string>());
  }
  EngineBench bench;
  CHECK(has(bench.problem("{'call': 'tape', 'program': 'none'}"), "none"));
  CHECK(bench.problem("{'call': 'tape'}") == "the engine wants a text as 'program'.");
}

TEST_CASE("the engine's hand-made model is the library's", "[tools][engine]") {
  EngineBench bench;
  const Json said = bench.ask(hand(bench, two_heads, ", 'sharpness': 15"));
  const HandMadeOptions sizes = command::hand_sizes(task(), task().length, 15);
  CHECK(sizes.sharpness == 15);
  const Transformer model =
      hand_made(sizes, {{0, 0, Phrase::previous_word}, {1, 0, Phrase::what_followed}});
  const Transformer saved = read_transformer(bench.folder / "hand.safetensors");
  const Batch batch = command::hand_test(task());
  const Tensor logits = model(batch.inputs);  // (texts, length, words)
  CHECK(difference_to(saved(batch.inputs), logits, 0) == "");
  CHECK(difference_to(bench.engine.subjects.at("h").model(batch.inputs), logits, 0) == "");
  CHECK(said["words"] == "0.0 previous word, 1.0 what followed the same word");
  CHECK(has(said["description"], "2 layers, 1 head each"));
  CHECK(said["parameters"] == model.num_parameters());
  CHECK(said["prompt"] == task().prompt);
  CHECK(said["test_is"] == task().test_is);
  CHECK(said["has_answers"] == task().has_answers);
  CHECK(said["texts"] == 100);
  CHECK(!said.contains("beside"));
  CHECK(!said.contains("beside_problem"));
  CHECK(said["hand"]["whole"] == static_cast<double>(exact_matches(logits, batch.targets)) / 100);
  CHECK(said["hand"]["right"] == accuracy(logits, batch.targets));
  CHECK(said["hand"]["loss"] == double{cross_entropy(logits, batch.targets).item()});
  CHECK(said["hand"]["right"] > 0.8);
  const double words = task().vocabulary.size();
  CHECK(said["chance"]["right"] == 1 / words);
  CHECK(said["chance"]["loss"].get<double>() == Approx(std::log(words)));
  const std::vector<std::int32_t>& targets = batch.targets.values;
  const std::size_t rows = 100, length = targets.size() / rows;
  double whole = 0;  // blind guesses that get all letters of a text right
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = targets.begin() + static_cast<std::ptrdiff_t>(row * length);
    const auto count = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(length),
                                     [](int t) { return t >= 0; });
    whole += std::pow(words, -static_cast<double>(count)) / static_cast<double>(rows);
  }
  CHECK(said["chance"]["whole"].get<double>() == Approx(whole));
  // It is open, sharper without a number, and longer if it shall be.
  bench.ask("{'call': 'record', 'models': [{'model': 'h'}], 'texts': ['" + task().prompt + "']}");
  bench.ask(hand(bench, two_heads, ", 'length': 40"));
  CHECK(bench.engine.subjects.at("h").model.options().max_length == 40);
  const Transformer plain = read_transformer(bench.folder / "hand.safetensors");
  CHECK(difference_to(
            plain(batch.inputs),
            hand_made(command::hand_sizes(task(), 40, 20),
                      {{0, 0, Phrase::previous_word}, {1, 0, Phrase::what_followed}})(batch.inputs),
            0) == "");
  bench.ask(hand(bench, two_heads, ", 'length': 1"));
  CHECK(bench.engine.subjects.at("h").model.options().max_length == task().length);
}

TEST_CASE("the engine's matrices are the phrase's, and make the same model", "[tools][engine]") {
  EngineBench bench;
  const HandMadeOptions sizes = command::hand_sizes(task(), task().length, 20);
  const HandMadeColumns at = columns_of(sizes);
  for (const Phrase phrase : all_phrases) {
    const Json said = bench.ask("{'call': 'matrices', 'task': 'induction', 'phrase': '" +
                                to_string(phrase) + "'}");
    const HandMadeMatrices right = matrices_of(phrase, sizes);
    CHECK(far_from(said["query"], right.query) == 0);
    CHECK(far_from(said["key"], right.key) == 0);
    CHECK(far_from(said["value"], right.value) == 0);
    // A name for each row, in the order of the columns of the stream.
    Words names;
    for (const Json& group : said["rows"]) {
      for (const Json& name : group["names"]) names.push_back(name);
    }
    REQUIRE(std::ssize(names) == at.d_model());
    const auto name_at = [&](Index column) { return names[static_cast<std::size_t>(column)]; };
    CHECK(name_at(at.word(5)) == task().vocabulary.word(5));
    CHECK(name_at(at.position(3)) == "3");
    CHECK(name_at(at.found(phrase, 6)) == task().vocabulary.word(6));
    CHECK(name_at(at.constant()) == "1000");
    const Json& group = said["rows"][2 + static_cast<std::size_t>(phrase)];
    CHECK(group["group"] == "found by: " + to_string(phrase));
  }
  const Json plain = bench.ask(hand(bench, two_heads));
  Json request = json(hand(bench, two_heads));
  const Json of = bench.ask(
      "{'call': 'matrices', 'task': 'induction', 'phrase': 'what followed the same word'}");
  Json head = {{"layer", 1}, {"head", 0}, {"query", of["query"]}, {"key", of["key"]}};
  head["value"] = nullptr;
  request["heads"][1] = head;
  const Json same = bench.call(request).json;
  CHECK(same["words"] == "0.0 previous word, 1.0 matrices");
  CHECK(same["hand"]["right"] == plain["hand"]["right"]);  // the matrices came as text, in floats
  CHECK(same["hand"]["loss"].get<double>() == Approx(plain["hand"]["loss"]).epsilon(1e-4));
  // A matrix takes the place of the phrase's.
  head["phrase"] = "what followed the same word";
  for (Json& value : head["query"]["values"]) value = 0;
  request["heads"][1] = head;
  CHECK(bench.call(request).json["hand"]["loss"] > plain["hand"]["loss"]);
  const Json sharp = bench.ask(
      "{'call': 'matrices', 'task': 'induction', 'phrase': 'same word', "
      "'sharpness': 3, 'length': 50}");
  CHECK(far_from(sharp["query"],
                 matrices_of(Phrase::same_word, command::hand_sizes(task(), 50, 3)).query) == 0);
}

TEST_CASE("the engine scores another model beside the hand-made one", "[tools][engine]") {
  EngineBench bench;
  bench.ask(
      "{'call': 'train', 'model': 't', 'task': 'induction', 'width': 8, 'heads': 2, 'file': '" +
      bench.file("t") + "'}");
  const command::Model& learned = bench.engine.subjects.at("t").model;
  const Batch batch = command::hand_test(task());
  const Json said = bench.ask(hand(bench, two_heads, ", 'beside': 't'"));
  CHECK(said["beside"]["loss"] == command::scores_of(learned, batch).loss);
  const Json other = bench.ask(hand(bench, two_heads, ", 'beside': 't', 'untrained': true"));
  CHECK(other["beside"]["loss"] == command::scores_of(learned.untrained(0), batch).loss);
  CHECK(other["beside"]["loss"] != said["beside"]["loss"]);
  const auto problem_of = [&](const std::string& beside) {
    const Json answer = bench.ask(hand(bench, two_heads, ", 'beside': " + beside));
    CHECK(!answer.contains("beside"));
    return answer["beside_problem"].get<std::string>();
  };
  CHECK(problem_of("'none'") == "the engine has no model \"none\".");
  CHECK(problem_of("3") == "the engine wants a text as 'model'.");
  CHECK(has(problem_of("'decoder'"), "it does not have the words of "));
  // The words, but an encoder, or too few positions.
  Random random(1);
  const auto write = [&](const std::string& name, bool is_causal, Index length) {
    const Transformer model({.vocab_size = task().vocabulary.size(),
                             .max_length = length,
                             .d_model = 4,
                             .num_layers = 1,
                             .is_causal = is_causal,
                             .initializer = init::lecun_normal},
                            random);
    write_transformer(bench.folder / name, model,
                      to_metadata(task().vocabulary, task().train(1, random)));
    bench.ask("{'call': 'open', 'model': '" + name + "', 'file': '" + bench.file(name) + "'}");
  };
  write("sees", false, task().length);
  CHECK(problem_of("'sees'") == "it does not predict the next word.");
  write("short", true, task().length - 1);
  CHECK(has(problem_of("'short'"), "positions"));
}

TEST_CASE("a hand-made model that cannot be is refused", "[tools][engine]") {
  EngineBench bench;
  bench.ask(hand(bench, two_heads));
  const Index parameters = bench.engine.subjects.at("h").model.num_parameters();
  const std::string before = content(bench.folder / "hand.safetensors");
  const auto said = [&](const std::string& heads, const std::string& more = "") {
    return bench.problem(hand(bench, heads, more));
  };
  const auto matrix = [&](const std::string& given) {
    return said("[{'layer': 0, 'head': 0, 'phrase': 'same word', 'query': " + given + "}]");
  };
  CHECK(has(said("[]"), "head"));
  CHECK(said("3") == "the engine wants a list as 'heads'.");
  CHECK(has(said("[3]"), "0.0"));
  CHECK(has(said("[{'phrase': 'next word'}]"), "next word"));
  CHECK(said("[{'phrase': 3}]") == "the engine wants a text as 'phrase'.");
  CHECK(said("[{'layer': 'x', 'phrase': 'same word'}]") ==
        "the engine wants a whole number as 'layer'.");
  CHECK(has(said("[{'layer': 1, 'phrase': 'same word'}]"), "layer 0"));
  CHECK(has(said(two_heads, ", 'sharpness': 1001"), "sharpness"));
  for (const char* none : {"3", "{}", "{'shape': [2, 2]}", "{'shape': [1, 2, 1], 'values': [1, 2]}",
                           "{'shape': [2, 2], 'values': [1, 2, 3]}", "{'values': [1]}"}) {
    CHECK(matrix(none) == "the matrix 'query' does not have rows times columns numbers.");
  }
  for (const char* none : {"[0, 2]", "[2, 10001]", "[2.5, 2]", "['2', 2]", "[-1, 2]"}) {
    CHECK(matrix("{'shape': " + std::string(none) + ", 'values': []}") ==
          "the matrix 'query' has no such shape.");
  }
  CHECK(matrix("{'shape': 4, 'values': []}") == "the engine wants a list as 'shape'.");
  CHECK(matrix("{'shape': [2, 3], 'values': [1, 2, 3, 4, 5, 'x']}") ==
        "the matrix 'query' has no finite number in row 1, column 2.");
  CHECK(matrix("{'shape': [2, 3], 'values': [1, null, 3, 4, 5, 6]}") ==
        "the matrix 'query' has no finite number in row 0, column 1.");
  CHECK(has(matrix("{'shape': [2, 3], 'values': [1, 2, 3, 4, 5, 6]}"), "query"));
  CHECK(has(bench.problem("{'call': 'hand', 'model': 'h', 'file': 'x', 'task': 'fly'}"), "fly"));
  CHECK(bench.problem("{'call': 'hand', 'model': 'h', 'task': 'copy'}") ==
        "the engine wants a text as 'file'.");
  CHECK(has(bench.problem("{'call': 'matrices', 'task': 'copy', 'phrase': 'x'}"), "x"));
  CHECK(bench.problem("{'call': 'matrices', 'phrase': 'same word'}") ==
        "the engine wants a text as 'task'.");
  // File and model are as before.
  CHECK(bench.engine.subjects.at("h").model.num_parameters() == parameters);
  CHECK(content(bench.folder / "hand.safetensors") == before);
}
