// The command line of `tapestry`: which sub-commands and options there are, and what --help says.
#pragma once

namespace CLI {
class App;
}

namespace tapestry::command {

// Adds all sub-commands with their options. Parsing then calls the one that was given.
void add_commands(CLI::App& app);

}  // namespace tapestry::command
