#include "train_adapters.hpp"

#include <algorithm>
#include <filesystem>

#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/adapter_file.hpp"
#include "tapestry/random.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

namespace fs = std::filesystem;

// The first of these options that was given, or "".
std::string given_of(const TrainOptions& o, bool file, bool rank) {
  if (rank && o.rank) return "--rank";
  if (!o.maps.empty()) return "--maps";
  if (o.alpha) return "--alpha";
  if (file && !o.adapters.empty()) return "--adapters";
  if (file && o.whole) return "--whole";
  return "";
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts = {""};
  for (const char letter : text) {
    if (letter == ',') parts.emplace_back();
    if (letter != ',') parts.back() += letter;
  }
  return parts;
}

}  // namespace

bool by_adapters(const TrainOptions& o) { return o.rank.has_value() || !o.adapters.empty(); }

bool saves_adapters(const TrainOptions& o) { return by_adapters(o) && !o.whole; }

void check_adapter_options(const TrainOptions& o) {
  const std::string any = given_of(o, true, true);
  if (any.empty()) return;
  if (o.model.empty()) {
    throw Error(any + " is for a model that goes on: give its folder with --model, too.");
  }
  if (!o.adapters.empty()) {
    const std::string twice = given_of(o, false, true);
    if (twice.empty()) return;
    throw Error("--adapters goes on with those of a file, which has their rank, maps and alpha: " +
                ("leave out " + twice) + ".");
  }
  if (o.rank) return;
  const std::string idle = given_of(o, false, false);
  if (!idle.empty()) throw Error(idle + " is for new adapters: give their --rank, too.");
  throw Error(
      "--whole merges adapters into the model: give their --rank, too. Without adapters the whole "
      "model is saved anyway.");
}

Path adapter_file(const TrainOptions& o) {
  if (!o.save.empty()) return o.save;
  return Path("out/adapters") / (Path(o.task).stem().string() + ".safetensors");
}

void check_adapter_file(const Path& file, bool overwrite) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    throw Error(file.string() +
                " is a folder, but adapters are one file: name a file with --save, or save the "
                "whole model with --whole.");
  }
  if (overwrite || !fs::exists(file, ignored)) return;
  throw Error(file.string() +
              " is there already: replace it with --overwrite, or name another file with --save.");
}

void adapt(Transformer& model, const TrainOptions& o) {
  if (!o.adapters.empty()) return load_adapters(o.adapters, model);
  if (!o.rank) return;
  AdapterOptions options{.rank = *o.rank, .alpha = o.alpha.value_or(0)};
  if (!o.maps.empty()) options.maps = split_at_commas(o.maps);
  Random random(static_cast<std::uint64_t>(o.seed.value_or(1)), 1);
  add_adapters(model, options, random);
}

namespace {

std::string list_of(const std::vector<std::string>& maps, const char* between) {
  std::string text;
  for (const std::string& map : maps) text += (text.empty() ? "" : between) + map;
  return text;
}

// As on a command line.
std::string options_text(const AdapterOptions& o) {
  return " --rank " + std::to_string(o.rank) + " --alpha " + exact_text(o.alpha) + " --maps " +
         list_of(o.maps, ",");
}

}  // namespace

Index adapter_count(const Transformer& model) {
  Index count = 0;
  for (const Parameter& one : adapter_parameters(model)) count += one.value.numel();
  return count;
}

std::string adapters_text(const Transformer& model) {
  const AdapterOptions options = adapter_options(model);
  const Index count = adapter_count(model), others = model.num_parameters() - count;
  return formatted("%lld numbers learn (%.2g %% of those): adapters of rank %lld at %s",
                   (long long)count, 100 * double(count) / double(others), (long long)options.rank,
                   list_of(options.maps, ", ").c_str());
}

std::string command_to_go_on(const TrainOptions& o, const Transformer& model, const Path& saved,
                             Index steps) {
  const std::string path = saved.string();
  std::string command = "tapestry train " + shell_quote(o.task) + " ";
  if (saves_adapters(o)) {
    command += shell_option("--model", o.model.string()) + " " + shell_option("--adapters", path);
  } else {
    command += shell_option("--model", path);
    if (by_adapters(o)) command += options_text(adapter_options(model)) + " --whole";
  }
  command += " " + shell_option("--save", path) + " --overwrite";
  if (o.length) command += " --length " + std::to_string(*o.length);
  if (o.batch) command += " --batch " + std::to_string(*o.batch);
  if (o.micro_batches) command += " --micro-batches " + std::to_string(*o.micro_batches);
  if (o.ranks) command += " --ranks " + std::to_string(*o.ranks);
  if (o.shard_state) command += " --divide-state";
  if (o.rate) command += " --rate " + exact_text(*o.rate);
  if (o.seed) command += " --seed " + std::to_string(*o.seed);
  return command + " --steps " + std::to_string(steps);
}

std::string command_to_generate(const TrainOptions& o, const Path& saved) {
  const bool beside = saves_adapters(o);
  return "tapestry generate " + shell_option("--model", (beside ? o.model : saved).string()) +
         (beside ? " \\\n       " + shell_option("--adapters", saved.string()) : "") +
         " \\\n       --text \"The\"";
}

}  // namespace tapestry::command
