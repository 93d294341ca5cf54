// What the sub-commands of `tapestry` do, without the command line: arguments.cpp fills the
// structs. Each prints to standard output and throws Error where it cannot do its work.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tapestry/real.hpp"

namespace tapestry::command {

using Path = std::filesystem::path;

// Of what can be asked for in training.
inline constexpr Index most_length = 1024, most_batch = 4096, most_steps = 10000000;

struct AnalyzeOptions {
  Path checkpoint;
  std::string text;
  Index layer = -1, head = -1;  // -1: all
  Path out = "out/plots";
};
void analyze(const AnalyzeOptions& options);

struct WhyOptions {
  Path checkpoint;
  std::string text;
  Index layer = 0, head = 0;
  std::string query, key;  // a word of the text, or word@place, or a place
};
void why(const WhyOptions& options);

struct TrainOptions {
  std::string task;  // copy, reverse, sort, induction, grammar, or a text file
  Path checkpoint;   // empty: out/checkpoints/<task>.safetensors
  bool overwrite = false;
  bool resume = false;  // go on with the file; of the options below `steps` and `save_every` count
  Index steps = -1;     // in all; -1: 500, or with resume what the file says
  Index batch = 32, layers = 2, heads = 4, width = 64, length = 64, save_every = 100;
  double rate = 3e-3;
  Index seed = 1;
  bool attention_only = false;
};
void train(const TrainOptions& options);

struct GenerateOptions {
  Path checkpoint;
  std::string text;   // how it begins
  Index length = -1;  // at most so many new words; -1: 20, or 200 characters
  Index count = 1;
  double temperature = 1;
  Index top_k = 0;
  double top_p = 1;
  Index seed = 1;
};
void generate(const GenerateOptions& options);

struct PlotOptions {
  Path file;
  std::string tensor;  // empty: all
  Path out = "out/plots";
};
void plot(const PlotOptions& options);

struct TapeOptions {
  std::string model = "neuron";
  Path out = "out/plots";
};
void tape(const TapeOptions& options);

struct LabOptions {
  std::vector<Index> lengths = {64, 256, 1024};
  Index heads = 4, width = 128, batch = 1, window = 32;
  Index repeats = 5;
  Index threads = 0;  // 0: as many as the library takes by itself
  double seconds = 5;
  bool causal = false;
};
void lab(const LabOptions& options);

void doctor();

}  // namespace tapestry::command
