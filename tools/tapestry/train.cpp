// `tapestry train`: a transformer learns, is tested now and then, and is saved so that a run that
// was interrupted goes on with the same bits.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "interruption.hpp"
#include "material.hpp"
#include "model_file.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"
#include "unicode.hpp"

namespace tapestry::command {
namespace {

// What has to be the same when a run goes on; kept in the checkpoint as text.
struct Settings {
  std::string task, fingerprint;
  Index length = 0, batch = 0, steps = 0;
  double rate = 0;
  std::uint64_t seed = 0;
};

struct Run {
  Path checkpoint;
  Settings settings;
  Material material;
  Transformer model;
  Adam adam;
};

template <class Number>
std::string exact(Number value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

Metadata to_metadata(const Settings& s) {
  return {{"train.task", s.task},
          {"train.fingerprint", s.fingerprint},
          {"train.length", exact(s.length)},
          {"train.batch", exact(s.batch)},
          {"train.steps", exact(s.steps)},
          {"train.rate", exact(s.rate)},
          {"train.seed", exact(s.seed)}};
}

template <class Number>
void parse(const Metadata& metadata, const std::string& key, Number low, Number high,
           Number& value) {
  const std::string& text = metadata.at(key);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size() && value >= low && value <= high) {
    return;
  }
  throw Error("its entry '" + key + "' is " + in_quotes(text) + ", which makes no sense.");
}

Settings settings_in(const Metadata& metadata) {
  for (const auto& [key, text] : to_metadata(Settings{})) {
    if (metadata.contains(key)) continue;
    throw Error("was not written by `tapestry train` (it has no entry '" + key +
                "'), so that it cannot be resumed.");
  }
  Settings s{.task = metadata.at("train.task"), .fingerprint = metadata.at("train.fingerprint")};
  parse<Index>(metadata, "train.length", 1, most_length, s.length);
  parse<Index>(metadata, "train.batch", 1, most_batch, s.batch);
  parse<Index>(metadata, "train.steps", 0, most_steps, s.steps);
  parse<double>(metadata, "train.rate", 0, 1, s.rate);
  parse<std::uint64_t>(metadata, "train.seed", 0, ~std::uint64_t{0}, s.seed);
  return s;
}

void save(const Run& run) {
  Metadata metadata = to_metadata(run.settings);
  metadata.merge(tapestry::to_metadata(run.model.options));
  metadata.merge(tapestry::to_metadata(run.material.vocabulary));
  save_checkpoint(run.checkpoint, run.model.parameters(), run.adam, metadata);
}

TransformerOptions model_options(const TrainOptions& o, const Material& material) {
  if (o.width % o.heads != 0) {
    throw Error("--heads " + std::to_string(o.heads) + " must divide --width " +
                std::to_string(o.width) + ": each head gets an equal part.");
  }
  const TransformerOptions options{.vocabulary = material.vocabulary.size(),
                                   .length = material.length,
                                   .d_model = o.width,
                                   .heads = o.heads,
                                   .layers = o.layers,
                                   .has_feed_forward = !o.attention_only,
                                   .initialiser = init::inverse_root};
  const double numbers = 12.0 * double(o.layers) * double(o.width) * double(o.width) +
                         double(o.width) * double(2 * options.vocabulary + options.length);
  constexpr double most = 2e7;
  if (numbers <= most) return options;
  throw Error("a model of " + std::to_string(o.layers) + " layers of width " +
              std::to_string(o.width) + " would have " + std::to_string(Index(numbers / 1e6)) +
              " million numbers; at most 20 million can be trained here in any patience.");
}

Path path_of(const TrainOptions& o) {
  if (!o.checkpoint.empty()) return o.checkpoint;
  return Path("out/checkpoints") / (Path(o.task).stem().string() + ".safetensors");
}

Run new_run(const TrainOptions& o) {
  Material what = material(o.task, o.length);
  const Path path = path_of(o);
  std::error_code ignored;
  if (!o.overwrite && std::filesystem::is_regular_file(path, ignored)) {
    throw Error(path.string() +
                " is there already: go on with --resume, begin anew with --overwrite, or name "
                "another --checkpoint.");
  }
  const std::uint64_t seed = static_cast<std::uint64_t>(o.seed);
  const Settings settings{
      o.task, what.fingerprint, what.length, o.batch, o.steps >= 0 ? o.steps : Index{500}, o.rate,
      seed};
  Random random(seed);
  Transformer model(model_options(o, what), random);
  Adam adam(model.parameters(), {.rate = o.rate});
  return {path, settings, std::move(what), std::move(model), std::move(adam)};
}

Run resumed_run(const TrainOptions& o) {
  const Path path = path_of(o);
  const Checkpoint file = read_checkpoint(path);
  try {
    Settings settings = settings_in(file.weights.metadata);
    if (!o.task.empty() && o.task != settings.task) {
      throw Error("learned " + in_quotes(settings.task) + ", not " + in_quotes(o.task) + ".");
    }
    if (o.steps >= 0) settings.steps = o.steps;
    Material what = material(settings.task, settings.length);
    Transformer model = to_transformer(file.weights);
    if (what.fingerprint != settings.fingerprint || what.length != settings.length ||
        what.vocabulary.size() != model.options.vocabulary ||
        (model.options.positions == Positions::learned && model.options.length < what.length)) {
      throw Error("what it learns, " + in_quotes(settings.task) +
                  ", is no longer the same; begin anew with --overwrite.");
    }
    Adam adam(model.parameters(), {.rate = settings.rate});
    load_checkpoint(model.parameters(), adam, file);
    return {path, settings, std::move(what), std::move(model), std::move(adam)};
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

// A line that renews itself must make room for a row of the table.
void clear_progress_line() {
  if (isatty(2) == 1 && isatty(1) == 1) std::fputs("\r\033[K", stderr);
}

class Table {
 public:
  explicit Table(const Run& run) : run_(run) {
    Random random(run.settings.seed, ~std::uint64_t{0});
    test_ = run.material.test(rows, random);
    print("    step    loss    of %s%s\n", run.material.test_is.c_str(),
          run.material.has_answers ? "   wholly right" : "");
  }

  void row(Index step, double loss) const {
    clear_progress_line();
    const Tensor logits = run_.model(test_.inputs);
    print("%8lld  %6.3f  %14.3f", static_cast<long long>(step), loss,
          double{cross_entropy(logits, test_.targets).item()});
    if (run_.material.has_answers) {
      print("   %9.1f %%", 100 * double(rows_right(logits, test_.targets)) / double(rows));
    }
    print("\n");
    flush();
  }

 private:
  static constexpr Index rows = 100;
  const Run& run_;
  Batch test_;
};

void introduce(const Run& run) {
  Index numbers = 0;
  for (const Parameter& parameter : run.model.parameters()) numbers += parameter.value.count();
  const TransformerOptions& o = run.model.options;
  print("%s\n", folded(run.material.name + ": " + std::to_string(o.vocabulary) + " " +
                           (run.material.vocabulary.by_characters() ? "characters" : "words") +
                           ", length " + std::to_string(run.material.length) + "; " +
                           std::to_string(o.layers) + " layers of " + std::to_string(o.heads) +
                           " heads, width " + std::to_string(o.d_model) + ": " +
                           std::to_string(numbers) + " numbers",
                       0)
                    .c_str());
  if (run.adam.steps() > 0) print("going on after step %lld\n", (long long)run.adam.steps());
  print("guessing blindly has a loss of %.3f", std::log(double(o.vocabulary)));
  if (run.material.best_loss > 0) print(", the best possible %.3f", run.material.best_loss);
  print("\n\n");
  flush();
}

// After a save.
[[noreturn]] void leave(const Run& run) {
  throw Interrupted(Interruption::signal(), "stopped after step " + exact(run.adam.steps()) +
                                                " of " + exact(run.settings.steps) + ", which " +
                                                run.checkpoint.string() +
                                                " holds; --resume goes on.");
}

void learn(Run& run, const TrainOptions& o) {
  const Settings& s = run.settings;
  const Table table(run);
  const auto loss_of_step = [&](Index step) {
    Random random(s.seed, static_cast<std::uint64_t>(step));
    const Batch batch = run.material.train(s.batch, random);
    return cross_entropy(run.model(batch.inputs), batch.targets);
  };
  TrainingOptions options{.steps = s.steps};
  constexpr Index warmup = 50;  // then down as 1 / sqrt(step), whatever `steps` is
  options.rate = [&](Index step) {
    return s.rate * std::sqrt(double{warmup}) * inverse_square_root_rate(step, 1, warmup);
  };
  options.what = isatty(2) == 1 ? "training" : "";
  options.tokens = s.batch * s.length;
  options.guess_loss = std::log(double(run.model.options.vocabulary));
  const Index every = std::max<Index>(1, s.steps / 10);
  options.after_step = [&](Index step, double loss) {
    if (step % every == 0 || step == s.steps) table.row(step, loss);
    const bool stop = Interruption::signal() != 0;
    if (stop || step % o.save_every == 0 || step == s.steps) save(run);
    if (stop && step < s.steps) leave(run);
  };
  tapestry::train(run.adam, loss_of_step, options);
}

}  // namespace

void train(const TrainOptions& options) {
  if (options.task.empty() && !(options.resume && !options.checkpoint.empty())) {
    throw Error("say what to learn: copy, reverse, sort, induction, grammar, or a text file.");
  }
  const Interruption interruption;
  Run run = options.resume ? resumed_run(options) : new_run(options);
  if (run.adam.steps() >= run.settings.steps && run.adam.steps() > 0) {
    throw Error(run.checkpoint.string() + " has made its " + std::to_string(run.adam.steps()) +
                " steps; ask for more with --steps.");
  }
  save(run);  // now, so that a place that cannot be written is not found out at the end
  introduce(run);
  if (Interruption::signal() != 0) leave(run);
  learn(run, options);
  print("\nwrote %s\n", run.checkpoint.c_str());
  print("try: tapestry generate --checkpoint %s \\\n       --text '%s'\n", run.checkpoint.c_str(),
        run.material.prompt.c_str());
}

}  // namespace tapestry::command
