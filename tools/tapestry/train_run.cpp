#include "train_run.hpp"

#include <cmath>
#include <utility>

#include "model_file.hpp"
#include "screen.hpp"
#include "snapshots.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/schedules.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

namespace fs = std::filesystem;

// Settings, sizes, vocabulary and input format.
Metadata to_metadata(const Run& run) {
  Random random(0);
  const Batch batch = run.material.train(1, random);
  Metadata metadata = tapestry::to_metadata(run.material.vocabulary, batch);
  metadata.merge(to_metadata(run.settings));
  metadata.merge(tapestry::to_metadata(run.model.options));
  return metadata;
}

TransformerOptions model_options(const TrainOptions& o, const Material& material) {
  const Index layers = o.layers.value_or(2), heads = o.heads.value_or(4),
              width = o.width.value_or(64);
  if (width % heads != 0) {
    throw Error("--heads " + std::to_string(heads) + " must divide --width " +
                std::to_string(width) + ": each head gets an equal part.");
  }
  const TransformerOptions options{.vocab_size = material.vocabulary.size(),
                                   .max_length = material.length,
                                   .d_model = width,
                                   .num_heads = heads,
                                   .num_layers = layers,
                                   .has_feed_forward = !o.attention_only,
                                   .initializer = init::lecun_normal};
  const double numbers = 12.0 * double(layers) * double(width) * double(width) +
                         double(width) * double(2 * options.vocab_size + options.max_length);
  constexpr double most = 2e7;
  if (numbers <= most) return options;
  throw Error("a model of " + std::to_string(layers) + " layers of width " + std::to_string(width) +
              " would have " + std::to_string(Index(numbers / 1e6)) +
              " million numbers; at most 20 million can be trained here in acceptable time.");
}

Path path_of(const TrainOptions& o) {
  if (!o.checkpoint.empty()) return o.checkpoint;
  return Path("out/checkpoints") / (Path(o.task).stem().string() + ".safetensors");
}

// "book.safetensors" -> "book_best_model.safetensors"; beside a device, nothing.
Path best_model_of(const Path& checkpoint) {
  std::error_code ignored;
  if (fs::exists(checkpoint, ignored) && !fs::is_regular_file(checkpoint, ignored)) return {};
  return checkpoint.parent_path() /
         (checkpoint.stem().string() + "_best_model" + checkpoint.extension().string());
}

void refuse_old(const Path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return;
  throw Error(path.string() +
              " exists already: continue it with --resume, replace it with --overwrite, or name "
              "another --checkpoint.");
}

// Those of a model that is there no longer would be taken for snapshots of the new one.
void refuse_old_snapshots(const Path& checkpoint) {
  if (snapshots_of(checkpoint).empty()) return;
  throw Error(snapshot_folder(checkpoint).string() +
              " has snapshots already: replace them with --overwrite, or name another "
              "--checkpoint.");
}

Run new_run(const TrainOptions& o, bool writes_files) {
  Material what = material(o.task, o.length.value_or(64));
  const Path path = path_of(o);
  if (writes_files && !o.overwrite) {
    for (const Path& file : {path, best_model_of(path)}) refuse_old(file);
    refuse_old_snapshots(path);
  }
  const std::uint64_t seed = static_cast<std::uint64_t>(o.seed.value_or(1));
  const double rate = o.rate.value_or(3e-3);
  const Settings settings{o.task,
                          what.fingerprint,
                          what.length,
                          o.batch.value_or(32),
                          o.steps.value_or(what.steps),
                          rate,
                          seed,
                          o.snapshots.value_or(0),
                          o.micro_batches.value_or(0)};
  check_micro_batches(settings.micro_batches, settings.batch);
  Random random(seed);
  Transformer model(model_options(o, what), random);
  Adam adam(model.parameters(), {.learning_rate = rate});
  return {path, best_model_of(path), settings, std::move(what), std::move(model), std::move(adam)};
}

// What an earlier part of this run wrote; any other file is ignored.
Best best_in_file(const Run& run) {
  try {
    const Metadata metadata = read_checkpoint(run.best_model).weights.metadata;
    const Moment moment = moment_in(metadata);
    const Best best{moment.loss.value(), moment.step};
    for (const auto& [key, text] : to_metadata(run)) {
      if (key != "train.steps" && metadata.at(key) != text) return {};
    }
    return best;
  } catch (const std::exception&) {
    return {};
  }
}

