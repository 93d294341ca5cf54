// The explorer's engine: opening models, and requests that it refuses.
#include <fstream>

#include "engine_bench.hpp"
#include "small_folder.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/version.hpp"

using namespace tapestry;

TEST_CASE("the engine says what it is", "[tools][engine]") {
  Engine engine;
  const Json said = engine.call(json("{'call': 'about'}")).json;
  CHECK(said["version"] == version());
  CHECK(said["kernels"] == kernel_set());
  CHECK(said["precision"] == (in_double ? "double" : "float"));
}

TEST_CASE("the engine opens a checkpoint, and forgets it", "[tools][engine]") {
  EngineBench bench;
  const Json said =
      bench.ask("{'call': 'open', 'model': 'x', 'file': '" + bench.file("decoder") + "'}");
  CHECK(has(said["description"], "2 layers, 2 heads each, width 8, vocabulary of 11 words"));
  CHECK(said["parameters"] == bench.decoder.num_parameters());
  CHECK(said["transformer"] == true);
  CHECK(said["sample"] == "a b c d e f");
  const std::string record = "{'call': 'record', 'models': [{'model': 'x'}], 'texts': ['a b']}";
  CHECK(bench.ask(record)["models"][0]["name"] == "x");

  // Another one of that name takes its place.
  bench.ask("{'call': 'open', 'model': 'x', 'file': '" + bench.file("planted") + "'}");
  CHECK(bench.ask(record)["models"][0]["parameters"] == bench.planted.num_parameters());
  CHECK(bench.ask("{'call': 'close', 'model': 'x'}").empty());
  CHECK(bench.problem(record) == "the engine has no model \"x\".");
  CHECK(bench.ask("{'call': 'close', 'model': 'x'}").empty());
  CHECK(bench.problem("{'call': 'close'}") == "the engine wants a text as 'model'.");
}

TEST_CASE("the engine's sample of a model has words that it knows", "[tools][engine]") {
  EngineBench bench;
  const Vocabulary letters = Vocabulary::of_characters("xy <é");
  Random random(1);
  const Transformer model({.vocab_size = letters.size(),
                           .max_length = 3,
                           .d_model = 4,
                           .num_layers = 1,
                           .initializer = init::lecun_normal},
                          random);
  Batch batch;
  batch.inputs = Indices({1, 2}, letters.encode("xy").values);
  batch.targets = Indices({1, 2}, letters.encode("yx").values);
  write_transformer(bench.folder / "letters", model, to_metadata(letters, batch));
  const Json said =
      bench.ask("{'call': 'open', 'model': 'l', 'file': '" + bench.file("letters") + "'}");
  CHECK(said["sample"] == "xy");  // no blank, none that begins like <pad>, two of three positions
}

TEST_CASE("the engine opens a folder", "[tools][engine]") {
  EngineBench bench;
  const std::filesystem::path folder = small_desk() / "m";
  const Json said =
      bench.ask("{'call': 'open', 'model': 'm', 'folder': '" + folder.string() + "'}");
  CHECK(has(said["description"], "vocabulary of 264 tokens"));
  CHECK(said["parameters"] == read_model(folder).num_parameters());
  CHECK(said["sample"] == "Once upon a time");
  CHECK(
      bench.ask("{'call': 'record', 'models': [{'model': 'm'}], 'texts': ['ab']}")["runs"].size() ==
      1);
}

