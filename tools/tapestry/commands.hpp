// The sub-commands of `tapestry`, without the command line: arguments.cpp fills the structs. Each
// prints to standard output and throws Error if it fails.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/real.hpp"

namespace tapestry::command {

using Path = std::filesystem::path;

// Limits of the training options.
inline constexpr Index most_length = 1024, most_batch = 4096, most_steps = 10000000;

// Where pictures go, and what they are.
struct PictureOptions {
  Path out = "out/plots";
  std::string format = "png";  // or svg
  Path path(const std::string& name) const { return out / (name + "." + format); }
};

struct AnalyzeOptions : PictureOptions {
  Path checkpoint;
  std::string text;
  Index layer = -1, head = -1;  // -1: all
};
void analyze(const AnalyzeOptions& options);

struct WhyOptions {
  Path checkpoint;
  std::string text;
  Index layer = 0, head = 0;
  std::string query, key;  // a word of the text, or word@place, or a place
};
void why(const WhyOptions& options);

// What is not given is as in the file of a resumed run, or else the default.
struct TrainOptions : PictureOptions {
  std::string task;  // copy, reverse, sort, induction, grammar, or a text file
  Path checkpoint;   // empty: out/checkpoints/<task>.safetensors
  bool overwrite = false, resume = false;
  std::optional<Index> steps = {};                           // 500, in all
  std::optional<Index> batch = {}, length = {};              // 32, 64
  std::optional<Index> layers = {}, heads = {}, width = {};  // 2, 4, 64
  std::optional<double> rate = {};                           // 3e-3
  std::optional<Index> seed = {};                            // 1
  bool attention_only = false;
  Index save_every = 100;
};
void train(const TrainOptions& options);

struct GenerateOptions {
  Path checkpoint;
  std::string text;   // how it begins
  Index length = -1;  // most new words; -1: 20, or 200 characters
  Index count = 1;
  double temperature = 1;
  Index top_k = 0;
  double top_p = 1;
  Index seed = 1;
};
void generate(const GenerateOptions& options);

struct PlotOptions : PictureOptions {
  Path file;
  std::string tensor;  // empty: all
};
void plot(const PlotOptions& options);

struct TapeOptions : PictureOptions {
  std::string model = "neuron";
};
void tape(const TapeOptions& options);

struct LabOptions {
  std::vector<Index> lengths = {64, 256, 1024};
  Index heads = 4, width = 128, batch = 1, window = 32;
  Index repeats = 5;
  Index threads = 0;  // 0: the library's default
  double seconds = 5;
  bool causal = false;
};
void lab(const LabOptions& options);

void doctor();

}  // namespace tapestry::command
