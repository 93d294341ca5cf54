// The `tapestry` command: `tapestry --help` lists its sub-commands.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "interruption.hpp"
#include "screen.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/unicode.hpp"

namespace {

using tapestry::closest;

// One rank of several ends the others with it.
int complain(const std::string& message, int status) {
  if (tapestry::ranks_started() > 1) tapestry::end_all_ranks(message, status);
  tapestry::command::warn(message);
  return status;
}

// All ranks agreed to stop; rank 0 says so.
int stopped(const tapestry::command::Interrupted& interrupted) {
  if (tapestry::ranks_of_this_program().rank() == 0) {
    tapestry::command::warn(interrupted.what());
    std::fprintf(stderr, "  %s\n", interrupted.command.c_str());
  }
  return 128 + interrupted.signal;
}

std::string guess(const std::string& word, const std::vector<std::string>& names) {
  const std::string similar = closest(word, names);
  return similar.empty() ? "" : " Did you mean " + similar + "?";
}

// The error in the first word, for which CLI11 only says "unexpected"; "" if it is a command or an
// option.
std::string unknown_command(const CLI::App& app, int count, char** arguments) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  if (count < 2) return "give a command: " + all + ". See --help.";
  const std::string first = arguments[1];
  names.insert(names.end(), {"-h", "--help", "--version"});
  if (std::find(names.begin(), names.end(), first) != names.end()) return "";
  return tapestry::in_quotes(first) + " is not a command; there are " + all + "." +
         guess(first, names);
}

// The first unknown option, or surplus word.
std::string unexpected(const CLI::App& app, const std::string& otherwise) {
  const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options({})) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& word : command->remaining()) {
    if (!word.starts_with("-")) continue;
    return tapestry::in_quotes(word) + " is not an option of " + command->get_name() + "." +
           guess(word.substr(0, word.find('=')), names);
  }
  return otherwise;
}

// The option's name is before the colon; CLI11's text after it is about C++ types.
std::string without_value(const CLI::ArgumentMismatch& error) {
  const std::string words = error.what();
  if (!words.ends_with(" missing")) return words;
  return words.substr(0, words.find(':')) + ": a value must follow it";
}

int run(int count, char** arguments) {
  CLI::App app("train small transformers and look into their attention", "tapestry");
  try {
    tapestry::command::add_commands(app);
    const std::string unknown = unknown_command(app, count, arguments);
    if (!unknown.empty()) return complain(unknown, 2);
    app.require_subcommand(1);
    app.parse(count, arguments);
    return 0;
  } catch (const CLI::Success& asked) {  // --help or --version
    return app.exit(asked);
  } catch (const CLI::ExtrasError& error) {
    return complain(unexpected(app, error.what()) + " (--help tells more)", 2);
  } catch (const CLI::ArgumentMismatch& error) {
    return complain(without_value(error) + " (--help tells more)", 2);
  } catch (const CLI::Error& error) {
    return complain(std::string(error.what()) + " (--help tells more)", 2);
  }
}

// The library begins the message of a reader or writer with its name, "read_npy: ", which tells the
// user of the command nothing.
std::string without_function(const std::string& message) {
  const std::size_t end = message.find(": ");
  const bool named = message.starts_with("read_") || message.starts_with("write_");
  return named && end != message.npos ? message.substr(end + 2) : message;
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file above the size limit is then an error like a full disk
  try {
    const int status = run(count, arguments);
    if (status == 0) tapestry::command::flush();
    return status;
  } catch (const tapestry::command::Interrupted& interrupted) {
    return stopped(interrupted);
  } catch (const tapestry::command::Exit& exit) {
    return *exit.what() == '\0' ? exit.status : complain(exit.what(), exit.status);
  } catch (const std::bad_alloc&) {
    return complain("out of memory. Use a smaller model, shorter texts or a smaller batch.", 1);
  } catch (const std::exception& error) {
    return complain(without_function(error.what()), 1);
  }
}