TEST_CASE("the engine says why a file is no model", "[tools][engine]") {
  EngineBench bench;
  std::ofstream(bench.folder / "text") << "no weights at all";
  const std::string open = "{'call': 'open', 'model': 'decoder', ";
  CHECK(has(bench.problem(open + "'file': '" + bench.file("none") + "'}"), "none"));
  CHECK(has(bench.problem(open + "'file': '" + bench.file("text") + "'}"), "text"));
  CHECK(has(bench.problem(open + "'folder': '" + bench.file("") + "'}"),
            "it has none of tokenizer.json, vocab.json, vocab.txt and tokenizer.bin"));
  CHECK(bench.problem(open + "'file': 3}") == "the engine wants a text as 'file'.");
  CHECK(bench.problem(open + "'folder': null}") == "the engine wants a text as 'folder'.");
  CHECK(bench.problem("{'call': 'open', 'file': '" + bench.file("decoder") + "'}") ==
        "the engine wants a text as 'model'.");
  Random random(1);
  const Transformer empty({.vocab_size = 11, .max_length = 4, .d_model = 4, .num_layers = 0},
                          random);
  write_safetensors(bench.folder / "list", {{"x", Tensor::zeros({2})}});
  CHECK(has(bench.problem(open + "'file': '" + bench.file("list") + "'}"), "list"));
  // The model of that name is as it was.
  CHECK(
      bench.ask(
          "{'call': 'record', 'models': [{'model': 'decoder'}], 'texts': ['a b']}")["models"][0]
                                                                                   ["parameters"] ==
      bench.decoder.num_parameters());
}

TEST_CASE("a request that is none is refused", "[tools][engine]") {
  EngineBench bench;
  for (const char* wrong :
       {"[]", "null", "3", "'about'", "{}", "{'call': 7}", "{'call': null}", "['call', 'about']"}) {
    CHECK(bench.refused(json(wrong)) == "the engine wants a text as 'call'.");
  }
  CHECK(bench.problem("{'call': 'fly'}") == "the engine has no call \"fly\"");
  CHECK(bench.problem("{'call': ''}") == "the engine has no call \"\"");
}

TEST_CASE("fields of another type are refused by their name", "[tools][engine]") {
  EngineBench bench;
  const auto said = [&](const std::string& call, const std::string& fields) {
    return bench.problem("{'call': '" + call + "', 'model': 'decoder', 'text': 'a b c', " + fields +
                         "}");
  };
  const auto wants = [](const std::string& what, const std::string& name) {
    return "the engine wants " + what + " as '" + name + "'.";
  };
  for (const char* wrong : {"3", "'0.0'", "{'a': '0.0'}", "true"}) {
    CHECK(said("effects", std::string("'parts': ") + wrong) == wants("a list", "parts"));
    CHECK(said("answers", std::string("'held': ") + wrong) == wants("a list", "held"));
    CHECK(said("record", std::string("'models': ") + wrong) == wants("a list", "models"));
  }
  CHECK(said("effects", "'parts': ['0.0', 1]") == wants("a list of texts", "parts"));
  CHECK(said("answers", "'cut': [null]") == wants("a list of texts", "cut"));
  CHECK(said("answers", "'held': [3]") == wants("a text", "link"));
  CHECK(said("answers", "'held': [{'link': '0.0:1>0', 'weight': 'x'}]") ==
        wants("a number", "weight"));
  for (const char* wrong : {"'1'", "1.5", "1e300", "[1]", "true"}) {
    CHECK(said("effects", std::string("'position': ") + wrong) ==
          wants("a whole number", "position"));
  }
  for (const char* wrong : {"0", "'yes'", "[]"}) {
    CHECK(said("effects", std::string("'untrained': ") + wrong) ==
          wants("true or false", "untrained"));
    CHECK(said("record", std::string("'models': [{'model': 'decoder'}], 'baselines': ") + wrong) ==
          wants("true or false", "baselines"));
  }
  CHECK(said("effects", "'text': null") == wants("a text", "text"));
  CHECK(said("record", "'models': [3]") == wants("a text", "model"));
  CHECK(said("record", "'models': [{'model': 'decoder', 'name': 4}]") == wants("a text", "name"));
  CHECK(said("record", "'models': [{'model': 'decoder'}], 'texts': 'a'") ==
        wants("a list", "texts"));
  // What is null counts as not there.
  CHECK(bench
            .ask("{'call': 'answers', 'model': 'decoder', 'text': 'a b', 'cut': null, 'held': "
                 "null, 'position': null, 'untrained': null}")["words"]
            .size() == 1);
}
