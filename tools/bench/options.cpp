#include "options.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tapestry::bench {
namespace {

constexpr char what[] =
    "Measures each row for 1 thread and for all, in turn with OpenBLAS, oneDNN and, on 1 thread,\n"
    "PyTorch where they have the same operation. Prints a table; writes FOLDER/bench.json, "
    "FOLDER/plots/bench_roofline.png\n"
    "and FOLDER/plots/bench_threads.png. LLAMA2C=PATH decodes in turn with llama2.c's run, too.";

constexpr char examples[] =
    "Stop it with Ctrl-C: nothing is written then. TAPESTRY_KERNELS=avx2 (or sse2, reference ...)\n"
    "measures another kernel set, and holds the peers to the same instructions.";

void add_options(CLI::App& app, Options& options) {
  app.get_formatter()->column_width(20);
  app.footer(examples);
  app.add_option("--rows", options.words,
                 "only rows whose group and name hold one of these words, divided by\n"
                 "commas: --rows matmul, --rows 'softmax,layer norm', --rows memory;\n"
                 "two sets only if they are named: --rows models: files of 1 GB are\n"
                 "written to TMPDIR, and removed; --rows busy: training beside\n"
                 "processes that want all processors, which it starts and ends itself")
      ->type_name("WORDS")
      ->delimiter(',');
  app.add_option("--threads", options.threads,
                 "instead of 1 and all: --threads 1 or --threads 1,4,8")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->type_name("COUNTS");
  app.add_option("--seconds", options.seconds,
                 "for each line, 0.6 unless told; noisy machines need more")
      ->type_name("S")
      ->check(CLI::Range(0.0, 60.0));
  app.add_option("--python", options.python,
                 "instead of python3, to find PyTorch (2.6 or later is judged): for\n"
                 "example --python 'chroot /srv/trixie python3'; '' for none")
      ->type_name("COMMAND");
  app.add_option("--out", options.out, "instead of out")->type_name("FOLDER");
  app.add_flag("--list", options.list, "names the rows and measures nothing");
}

}  // namespace

void refuse(const std::string& problem) {
  std::fprintf(stderr, "bench: %s; try --help\n", problem.c_str());
  std::exit(2);
}

bool Options::ask_for(const std::string& name) const {
  const auto holds = [&](const std::string& word) { return name.find(word) != std::string::npos; };
  return words.empty() || std::any_of(words.begin(), words.end(), holds);
}

Options read_options(int count, char** words) {
  Options options;
  CLI::App app(what, "bench");
  add_options(app, options);
  try {
    app.parse(count, words);
  } catch (const CLI::Success& asked) {  // --help
    std::exit(app.exit(asked));
  } catch (const CLI::Error& error) {
    refuse(error.what());
  }
  for (const std::string& word : options.words)
    options.rows += (options.rows.empty() ? "" : ",") + word;
  return options;
}

}  // namespace tapestry::bench
