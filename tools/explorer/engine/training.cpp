// Training, some steps at a time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine.hpp"
#include "learner.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"

namespace tapestry::engine {
namespace {

using namespace command;

// The model as it is now, to be read and recorded under the name of its learner.
void show(Engine& engine, const std::string& name, Learner& learner) {
  save_best(learner.run, learner.tested.loss);
  ModelOptions options;
  options.checkpoint = learner.run.best_model;
  engine.subjects.insert_or_assign(name, read_subject(options));
}

Json state(const Learner& learner) {
  const Run& run = learner.run;
  Json json{{"step", run.adam.steps()},
            {"steps", run.settings.steps},
            {"held_out", learner.tested.loss},
            {"guessing", std::log(static_cast<double>(run.model.options.vocab_size))},
            {"best_possible", run.material.best_loss},
            {"test_is", run.material.test_is}};
  if (run.material.has_answers) json["right"] = learner.tested.share_right;
  return json;
}

[[noreturn]] void refuse(const std::string& what, const std::string& low, const std::string& high) {
  throw Error("the " + what + " must be a number from " + low + " to " + high + ".");
}

// As `tapestry train` takes it, so that whatever the page sends is checked here.
std::optional<Index> whole_in(const Json& request, const char* name, Index low, Index high) {
  const auto found = request.find(name);
  if (found == request.end()) return std::nullopt;
  const bool is_whole = found->is_number_integer();
  if (is_whole && found->get<Index>() >= low && found->get<Index>() <= high) {
    return found->get<Index>();
  }
  refuse("number \"" + std::string(name) + "\"", std::to_string(low), std::to_string(high));
}

std::optional<double> rate_in(const Json& request) {
  if (!request.contains("rate")) return std::nullopt;
  const bool is_number = request["rate"].is_number();
  const double rate = is_number ? request["rate"].get<double>() : -1;
  if (rate > 0 && rate <= 1) return rate;
  refuse("learning rate", "just above 0", "1");
}

TrainOptions options_in(const Json& request) {
  TrainOptions options;
  options.task = text_in(request, "task", "");
  options.checkpoint = text_in(request, "file");
  options.resume = flag_in(request, "resume");
  options.overwrite = !options.resume;
  options.steps = whole_in(request, "steps", 1, most_steps);
  if (options.resume) return options;
  options.batch = whole_in(request, "batch", 1, most_batch);
  options.layers = whole_in(request, "layers", 1, 64);
  options.heads = whole_in(request, "heads", 1, 64);
  options.width = whole_in(request, "width", 1, 4096);
  options.seed = whole_in(request, "seed", 0, std::numeric_limits<Index>::max());
  options.rate = rate_in(request);
  options.attention_only = flag_in(request, "attention_only");
  return options;
}

// {model, task, file, layers, heads, width, rate, seed, steps, batch, attention_only}: a new model
// that is to learn, under that name; `file`: where its checkpoint goes. {model, file, steps,
// resume} goes on from the checkpoint that is there. -> its state, task and sizes, and a prompt. It
// takes the place of the learner before: one learns at a time.
Answer train(Engine& engine, const Json& request) {
  const std::string name = text_in(request, "model");
  auto learner = std::make_unique<Learner>(options_in(request));
  show(engine, name, *learner);
  Answer answer{state(*learner)};
  answer.json["task"] = learner->run.settings.task;
  answer.json["prompt"] = learner->run.material.prompt;
  answer.json["parameters"] = learner->run.model.num_parameters();
  engine.learners.clear();
  engine.learners.insert_or_assign(name, std::move(learner));
  return answer;
}

// {model, steps, in_all, test}: makes so many steps, at most to `in_all` of them -> its state,
// losses of these steps. With test false, held_out and right stay those of the last test, which
// takes about as long as a step. If a loss is not finite, the model stays as it was before that
// step, and "stopped" says where it came from.
Answer learn(Engine& engine, const Json& request) {
  Learner& learner = engine.learner(request);
  Run& run = learner.run;
  run.settings.steps = whole_in(request, "in_all", 1, most_steps).value_or(run.settings.steps);
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
  if (!request.contains("test") || flag_in(request, "test") || !stopped.empty())
    learner.tested = learner.test();
  show(engine, text_in(request, "model"), learner);
  Answer answer{state(learner)};
  answer.json["losses"] = losses;
  if (!stopped.empty()) answer.json["stopped"] = stopped;
  return answer;
}

// {model, alone} -> file: its path, with all that is needed to go on, or the model alone
Answer save(Engine& engine, const Json& request) {
  Learner& learner = engine.learner(request);
  if (flag_in(request, "alone")) {
    learner.tested = learner.test();
    save_best(learner.run, learner.tested.loss);
    return {{{"file", learner.run.best_model.string()}}};
  }
  command::save(learner.run);
  return {{{"file", learner.run.checkpoint.string()}}};
}

}  // namespace

Calls training_calls() { return {{"train", train}, {"learn", learn}, {"save", save}}; }

}  // namespace tapestry::engine
