// Child processes, which end with this one on a signal.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mutants {

// Waiting for a program throws this after Ctrl-C and the like.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("mutants: interrupted") {}
};

// From now on the signals that would end this program end its children, and are remembered.
void end_children_on_signals();

enum class Outcome { passed, failed, too_long };

// Runs a program without output, up to a time limit; then its whole process group is ended.
Outcome run_program(std::vector<std::string> words, std::vector<std::string> environment,
                    double seconds);

// Runs a shell command, and passes on each line of its output. True if it succeeded.
bool run_command(const std::string& command,
                 const std::function<void(const std::string&)>& take_line);

}  // namespace mutants