Run resumed_run(const TrainOptions& o) {
  const Path path = path_of(o);
  const Checkpoint file = read_checkpoint(path);
  try {
    Settings settings = settings_in(file.weights.metadata);
    if (!o.task.empty() && o.task != settings.task) {
      throw Error("learned " + in_quotes(settings.task) + ", not " + in_quotes(o.task) + ".");
    }
    check_same(o, settings, transformer_options(file.weights.metadata));
    settings.steps = o.steps.value_or(settings.steps);
    Material what = material(settings.task, settings.length);
    Transformer model = to_transformer(file.weights);
    if (what.fingerprint != settings.fingerprint || what.length != settings.length ||
        what.vocabulary.size() != model.options.vocab_size ||
        (model.options.positions == Positions::learned && model.options.max_length < what.length)) {
      throw Error("its training data, " + in_quotes(settings.task) +
                  ", is no longer the same; start again with --overwrite.");
    }
    Adam adam(model.parameters(), {.learning_rate = settings.rate});
    load_checkpoint(model.parameters(), adam, file);
    Run run{path,           best_model_of(path), settings, std::move(what), std::move(model),
            std::move(adam)};
    run.best = best_in_file(run);
    return run;
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

// Only a text file is cut into pieces.
void check_length_is_used(const TrainOptions& o, const Run& run) {
  if (!o.length || !run.settings.fingerprint.empty()) return;
  throw Error("--length is for text files: a text of the task " + run.material.name + " has " +
              std::to_string(run.material.length) + " positions. Leave the option out.");
}

}  // namespace

void check_ranks(const TrainOptions& o, Index micro_batches, const Ranks& ranks) {
  if (micro_batches == 0 && (o.shard_state || ranks.size() > 1)) {
    throw Error("ranks share the micro-batches of each step: " +
                std::string(o.resume ? "this run has none; start again with --overwrite and "
                                     : "say how many there are, with ") +
                "--micro-batches.");
  }
  if (micro_batches > 0 && ranks.size() > micro_batches) {
    throw Error(std::to_string(ranks.size()) + " ranks share " + std::to_string(micro_batches) +
                " micro-batches, and some would have none: take fewer ranks, or more "
                "--micro-batches.");
  }
}

Run make_run(const TrainOptions& o, const Ranks& ranks) {
  if (o.task.empty() && !(o.resume && !o.checkpoint.empty())) {
    throw Error("give the task: " + task_names() + ", or a text file.");
  }
  if (o.resume && o.overwrite) {
    throw Error("--resume continues the file, and --overwrite replaces it: give one of them.");
  }
  Run run = o.resume ? resumed_run(o) : new_run(o, ranks.rank() == 0);
  check_length_is_used(o, run);
  run.shard_state = o.shard_state;
  check_ranks(o, run.settings.micro_batches, ranks);
  if (run.settings.snapshots > 0) {
    if (run.best_model.empty()) {
      throw Error("--snapshots go beside the checkpoint, but " + run.checkpoint.string() +
                  " is no regular file: name another --checkpoint.");
    }
    run.snapshots = snapshot_steps(run.settings.snapshots, run.settings.steps);
  }
  if (run.adam.steps() < run.settings.steps || run.adam.steps() == 0) return run;
  throw Error(run.checkpoint.string() + " has made its " + std::to_string(run.adam.steps()) +
              " steps; set more with --steps.");
}

LossOfStep loss_of_step(const Run& run) {
  return [&run](Index step) {
    const Settings& s = run.settings;
    Random random(s.seed, static_cast<std::uint64_t>(step));
    const Batch batch = run.material.train(s.batch, random);
    return cross_entropy(run.model(batch.inputs), batch.targets);
  };
}

LossOfMicroBatch loss_of_micro_batch(const Run& run) {
  return [&run](Index step, Index micro_batch) {
    const Settings& s = run.settings;
    Random random = random_of(s.seed, step, micro_batch, s.micro_batches);
    const Batch batch = run.material.train(s.batch / s.micro_batches, random);
    return sum_of_losses(run.model(batch.inputs), batch.targets);
  };
}

TrainingOptions training_of(const Run& run) {
  TrainingOptions options{.steps = run.settings.steps};
  constexpr Index warmup = 50;
  options.learning_rate = [rate = run.settings.rate](Index step) {
    return rate * std::sqrt(double{warmup}) * inverse_square_root_schedule(step, 1, warmup);
  };
  return options;
}

Test::Test(const Run& run) : run_(run) {
  Random random(run.settings.seed, ~std::uint64_t{0});
  batch_ = run.material.test(rows, random);
}

Test::Result Test::operator()() const {
  const Tensor logits = run_.model(batch_.inputs);  // (rows, length, vocab_size)
  return {double{cross_entropy(logits, batch_.targets).item()},
          double(exact_matches(logits, batch_.targets)) / double(rows)};
}

void save(const Run& run) {
  save_checkpoint(run.checkpoint, run.model.parameters(), run.adam, to_metadata(run));
}

void save_best(Run& run, double loss) {
  run.best = {loss, run.adam.steps()};
  if (run.best_model.empty()) return;
  Metadata metadata = to_metadata(run);
  metadata.merge(to_metadata(Moment{run.best.step, loss}));
  write_transformer(run.best_model, run.model, metadata);
}

void save_snapshot(const Run& run, double loss) {
  const Moment moment{run.adam.steps(), loss};
  Metadata metadata = to_metadata(run);
  metadata.merge(to_metadata(moment));
  write_transformer(snapshot_path(run.checkpoint, moment.step), run.model, metadata,
                    Precision::half);
}

std::string command_to_resume(const Run& run, const TrainOptions& options) {
  const TrainOptions defaults;
  std::string command = "tapestry train --resume";
  command += " " + shell_option("--checkpoint", run.checkpoint.string());
  if (options.save_every != defaults.save_every) {
    command += " --save-every " + std::to_string(options.save_every);
  }
  if (options.ranks) command += " --ranks " + std::to_string(*options.ranks);
  if (options.shard_state) command += " --divide-state";
  if (options.out != defaults.out) command += " " + shell_option("--out", options.out.string());
  if (options.format != defaults.format) command += " --format " + options.format;
  return command;
}

}  // namespace tapestry::command
