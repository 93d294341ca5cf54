#include "help.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>

#include "screen.hpp"

namespace tapestry::command {
namespace {

constexpr int name_columns = 24;

std::string row(const std::string& name, const std::string& what) {
  return "  " + left(name, name_columns) + "  " + folded(what, name_columns + 4) + "\n";
}

std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  return type == "INT" || type == "UINT" || type == "FLOAT" ? "N" : type;
}

std::string options(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options({})) {
    std::string name = option->get_positional() ? option->get_name(true) : "";
    for (const std::string& one : option->get_snames()) name += "-" + one + ", ";
    for (const std::string& one : option->get_lnames()) name += "--" + one;
    if (!option->get_positional() && option->get_type_size() > 0) name += " " + value_name(*option);
    text += row(name, option->get_description() + (option->get_required() ? " (needed)" : ""));
  }
  return text;
}

}  // namespace

std::string Help::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const auto commands = app->get_subcommands({});
  const bool whole = !commands.empty();
  std::string text = whole ? "tapestry: train small transformers and look into their attention\n\n"
                           : "tapestry " + app->get_name() + ": " + app->get_description() + "\n\n";
  text += "Usage: tapestry " + (whole ? "COMMAND" : app->get_name());
  for (const CLI::Option* option : app->get_options({})) {
    if (option->get_positional()) text += " " + option->get_name(true);
  }
  text += " [OPTIONS]\n\n";
  for (const CLI::App* command : commands) {
    text += row(command->get_name(), command->get_description());
  }
  return text + (whole ? "\n" : "") + options(*app) + "\n" + app->get_footer() + "\n";
}

}  // namespace tapestry::command
