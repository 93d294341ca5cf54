// `tapestry train`: trains a transformer, evaluates it at intervals, and saves it so that an
// interrupted run resumes bitwise equal.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "commands.hpp"
#include "interruption.hpp"
#include "loss_curve.hpp"
#include "screen.hpp"
#include "snapshots.hpp"
#include "tapestry/distributed/agreement.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/training.hpp"
#include "train_adapters.hpp"
#include "train_ranks.hpp"
#include "train_run.hpp"
#include "train_tokens.hpp"

namespace tapestry::command {
namespace {

void print_row(const Run& run, Index step, double loss, const Test::Result& tested) {
  clear_progress_line();
  print("%8lld  %6.3f  %14.3f", static_cast<long long>(step), loss, tested.loss);
  if (run.material.has_answers) print("   %9.1f %%", 100 * tested.share_right);
  print("\n");
  flush();
}

void introduce(const Run& run, const Ranks& ranks) {
  const TransformerOptions& o = run.model.options;
  print("%s\n",
        folded(run.material.name + ": " + std::to_string(o.vocab_size) + " " +
                   (run.material.vocabulary.by_characters() ? "characters" : "words") +
                   ", length " + std::to_string(run.material.length) + "; " +
                   std::to_string(o.num_layers) + " layers of " + std::to_string(o.num_heads) +
                   " heads, width " + std::to_string(o.d_model) + ": " +
                   std::to_string(run.model.num_parameters()) + " numbers",
               0)
            .c_str());
  const Index micro_batches = run.settings.micro_batches;
  if (micro_batches > 0) print("%s\n", micro_batches_text(micro_batches, ranks).c_str());
  if (run.adam.steps() > 0) print("resuming after step %lld\n", (long long)run.adam.steps());
  print("guessing blindly has a loss of %.3f", std::log(double(o.vocab_size)));
  if (run.material.best_loss > 0) print(", the best possible %.3f", run.material.best_loss);
  print("\n\n    step    loss    of %s%s\n", run.material.test_is.c_str(),
        run.material.has_answers ? "   wholly right" : "");
  flush();
}

// After a save; the signal came to this rank or to another.
[[noreturn]] void leave(const Run& run, const TrainOptions& o, std::optional<double> loss,
                        int signal) {
  const std::string of_step = loss ? formatted(" (loss %.3f)", *loss) : "";
  throw Interrupted(signal,
                    "stopped after step " + std::to_string(run.adam.steps()) + " of " +
                        std::to_string(run.settings.steps) + of_step + ", which " +
                        run.checkpoint.string() + " holds; to resume:",
                    command_to_resume(run, o));
}

// The output files. Those that did not exist before can be removed again, with their new folders.
class NewFiles {
 public:
  explicit NewFiles(const std::vector<Path>& paths) {
    for (const Path& path : paths) {
      for (Path p = path; !p.empty() && is_free(p); p = p.parent_path()) made_.push_back(p);
    }
    std::stable_sort(made_.begin(), made_.end(), [](const Path& a, const Path& b) {
      return a.native().size() > b.native().size();  // what lies in a folder before the folder
    });
  }

  void remove() const {
    std::error_code ignored;  // a folder may hold other files by now
    for (const Path& path : made_) std::filesystem::remove(path, ignored);
  }

 private:
  static bool is_free(const Path& path) {
    std::error_code ignored;
    return symlink_status(path, ignored).type() == std::filesystem::file_type::not_found;
  }

  std::vector<Path> made_;
};

// Creates all files now, so that an unwritable place is found before the training; an old file is
// not changed before standard output has been written to. Rank 0 does this alone.
void begin(Run& run, const TrainOptions& o, const Ranks& ranks) {
  const Path csv = LossCurve::csv_of(learning_of(run), o);
  const bool takes_snapshots = !run.snapshots.empty();
  const Path snapshots = takes_snapshots ? snapshot_folder(run.checkpoint) : Path();
  const NewFiles files({run.checkpoint, run.best_model, csv, snapshots});
  std::error_code ignored;
  const bool is_old = std::filesystem::is_regular_file(run.checkpoint, ignored);
  try {
    if (!is_old) save(run);
    if (!std::filesystem::exists(csv, ignored)) LossCurve(learning_of(run), o);
    if (takes_snapshots) make_snapshot_folder(run.checkpoint);
    introduce(run, ranks);
  } catch (...) {
    files.remove();
    throw;
  }
  if (is_old) save(run);
  const Index kept = run.adam.steps();  // what is later, this run makes again
  remove_snapshots_after(kept == 0 ? -1 : kept, run.checkpoint);
}

bool has_snapshot(const Run& run, Index step) {
  return std::binary_search(run.snapshots.begin(), run.snapshots.end(), step);
}

// Only rank 0 writes it, and has its loss. If it cannot be written, the checkpoint is brought up to
// this step, and the training stops.
void take_snapshot(Run& run, Ranks& ranks, std::optional<double> loss) {
  std::string problem;
  try {
    if (ranks.rank() == 0) save_snapshot(run, *loss);
  } catch (const Error& error) {
    problem = error.what();
  }
  if (largest_of_all(ranks, !problem.empty()) == 0) return;
  save_from_all(ranks, run.adam, [&] { save(run); });
  throw Error(problem + ". Stopped after step " + std::to_string(run.adam.steps()) + ", which " +
              run.checkpoint.string() + " holds: go on with --resume.");
}

// What is due after this step.
struct Due {
  bool is_last, row, save, snapshot;

