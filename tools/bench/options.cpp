#include "options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace tapestry::bench {
namespace {

constexpr char help[] =
    "usage: bench [--rows WORDS] [--threads COUNTS] [--seconds S] [--out FOLDER] [--list]\n"
    "\n"
    "Measures each row for 1 thread and for all, in turn with OpenBLAS and oneDNN where they have\n"
    "the same operation. Prints a table; writes FOLDER/bench.json, "
    "FOLDER/plots/bench_roofline.png\n"
    "and FOLDER/plots/bench_threads.png.\n"
    "\n"
    "  --rows WORDS      only rows whose group and name hold one of these words, divided by "
    "commas:\n"
    "                    --rows matmul, --rows 'softmax,layer norm', --rows memory;\n"
    "                    --rows busy: training beside processes that want all processors, which\n"
    "                    it starts and ends itself\n"
    "  --threads COUNTS  instead of 1 and all: --threads 1 or --threads 1,4,8\n"
    "  --seconds S       for each line, 0.6 unless told; noisy machines need more\n"
    "  --out FOLDER      instead of out\n"
    "  --list            names the rows and measures nothing\n"
    "\n"
    "Stop it with Ctrl-C: nothing is written then. TAPESTRY_KERNELS=avx2 (or sse2, reference ...)\n"
    "measures another kernel set; OPENBLAS_CORETYPE chooses the kernels of OpenBLAS.\n";

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  std::erase(parts, "");
  return parts;
}

double number(const std::string& flag, const std::string& text, int least, int most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= most)) {
    refuse(flag + " " + text + ": wants numbers from " + std::to_string(least) + " to " +
           std::to_string(most));
  }
  return value;
}

void set_option(Options& options, const std::string& flag, const std::string& value) {
  if (flag == "--rows") {
    options.rows = value;
    options.words = split(value);
  } else if (flag == "--threads") {
    for (const std::string& part : split(value)) {
      options.threads.push_back(static_cast<int>(number(flag, part, 1, 1024)));
    }
  } else if (flag == "--seconds") {
    options.seconds = number(flag, value, 0, 60);
  } else {
    options.out = value;
  }
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
  const std::set<std::string> with_value{"--rows", "--threads", "--seconds", "--out"};
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string flag = words[i];
    if (flag == "--help" || flag == "-h") {
      std::fputs(help, stdout);
      std::exit(0);
    } else if (flag == "--list") {
      options.list = true;
    } else if (!with_value.contains(flag)) {
      refuse("there is no option " + flag);
    } else if (i + 1 == count) {
      refuse(flag + " wants a value");
    } else {
      set_option(options, flag, words[++i]);
    }
  }
  return options;
}

}  // namespace tapestry::bench
