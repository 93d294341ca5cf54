#include "build.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "process.hpp"

namespace mutants {
namespace {

// The mutants on the lines of errors; if there are none, those on the lines of the notes around
// them, or else all in the files that have errors.
std::set<std::string> mutants_in(const std::vector<std::string>& messages,
                                 const std::vector<Mutant>& mutants) {
  std::set<std::string> of_errors, of_notes, of_files;
  for (const std::string& message : messages) {
    const bool error = message.find("error: ") != std::string::npos;
    for (const Mutant& mutant : mutants) {
      const std::string path = mutant.source->path + ":";
      const std::size_t at = message.find(path);
      if (at == std::string::npos) continue;
      const int line = std::atoi(message.c_str() + at + path.size());
      const auto& tokens = mutant.source->tokens;
      const bool around =
          tokens[mutant.site.from].line <= line && line <= tokens[mutant.site.to - 1].line;
      if (around) (error ? of_errors : of_notes).insert(mutant.name());
      if (error) of_files.insert(mutant.name());
    }
  }
  return !of_errors.empty() ? of_errors : !of_notes.empty() ? of_notes : of_files;
}

}  // namespace

std::set<std::string> build(const std::string& command, const std::vector<Mutant>& mutants) {
  std::vector<std::string> messages;
  int compiled = 0;
  const bool good = run_command(command, [&](const std::string& line) {
    if (!line.starts_with("  c++ ")) {
      messages.push_back(line);
    } else if (++compiled % 25 == 0) {
      std::printf("%d files compiled\n", compiled);
      std::fflush(stdout);
    }
  });
  if (good) return {};
  std::set<std::string> names = mutants_in(messages, mutants);
  if (!names.empty()) return names;
  std::string all = "mutants: this failed: " + command;
  for (const std::string& message : messages) all += "\n" + message;
  throw std::runtime_error(all);
}

}  // namespace mutants
