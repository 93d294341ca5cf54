#include "arguments.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <limits>
#include <memory>

#include "commands.hpp"
#include "help.hpp"
#include "material.hpp"
#include "tapestry/analysis/patterns.hpp"
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

constexpr Index most = std::numeric_limits<std::int32_t>::max();

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
  // A model and its input.
  void model(bool needs_text = true) {
    CLI::Option* const file =
        app->add_option("--checkpoint", options->checkpoint, "the model's file")
            ->check(is_named)
            ->type_name("FILE");
    app->add_option("--model", options->model, "or its folder, as Hugging Face lays it out")
        ->check(is_named)
        ->type_name("FOLDER")
        ->excludes(file);
    adapters();
    app->add_option("--text", options->text, "the model's input")->required(needs_text);
  }
  void adapters() {
    app->add_option("--adapters", options->adapters, "low-rank adapters beside that folder")
        ->check(is_named)
        ->type_name("FILE")
        ->needs("--model");
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
  // A question to the model, and files with what was found.
  void question(bool needs_text) {
    model(needs_text);
    app->add_option("--token", options->token, "the token asked about (the likeliest)")
        ->check(is_named)
        ->type_name("WORD");
    app->add_option("--against", options->against, "and one to compare its logit with")
        ->check(is_named)
        ->type_name("WORD");
    app->add_option("--position", options->position, "where the model says it (the end, or <mask>)")
        ->check(CLI::Range(Index{0}, most));
    files();
    pictures("for the picture (out/plots)");
  }
  // Many texts instead of one; what they exclude is called by its option.
  void texts(const char* columns, std::initializer_list<const char*> excluded) {
    CLI::Option* const option =
        app->add_option("--texts", options->texts, columns)->check(is_named)->type_name("FILE");
    for (const char* name : excluded) option->excludes(name);
  }
  // Numbers for other programs.
  void files() {
    app->add_option("--json", options->json, "write all numbers to this file, too")
        ->check(is_named)
        ->type_name("FILE");
    app->add_option("--npy", options->npy, "write the first table as a NumPy array")
        ->check(is_named)
        ->type_name("FILE");
  }
  template <class Value>  // Index or double, or an optional one
  CLI::Option* number(const char* name, Value Options::* member, Number<Value> low,
                      Number<Value> high, const char* what) {
    return add(name, member, what)->check(CLI::Range(low, high));
  }
};

void add_analyze(CLI::App& app) {
  Command<AnalyzeOptions> c(app, "analyze", "attention weights and patterns of a model on a text",
                            analyze, analyze_examples);
  c.model();
  c.number("--layer", &AnalyzeOptions::layer, 0, most, "only this layer, counted from 0");
  c.number("--head", &AnalyzeOptions::head, 0, most, "only this head, counted from 0");
  c.add("--pattern", &AnalyzeOptions::pattern, "of every head this pattern: induction, ...")
      ->type_name("NAME")
      ->check([](const std::string& name) {
        std::string names;
        for (const Pattern pattern : all_patterns) {
          if (to_string(pattern) == name) return std::string();
          names += (names.empty() ? "" : ", ") + to_string(pattern);
        }
        return in_quotes(name) + " is not a pattern; there are " + names;
      });
  c.pictures("for the pictures (out/plots)");
}

void add_why(CLI::App& app) {
  Command<WhyOptions> c(app, "why", "all the arithmetic of one attention weight", why,
                        why_examples);
  c.model();
  c.add("--query", &WhyOptions::query, "the query word: sat, or the@4")->required();
  c.add("--key", &WhyOptions::key, "the key word")->required();
  c.number("--layer", &WhyOptions::layer, 0, most, "the layer (0)");
  c.number("--head", &WhyOptions::head, 0, most, "the head (0)");
}

void add_attribute(CLI::App& app) {
  Command<AskOptions> c(app, "attribute", "which heads write a token, and which write against it",
                        attribute, attribute_examples);
  c.question(false);
  c.texts("many texts, one a line: TEXT, or with tabs TEXT, TOKEN, OTHER", {"--text"});
}

void add_cut(CLI::App& app) {
  Command<CutOptions> c(app, "cut", "what a model loses without a head, layer, link or position",
                        cut, cut_examples);
  c.add("PART", &CutOptions::parts, "2.3, 2.attention, 2.mlp, 2.3:7>4, @5; none: each alone");
  c.question(false);
  c.texts("many texts, one a line: TEXT, or with tabs TEXT, TOKEN, OTHER", {"--text"});
  c.number("--draws", &CutOptions::draws, 1, 10000, "sets of parts cut at random (20)");
  c.number("--seed", &CutOptions::seed, 0, most, "random seed (1)");
}

