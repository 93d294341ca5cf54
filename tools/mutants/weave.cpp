#include "weave.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <utility>

#include "spared.hpp"
#include "tapestry/format.hpp"

namespace mutants {
namespace {

namespace fs = std::filesystem;

// mutant(id), which the mutated sources include. Test programs and commands share the library, so
// it works in all of them: TAPESTRY_MUTANT chooses one; TAPESTRY_MUTANTS_REACHED names a file in
// which each byte tells whether a mutant was reached, by any process. Ids are counted from the
// file's first one, which mutant.cpp tells, so that other mutants in one file change no other.
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
#include <unistd.h>
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
  ::close(file);  // its number may be that of an output which a test has closed
  if (all != MAP_FAILED) tapestry::reached_mutants = static_cast<unsigned char*>(all);
}
)";

void write_if_changed(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read_file(path) == text) return;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// The replacement of `constexpr` where a mutant is chosen at run time.
std::string as_run_time_constant(const Source& s, const Constant& constant) {
  const auto is_inline = [&] {
    bool found = false;
    for (std::size_t j = constant.from; s.is_word(--j);) found |= s.is(j, "inline");
    for (std::size_t j = constant.from; s.is_word(++j);) found |= s.is(j, "inline");
    return found;
  };
  if (constant.function) return is_inline() ? "" : "inline";
  const std::size_t outer = s.outer[constant.from];
  const bool member = outer != nowhere && s.braces[outer] == Braces::type;
  return std::string(member && !is_inline() ? "inline " : "") +
         (s.is(constant.from + 1, "const") ? "" : "const");
}

class Weaver {
 public:
  Weaver(const Source& source, const std::vector<Site>& sites, std::string first)
      : s_(source), sites_(sites), first_(std::move(first)) {
    for (const Constant& constant : constants_of(source)) {
      for (const Site& site : sites) {
        if (site.from < constant.from || site.from >= constant.to) continue;
        instead_[constant.from] = as_run_time_constant(source, constant);
      }
    }
    for (std::size_t i = 0; i < source.tokens.size(); ++i) {
      if (source.is(i, "constinit")) instead_[i] = "";  // members may have mutants
    }
  }

  std::string all() {
    const std::string body = tokens(0, s_.tokens.size());
    if (s_.tokens.empty()) return s_.text;
    return s_.text.substr(0, s_.tokens.front().begin) + body + s_.text.substr(s_.tokens.back().end);
  }

 private:
  // The tokens and the text between them. Sites are sorted, the outer before the inner ones.
  std::string tokens(std::size_t from, std::size_t to) {
    std::string text;
    for (std::size_t i = from; i < to;) {
      if (i > from) {
        const std::size_t end = s_.tokens[i - 1].end;
        text += s_.text.substr(end, s_.tokens[i].begin - end);
      }
      if (next_ < sites_.size() && sites_[next_].from == i && sites_[next_].to <= to) {
        const Site& site = sites_[next_];
        text += asked(site, next_++);
        i = site.to;
      } else {
        const auto instead = instead_.find(i);
        text += instead == instead_.end() ? s_.tokens[i].text : instead->second;
        ++i;
      }
    }
    return text;
  }

  std::string asked(const Site& site, std::size_t number) {
    const std::string ask = "::tapestry::mutant(::" + first_ + " + " + std::to_string(number) + ")";
    const std::string mutated = edited(s_, site.from, site.to, site.edits);
    const std::string original = tokens(site.from, site.to);
    if (site.rule == Rule::dropped) return "{ if (!" + ask + ") { " + original + " } }";
    return "(" + ask + " ? (" + mutated + ") : (" + original + "))";
  }

  const Source& s_;
  const std::vector<Site>& sites_;
  std::string first_;
  std::size_t next_ = 0;
  std::map<std::size_t, std::string> instead_;
};

// The name of the constant that holds the id of a file's first mutant: short, since a program that
// shows its own source also shows this.
std::string first_of(const std::string& path) {
  return tapestry::formatted("m%08x", static_cast<unsigned>(std::hash<std::string>{}(path)));
}

// The text of a file with these mutants of it. Lines keep their numbers.
std::string woven(const Source& source, const std::vector<Site>& sites) {
  const std::string first = first_of(source.path);
  return "#include \"mutant.hpp\"\nextern const int " + first + ";\n#line 1 \"" + source.path +
         "\"\n" + Weaver(source, sites, first).all();
}

// The texts of all files with mutants, by their paths. Adds their first ids to the definition.
std::map<std::string, std::string> woven(const std::vector<Mutant>& mutants, std::string& ids) {
  std::map<std::string, std::string> texts;
  for (std::size_t first = 0, end = 0; first < mutants.size(); first = end) {
    std::vector<Site> sites;
    for (; end < mutants.size() && mutants[end].source == mutants[first].source; ++end) {
      sites.push_back(mutants[end].site);
    }
    const Source& source = *mutants[first].source;
    texts[source.path] = woven(source, sites);
    ids += "extern const int " + first_of(source.path) + " = " + std::to_string(first) + ";\n";
  }
  return texts;
}

}  // namespace

std::map<fs::path, fs::path> places() {
  std::map<fs::path, fs::path> all;
  for (const char* const folder : {"src", "tutorials/course"}) {
    if (!fs::exists(folder)) continue;
    const fs::path above = folder == std::string("src") ? "src" : "tutorials";
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) all[entry.path()] = entry.path().lexically_relative(above);
    }
  }
  return all;
}

void weave(const fs::path& to, const std::vector<Mutant>& mutants) {
  std::string defined = definition;
  const std::map<std::string, std::string> mutated = woven(mutants, defined);
  std::map<fs::path, std::string> texts = {{to / "mutant.hpp", header},
                                           {to / "mutant.cpp", defined}};
  for (const auto& [path, place] : places()) {
    const auto found = mutated.find(path.string());
    texts[to / place] = found == mutated.end() ? read_file(path) : found->second;
  }
  for (const auto& [path, text] : texts) write_if_changed(path, text);
  std::vector<fs::path> others;
  for (const auto& entry : fs::recursive_directory_iterator(to)) {
    if (entry.is_regular_file() && texts.count(entry.path()) == 0) others.push_back(entry.path());
  }
  for (const fs::path& path : others) fs::remove(path);
}

}  // namespace mutants
