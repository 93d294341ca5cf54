// `tapestry bits`: whether two runs made the same bits, and the first step and tensor that differ.
#include "tapestry/io/bits.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "commands.hpp"
#include "screen.hpp"
#include "snapshots.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

namespace fs = std::filesystem;

struct Pair {
  Path first, second;
};

struct Sum {
  Index files = 0, tensors = 0, numbers = 0;
};

// Names of snapshots have six digits or more: the shorter one is the earlier.
struct Earlier {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::tuple(a.size(), a) < std::tuple(b.size(), b);
  }
};

std::set<std::string, Earlier> files_in(const Path& folder) {
  std::set<std::string, Earlier> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".safetensors") {
      names.insert(entry.path().filename().string());
    }
  }
  return names;
}

std::string counted(Index count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// "after step 12", "after steps 5 and 12", or "".
std::string steps_of(const Path& first, const Path& second) {
  const auto step_of = [](const Path& path) {
    const std::map<std::string, std::string> metadata = read_safetensors(path).metadata;
    if (const auto snapshot = metadata.find("train.step"); snapshot != metadata.end()) {
      return snapshot->second;
    }
    const auto kind = metadata.find("optimizer");
    const auto steps = kind == metadata.end() ? kind : metadata.find(kind->second + ".steps");
    return steps == metadata.end() ? std::string() : steps->second;
  };
  const std::string a = step_of(first), b = step_of(second);
  if (a.empty() || b.empty()) return "";
  return a == b ? "after step " + a : "after steps " + a + " and " + b;
}

std::string number_text(const TensorDifference& one) {
  std::string text = "at [";
  for (std::size_t i = 0; i < one.place.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(one.place[i]);
  }
  text += "] " + one.first + " and " + one.second;
  return one.ulp ? text + ", " + std::to_string(*one.ulp) + " ulp apart" : text;
}

void print_difference(const Pair& pair, const BitsCompared& found) {
  const TensorDifference& one = found.differences.front();
  const std::string step = steps_of(pair.first, pair.second);
  const std::string what = one.form.empty() ? number_text(one) : one.form;
  print("%s\n",
        folded((step.empty() ? "" : step + ": ") + in_quotes(one.name) + " " + what, 2).c_str());
  const auto tensors = static_cast<Index>(found.differences.size());
  if (one.form.empty()) {
    print("  %lld of its %s differ, and %lld of %s\n", (long long)one.different,
          counted(one.count, "number").c_str(), (long long)tensors,
          counted(found.tensors, "tensor").c_str());
  }
}

void compare_files(const Pair& pair, Sum& sum) {
  const BitsCompared found = compare_bits(pair.first, pair.second);
  if (!found.differences.empty()) {
    print_difference(pair, found);
    flush();
    throw Exit(1);
  }
  ++sum.files;
  sum.tensors += found.tensors;
  sum.numbers += found.numbers;
  if (found.texts.empty()) return;
  std::string names;
  for (const std::string& name : found.texts)
    names += (names.empty() ? "" : ", ") + in_quotes(name);
  print("%s\n",
        folded(pair.first.filename().string() + ": texts differ, no numbers: " + names, 2).c_str());
}

// Files that only one folder has are told after those that both have.
void compare_folders(const Path& first, const Path& second, Sum& sum) {
  const auto a = files_in(first), b = files_in(second);
  const auto check = [](const auto& names, const Path& folder) {
    if (names.empty()) throw Error(folder.string() + " has no .safetensors files.");
  };
  check(a, first);
  check(b, second);
  std::string missing;
  for (const std::string& name : a) {
    if (b.contains(name)) compare_files({first / name, second / name}, sum);
    if (!b.contains(name) && missing.empty()) missing = (first / name).string();
  }
  for (const std::string& name : b) {
    if (!a.contains(name) && missing.empty()) missing = (second / name).string();
  }
  if (missing.empty()) return;
  print("%s\n", folded(missing + " has no file beside it in the other folder; " +
                           counted(sum.files, "file") + " that both have " +
                           (sum.files == 1 ? "has" : "have") + " the same bits",
                       2)
                    .c_str());
  flush();
  throw Exit(1);
}

void compare_runs(const Path& first, const Path& second, Sum& sum) {
  if (fs::is_directory(first) != fs::is_directory(second)) {
    throw Error("give two files or two folders: " + first.string() + " is a " +
                (fs::is_directory(first) ? "folder" : "file") + ", and " + second.string() +
                " is not.");
  }
  if (fs::is_directory(first)) return compare_folders(first, second, sum);
  if (!snapshots_of(first).empty() && !snapshots_of(second).empty()) {
    compare_folders(snapshot_folder(first), snapshot_folder(second), sum);
  }
  compare_files({first, second}, sum);
}

}  // namespace

void bits(const BitsOptions& options) {
  Sum sum;
  try {
    compare_runs(options.first, options.second, sum);
  } catch (const Exit&) {
    throw;
  } catch (const std::exception& error) {
    throw Exit(2, error.what());
  }
  print("the same bits: %s%s, %s\n",
        sum.files == 1 ? "" : (counted(sum.files, "file") + ", ").c_str(),
        counted(sum.tensors, "tensor").c_str(), counted(sum.numbers, "number").c_str());
}

}  // namespace tapestry::command
