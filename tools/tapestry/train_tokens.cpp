#include "train_tokens.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "interruption.hpp"
#include "loss_curve.hpp"
#include "material.hpp"
#include "screen.hpp"
#include "tapestry/distributed/agreement.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/adapter_file.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/training.hpp"
#include "tapestry/unicode.hpp"
#include "token_lesson.hpp"
#include "train_adapters.hpp"
#include "train_ranks.hpp"

namespace tapestry::command {
namespace {

namespace fs = std::filesystem;

// What a model's folder may have besides its weights and config.json.
constexpr const char* other_files[] = {
    "tokenizer.json", "tokenizer_config.json", "vocab.json",        "merges.txt",
    "vocab.txt",      "tokenizer.bin",         "added_tokens.json", "special_tokens_map.json"};

Path folder_of(const TrainOptions& o) {
  if (o.save.empty()) return Path("out/models") / Path(o.task).stem();
  return o.save.has_filename() ? o.save : o.save.parent_path();  // "mine/"
}

Path result_of(const TrainOptions& o) { return saves_adapters(o) ? adapter_file(o) : folder_of(o); }

// "book" -> "book_best_model", "book.safetensors" -> "book_best_model.safetensors".
Path best_of(const TrainOptions& o) {
  const Path result = result_of(o);
  if (!saves_adapters(o)) return result.string() + "_best_model";
  return result.parent_path() /
         (result.stem().string() + "_best_model" + result.extension().string());
}

Path fresh_folder(const Path& folder) { return folder.string() + ".new"; }

void check_free(const Path& folder, bool overwrite) {
  std::error_code ignored;
  const Path fresh = fresh_folder(folder);
  if (fs::exists(fresh, ignored)) {
    throw Error(fresh.string() + " is there already, and is needed while the model is saved: " +
                "remove it, or name another folder with --save.");
  }
  if (!overwrite && fs::exists(folder, ignored) && !fs::is_empty(folder, ignored)) {
    throw Error(folder.string() +
                " is there already: replace its model with --overwrite, or name another folder "
                "with --save.");
  }
}

void check_options(const TrainOptions& o) {
  const auto refuse = [](bool given, const char* words) {
    if (given) throw Error(words);
  };
  refuse(o.task.empty(), "give the text file to learn.");
  refuse(!o.model.empty() && o.merges.has_value(),
         "--merges makes a new model, and --model goes on with one: give one of them.");
  refuse(o.resume || !o.checkpoint.empty(),
         "--resume and --checkpoint are for models of characters; go on with --model FOLDER.");
  refuse((", " + task_names() + ",").find(", " + o.task + ",") != std::string::npos,
         "tasks have words of their own: --merges and --model are for text files.");
  refuse(o.attention_only, "--attention-only is for models of characters.");
  refuse(o.snapshots.has_value(),
         "--snapshots go beside a checkpoint, and a model of tokens is a folder: leave it out.");
  refuse(!o.model.empty() && (o.layers || o.heads || o.width),
         "the sizes are those of --model: leave out --layers, --heads and --width.");
  for (const Path& path : {result_of(o), best_of(o)}) {
    saves_adapters(o) ? check_adapter_file(path, o.overwrite) : check_free(path, o.overwrite);
  }
}

void print_row(const Lesson& lesson, Index step, std::optional<double> loss, double held_out) {
  clear_progress_line();
  print("%8lld  %s  %8.3f  %8.3f  %s\n", static_cast<long long>(step),
        loss ? formatted("%6.3f", *loss).c_str() : "     -", held_out,
        bits_per_byte(lesson, held_out), cut_to_width(sample_of(lesson, step), 42).c_str());
  flush();
}

void write_files(const Lesson& lesson, const TrainOptions& o, const Path& folder) {
  if (o.model.empty()) write_byte_pairs(folder, lesson.merges);
  Transformer model = lesson.model;
  merge_adapters(model);
  write_model(folder, model, lesson.architecture);
  for (const char* name : other_files) {
    std::error_code none;
    if (!o.model.empty()) fs::copy_file(o.model / name, folder / name, none);
  }
}

// Into a folder beside it first, and then file by file in its place, so that an old model stays if
// something fails.
void save(const Lesson& lesson, const TrainOptions& o, const Path& path) {
  if (saves_adapters(o)) return write_adapters(path, lesson.model);
  const Path fresh = fresh_folder(path);
  try {
    write_files(lesson, o, fresh);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    throw;
  }
  fs::create_directories(path);
  for (const fs::directory_entry& file : fs::directory_iterator(fresh)) {
    fs::rename(file.path(), path / file.path().filename());
  }
  fs::remove(fresh);
}

Index rows_of(const TrainOptions& o) { return o.batch.value_or(16); }

void introduce(const Lesson& lesson, const TrainOptions& o, const Ranks& ranks) {
  const TransformerOptions& m = lesson.model.options;
  print("%s\n",
        folded(formatted("%lld tokens to learn from, %lld held out (%.2f bytes each); %s, %lld "
                         "layers of %lld heads, width %lld, %lld tokens: %lld numbers",
                         (long long)lesson.train.shape[0], (long long)lesson.held_out.shape[0],
                         lesson.held_out_bytes / double(lesson.held_out.shape[0]),
                         lesson.architecture.c_str(), (long long)m.num_layers,
                         (long long)m.num_heads, (long long)m.d_model, (long long)m.vocab_size,
                         (long long)(lesson.model.num_parameters() - adapter_count(lesson.model))),
               0)
            .c_str());
  if (has_adapters(lesson.model)) print("%s\n", adapters_text(lesson.model).c_str());
  if (o.micro_batches) print("%s\n", micro_batches_text(*o.micro_batches, ranks).c_str());
  print("\n    step    loss  held out  bits/byte  says\n");
  flush();
}

// Prints and draws how the model learns, and keeps the best one. Rank 0 has it.
class Watch {
 public:
  Watch(const Lesson& lesson, const TrainOptions& o, Index steps)
      : lesson_(lesson),
        options_(o),
        steps_(steps),
        curve_({result_of(o).stem().string(), "tokens of " + o.task, "held out",
                std::log(double(lesson.model.options.vocab_size))},
               o) {
    measure(0, {});
  }

