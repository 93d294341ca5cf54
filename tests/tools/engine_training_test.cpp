// The explorer's engine: training, some steps at a time, against the library's.
#include <limits>

#include "engine_bench.hpp"
#include "learner.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

struct Trainer : EngineBench {
  std::string file = EngineBench::file("run.safetensors");

  Json train(const std::string& more = "") {
    return ask("{'call': 'train', 'model': 't', 'file': '" + file +
               "', 'task': 'copy', 'width': 8, 'heads': 2, 'layers': 1, 'batch': 4, 'steps': 6, "
               "'seed': 5, 'rate': 0.01" +
               more + "}");
  }
  Json learn(const std::string& more) { return ask("{'call': 'learn', 'model': 't'" + more + "}"); }
  std::string refused(const std::string& fields) {
    return problem("{'call': 'train', 'model': 't', 'file': '" + file + "', 'task': 'copy', " +
                   fields + "}");
  }
};

// The same run of the library, not begun.
command::Run same_run(const std::filesystem::path& path) {
  command::TrainOptions options;
  options.task = "copy";
  options.checkpoint = path;
  options.width = 8;
  options.heads = 2;
  options.layers = 1;
  options.batch = 4;
  options.steps = 6;
  options.seed = 5;
  options.rate = 0.01;
  return command::make_run(options);
}

std::vector<double> losses_of(command::Run& run) {
  TrainingOptions options = command::training_of(run);
  options.what = "";
  return train(run.adam, command::loss_of_step(run), options).losses;
}

std::string difference_of(const Transformer& a, const Transformer& b) {
  const Parameters all = a.parameters(), others = b.parameters();
  if (all.size() != others.size()) return "another number of tensors";
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].value.values() != others[i].value.values()) return all[i].name;
  }
  return "";
}

}  // namespace

TEST_CASE("the engine's losses are those of the library's training", "[tools][engine]") {
  Trainer bench;
  command::Run run = same_run(bench.EngineBench::file("other.safetensors"));
  const Json begun = bench.train();
  CHECK(begun["step"] == 0);
  CHECK(begun["steps"] == 6);
  CHECK(begun["task"] == "copy");
  CHECK(begun["parameters"] == run.model.num_parameters());
  CHECK(begun["prompt"] == run.material.prompt);
  CHECK(begun["test_is"] == run.material.test_is);
  CHECK(begun["best_possible"] == run.material.best_loss);
  CHECK(begun["guessing"] == std::log(static_cast<double>(run.model.options.vocab_size)));
  const command::Test test(run);
  CHECK(begun["held_out"] == test().loss);
  CHECK(begun["right"] == test().share_right);

  std::vector<double> losses;
  const Json first = bench.learn(", 'steps': 2, 'test': false");
  CHECK(first["step"] == 2);
  CHECK(first["held_out"] == begun["held_out"]);
  const Json second = bench.learn("");
  CHECK(second["step"] == 3);
  CHECK(second["held_out"] != begun["held_out"]);
  const Json last = bench.learn(", 'steps': 100");
  CHECK(last["step"] == 6);
  for (const Json& some : {first, second, last}) {
    CHECK(!some.contains("stopped"));
    for (const Json& loss : some["losses"]) losses.push_back(loss);
  }
  CHECK(losses == losses_of(run));
  CHECK(last["held_out"] == test().loss);
  const command::Run& made = bench.engine.learners.at("t")->run;
  CHECK(difference_of(made.model, run.model) == "");
  // More steps in all.
  CHECK(bench.learn(", 'steps': 1")["losses"].empty());
  const Json more = bench.learn(", 'steps': 3, 'in_all': 8");
  CHECK(more["steps"] == 8);
  CHECK(more["losses"].size() == 2);
}

TEST_CASE("a model that learns is read as it is now", "[tools][engine]") {
  Trainer bench;
  bench.train();
  const auto chances = [&] {
    const Answer answer =
        bench.call(json("{'call': 'record', 'models': [{'model': 't'}], 'texts': ['a b c']}"));
    const Json& run = answer.json["runs"][0];
    return numbers_at<float>(answer, run, run["next"]["probabilities"]);
  };
  const std::vector<float> before = chances();
  bench.learn(", 'steps': 3");
  CHECK(apart(before, chances()) > 1e-4);
  const Transformer& now = bench.engine.learners.at("t")->run.model;
  CHECK(difference_of(bench.engine.subjects.at("t").model.transformer(), now) == "");
  // One learns at a time.
  bench.ask("{'call': 'train', 'model': 'u', 'task': 'copy', 'width': 4, 'heads': 1, 'file': '" +
            bench.EngineBench::file("u") + "', 'attention_only': true}");
  CHECK(!bench.engine.subjects.at("u").model.options().has_feed_forward);
  CHECK(bench.problem("{'call': 'learn', 'model': 't'}") ==
        "no training of the model \"t\" was begun.");
  CHECK(chances().size() == before.size());
  bench.ask("{'call': 'close', 'model': 'u'}");
  CHECK(bench.problem("{'call': 'save', 'model': 'u'}") ==
        "no training of the model \"u\" was begun.");
}