void add_patch(CLI::App& app) {
  Command<PatchOptions> c(app, "patch", "which places of a text make the answer of another text",
                          patch, patch_examples);
  c.question(false);
  c.add("--from", &PatchOptions::from, "the text that places are taken from");
  c.texts("many pairs, one a line, with tabs: FROM, TEXT, or FROM, TEXT, TOKEN, OTHER",
          {"--text", "--from"});
  c.number("--layer", &PatchOptions::layer, 0, most, "try the links of this layer, too");
}

void add_lens(CLI::App& app) {
  Command<LensOptions> c(app, "lens", "what a model would say after each layer", lens,
                         lens_examples);
  c.question(true);
  c.name("--fit", &LensOptions::fit, "fit a map for each layer on this text")->type_name("FILE");
}

void add_circuit(CLI::App& app) {
  Command<CircuitOptions> c(app, "circuit", "what a head does by its weights alone", circuit,
                            circuit_examples);
  c.model(false);
  c.number("--layer", &CircuitOptions::layer, 0, most, "the layer (0)");
  c.number("--head", &CircuitOptions::head, 0, most, "the head (0)");
  c.add("--from", &CircuitOptions::from, "keys as this earlier head writes them: 0.3")
      ->type_name("HEAD");
  c.files();
  c.pictures("for the pictures (out/plots)");
}

void add_explore(CLI::App& app) {
  using Options = ExploreOptions;
  Command<Options> c(app, "explore", "a page for the browser that shows what a model did", explore,
                     explore_examples);
  c.name("MODEL", &Options::input, "a checkpoint, or a folder of a model")->required();
  c.name("--adapters", &Options::adapters, "low-rank adapters beside that folder")
      ->type_name("FILE");
  c.add("--text", &Options::texts, "a text that it reads; may be given more than once")
      ->expected(1)
      ->take_all();
  c.add("--beside", &Options::beside, "another model, untrained, or none (untrained)")
      ->expected(1)
      ->take_all()
      ->type_name("MODEL");
  c.name("--out", &Options::out, "the page (out/explorer/NAME.html)")->type_name("FILE");
  c.app->add_flag("--recorded", c.options->recorded, "without the engine of make explorer");
}

void add_adapters(Command<TrainOptions>& c) {
  using Options = TrainOptions;
  c.number("--rank", &Options::rank, 1, most, "of it, train only low-rank adapters of this rank");
  c.name("--maps", &Options::maps, "the maps with adapters (query,value)")->type_name("NAMES");
  c.number("--alpha", &Options::alpha, 0, 1e6, "their scale is alpha / rank (the rank)");
  c.name("--adapters", &Options::adapters, "go on with these adapters")->type_name("FILE");
  c.app->add_flag("--whole", c.options->whole, "save a whole model, adapters merged into it");
}

void add_train(CLI::App& app) {
  using Options = TrainOptions;
  Command<Options> c(app, "train", "train a small transformer", train, train_examples);
  c.name("TASK", &Options::task, (task_names() + ", or a file").c_str());
  c.name("--checkpoint", &Options::checkpoint, "output (out/checkpoints/TASK.safetensors)")
      ->type_name("FILE");
  c.number("--steps", &Options::steps, 0, most_steps, "number of steps (500; induction: 1000)");
  c.number("--batch", &Options::batch, 1, most_batch, "texts per step (32)");
  c.number("--rate", &Options::rate, 0, 1, "Adam's highest learning rate (0.003)");
  c.number("--layers", &Options::layers, 1, 64, "number of layers (2)");
  c.number("--heads", &Options::heads, 1, 64, "heads per layer (4)");
  c.number("--width", &Options::width, 1, 1024, "d_model, a multiple of the heads (64)");
  c.number("--length", &Options::length, 8, most_length, "characters per piece (64; 128 tokens)");
  c.number("--merges", &Options::merges, 0, 1000000, "learn tokens: byte pairs, so many merges");
  c.name("--model", &Options::model, "go on with this model, as Hugging Face lays it out")
      ->type_name("FOLDER");
  add_adapters(c);
  c.name("--save", &Options::save, "where the result goes (out/models/NAME, out/adapters/NAME)")
      ->type_name("PATH");
  c.number("--save-every", &Options::save_every, 1, most_steps, "steps between saves (100)");
  c.number("--snapshots", &Options::snapshots, 2, most_snapshots,
           "keep so many states of the model on its way, in NAME.snapshots");
  c.number("--seed", &Options::seed, 0, most, "random seed (1)");
  c.pictures("for the loss curve (out/plots)");
  c.app->add_flag("--attention-only", c.options->attention_only, "no feed-forward layers");
  c.app->add_flag("--overwrite", c.options->overwrite, "replace an existing file");
  c.app->add_flag("--resume", c.options->resume, "continue the file's run with its options");
}

