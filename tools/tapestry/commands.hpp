// The sub-commands of `tapestry`, without the command line: arguments*.cpp fill the structs. Each
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
inline constexpr Index most_length = 1024, most_batch = 4096, most_steps = 10000000,
                       most_snapshots = 400;

// Where pictures go, and what they are.
struct PictureOptions {
  Path out = "out/plots";
  std::string format = "png";  // or svg
  Path path(const std::string& name) const { return out / (name + "." + format); }
};

// A model and its input.
struct ModelOptions {
  Path checkpoint, model;  // a file, or a folder; one of them is empty
  Path adapters;           // beside the folder; empty: none
  std::string text;
};

struct AnalyzeOptions : PictureOptions, ModelOptions {
  Index layer = -1, head = -1;  // -1: all
  std::string pattern;          // the one to show of every head; empty: the best of each
  Path table;                   // for the numbers of the heads, as CSV; empty: none
};
void analyze(const AnalyzeOptions& options);

struct WhyOptions : ModelOptions {
  Index layer = 0, head = 0;
  std::string query, key;  // a word of the text, or word@place, or a place
};
void why(const WhyOptions& options);

// Numbers for other programs; empty: none.
struct FileOptions {
  Path json, npy;
};

// What is asked of a model: ln(probability) of a token, or how far its logit is above another's.
struct AskOptions : PictureOptions, ModelOptions, FileOptions {
  std::string token, against;          // empty: the likeliest, and none or the likeliest other one
  std::optional<Index> position = {};  // the last one
  Path texts;                          // of many texts instead of one; empty: none
};
void attribute(const AskOptions& options);

struct CutOptions : AskOptions {
  std::vector<std::string> parts = {};  // "2.3", ...; none: each part of the model alone
  Index draws = 20, seed = 1;           // of parts cut at random
};
void cut(const CutOptions& options);

struct LensOptions : AskOptions {
  Path fit;  // a text; empty: the lens without a fitted map
};
void lens(const LensOptions& options);

struct PatchOptions : AskOptions {
  std::string from;  // the other text
  Index layer = -1;  // of links; -1: none
};
void patch(const PatchOptions& options);

struct ExploreOptions {
  Path input;     // a checkpoint, or a folder
  Path adapters;  // beside the folder; empty: none
  std::vector<std::string> texts = {};
  std::vector<std::string> beside = {};  // files, folders, "untrained" or "none"; none given:
                                         // "untrained"
  Path out;                              // empty: out/explorer/NAME.html
  bool recorded = false;                 // without the engine, where it was built
};
void explore(const ExploreOptions& options);

struct CircuitOptions : PictureOptions, ModelOptions, FileOptions {
  Index layer = 0, head = 0;
  std::string from;  // "0.3": an earlier head, whose outputs are the keys
};
void circuit(const CircuitOptions& options);

// What is not given is as in the file of a resumed run, or else the default.
struct TrainOptions : PictureOptions {
  std::string task;  // one of task_names(), or a text file
  Path checkpoint;   // empty: out/checkpoints/<task>.safetensors
  bool overwrite = false, resume = false;
  std::optional<Index> steps = {};                           // in all; 500, for induction 1000
  std::optional<Index> batch = {}, length = {};              // 32, 64
  std::optional<Index> layers = {}, heads = {}, width = {};  // 2, 4, 64
  std::optional<double> rate = {};                           // 3e-3
  std::optional<Index> seed = {};                            // 1
  bool attention_only = false;
  std::optional<Index> micro_batches = {};  // of a step's batch; none: it is one
  std::optional<Index> ranks = {};          // to start on this machine; none: as mpirun says
  bool shard_state = false;                 // each rank keeps Adam's state of a part only
  Index save_every = 100;
  std::optional<Index> snapshots = {};  // none
  std::optional<Index> merges = {};     // tokens of byte-pair encoding instead of characters
  Path model, save;                     // the folder to go on from, and where the result goes
  // By low-rank adapters, and all else stays fixed: of a rank, or those of a file.
  std::optional<Index> rank = {};
  std::string maps;                  // separated by commas; empty: query,value
  std::optional<double> alpha = {};  // the rank
  Path adapters;
  bool whole = false;  // save the whole model, with the adapters merged into it
};
void train(const TrainOptions& options);

struct HandOptions : FileOptions {
  std::vector<std::string> heads = {};  // "0.0 previous word"; "1.0 matrices": of these files
  Path query, key, value, output;       // .npy or CSV; empty: none
  double sharpness = 20;
  std::string task = "induction";    // or a text file
  std::optional<Index> length = {};  // positions; those of the task
  std::string text;                  // empty: one of the task
  Path beside;                       // a learned checkpoint; empty: none
  Path out = "out/checkpoints/hand.safetensors";
};
void hand(const HandOptions& options);

struct GenerateOptions {
  Path checkpoint, model;                // one of them is empty
  Path adapters;                         // beside the folder; empty: none
  std::optional<std::string> text = {};  // how it begins; "-": what standard input says
  Index length = -1;                     // most new words; -1: 20, 200 characters, 256 tokens
  Index count = 1;
  double temperature = 1;
  Index top_k = 0;
  double top_p = 1;
  double repetition_penalty = 1;
  std::vector<std::string> stop = {};
  bool probabilities = false;
  Index seed = 1;
};
void generate(const GenerateOptions& options);

struct ConvertOptions {
  Path input, folder;
  Path tokenizer;  // empty: tokenizer.bin beside the input, if it is there
};
void convert(const ConvertOptions& options);

struct TokensOptions {
  std::optional<std::string> text = {};  // none: standard input
  Path model;                            // a tokenizer's file, or a folder with one
  bool why = false, count = false;       // every step; or how many tokens, alone
  Path train, out;                       // a text to learn from, and where the new tokenizer goes
  Index merges = 8192;
};
void tokens(const TokensOptions& options);

struct PlotOptions : PictureOptions {
  Path file, model;    // one of them is empty
  std::string tensor;  // empty: all
};
void plot(const PlotOptions& options);

struct TapeOptions : PictureOptions {
  std::string model = "neuron";  // with `step` also a file of steps
  bool step = false;
  Path json;  // for the steps; empty: none
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

struct CompareOptions {
  Path folder;    // of the model
  Path expected;  // a safetensors file
  bool verbose = false;
};
void compare(const CompareOptions& options);

struct BitsOptions {
  Path first, second;  // two files, or two folders
};
void bits(const BitsOptions& options);

struct ZooOptions : PictureOptions {
  std::string name;  // empty: all are listed
  bool answer = false;
};
void zoo(const ZooOptions& options);

void doctor();

}  // namespace tapestry::command
