#include "build.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace mutants {
namespace {

// The mutants on the line (path:line:) that a message names, or all of its file.
std::set<std::string> named_in(const std::string& message, const std::vector<Mutant>& mutants,
                               bool whole_file) {
  std::set<std::string> names;
  for (const Mutant& mutant : mutants) {
    const std::size_t at = message.find(mutant.source->path + ":");
    if (at == std::string::npos) continue;
    const int line = std::atoi(message.c_str() + at + mutant.source->path.size() + 1);
    const auto& tokens = mutant.source->tokens;
    const bool around =
        tokens[mutant.site.from].line <= line && line <= tokens[mutant.site.to - 1].line;
    if (around || whole_file) names.insert(mutant.name());
  }
  return names;
}

}  // namespace

std::set<std::string> blamed(const std::vector<std::string>& messages,
                             const std::vector<Mutant>& mutants) {
  std::set<std::string> all, around;
  bool answered = true;
  for (const std::string& message : messages) {
    const std::set<std::string> names = named_in(message, mutants, false);
    if (message.find("error: ") == std::string::npos) {
      around.insert(names.begin(), names.end());
      if (!answered && !names.empty()) {
        all.insert(names.begin(), names.end());
        answered = true;
      }
      continue;
    }
    const std::set<std::string>& guilty = names.empty() ? around : names;
    all.insert(guilty.begin(), guilty.end());
    answered = !guilty.empty();
    around.clear();
  }
  for (const std::string& message : messages) {
    if (!all.empty()) break;
    if (message.find("error: ") != std::string::npos) all = named_in(message, mutants, true);
  }
  return all;
}

std::set<std::string> build(const std::string& command, const std::vector<Mutant>& mutants) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("mutants: cannot run " + command);
  std::vector<std::string> messages;
  std::string line;
  for (int c = 0; (c = std::getc(pipe)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    messages.push_back(line);
    line.clear();
  }
  if (pclose(pipe) == 0) return {};
  std::set<std::string> names = blamed(messages, mutants);
  if (!names.empty()) return names;
  std::string all = "mutants: this failed: " + command + "\n";
  for (const std::string& message : messages) {
    if (!message.starts_with("  c++ ")) all += message + "\n";
  }
  throw std::runtime_error(all);
}

}  // namespace mutants
