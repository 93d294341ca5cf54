#include "options.hpp"

#include <functional>
#include <map>
#include <stdexcept>

#include "weave.hpp"

namespace mutants {
namespace {

[[noreturn]] void refuse(const std::string& rule) { throw std::runtime_error("mutants: " + rule); }

std::size_t number(const std::string& name, const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (text.empty() || text.size() > 9 || !digits) {
    refuse(name + " is '" + text + "'; it has to be a number.");
  }
  return std::stoul(text);
}

std::size_t count_of(const std::string& text) {
  const std::size_t count = number("--count", text);
  if (count < 1 || count > most_mutants) {
    refuse("--count is " + text + "; 1 to " + std::to_string(most_mutants) + " can be built.");
  }
  return count;
}

void take_share(Options& options, const std::string& text) {
  const std::size_t slash = text.find('/');
  options.part = number("--share", text.substr(0, slash));
  options.parts = slash == std::string::npos ? 0 : number("--share", text.substr(slash + 1));
  if (options.part < 1 || options.part-- > options.parts) {
    refuse("--share is '" + text + "'; 3/10 is the third tenth.");
  }
}

}  // namespace

Options options_of(int count, char** values) {
  Options options;
  const std::map<std::string, std::function<void(const std::string&)>> known = {
      {"--seed", [&](const std::string& text) { options.seed = number("--seed", text); }},
      {"--count", [&](const std::string& text) { options.count = count_of(text); }},
      {"--share", [&](const std::string& text) { take_share(options, text); }},
      {"--only", [&](const std::string& text) { options.only = text; }},
      {"--lines", [&](const std::string& text) { options.lines = text; }},
      {"--sites", [&](const std::string& text) { options.sites = text; }}};
  for (int i = 1; i < count; ++i) {
    const std::string name = values[i];
    const auto found = known.find(name);
    if (name == "--list") {
      options.list = true;
    } else if (found == known.end()) {
      std::string names;
      for (const auto& [each, take] : known) names += each + ", ";
      refuse("'" + name + "' is no option; there are " + names + "--list.");
    } else if (++i == count) {
      refuse(name + " needs a value.");
    } else {
      found->second(values[i]);
    }
  }
  return options;
}

}  // namespace mutants