void add_generate(CLI::App& app) {
  using Options = GenerateOptions;
  Command<Options> c(app, "generate", "generate text with a model", generate, generate_examples);
  CLI::Option* const file =
      c.name("--checkpoint", &Options::checkpoint, "the model's file")->type_name("FILE");
  c.name("--model", &Options::model, "or its folder, as Hugging Face lays it out")
      ->type_name("FOLDER")
      ->excludes(file);
  c.adapters();
  c.add("--text", &Options::text, "the prompt; -: from standard input");
  c.number("--length", &Options::length, 0, 100000, "most new words (20, 200 or 256)");
  c.number("--count", &Options::count, 1, 100000, "number of texts (1)");
  c.number("--temperature", &Options::temperature, 0, 1000, "0: always the likeliest word (1)");
  c.number("--top-k", &Options::top_k, 0, most, "only from the k likeliest words; 0: all");
  c.number("--top-p", &Options::top_p, 0, 1, "only likeliest words, up to this probability (1)");
  c.number("--repetition-penalty", &Options::repetition_penalty, 0, 1000,
           "above 1: words of the text become less likely (1)");
  c.add("--stop", &Options::stop, "ends the text; may be given more than once")
      ->expected(1)
      ->take_all()
      ->type_name("TEXT");
  c.app->add_flag("--probabilities", c.options->probabilities, "list each word's probability");
  c.number("--seed", &Options::seed, 0, most, "random seed (1)");
}

void add_convert(CLI::App& app) {
  Command<ConvertOptions> c(app, "convert", "a model of llama2.c as a folder for other programs",
                            convert, convert_examples);
  c.name("INPUT", &ConvertOptions::input, "the model's .bin file")->required();
  c.name("FOLDER", &ConvertOptions::folder, "the new folder")->required();
  c.name("--tokenizer", &ConvertOptions::tokenizer, "its tokenizer (tokenizer.bin beside INPUT)")
      ->type_name("FILE");
}

void add_tokens(CLI::App& app) {
  using Options = TokensOptions;
  Command<Options> c(app, "tokens", "a text as a model's tokens; new tokenizers", tokens,
                     tokens_examples);
  c.add("TEXT", &Options::text, "the text (standard input)");
  c.name("--model", &Options::model, "a tokenizer's file, or a folder with one")->type_name("PATH");
  c.app->add_flag("--why", c.options->why, "every step from the text to its tokens");
  c.name("--train", &Options::train, "learn byte-pair encoding from this text")->type_name("FILE");
  c.number("--merges", &Options::merges, 0, 1000000, "merges to learn (8192)");
  c.name("--out", &Options::out, "a new folder for what was learned")->type_name("FOLDER");
}

void add_plot(CLI::App& app) {
  Command<PlotOptions> c(app, "plot", "pictures of all tensors in a file", plot, plot_examples);
  CLI::Option* const file = c.name("FILE", &PlotOptions::file, "a .safetensors or .npy file");
  c.name("--model", &PlotOptions::model, "or a model's folder, as Hugging Face lays it out")
      ->type_name("FOLDER")
      ->excludes(file);
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

void add_compare(CLI::App& app) {
  Command<CompareOptions> c(app, "compare", "where a model departs from another program, and why",
                            compare, compare_examples);
  c.name("FOLDER", &CompareOptions::folder, "the model's folder")->required();
  c.name("EXPECTED", &CompareOptions::expected, "a .safetensors file with ids and activations")
      ->required();
  c.app->add_flag("--verbose", c.options->verbose, "name the tensors that are passed over");
}

void add_zoo(CLI::App& app) {
  Command<ZooOptions> c(app, "zoo", "pictures of broken models: what is wrong?", zoo, zoo_examples);
  c.name("NAME", &ZooOptions::name, "the one to draw; without a name all are listed");
  c.pictures("for the picture (out/plots)");
  c.app->add_flag("--answer", c.options->answer, "tell what is wrong, and how it can be seen");
}

}  // namespace

void add_commands(CLI::App& app) {
  app.formatter(std::make_shared<Help>());
  app.footer(app_examples);
  app.set_version_flag("--version", "tapestry " + version());
  add_analyze(app);
  add_why(app);
  add_attribute(app);
  add_cut(app);
  add_patch(app);
  add_lens(app);
  add_circuit(app);
  add_explore(app);
  add_train(app);
  add_generate(app);
  add_convert(app);
  add_tokens(app);
  add_plot(app);
  add_tape(app);
  add_lab(app);
  add_compare(app);
  add_zoo(app);
  CLI::App* check = app.add_subcommand("doctor", "check that this machine has everything needed");
  check->footer(doctor_examples);
  check->callback(doctor);
}

}  // namespace tapestry::command