  void after_step(Index step, double loss) {
    const bool is_row = step % std::max<Index>(1, steps_ / 10) == 0 || step == steps_;
    is_row ? measure(step, loss) : curve_.add(step, loss, {});
  }

  // What has been learned so far; the run stops.
  void stop() const {
    save(lesson_, options_, result_of(options_));
    curve_.draw();
  }

  void end() const {
    const Path saved = result_of(options_);
    save(lesson_, options_, saved);
    curve_.draw();
    print("\nlowest loss held out: %.3f, after step %lld\nwrote %s\nwrote %s\n", best_,
          (long long)best_step_, saved.c_str(), best_of(options_).c_str());
    print("wrote %s\nwrote %s\n", curve_.picture().c_str(), curve_.csv().c_str());
    print("try: %s\n", command_to_generate(options_, saved).c_str());
  }

 private:
  void measure(Index step, std::optional<double> loss) {
    const double held_out = held_out_loss(lesson_);
    print_row(lesson_, step, loss, held_out);
    curve_.add(step, loss, held_out);
    if (!(held_out < best_)) return;
    best_ = held_out;
    best_step_ = step;
    save(lesson_, options_, best_of(options_));
  }

  const Lesson& lesson_;
  const TrainOptions& options_;
  Index steps_;
  LossCurve curve_;
  double best_ = HUGE_VAL;
  Index best_step_ = 0;
};

// After a stop; the signal came to this rank or to another.
[[noreturn]] void leave(const Lesson& lesson, const TrainOptions& o, Index step, Index steps,
                        int signal) {
  const Path saved = result_of(o);
  throw Interrupted(signal,
                    "stopped after step " + std::to_string(step) + " of " + std::to_string(steps) +
                        "; " + saved.string() + " has the " +
                        (saves_adapters(o) ? "adapters" : "model") + "; to go on:",
                    command_to_go_on(o, lesson.model, saved, steps - step));
}

// On all ranks after a step. They stop together, when rank 0 has written.
void after_step(const Lesson& lesson, const TrainOptions& o, Ranks& ranks,
                std::optional<Watch>& watch, Index steps, Index step, double loss) {
  const auto signal = static_cast<int>(largest_of_all(ranks, Interruption::signal()));
  if (watch) watch->after_step(step, loss);
  if (signal == 0 || step == steps) return;
  ranks.enter(step, "save");
  if (watch) watch->stop();
  largest_of_all(ranks, 0);
  leave(lesson, o, step, steps, signal);
}

TrainingOptions training_of(Index steps, double rate, Index tokens) {
  TrainingOptions options{.steps = steps};
  options.learning_rate = [=](Index step) {
    return cosine_schedule(step, {.peak = rate,
                                  .floor = rate / 10,
                                  .warmup_steps = std::min<Index>(50, steps / 2),
                                  .steps = steps});
  };
  options.what = isatty(2) == 1 ? "training" : "";
  options.tokens = tokens;
  return options;
}

void learn(Lesson& lesson, const TrainOptions& o, Index steps, Ranks& ranks,
           std::optional<Watch>& watch) {
  const Index rows = rows_of(o), micro_batches = o.micro_batches.value_or(0);
  const bool adapts = has_adapters(lesson.model);
  const double rate = o.rate.value_or(o.model.empty() || adapts ? 3e-3 : 3e-4);
  const auto seed = static_cast<std::uint64_t>(o.seed.value_or(1));
  Adam adam(adapts ? adapter_parameters(lesson.model) : lesson.model.parameters(),
            {.learning_rate = rate});
  TrainingOptions options = training_of(steps, rate, rows * lesson.length);
  options.after_step = [&](Index step, double loss) {
    after_step(lesson, o, ranks, watch, steps, step, loss);
  };
  if (steps == 0) return;
  if (micro_batches == 0) {
    const auto loss_of_step = [&](Index step) {
      Random random(seed, static_cast<std::uint64_t>(step));
      const Batch batch = random_windows(lesson.train, rows, lesson.length, random);
      return cross_entropy(lesson.model(batch.inputs), batch.targets);
    };
    tapestry::train(adam, loss_of_step, options);
  } else {
    const auto loss_of_micro_batch = [&](Index step, Index i) {
      Random random = random_of(seed, step, i, micro_batches);
      const Batch batch = random_windows(lesson.train, rows / micro_batches, lesson.length, random);
      return sum_of_losses(lesson.model(batch.inputs), batch.targets);
    };
    train_in_parts(adam, loss_of_micro_batch, {micro_batches, o.shard_state}, options, ranks);
  }
}

}  // namespace

bool learns_tokens(const TrainOptions& o) { return o.merges.has_value() || !o.model.empty(); }

void train_tokens(const TrainOptions& o) {
  check_options(o);
  check_micro_batches(o.micro_batches.value_or(0), rows_of(o));
  const Interruption interruption;
  Ranks& ranks = ranks_of(o);
  check_ranks(o, o.micro_batches.value_or(0), ranks);
  const Index steps = o.steps.value_or(500);
  Lesson lesson = make_lesson(o);
  check_same_lesson(ranks, lesson, o);
  std::optional<Watch> watch;
  if (ranks.rank() == 0) {
    introduce(lesson, o, ranks);
    watch.emplace(lesson, o, steps);
  }
  learn(lesson, o, steps, ranks, watch);
  if (watch) watch->end();
}

}  // namespace tapestry::command
