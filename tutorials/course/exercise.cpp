#include "course/exercise.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <sstream>

#include "course/judgement.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/png.hpp"

namespace tapestry {
namespace {

void print_tensors(const char* title, const NamedTensors& tensors) {
  for (const NamedTensor& one : tensors) {
    const std::string text = one.value.defined() ? to_string(one.value, 4, 36) : "nothing";
    std::printf("  %s %s%s", title, one.name.c_str(),
                text.find('\n') == std::string::npos ? " " : "\n    ");
    for (const char c : text) {
      std::putchar(c);
      if (c == '\n') std::printf("    ");
    }
    std::putchar('\n');
  }
}

std::string place_of(const Tensor& tensor, std::size_t at) {
  std::string text;
  for (int axis = tensor.ndim() - 1; axis >= 0; --axis) {
    const auto size = static_cast<std::size_t>(tensor.size(axis));
    text = std::to_string(at % size) + (text.empty() ? "" : ", ") + text;
    at /= size;
  }
  return "(" + text + ")";
}

// "scores differs first at (0, 2): 0.5, expected 0.25", or in what else they differ.
std::string first_difference(const NamedTensor& found, const NamedTensor& expected,
                             double tolerance) {
  const Tensor &a = found.value, &b = expected.value;
  const std::string name = expected.name;
  if (!a.defined() || !b.defined()) return name + " is nothing, a Tensor() without numbers";
  if (a.shape() != b.shape()) {
    return name + " has shape " + to_string(a.shape()) + ", expected " + to_string(b.shape());
  }
  const std::vector<real> x = a.values(), y = b.values();
  const double allowed = allowed_difference(b, tolerance);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(double{x[i]} - double{y[i]});
    if (x[i] == y[i] || difference <= allowed || (x[i] != x[i] && y[i] != y[i])) {
      continue;
    }
    return name + formatted(" differs first at %s: %.6g, expected %.6g", place_of(a, i).c_str(),
                            double{x[i]}, double{y[i]});
  }
  return "";
}

plot::Heatmap map_of(const std::string& title, const Tensor& x) {
  const std::vector<real> values = x.values();
  return {.rows = x.size(0),
          .columns = x.size(1),
          .values = std::vector<double>(values.begin(), values.end()),
          .title = title,
          .row_axis = "row",
          .column_axis = "column"};
}

// The first matrix that is wrong beside the right one. False if there is none to draw.
bool draw_pair(const Judgement& it, const std::string& path) {
  for (std::size_t i = 0; i < std::min(it.expected.size(), it.found.results.size()); ++i) {
    const Tensor &found = it.found.results[i].value, &expected = it.expected[i].value;
    if (!found.defined() || found.ndim() != 2 || expected.ndim() != 2) continue;
    if (found.numel() == 0 || expected.numel() == 0) continue;
    const std::string name = it.expected[i].name;
    plot::HeatmapGrid both{.columns = 2,
                           .maps = {map_of("expected", expected), map_of("yours", found)},
                           .title = name};
    plot::write_png(render(both, 260), path);
    return true;
  }
  return false;
}

// What a test of the learner's let pass, over all cases: a fault counts as caught if it always was.
void explain_test(const Exercise& exercise, const Judgement& it) {
  std::vector<bool> passed(exercise.faults.size() + 1), refused(exercise.faults.size() + 1);
  for (const Outcome& one : it.run.outcomes) {
    const std::vector<real> passes = one.results.at(0).value.values();
    for (std::size_t i = 0; i < std::min(passes.size(), passed.size()); ++i) {
      (passes[i] != 0 ? passed : refused)[i] = true;
    }
  }
  const auto missed = std::count(passed.begin() + 1, passed.end(), true);
  const auto faults = static_cast<std::ptrdiff_t>(exercise.faults.size());
  std::printf("wrong: you caught %td of %td faults\n", faults - missed, faults);
  if (refused[0]) std::puts("  your test refuses a function that is right");
  for (std::size_t i = 1; i < passed.size(); ++i) {
    if (passed[i]) std::printf("  it lets pass: %s\n", exercise.faults[i - 1].c_str());
  }
}

void explain_unknown(const Exercise& exercise, const Judgement& it, const std::string& picture) {
  if (!exercise.faults.empty()) return explain_test(exercise, it);
  if (it.is_always_the_same) {
    std::puts("wrong: the same numbers whatever the inputs. An answer that was typed in?");
  } else {
    std::puts("wrong, and not by a mistake that I know. The smallest input that fails:");
  }
  print_tensors("given   ", inputs_of(exercise, it.at));
  print_tensors("expected", it.expected);
  print_tensors("yours   ", it.found.results);
  for (std::size_t i = 0; i < std::min(it.expected.size(), it.found.results.size()); ++i) {
    const std::string text =
        first_difference(it.found.results[i], it.expected[i], exercise.tolerance);
    if (text.empty()) continue;
    std::printf("  %s\n", text.c_str());
    break;
  }
  if (!picture.empty() && draw_pair(it, picture))
    std::printf("  both drawn: %s\n", picture.c_str());
}

// ---- What ended without a result

// Of a sanitizer's report: what it found, and the first line of a file of the learner's.
std::string sanitizer_text(const std::string& said) {
  const auto at = said.find("ERROR: AddressSanitizer: ");
  if (at == std::string::npos) return "";
  std::istringstream lines(said.substr(at + std::strlen("ERROR: AddressSanitizer: ")));
  std::string kind, line, place;
  lines >> kind;
  while (place.empty() && std::getline(lines, line)) {
    const auto file = line.find("out/learn/");
    if (file != std::string::npos) place = " at " + line.substr(file);
  }
  if (kind == "stack-overflow") return "it calls itself without end" + place;
  if (kind.find("alloc") != std::string::npos || kind == "out-of-memory") {
    return "it asks for more memory than there is" + place;
  }
  return "it reads or writes memory that is not its own (" + kind + ")" + place;
}

std::string ending_text(const Judgement& it) {
  const Apart& run = it.run;
  if (it.found.kind == Outcome::threw) return "it threw: " + it.found.text;
  if (it.found.kind == Outcome::changed_input) {
    return "it changed its input '" + it.found.text + "', which others still need";
  }
  if (run.ending == Apart::too_long) return "it took more than 10 seconds: a loop without end?";
  if (run.ending == Apart::too_large)
    return "it took more than 1 GB of memory: a loop without end?";
  const std::string found = sanitizer_text(run.said);
  if (!found.empty()) return found;
  if (run.ending == Apart::left)
    return "it ended the program, as exit() does, instead of returning";
  if (run.signal == SIGXFSZ) return "it printed more than 16 MB";
  return std::string("it crashed: ") + ::strsignal(run.signal);
}

void explain_unreadable(const Exercise& exercise, const Judgement& it) {
  std::printf("no result: %s\n", ending_text(it).c_str());
  print_tensors("given", inputs_of(exercise, it.at));
}

// What the learner's function printed: its first lines.
void print_said(const std::string& said) {
  if (said.find("AddressSanitizer") != std::string::npos || said.empty()) return;
  std::puts("  it printed:");
  std::istringstream lines(said);
  std::string line;
  for (int i = 0; std::getline(lines, line); ++i) {
    if (i == 20) {
      std::puts("    ...");
      return;
    }
    std::printf("    %.76s\n", line.c_str());
  }
}

// Prints the words in lines of at most 78 characters; as in all sentences of checks, one byte each.
void print_wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line, word;
  while (words >> word) {
    if (line.size() + 1 + word.size() > 78) {
      std::puts(line.c_str());
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  std::puts(line.c_str());
}

int report(const Exercise& exercise, std::uint64_t seed, const std::string& picture) {
  const Judgement it = judge_attempt(exercise, exercise.learner, seed);
  if (it.verdict == Judgement::not_written) {
    std::puts("not written yet");
    return 2;
  }
  if (it.verdict == Judgement::right) {
    std::printf("right, on %zu inputs of all sizes\n", it.run.outcomes.size());
  } else if (it.verdict == Judgement::known) {
    const KnownMistake& one = exercise.mistakes[it.mistake];
    std::printf("wrong: %s\n", one.name.c_str());
    print_wrapped(one.sentence);
  } else if (it.verdict == Judgement::unknown) {
    explain_unknown(exercise, it, picture);
  } else {
    explain_unreadable(exercise, it);
  }
  if (it.verdict != Judgement::right) {
    std::printf("  (the same inputs again: --seed %llu)\n", static_cast<unsigned long long>(seed));
  }
  print_said(it.run.said);
  return it.verdict == Judgement::right ? 0 : it.verdict == Judgement::unknown ? 3 : 1;
}

}  // namespace

int judge(const Exercise& exercise, int count, char** arguments) {
  use_threads(1);  // a process that has threads cannot be copied with them
  std::uint64_t seed = std::random_device()() % 1000000;
  std::string picture;
  try {
    for (int i = 1; i < count; ++i) {
      const std::string word = arguments[i], value = i + 1 < count ? arguments[i + 1] : "";
      if (word == "--prove") return prove(exercise) == 0 ? 0 : 1;
      if (word == "--seed") seed = std::strtoull(value.c_str(), nullptr, 10);
      if (word == "--picture") picture = value;
      if (word == "--hint") {
        print_wrapped(exercise.hints.at(std::strtoul(value.c_str(), nullptr, 10) - 1));
        return 0;
      }
    }
    return report(exercise, seed, picture);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the check failed: %s\n", error.what());
    return 4;
  }
}

}  // namespace tapestry
