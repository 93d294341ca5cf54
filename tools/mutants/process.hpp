// Other programs, which end when this one is told to.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mutants {

// What waits for a program throws this after Ctrl-C and the like.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("mutants: interrupted") {}
};

// From now on the signals that would end this program end its children, and are remembered.
void end_children_on_signals();

enum class Outcome { passed, failed, too_long };

// Runs a program unheard, at most so long; then what it started is ended with it.
Outcome run_program(std::vector<std::string> words, std::vector<std::string> environment,
                    double seconds);

// Runs a command of the shell, and hands over each line that it writes. True if it went well.
bool run_command(const std::string& command,
                 const std::function<void(const std::string&)>& take_line);

}  // namespace mutants
