// What changed between two files of `make bench`. Used by compare_bench.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/error.hpp"

namespace bench_changes {

using Json = nlohmann::ordered_json;

struct Timing {
  double ms = 0, spread = 0;  // the best round; by which part the second best took longer
};

struct Change {
  std::string name;  // group and name of a row
  int threads = 1;
  Timing before, after;

  double ratio() const { return before.ms / after.ms; }  // above 1: faster now
  // Whether both files differ by more than their own rounds do.
  bool is_clear() const { return std::abs(std::log(ratio())) > before.spread + after.spread; }
};

struct Comparison {
  std::vector<Change> changes;           // of the rows in both, in the order of the new file
  std::vector<std::string> gone, added;  // rows of one file only, "name, threads 1"
  double company = 0;                    // the larger one of both files
  std::vector<std::string> differences;  // of the machines: "kernels: avx2, now avx512"
};

using Timings = std::vector<std::pair<std::pair<std::string, int>, Timing>>;

// A file without spreads is of an older bench, whose rounds agreed within 3 %.
inline Timings timings_of(const Json& file) {
  Timings rows;
  for (const Json& row : file.at("rows")) {
    const std::string name = row.at("group").get<std::string>() + " " + std::string(row.at("name"));
    const Timing timing{row.at("ms"), row.value("spread", 0.03)};
    if (!(timing.ms > 0) || !(timing.spread >= 0)) {
      throw tapestry::Error("the row " + name + " has no time above 0");
    }
    rows.push_back({{name, row.at("threads").get<int>()}, timing});
  }
  return rows;
}

inline std::vector<std::string> machine_differences(const Json& before, const Json& after) {
  std::vector<std::string> differences;
  for (const char* what : {"processor", "cores", "kernels", "compiler"}) {
    const auto told = [&](const Json& file) {
      const Json value = file.at("machine").value(what, Json("unknown"));
      return value.is_string() ? value.get<std::string>() : value.dump();
    };
    if (told(before) != told(after)) {
      differences.push_back(std::string(what) + ": " + told(before) + ", now " + told(after));
    }
  }
  return differences;
}

// How many processors other programs kept busy, or 0 where it is unknown.
inline double company(const Json& file) {
  const auto found = file.find("processors_used_by_others");
  return found != file.end() && found->is_number() ? found->get<double>() : 0;
}

// Throws Error, or nlohmann's own exceptions, for files that the bench did not write.
inline Comparison compare(const Json& before, const Json& after) {
  const auto text = [](const auto& key) {
    return key.first + ", threads " + std::to_string(key.second);
  };
  Comparison found;
  found.differences = machine_differences(before, after);
  found.company = std::max(company(before), company(after));
  const Timings old_rows = timings_of(before), new_rows = timings_of(after);
  std::map<std::pair<std::string, int>, Timing> left(old_rows.begin(), old_rows.end());
  for (const auto& [key, timing] : new_rows) {
    const auto old = left.find(key);
    if (old == left.end()) {
      found.added.push_back(text(key));
      continue;
    }
    found.changes.push_back({key.first, key.second, old->second, timing});
    left.erase(old);
  }
  for (const auto& [key, timing] : old_rows) {
    if (left.contains(key)) found.gone.push_back(text(key));
  }
  return found;
}

}  // namespace bench_changes