  Due(const Run& run, const TrainOptions& o) {
    const Index step = run.adam.steps(), steps = run.settings.steps;
    is_last = step == steps;
    row = step % std::max<Index>(1, steps / 10) == 0 || is_last;
    save = step % o.save_every == 0 || is_last;
    snapshot = has_snapshot(run, step);
  }
};

// On rank 0: measures and prints. -> the loss of held-out texts, if it was measured
std::optional<double> measure(Run& run, const Due& due, const Test& test, LossCurve& curve,
                              double loss) {
  std::optional<double> held_out;
  if (due.row || due.save || due.snapshot) {
    const Test::Result tested = test();
    held_out = tested.loss;
    if (due.row) print_row(run, run.adam.steps(), loss, tested);
    if (tested.loss < run.best.loss) save_best(run, tested.loss);
  }
  curve.add(run.adam.steps(), loss, held_out);
  return held_out;
}

// Measures, prints and saves what is due after a step, and stops if a signal came to any rank. Only
// rank 0 has a curve.
void after_step(Run& run, const TrainOptions& o, Ranks& ranks, const Test& test,
                std::optional<LossCurve>& curve, double loss) {
  const Due due(run, o);
  const auto stop = static_cast<int>(largest_of_all(ranks, Interruption::signal()));
  std::optional<double> held_out;
  if (curve) held_out = measure(run, due, test, *curve, loss);
  ranks.enter(run.adam.steps(), "save");
  if (due.save || stop != 0) save_from_all(ranks, run.adam, [&] { save(run); });
  if (due.snapshot) take_snapshot(run, ranks, held_out);
  if (stop == 0 || due.is_last) return;
  if (curve) curve->draw();
  leave(run, o, loss, stop);
}

void learn(Run& run, const TrainOptions& o, Ranks& ranks, std::optional<LossCurve>& curve) {
  const Settings& s = run.settings;
  const Test test(run);
  TrainingOptions options = training_of(run);
  options.what = isatty(2) == 1 ? "training" : "";
  options.tokens = s.batch * s.length;
  options.baseline_loss = std::log(double(run.model.options.vocab_size));
  options.after_step = [&](Index, double loss) { after_step(run, o, ranks, test, curve, loss); };
  if (curve && run.adam.steps() == 0) {
    save_best(run, test().loss);
    curve->add(0, {}, run.best.loss);
  }
  if (has_snapshot(run, run.adam.steps())) take_snapshot(run, ranks, test().loss);
  if (s.micro_batches == 0) {
    tapestry::train(run.adam, loss_of_step(run), options);
  } else {
    train_in_parts(run.adam, loss_of_micro_batch(run), {s.micro_batches, run.shard_state}, options,
                   ranks);
  }
}

void print_results(const Run& run, const LossCurve& curve) {
  print("\nlowest loss of %s: %.3f, after step %lld\n", run.material.test_is.c_str(), run.best.loss,
        static_cast<long long>(run.best.step));
  print("wrote %s\n", run.checkpoint.c_str());
  if (!run.best_model.empty()) print("wrote %s\n", run.best_model.c_str());
  if (!run.snapshots.empty()) {
    print("wrote %s, %zu snapshots\n", snapshot_folder(run.checkpoint).c_str(),
          snapshots_of(run.checkpoint).size());
  }
  print("wrote %s\nwrote %s\n", curve.picture().c_str(), curve.csv().c_str());
  const std::string length =
      run.material.answer == 0 ? "" : " --length " + std::to_string(run.material.answer);
  print("try: tapestry generate %s \\\n       %s%s\n",
        shell_option("--checkpoint", run.checkpoint.string()).c_str(),
        shell_option("--text", run.material.prompt).c_str(), length.c_str());
}

}  // namespace

void train(const TrainOptions& options) {
  check_adapter_options(options);
  if (!learns_tokens(options) && !options.save.empty()) {
    throw Error("--save is for models of tokens: give --merges or --model, too.");
  }
  if (starts_ranks(options)) return start_and_wait(options);
  if (learns_tokens(options)) return train_tokens(options);
  const Interruption interruption;
  Ranks& ranks = ranks_of(options);
  Run run = make_run(options, ranks);
  check_same_run(ranks, run, options);
  std::optional<LossCurve> curve;
  if (ranks.rank() == 0) begin(run, options, ranks);
  const auto stop = static_cast<int>(largest_of_all(ranks, Interruption::signal()));
  if (stop != 0) leave(run, options, {}, stop);
  if (ranks.rank() == 0) curve.emplace(learning_of(run), options);
  learn(run, options, ranks, curve);
  if (!curve) return;
  curve->draw();
  print_results(run, *curve);
}

}  // namespace tapestry::command
