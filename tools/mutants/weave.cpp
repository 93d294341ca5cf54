#include "weave.hpp"

#include <fstream>
#include <iterator>
#include <map>

#include "expression.hpp"

namespace mutants {
namespace {

namespace fs = std::filesystem;

// mutant(id), which the woven files include. Test programs and commands share the library, so it
// works in all of them: TAPESTRY_MUTANT chooses one; TAPESTRY_MUTANTS_REACHED names a file in which
// each byte tells whether a mutant was reached, by any process.
const char* const header = R"(#pragma once
namespace tapestry {
extern int chosen_mutant;  // -1: none
extern unsigned char* reached_mutants;
[[gnu::always_inline]] inline bool mutant(int id) {
  if (chosen_mutant >= 0) return chosen_mutant == id;
  reached_mutants[id] = 1;
  return false;
}
}  // namespace tapestry
)";
const char* const definition = R"(#include "mutant.hpp"
#include <fcntl.h>
#include <sys/mman.h>
#include <cstdlib>
namespace {
unsigned char own[4096];
}
namespace tapestry {
int chosen_mutant = -1;
unsigned char* reached_mutants = own;
}
__attribute__((constructor(101))) static void choose_mutant() {
  if (const char* id = std::getenv("TAPESTRY_MUTANT")) tapestry::chosen_mutant = std::atoi(id);
  const char* const path = std::getenv("TAPESTRY_MUTANTS_REACHED");
  const int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* const all = ::mmap(nullptr, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (all != MAP_FAILED) tapestry::reached_mutants = static_cast<unsigned char*>(all);
}
)";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void renew(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read(path) == text) return;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// What `constexpr` becomes where a mutant has to be chosen at run time: nothing may be computed
// while compiling then.
class Constants {
 public:
  explicit Constants(const Source& source) : s_(source), all_(constants_of(source)) {}

  // For each `constexpr` around the token, what stands in its place.
  void loosen(std::size_t token, std::map<std::size_t, std::string>& instead) const {
    for (const Constant& each : all_) {
      if (token < each.from || token >= each.to) continue;
      instead[each.from] = each.function ? inlined(each.from) : constant(each.from);
    }
  }

 private:
  bool has(std::size_t i, const char* word) const {
    for (std::size_t j = i; s_.is_word(--j);) {
      if (s_.is(j, word)) return true;
    }
    for (std::size_t j = i; s_.is_word(++j);) {
      if (s_.is(j, word)) return true;
    }
    return false;
  }

  std::string inlined(std::size_t i) const { return has(i, "inline") ? "" : "inline"; }

  std::string constant(std::size_t i) const {
    const std::size_t outer = s_.outer[i];
    const bool member = outer != nowhere && s_.braces[outer] == Braces::type;
    return std::string(member && !has(i, "inline") ? "inline " : "") +
           (s_.is(i + 1, "const") ? "" : "const");
  }

  const Source& s_;
  std::vector<Constant> all_;
};

class Weaver {
 public:
  Weaver(const Source& source, const std::vector<Site>& sites, std::size_t first_id)
      : s_(source), sites_(sites), first_id_(first_id) {
    const Constants constants(source);
    for (const Site& site : sites) constants.loosen(site.from, instead_);
  }

  std::string all() {
    const std::string body = tokens(0, s_.tokens.size());
    if (s_.tokens.empty()) return s_.text;
    return s_.text.substr(0, s_.tokens.front().begin) + body + s_.text.substr(s_.tokens.back().end);
  }

 private:
  // The tokens and what is between them. Sites are sorted, the outer before the inner ones.
  std::string tokens(std::size_t from, std::size_t to) {
    std::string text;
    for (std::size_t i = from; i < to;) {
      if (i > from) {
        const std::size_t end = s_.tokens[i - 1].end;
        text += s_.text.substr(end, s_.tokens[i].begin - end);
      }
      if (next_ < sites_.size() && sites_[next_].from == i && sites_[next_].to <= to) {
        const Site& site = sites_[next_];
        text += asked(site, first_id_ + next_++);
        i = site.to;
      } else {
        const auto instead = instead_.find(i);
        text += instead == instead_.end() ? s_.tokens[i].text : instead->second;
        ++i;
      }
    }
    return text;
  }

  std::string asked(const Site& site, std::size_t id) {
    const std::string ask = "::tapestry::mutant(" + std::to_string(id) + ")";
    const std::string mutated = edited(s_, site.from, site.to, site.edits);
    const std::string original = tokens(site.from, site.to);
    if (site.rule == Rule::dropped) return "{ if (!" + ask + ") { " + original + " } }";
    return "(" + ask + " ? (" + mutated + ") : (" + original + "))";
  }

  const Source& s_;
  const std::vector<Site>& sites_;
  std::size_t first_id_, next_ = 0;
  std::map<std::size_t, std::string> instead_;
};

}  // namespace

std::string woven(const Source& source, const std::vector<Site>& sites, std::size_t first_id) {
  if (sites.empty()) return source.text;
  return "#include \"mutant.hpp\"\n#line 1 \"" + source.path + "\"\n" +
         Weaver(source, sites, first_id).all();
}

void weave(const fs::path& from, const fs::path& to, const std::vector<Mutant>& mutants) {
  std::map<std::string, std::string> texts = {{"mutant.hpp", header}, {"mutant.cpp", definition}};
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    texts[entry.path().lexically_relative(from).string()] = read(entry.path());
  }
  for (std::size_t first = 0; first < mutants.size();) {
    const Source& source = *mutants[first].source;
    std::vector<Site> sites;
    while (first + sites.size() < mutants.size() &&
           mutants[first + sites.size()].source == &source) {
      sites.push_back(mutants[first + sites.size()].site);
    }
    texts[fs::path(source.path).lexically_relative(from).string()] = woven(source, sites, first);
    first += sites.size();
  }
  for (const auto& [path, text] : texts) renew(to / path, text);
  std::vector<fs::path> others;
  for (const auto& entry : fs::recursive_directory_iterator(to)) {
    const std::string path = entry.path().lexically_relative(to).string();
    if (entry.is_regular_file() && texts.count(path) == 0) others.push_back(entry.path());
  }
  for (const fs::path& path : others) fs::remove(path);
}

}  // namespace mutants
