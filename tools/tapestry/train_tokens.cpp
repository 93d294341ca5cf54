#include "train_tokens.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "interruption.hpp"
#include "material.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/io/adapter_file.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/text_stream.hpp"
#include "tapestry/text/tokenizer.hpp"
#include "tapestry/training.hpp"
#include "tapestry/unicode.hpp"
#include "token_text.hpp"
#include "train_adapters.hpp"

namespace tapestry::command {
namespace {

namespace fs = std::filesystem;

struct Lesson {
  Tokenizer tokenizer;
  std::vector<BytePair> merges;  // of a new tokenizer
  std::string architecture;
  Transformer model;
  Index length;
  Indices train, held_out;  // (n) tokens each
  double held_out_bytes = 0;
};

// What a model's folder may have besides its weights and config.json.
constexpr const char* other_files[] = {
    "tokenizer.json", "tokenizer_config.json", "vocab.json",        "merges.txt",
    "vocab.txt",      "tokenizer.bin",         "added_tokens.json", "special_tokens_map.json"};

Path folder_of(const TrainOptions& o) {
  return o.save.empty() ? Path("out/models") / Path(o.task).stem() : o.save;
}

Path result_of(const TrainOptions& o) { return saves_adapters(o) ? adapter_file(o) : folder_of(o); }

Path fresh_folder(const TrainOptions& o) { return folder_of(o).string() + ".new"; }

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
  if (saves_adapters(o)) return check_adapter_file(o);
  std::error_code ignored;
  const Path folder = folder_of(o), fresh = fresh_folder(o);
  if (fs::exists(fresh, ignored)) {
    throw Error(fresh.string() + " is there already, and is needed while the model is saved: " +
                "remove it, or name another folder with --save.");
  }
  if (!o.overwrite && fs::exists(folder, ignored) && !fs::is_empty(folder, ignored)) {
    throw Error(folder.string() +
                " is there already: replace its model with --overwrite, or name another folder "
                "with --save.");
  }
}

// Rotary positions, RMS norms and gates, as Llama has them.
TransformerOptions new_options(const TrainOptions& o, Index words) {
  const Index heads = o.heads.value_or(4), width = o.width.value_or(64);
  if (width % (2 * heads) != 0) {
    throw Error("--width " + std::to_string(width) + " must be an even multiple of --heads " +
                std::to_string(heads) + ".");
  }
  TransformerOptions options{.vocab_size = words,
                             .max_length = o.length.value_or(128),
                             .d_model = width,
                             .num_heads = heads,
                             .num_layers = o.layers.value_or(2),
                             .d_ff = (8 * width / 3 + 7) / 8 * 8};
  options.positions = Positions::rotary;
  options.norm_kind = NormKind::rms;
  options.activation = Activation::silu;
  options.gated = true;
  options.feed_forward_bias = false;
  options.tied_logits = true;
  return options;
}

// ids (n) of the text, in two parts.
void set_text(Lesson& lesson, const std::string& text, const Path& file) {
  const SplitText parts = split_text(lesson.tokenizer.encode(text, false));
  lesson.train = parts.train;
  lesson.held_out = parts.held_out;
  lesson.held_out_bytes =
      static_cast<double>(lesson.tokenizer.decode(parts.held_out.values).size());
  for (const Indices* ids : {&lesson.train, &lesson.held_out}) {
    if (ids->shape[0] > lesson.length + 1) continue;
    throw Error(in_quotes(file.string()) + " has too few tokens for pieces of " +
                std::to_string(lesson.length) + ": give a longer text, or a smaller --length.");
  }
  check_belongs(lesson.tokenizer, lesson.train, lesson.model.options.vocab_size);
}

Lesson new_lesson(const TrainOptions& o, const std::string& text) {
  const std::string_view learned(text.data(), text.size() / 10 * 9);  // nothing of what is held out
  std::vector<BytePair> merges = learn_byte_pairs(learned, *o.merges);
  Tokenizer tokenizer = byte_pair_tokenizer(merges);
  Random random(static_cast<std::uint64_t>(o.seed.value_or(1)));
  Transformer model(new_options(o, tokenizer.size()), random);
  const Index length = model.options.max_length;
  return {std::move(tokenizer), std::move(merges), "llama", std::move(model), length, {}, {}, 0};
}

Lesson continued_lesson(const TrainOptions& o) {
  const ModelConfig config = read_config(o.model);
  Tokenizer tokenizer = read_tokenizer(o.model);
  Transformer model = read_model(o.model);
  if (!model.options.is_causal || !model.options.has_logits) {
    throw Error(o.model.string() + ": only a decoder learns to predict the next token.");
  }
  adapt(model, o);
  const Index length = o.length.value_or(std::min<Index>(128, model.options.max_length));
  if (length > model.options.max_length) {
    throw Error("--length " + std::to_string(length) + ": the model has " +
                std::to_string(model.options.max_length) + " positions.");
  }
  return {std::move(tokenizer), {}, config.architecture, std::move(model), length, {}, {}, 0};
}

// Mean loss of the held-out tokens, of at most 64 pieces, in nats.
double held_out_loss(const Lesson& lesson) {
  constexpr Index most = 64;
  const Index pieces =
      std::min(most, (lesson.held_out.shape[0] - 1) / lesson.length);  // without overlap
  double sum = 0;
  for (Index i = 0; i < pieces; ++i) {
    const auto begin = lesson.held_out.values.begin() + i * lesson.length;
    const Indices inputs({lesson.length}, {begin, begin + lesson.length});
    const Indices targets({lesson.length}, {begin + 1, begin + lesson.length + 1});
    sum += double{cross_entropy(lesson.model(inputs), targets).item()};
  }
  return sum / static_cast<double>(pieces);
}

double bits_per_byte(const Lesson& lesson, double loss) {
  const double tokens = static_cast<double>(lesson.held_out.shape[0]);
  return loss / std::log(2.0) * tokens / lesson.held_out_bytes;
}

// How the model goes on after the first held-out tokens, in one line.
std::string sample_of(const Lesson& lesson, Index step) {
  constexpr Index shown = 24, prompt_length = 4;
  Random random(7, static_cast<std::uint64_t>(step));
  const Indices prompt({prompt_length}, {lesson.held_out.values.begin(),
                                         lesson.held_out.values.begin() + prompt_length});
  const Indices ids = generate(next_logits_of(lesson.model, lesson.length), prompt, random,
                               {.sampling = {.temperature = 0.8}, .max_new_tokens = shown});
  TextStream stream;
  std::string text = stream.add(lesson.tokenizer.decode(ids.values));
  text += stream.finish();  // behind add(), which a + does not promise
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    text.replace(at, 1, "↵");
  }
  return printable(text);
}