TEST_CASE("the engine saves all that is needed to go on, or the model alone", "[tools][engine]") {
  Trainer bench;
  command::Run run = same_run(bench.EngineBench::file("other.safetensors"));
  const std::vector<double> right = losses_of(run);
  bench.train();
  bench.learn(", 'steps': 4, 'test': false");
  CHECK(bench.ask("{'call': 'save', 'model': 't'}")["file"] == bench.file);
  const Checkpoint saved = read_checkpoint(bench.file);
  CHECK(saved.steps == 4);
  CHECK(saved.kind == "adam");
  const Json alone = bench.ask("{'call': 'save', 'model': 't', 'alone': true}");
  CHECK(alone["file"] == bench.EngineBench::file("run_best_model.safetensors"));
  CHECK(read_checkpoint(alone["file"].get<std::string>()).kind == "");
  CHECK(difference_of(read_transformer(alone["file"].get<std::string>()),
                      bench.engine.learners.at("t")->run.model) == "");
  // Another engine goes on from the file.
  Engine other;
  const Json begun = other
                         .call(json("{'call': 'train', 'model': 'v', 'resume': true, 'file': '" +
                                    bench.file + "', 'steps': 6}"))
                         .json;
  CHECK(begun["step"] == 4);
  CHECK(begun["task"] == "copy");
  const Json rest = other.call(json("{'call': 'learn', 'model': 'v', 'steps': 2}")).json;
  CHECK(rest["losses"].get<std::vector<double>>() ==
        std::vector<double>(right.begin() + 4, right.end()));
}

TEST_CASE("a loss that is not finite stops the engine's training", "[tools][engine]") {
  Trainer bench;
  bench.train();
  bench.learn(", 'steps': 2");
  command::Run& run = bench.engine.learners.at("t")->run;
  for (const Parameter& one : run.model.parameters()) {
    std::fill_n(one.value.data(), one.value.numel(), std::numeric_limits<real>::max());
  }
  std::vector<std::vector<real>> before;
  for (const Parameter& one : run.model.parameters()) before.push_back(one.value.values());
  const Json said = bench.learn(", 'steps': 3, 'test': false");
  CHECK(has(said["stopped"], "step 3"));
  CHECK(said["step"] == 2);
  CHECK(said["losses"].empty());
  std::size_t at = 0;
  for (const Parameter& one : run.model.parameters()) CHECK(one.value.values() == before[at++]);
  // It can be saved, and another training begins.
  bench.ask("{'call': 'save', 'model': 't'}");
  CHECK(bench.train()["step"] == 0);
  CHECK(bench.learn("")["losses"].size() == 1);
}

TEST_CASE("a training that cannot be is refused", "[tools][engine]") {
  Trainer bench;
  bench.train();
  bench.learn(", 'steps': 2");
  CHECK(bench.refused("'steps': 0") == "the number \"steps\" must be a number from 1 to 10000000.");
  CHECK(has(bench.refused("'steps': 2.5"), "the number \"steps\" must be a number from 1"));
  CHECK(has(bench.refused("'steps': 'many'"), "the number \"steps\""));
  CHECK(has(bench.refused("'layers': 65"), "from 1 to 64."));
  CHECK(has(bench.refused("'heads': 0"), "the number \"heads\""));
  CHECK(has(bench.refused("'width': 4097"), "from 1 to 4096."));
  CHECK(has(bench.refused("'batch': 0"), "the number \"batch\""));
  CHECK(has(bench.refused("'seed': -1"), "the number \"seed\" must be a number from 0"));
  CHECK(has(bench.refused("'width': 6, 'heads': 4"), "must divide"));
  for (const char* rate : {"0", "1.5", "-1", "'fast'", "null"}) {
    CHECK(bench.refused(std::string("'rate': ") + rate) ==
          "the learning rate must be a number from just above 0 to 1.");
  }
  CHECK(bench.refused("'attention_only': 1") ==
        "the engine wants true or false as 'attention_only'.");
  CHECK(bench.refused("'resume': 'yes'") == "the engine wants true or false as 'resume'.");
  const std::string train = "{'call': 'train', 'model': 't', 'file': '" + bench.file + "'";
  CHECK(has(bench.problem(train + ", 'task': 'fly'}"), "fly"));
  CHECK(has(bench.problem(train + "}"), "give the task"));
  CHECK(bench.problem(train + ", 'task': 3}") == "the engine wants a text as 'task'.");
  CHECK(has(bench.problem("{'call': 'train', 'model': 't', 'resume': true, 'file': '" +
                          bench.EngineBench::file("none") + "'}"),
            "none"));
  CHECK(bench.problem("{'call': 'train', 'model': 't', 'task': 'copy'}") ==
        "the engine wants a text as 'file'.");
  CHECK(has(bench.problem("{'call': 'learn', 'model': 't', 'in_all': 0}"), "\"in_all\""));
  CHECK(bench.problem("{'call': 'learn', 'model': 't', 'steps': 'x'}") ==
        "the engine wants a whole number as 'steps'.");
  CHECK(bench.problem("{'call': 'learn', 'model': 'decoder'}") ==
        "no training of the model \"decoder\" was begun.");
  CHECK(bench.problem("{'call': 'save', 'model': 't', 'alone': 1}") ==
        "the engine wants true or false as 'alone'.");
  // The training before goes on.
  CHECK(bench.learn("")["step"] == 3);
}
