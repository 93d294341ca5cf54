#include "options.hpp"

#include <stdexcept>

namespace mutants {
namespace {

std::size_t number(const std::string& name, const std::string& text) {
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    throw std::runtime_error("mutants: " + name + " is '" + text + "'; it has to be a number.");
  }
  return std::stoul(text);
}

}  // namespace

Options options_of(int count, char** values) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = values[i];
    if (name == "--list") {
      options.list = true;
      continue;
    }
    const std::string value = ++i < count ? values[i] : "";
    if (name == "--seed") {
      options.seed = number(name, value);
    } else if (name == "--count") {
      options.count = number(name, value);
    } else if (name == "--share") {
      const std::size_t slash = value.find('/');
      options.part = number(name, value.substr(0, slash));
      options.parts = slash == std::string::npos ? 0 : number(name, value.substr(slash + 1));
      if (options.part < 1 || options.part-- > options.parts) {
        throw std::runtime_error("mutants: --share is '" + value + "'; 3/10 is the third tenth.");
      }
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--lines") {
      options.lines = value;
    } else if (name == "--sites") {
      options.sites = value;
    } else {
      throw std::runtime_error("mutants: '" + name +
                               "' is no option; there are --seed, --count, --share, --only, "
                               "--list, --lines and --sites.");
    }
  }
  return options;
}

}  // namespace mutants
