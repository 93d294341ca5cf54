#include "options.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdlib>
#include <stdexcept>

#include "weave.hpp"

namespace mutants {
namespace {

void add_options(CLI::App& app, Options& options) {
  app.get_formatter()->column_width(20);
  app.add_option("--seed", options.seed, "draws others")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--count", options.count, "how many are drawn")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, most_mutants));
  app.add_option("--share", options.share, "of these a part only: 3/10 is the third tenth")
      ->type_name("I/N")
      ->delimiter('/');
  app.add_option("--only", options.only, "of these only those in files that begin so")
      ->type_name("PATH");
  app.add_flag("--list", options.list, "shows them, and runs nothing");
  app.add_option("--lines", options.lines, "lists of the lines that are compiled here")
      ->type_name("FOLDER");
  app.add_option("--sites", options.sites, "shows all that can be drawn from this file")
      ->type_name("FILE");
}

}  // namespace

Options options_of(int count, char** values) {
  Options options;
  CLI::App app("Can the tests fail? CONTRIBUTING.md tells more.", "mutants");
  add_options(app, options);
  try {
    app.parse(count, values);
    const auto [part, parts] = options.share;
    if (part < 1 || part > parts) throw CLI::ValidationError("--share", "3/10 is the third tenth");
  } catch (const CLI::Success& asked) {  // --help
    std::exit(app.exit(asked));
  } catch (const CLI::Error& error) {
    throw std::runtime_error(std::string("mutants: ") + error.what() + "; try --help");
  }
  return options;
}

}  // namespace mutants
