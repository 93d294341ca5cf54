#include "snapshots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

namespace fs = std::filesystem;

const char* const step_key = "train.step";
const char* const loss_key = "train.held_out_loss";
const std::string ending = ".safetensors";

// The step in the name of a snapshot; -1 for any other name.
Index step_of(const Path& path) {
  const std::string name = path.filename().string();
  constexpr std::size_t fewest = 6, most = 8;
  if (!name.ends_with(ending)) return -1;
  const std::size_t digits = name.size() - ending.size();
  if (digits < fewest || digits > most || (digits > fewest && name[0] == '0')) return -1;
  Index step = 0;
  return read_number(std::string_view(name).substr(0, digits), step) ? step : -1;
}

template <class Number>
Number parsed(const std::string& key, const std::string& text, Number most) {
  Number value = 0;
  if (read_number(text, value) && value >= 0 && value <= most) return value;
  throw Error("its entry '" + key + "' is " + in_quotes(text) + ", which is not valid.");
}

}  // namespace

std::vector<Path> snapshots_of(const Path& checkpoint) {
  std::vector<std::pair<Index, Path>> found;
  std::error_code problem;
  fs::directory_iterator entry(snapshot_folder(checkpoint), problem);
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    std::error_code ignored;
    const Index step = step_of(entry->path());
    if (step >= 0 && entry->is_regular_file(ignored)) found.emplace_back(step, entry->path());
  }
  std::sort(found.begin(), found.end());
  std::vector<Path> paths;
  for (const auto& [step, path] : found) paths.push_back(path);
  return paths;
}

Moment moment_in(const std::map<std::string, std::string>& metadata) {
  const auto step = metadata.find(step_key), loss = metadata.find(loss_key);
  if (step == metadata.end()) {
    throw Error("it has no entry '" + std::string(step_key) + "': it is no snapshot of training.");
  }
  Moment moment{parsed<Index>(step_key, step->second, most_steps)};
  if (loss != metadata.end()) {
    moment.loss = parsed<double>(loss_key, loss->second, std::numeric_limits<double>::max());
  }
  return moment;
}

std::map<std::string, std::string> to_metadata(const Moment& moment) {
  std::map<std::string, std::string> metadata = {{step_key, std::to_string(moment.step)}};
  if (moment.loss && std::isfinite(*moment.loss)) metadata[loss_key] = exact_text(*moment.loss);
  return metadata;
}

Path snapshot_folder(const Path& checkpoint) {
  return checkpoint.parent_path() / (checkpoint.stem().string() + ".snapshots");
}

Path snapshot_path(const Path& checkpoint, Index step) {
  return snapshot_folder(checkpoint) / (formatted("%06lld", (long long)step) + ending);
}

void make_snapshot_folder(const Path& checkpoint) {
  const Path folder = snapshot_folder(checkpoint);
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw Error("cannot make the folder " + folder.string() + ": " + problem.message());
}

std::vector<Index> snapshot_steps(Index count, Index steps) {
  std::vector<Index> all;
  const Index last = std::min(count - 1, steps);
  for (Index i = 0; i <= last; ++i) {
    const double share = last == 0 ? 0 : double(i) / double(last);
    all.push_back(std::max<Index>(i, std::llround(double(steps) * share * share)));
  }
  return all;
}

void remove_snapshots_after(Index step, const Path& checkpoint) {
  for (const Path& path : snapshots_of(checkpoint)) {
    if (step_of(path) <= step) continue;
    std::error_code problem;
    fs::remove(path, problem);
    if (problem) throw Error("cannot remove " + path.string() + ": " + problem.message());
  }
  std::error_code ignored;  // it may hold other files
  if (step < 0) fs::remove(snapshot_folder(checkpoint), ignored);
}

}  // namespace tapestry::command
