// Command lines: each line of an input is an argument. The commands only check their numbers here.
#include "tapestry/arguments.hpp"

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "tapestry/commands.hpp"

using tapestry::Index;
using tapestry::fuzz::require;

namespace tapestry::command {
namespace {

template <class Number>
void within(Number low, Number value, Number high) {
  require(!(value < low) && !(value > high), "a number is within its range");  // or is NaN
}

constexpr Index most = 2147483647;

}  // namespace

void analyze(const AnalyzeOptions& o) {
  within<Index>(-1, o.layer, most);
  within<Index>(-1, o.head, most);
}

void why(const WhyOptions& o) {
  within<Index>(0, o.layer, most);
  within<Index>(0, o.head, most);
}

void attribute(const AskOptions& o) { within<Index>(0, o.position.value_or(0), most); }
void lens(const LensOptions& o) { within<Index>(0, o.position.value_or(0), most); }

void cut(const CutOptions& o) {
  within<Index>(0, o.position.value_or(0), most);
  within<Index>(1, o.draws, 10000);
  within<Index>(0, o.seed, most);
}

void patch(const PatchOptions& o) {
  within<Index>(0, o.position.value_or(0), most);
  within<Index>(-1, o.layer, most);
}

void circuit(const CircuitOptions& o) {
  within<Index>(0, o.layer, most);
  within<Index>(0, o.head, most);
}

void explore(const ExploreOptions&) {}

void train(const TrainOptions& o) {
  within<Index>(0, o.merges.value_or(0), 1000000);
  within<Index>(0, o.steps.value_or(0), most_steps);
  within<Index>(1, o.batch.value_or(1), most_batch);
  within<Index>(1, o.micro_batches.value_or(1), most_batch);
  within<Index>(1, o.ranks.value_or(1), 1024);
  within<Index>(1, o.layers.value_or(1), 64);
  within<Index>(1, o.heads.value_or(1), 64);
  within<Index>(1, o.width.value_or(1), 1024);
  within<Index>(8, o.length.value_or(8), most_length);
  within<Index>(1, o.save_every, most_steps);
  within<Index>(2, o.snapshots.value_or(2), most_snapshots);
  within<double>(0, o.rate.value_or(0), 1);
  within<Index>(0, o.seed.value_or(0), most);
}

void hand(const HandOptions& o) {
  require(!o.heads.empty(), "there is a head");
  within<double>(0, o.sharpness, 1000);
  within<Index>(8, o.length.value_or(8), most_length);
}

void generate(const GenerateOptions& o) {
  within<Index>(-1, o.length, 100000);
  within<Index>(1, o.count, 100000);
  within<double>(0, o.temperature, 1000);
  within<Index>(0, o.top_k, most);
  within<double>(0, o.top_p, 1);
  within<double>(0, o.repetition_penalty, 1000);
  within<Index>(0, o.seed, most);
}

void convert(const ConvertOptions&) {}
void compare(const CompareOptions&) {}
void bits(const BitsOptions&) {}
void tokens(const TokensOptions& o) { within<Index>(0, o.merges, 1000000); }
void plot(const PlotOptions&) {}
void tape(const TapeOptions&) {}

void lab(const LabOptions& o) {
  require(!o.lengths.empty() && o.lengths.size() <= 16, "there are lengths, not too many");
  for (const Index length : o.lengths) within<Index>(1, length, 65536);
  within<Index>(1, o.heads, 64);
  within<Index>(1, o.width, 4096);
  within<Index>(1, o.batch, most_batch);
  within<Index>(0, o.window, 65536);
  within<Index>(1, o.repeats, 1000);
  within<Index>(0, o.threads, 256);
  within<double>(0, o.seconds, 3600);
}

void doctor() {}

}  // namespace tapestry::command

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      lines.emplace_back();
    } else if (data[i] != 0) {  // which ends an argument for every program
      lines.back() += static_cast<char>(data[i]);
    }
  }
  CLI::App app("fuzz", "tapestry");
  tapestry::command::add_commands(app);
  std::vector<const char*> arguments = {"tapestry"};
  for (const std::string& line : lines) arguments.push_back(line.c_str());
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::CallForHelp&) {
    app.help();
  } catch (const CLI::Error&) {
  }
  return 0;
}
