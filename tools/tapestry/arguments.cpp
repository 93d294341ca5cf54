#include "arguments.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <limits>
#include <memory>

#include "commands.hpp"
#include "help.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/unicode.hpp"
#include "tapestry/version.hpp"

namespace tapestry::command {
namespace {

template <class Value>
struct NumberOf {
  using Type = Value;
};
template <class Value>
struct NumberOf<std::optional<Value>> {
  using Type = Value;
};
template <class Value>
using Number = typename NumberOf<Value>::Type;

std::string is_named(const std::string& text) { return text.empty() ? "the name is empty" : ""; }

// A sub-command and the options that it fills; when it is given, `work` is called with them.
template <class Options>
struct Command {
  CLI::App* app;
  std::shared_ptr<Options> options = std::make_shared<Options>();

  Command(CLI::App& parent, const char* name, const char* what, void (*work)(const Options&),
          const char* examples)
      : app(parent.add_subcommand(name, what)) {
    app->footer(examples);
    app->callback([work, chosen = options] {
      kernel_set();  // throws Error at once, if the environment is wrong
      work(*chosen);
    });
  }

  template <class Value>
  CLI::Option* add(const char* name, Value Options::* member, const char* what) {
    return app->add_option(name, (*options).*member, what);
  }
  // For files, folders and tensors: "" is no name, and does not mean that the option was absent.
  template <class Value>
  CLI::Option* name(const char* option, Value Options::* member, const char* what) {
    return add(option, member, what)->check(is_named);
  }
  // Where pictures go, and what they are.
  void pictures(const char* what) {
    app->add_option("--out", options->out, what)->check(is_named)->type_name("FOLDER");
    app->add_option("--format", options->format, "format of pictures: png or svg (png)")
        ->type_name("FORMAT")
        ->check([](const std::string& text) {
          const bool known = text == "png" || text == "svg";
          return known ? "" : in_quotes(text) + " is not a format; there are png and svg";
        });
  }
  template <class Value>  // Index or double, or an optional one
  CLI::Option* number(const char* name, Value Options::* member, Number<Value> low,
                      Number<Value> high, const char* what) {
    return add(name, member, what)->check(CLI::Range(low, high));
  }
};

constexpr Index most = std::numeric_limits<std::int32_t>::max();

void add_analyze(CLI::App& app) {
  Command<AnalyzeOptions> c(app, "analyze", "attention weights and patterns of a model on a text",
                            analyze, analyze_examples);
  c.name("--checkpoint", &AnalyzeOptions::checkpoint, "the model's file")
      ->required()
      ->type_name("FILE");
  c.add("--text", &AnalyzeOptions::text, "the model's input")->required();
  c.number("--layer", &AnalyzeOptions::layer, 0, most, "only this layer, counted from 0");
  c.number("--head", &AnalyzeOptions::head, 0, most, "only this head, counted from 0");
  c.pictures("for the pictures (out/plots)");
}

void add_why(CLI::App& app) {
  Command<WhyOptions> c(app, "why", "all the arithmetic of one attention weight", why,
                        why_examples);
  c.name("--checkpoint", &WhyOptions::checkpoint, "the model's file")
      ->required()
      ->type_name("FILE");
  c.add("--text", &WhyOptions::text, "the model's input")->required();
  c.add("--query", &WhyOptions::query, "the query word: sat, or the@4")->required();
  c.add("--key", &WhyOptions::key, "the key word")->required();
  c.number("--layer", &WhyOptions::layer, 0, most, "the layer (0)");
  c.number("--head", &WhyOptions::head, 0, most, "the head (0)");
}

void add_train(CLI::App& app) {
  using Options = TrainOptions;
  Command<Options> c(app, "train", "train a small transformer", train, train_examples);
  c.name("TASK", &Options::task, "copy, reverse, sort, induction, grammar, or a file");
  c.name("--checkpoint", &Options::checkpoint, "output (out/checkpoints/TASK.safetensors)")
      ->type_name("FILE");
  c.number("--steps", &Options::steps, 0, most_steps, "number of steps (500)");
  c.number("--batch", &Options::batch, 1, most_batch, "texts per step (32)");
  c.number("--rate", &Options::rate, 0, 1, "Adam's highest learning rate (0.003)");
  c.number("--layers", &Options::layers, 1, 64, "number of layers (2)");
  c.number("--heads", &Options::heads, 1, 64, "heads per layer (4)");
  c.number("--width", &Options::width, 1, 1024, "d_model, a multiple of the heads (64)");
  c.number("--length", &Options::length, 8, most_length, "characters per piece of text (64)");
  c.number("--save-every", &Options::save_every, 1, most_steps, "steps between saves (100)");
  c.number("--seed", &Options::seed, 0, most, "random seed (1)");
  c.pictures("for the loss curve (out/plots)");
  c.app->add_flag("--attention-only", c.options->attention_only, "no feed-forward layers");
  c.app->add_flag("--overwrite", c.options->overwrite, "replace an existing file");
  c.app->add_flag("--resume", c.options->resume, "continue the file's run with its options");
}

void add_generate(CLI::App& app) {
  using Options = GenerateOptions;
  Command<Options> c(app, "generate", "generate text with a model", generate, generate_examples);
  c.name("--checkpoint", &Options::checkpoint, "the model's file")->required()->type_name("FILE");
  c.add("--text", &Options::text, "the prompt");
  c.number("--length", &Options::length, 0, 100000, "most new words (20; characters: 200)");
  c.number("--count", &Options::count, 1, 100000, "number of texts (1)");
  c.number("--temperature", &Options::temperature, 0, 1000, "0: always the likeliest word (1)");
  c.number("--top-k", &Options::top_k, 0, most, "only from the k likeliest words; 0: all");
  c.number("--top-p", &Options::top_p, 0, 1, "only likeliest words, up to this probability (1)");
  c.number("--seed", &Options::seed, 0, most, "random seed (1)");
}

void add_plot(CLI::App& app) {
  Command<PlotOptions> c(app, "plot", "pictures of all tensors in a file", plot, plot_examples);
  c.name("FILE", &PlotOptions::file, "a .safetensors or .npy file")->required();
  c.name("--tensor", &PlotOptions::tensor, "only the tensor with this name");
  c.pictures("for the pictures (out/plots)");
}

void add_tape(CLI::App& app) {
  Command<TapeOptions> c(app, "tape", "draw the tape of a small model", tape, tape_examples);
  c.name("MODEL", &TapeOptions::model, "neuron, softmax or attention (neuron)");
  c.pictures("for the picture (out/plots)");
}

void add_lab(CLI::App& app) {
  using Options = LabOptions;
  Command<Options> c(app, "lab", "compare and measure all variants of attention", lab,
                     lab_examples);
  c.add("--lengths", &Options::lengths, "sequence lengths, one table each (64,256,1024)")
      ->delimiter(',')
      ->expected(1, 16)
      ->check(CLI::Range(Index{1}, Index{65536}));
  c.number("--heads", &Options::heads, 1, 64, "number of heads (4)");
  c.number("--width", &Options::width, 1, 4096, "width of all heads together (128)");
  c.number("--batch", &Options::batch, 1, most_batch, "number of sequences (1)");
  c.number("--window", &Options::window, 0, 65536, "window of local attention, either side (32)");
  c.number("--threads", &Options::threads, 1, 256, "number of threads (OMP_NUM_THREADS, or all)");
  c.number("--repeats", &Options::repeats, 1, 1000, "runs, of which the median counts (5)");
  c.number("--seconds", &Options::seconds, 0, 3600, "skip runs that would take longer (5)");
  c.app->add_flag("--causal", c.options->causal, "causal attention");
}

}  // namespace

void add_commands(CLI::App& app) {
  app.formatter(std::make_shared<Help>());
  app.footer(app_examples);
  app.set_version_flag("--version", "tapestry " + version());
  add_analyze(app);
  add_why(app);
  add_train(app);
  add_generate(app);
  add_plot(app);
  add_tape(app);
  add_lab(app);
  CLI::App* check = app.add_subcommand("doctor", "check that this machine has everything needed");
  check->footer(doctor_examples);
  check->callback(doctor);
}

}  // namespace tapestry::command
