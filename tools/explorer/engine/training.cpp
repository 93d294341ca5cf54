// Training, some steps at a time.
#include <algorithm>
#include <cmath>

#include "engine.hpp"
#include "learner.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"

namespace tapestry::engine {
namespace {

using namespace command;

// The model as it is now, to be read and recorded under the name of its learner.
void show(Engine& engine, const std::string& name, Learner& learner, double loss) {
  save_best(learner.run, loss);
  ModelOptions options;
  options.checkpoint = learner.run.best_model;
  engine.subjects.insert_or_assign(name, read_subject(options));
}

Json state(const Learner& learner, const Test::Result& tested) {
  const Run& run = learner.run;
  Json json{{"step", run.adam.steps()},
            {"steps", run.settings.steps},
            {"held_out", tested.loss},
            {"guessing", std::log(static_cast<double>(run.model.options.vocab_size))},
            {"best_possible", run.material.best_loss},
            {"test_is", run.material.test_is}};
  if (run.material.has_answers) json["right"] = tested.share_right;
  return json;
}

std::optional<Index> optional_in(const Json& request, const char* name) {
  const bool is_there = request.contains(name) && !request[name].is_null();
  return is_there ? std::optional(number_in(request, name, 0)) : std::nullopt;
}

// {model, task, file, layers, heads, width, rate, seed, steps, batch, attention_only}: a new model
// that is to learn, under that name; `file`: where its checkpoint goes -> its state, and a prompt
Answer train(Engine& engine, const Json& request) {
  TrainOptions options;
  options.task = text_in(request, "task");
  options.checkpoint = text_in(request, "file");
  options.overwrite = true;
  options.steps = optional_in(request, "steps");
  options.batch = optional_in(request, "batch");
  options.layers = optional_in(request, "layers");
  options.heads = optional_in(request, "heads");
  options.width = optional_in(request, "width");
  options.seed = optional_in(request, "seed");
  if (request.contains("rate")) options.rate = real_in(request, "rate", 0);
  options.attention_only = request.value("attention_only", false);
  const std::string name = text_in(request, "model");
  auto learner = std::make_unique<Learner>(options);
  const Test::Result tested = learner->test();
  show(engine, name, *learner, tested.loss);
  Answer answer{state(*learner, tested)};
  answer.json["prompt"] = learner->run.material.prompt;
  answer.json["parameters"] = learner->run.model.parameter_count();
  engine.learners.insert_or_assign(name, std::move(learner));
  return answer;
}

// {model, steps}: makes so many steps -> its state, losses of these steps. If a loss is not finite,
// the model stays as it was before that step, and "stopped" says where it came from.
Answer learn(Engine& engine, const Json& request) {
  Learner& learner = engine.learner(request);
  Run& run = learner.run;
  TrainingOptions options = training_of(run);
  options.steps = std::min(run.settings.steps, run.adam.steps() + number_in(request, "steps", 1));
  options.what = "";
  Json losses = Json::array();
  options.after_step = [&](Index, double loss) { losses.push_back(loss); };
  std::string stopped;
  try {
    tapestry::train(run.adam, loss_of_step(run), options);
  } catch (const Error& error) {
    stopped = error.what();
  }
  const Test::Result tested = learner.test();
  show(engine, text_in(request, "model"), learner, tested.loss);
  Answer answer{state(learner, tested)};
  answer.json["losses"] = losses;
  if (!stopped.empty()) answer.json["stopped"] = stopped;
  return answer;
}

// {model} -> file: its path, with all that is needed to go on
Answer save(Engine& engine, const Json& request) {
  const Learner& learner = engine.learner(request);
  command::save(learner.run);
  return {{{"file", learner.run.checkpoint.string()}}};
}

}  // namespace

Calls training_calls() { return {{"train", train}, {"learn", learn}, {"save", save}}; }

}  // namespace tapestry::engine
