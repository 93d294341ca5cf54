#include "draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace mutants {
namespace {

struct Candidate {
  std::size_t file;  // of all sources
  Site site;
  std::string name;
  double turn;
};
using Chosen = std::vector<const Candidate*>;  // of one file

bool crosses(const Site& a, const Site& b) {
  const bool apart = a.to <= b.from || b.to <= a.from;
  const bool within = (a.from <= b.from && b.to <= a.to) || (b.from <= a.from && a.to <= b.to);
  return !apart && !within;
}

std::vector<Candidate> candidates(const std::vector<Source>& sources, std::uint64_t seed) {
  const std::set<std::string> needed = needed_names(sources);
  std::vector<Candidate> all;
  std::array<double, rules> number{};
  for (std::size_t file = 0; file < sources.size(); ++file) {
    std::map<std::string, int> seen;
    for (Site& site : sites_of(sources[file], needed)) {
      const std::string name = name_of(sources[file].path, site.original, site.mutated);
      number[static_cast<std::size_t>(site.rule)] += 1;
      const double u = chance(name + std::to_string(seen[name]++), seed);
      all.push_back({file, std::move(site), name, -std::log1p(-u)});
    }
  }
  // Of exponential random numbers each is the smallest in proportion to its rate.
  for (Candidate& each : all) each.turn *= number[static_cast<std::size_t>(each.site.rule)];
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.turn < b.turn; });
  return all;
}

bool fits(const Candidate& each, const Chosen& of_file) {
  return std::none_of(of_file.begin(), of_file.end(), [&](const Candidate* other) {
    return other->name == each.name || crosses(other->site, each.site);
  });
}

// How many mutants each file gets.
std::vector<std::size_t> numbers_of(const std::vector<Candidate>& all, std::size_t files,
                                    std::size_t count) {
  std::vector<Chosen> chosen(files);
  std::size_t number = 0;
  const auto take = [&](bool first_of_file) {
    for (const Candidate& each : all) {
      Chosen& of_file = chosen[each.file];
      if (first_of_file ? !of_file.empty() : number >= count) continue;
      if (!fits(each, of_file)) continue;
      of_file.push_back(&each);
      ++number;
    }
  };
  take(true);
  take(false);
  std::vector<std::size_t> numbers;
  for (const Chosen& of_file : chosen) numbers.push_back(of_file.size());
  return numbers;
}

}  // namespace

double chance(const std::string& text, std::uint64_t seed) {
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a, then the mixing of SplitMix64
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  hash += seed * 0x9E3779B97F4A7C15u;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9u;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((hash ^ (hash >> 31)) >> 11) * 0x1p-53;
}

std::string name_of(const std::string& path, const std::string& original,
                    const std::string& mutated) {
  return path + "\n- " + original + "\n+ " + mutated;
}

std::string Mutant::name() const { return name_of(source->path, site.original, site.mutated); }

std::vector<Mutant> draw(const std::vector<Source>& sources, std::size_t count, std::uint64_t seed,
                         const std::set<std::string>& refused) {
  const std::vector<Candidate> all = candidates(sources, seed);
  const std::vector<std::size_t> numbers = numbers_of(all, sources.size(), count);
  std::vector<Chosen> chosen(sources.size());
  for (const Candidate& each : all) {
    Chosen& of_file = chosen[each.file];
    if (of_file.size() == numbers[each.file] || refused.count(each.name) > 0) continue;
    if (fits(each, of_file)) of_file.push_back(&each);
  }
  std::vector<Mutant> mutants;
  std::size_t first = 0;  // number of the file
  for (std::size_t file = 0; file < sources.size(); first += numbers[file++]) {
    std::sort(chosen[file].begin(), chosen[file].end(), [](const Candidate* a, const Candidate* b) {
      return std::pair(a->site.from, b->site.to) < std::pair(b->site.from, a->site.to);
    });
    std::size_t number = first;
    for (const Candidate* each : chosen[file]) {
      mutants.push_back({&sources[file], each->site, number++});
    }
  }
  return mutants;
}

}  // namespace mutants