void print_row(const Lesson& lesson, Index step, std::optional<double> loss) {
  clear_progress_line();
  const double held_out = held_out_loss(lesson);
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
void save(const Lesson& lesson, const TrainOptions& o) {
  if (saves_adapters(o)) return write_adapters(adapter_file(o), lesson.model);
  const Path folder = folder_of(o), fresh = fresh_folder(o);
  try {
    write_files(lesson, o, fresh);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    throw;
  }
  fs::create_directories(folder);
  for (const fs::directory_entry& file : fs::directory_iterator(fresh)) {
    fs::rename(file.path(), folder / file.path().filename());
  }
  fs::remove(fresh);
}

void introduce(const Lesson& lesson) {
  const TransformerOptions& m = lesson.model.options;
  print("%s\n",
        folded(formatted("%lld tokens to learn from, %lld held out (%.2f bytes each); %s, %lld "
                         "layers of %lld heads, width %lld, %lld tokens: %lld numbers",
                         (long long)lesson.train.shape[0], (long long)lesson.held_out.shape[0],
                         lesson.held_out_bytes / double(lesson.held_out.shape[0]),
                         lesson.architecture.c_str(), (long long)m.num_layers,
                         (long long)m.num_heads, (long long)m.d_model, (long long)m.vocab_size,
                         (long long)(lesson.model.parameter_count() - adapter_count(lesson.model))),
               0)
            .c_str());
  if (has_adapters(lesson.model)) print("%s\n", adapters_text(lesson.model).c_str());
  print("\n    step    loss  held out  bits/byte  says\n");
  flush();
}

void learn(Lesson& lesson, const TrainOptions& o) {
  const Index steps = o.steps.value_or(500), every = std::max<Index>(1, steps / 10);
  const Index rows = o.batch.value_or(16);
  const bool adapts = has_adapters(lesson.model);
  const double rate = o.rate.value_or(o.model.empty() || adapts ? 3e-3 : 3e-4);
  const auto seed = static_cast<std::uint64_t>(o.seed.value_or(1));
  Adam adam(adapts ? adapter_parameters(lesson.model) : lesson.model.parameters(),
            {.learning_rate = rate});
  const auto loss_of_step = [&](Index step) {
    Random random(seed, static_cast<std::uint64_t>(step));
    const Batch batch = random_windows(lesson.train, rows, lesson.length, random);
    return cross_entropy(lesson.model(batch.inputs), batch.targets);
  };
  TrainingOptions options{.steps = steps};
  options.learning_rate = [&](Index step) {
    return cosine_schedule(step, {.peak = rate,
                                  .floor = rate / 10,
                                  .warmup_steps = std::min<Index>(50, steps / 2),
                                  .steps = steps});
  };
  options.what = isatty(2) == 1 ? "training" : "";
  options.tokens = rows * lesson.length;
  options.after_step = [&](Index step, double loss) {
    if (step % every == 0 || step == steps) print_row(lesson, step, loss);
    if (Interruption::signal() == 0 || step == steps) return;
    save(lesson, o);
    const Path saved = result_of(o);
    throw Interrupted(Interruption::signal(),
                      "stopped after step " + std::to_string(step) + " of " +
                          std::to_string(steps) + "; " + saved.string() + " has the " +
                          (saves_adapters(o) ? "adapters" : "model") + "; to go on:",
                      command_to_go_on(o, lesson.model, saved, steps - step));
  };
  print_row(lesson, 0, {});
  if (steps > 0) tapestry::train(adam, loss_of_step, options);
}

}  // namespace

bool learns_tokens(const TrainOptions& o) { return o.merges.has_value() || !o.model.empty(); }

void train_tokens(const TrainOptions& o) {
  check_options(o);
  const Interruption interruption;
  const std::string text = read_text(o.task);
  Lesson lesson = o.model.empty() ? new_lesson(o, text) : continued_lesson(o);
  set_text(lesson, text, o.task);
  introduce(lesson);
  learn(lesson, o);
  save(lesson, o);
  const Path saved = result_of(o);
  print("\nwrote %s\ntry: %s\n", saved.c_str(), command_to_generate(o, saved).c_str());
}

}  // namespace tapestry::command
