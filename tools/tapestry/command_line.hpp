// One sub-command of `tapestry` and its options, for the files that list them.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <limits>
#include <memory>
#include <string>

#include "commands.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {

// The sub-commands that ask a model, and those that make models, texts and files, in the order of
// --help.
void add_asking_commands(CLI::App& app);
void add_making_commands(CLI::App& app);

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

inline constexpr Index most = std::numeric_limits<std::int32_t>::max();

inline std::string is_named(const std::string& text) {
  return text.empty() ? "the name is empty" : "";
}

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
      (void)kernel_set();  // throws Error at once, if the environment is wrong
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

}  // namespace tapestry::command
