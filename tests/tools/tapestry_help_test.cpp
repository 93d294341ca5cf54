// --help, the man page and the completion of `tapestry` tell of the same commands and options.
#include <set>

#include "catch.hpp"
#include "course/zoo.hpp"
#include "process.hpp"
#include "tapestry/text/vocabulary.hpp"

using namespace tapestry;

namespace {

const std::vector<std::string> commands = {"analyze",  "why",     "attribute", "cut",   "patch",
                                           "lens",     "circuit", "explore",   "train", "hand",
                                           "generate", "convert", "compare",   "bits",  "tokens",
                                           "plot",     "tape",    "lab",       "zoo",   "doctor"};

Result help(const std::string& name) {
  const TemporaryFolder folder;
  return tapestry_in(folder / "", name + " --help");
}

// The options listed in the help, such as "--text".
std::set<std::string> options(const std::string& help) {
  std::set<std::string> names;
  for (std::size_t at = help.find("\n  "); at != std::string::npos;
       at = help.find("\n  ", at + 1)) {
    const std::string line = help.substr(at + 3, help.find('\n', at + 1) - at - 3);
    const std::size_t begin = line.find("--");
    if (begin <= 4) names.insert(line.substr(begin, line.find_first_of(" ,", begin) - begin));
  }
  return names;
}

// "--text TEXT" in the help, and not "--causal" alone.
bool takes_value(const std::string& help, const std::string& option) {
  const std::size_t end = help.find("\n  " + option + " ") + 3 + option.size();
  return help[end + 1] != ' ';
}

bool names(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("help teaches each command with an example, in 80 columns", "[phase5][tools]") {
  for (const std::string& name : commands) {
    CAPTURE(name);
    const Result result = help(name);
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    CHECK(widest(result.out) <= 80);
    CHECK(names(result.out, "Example"));
    CHECK(names(result.out, "\n  tapestry " + name));
    CHECK(names(help("").out, "\n  " + name + " "));
  }
  CHECK(widest(help("").out) <= 80);
  CHECK(options(help("tape").out) ==
        std::set<std::string>{"--help", "--step", "--json", "--out", "--format"});
}

TEST_CASE("the man page names every command and option", "[phase5][tools]") {
  std::string page = content("tools/tapestry/tapestry.1");
  std::erase(page, '\\');
  for (const std::string& name : commands) {
    for (const std::string& option : options(help(name).out)) {
      CAPTURE(name, option);
      CHECK(names(page, option));
    }
    CHECK(names(page, "\n.B " + name) != names(page, "\n.BI " + name));
  }
}

TEST_CASE("help and man page tell what training on tokens does without options",
          "[phase5][tools]") {
  std::string page = content("tools/tapestry/tapestry.1");
  std::erase(page, '\\');
  for (char& c : page) c = c == '\n' ? ' ' : c;
  CHECK(names(page, "texts per step (32; of a model of tokens 16)"));
  CHECK(names(page, "rate (0.003; 0.0003 if all weights of --model learn)"));
  CHECK(names(page, "characters (64), or tokens (128, or as many as --model has positions"));
  std::string line;
  for (const std::string& word : split_words(help("train").out)) line += word + " ";
  CHECK(names(line, "texts per step (32; with tokens: 16)"));
  CHECK(names(line, "rate (0.003; all weights of --model: 0.0003)"));
  CHECK(names(line, "characters (64), or tokens (128)"));
}

TEST_CASE("help and man page list the tasks", "[phase5][tools]") {
  std::string list;
  for (const std::string& task : tasks()) list += task + ", ";
  const auto lists = [&](const std::string& text) {
    std::string line;
    for (const std::string& word : split_words(text)) line += word + " ";
    return names(line, list + "or a");
  };
  CHECK(lists(help("train").out));
  CHECK(lists(help("hand").out));
  CHECK(lists(content("tools/tapestry/tapestry.1")));
}

TEST_CASE("the completion knows every command, option, task and broken model", "[phase5][tools]") {
  const TemporaryFolder folder;
  const auto proposed = [&](const std::string& words, int place) {
    const std::string script =
        "set -u; source tools/tapestry/completion.bash; compopt() { :; }; "
        "COMP_WORDS=(" +
        words + " ''); COMP_CWORD=" + std::to_string(place) +
        "; _tapestry; printf '%s\\n' '' \"${COMPREPLY[@]}\"";
    std::ofstream(folder / "script") << script;
    const std::string line = "bash " + (folder / "script").string();
    REQUIRE(std::system((line + " >" + (folder / "out").string()).c_str()) == 0);
    return content(folder / "out");
  };
  for (const std::string& name : commands) {
    CHECK(names(proposed("tapestry", 1), "\n" + name + "\n"));
    const std::string said = proposed("tapestry " + name, 2), list = help(name).out;
    for (const std::string& option : options(list)) {
      CAPTURE(name, option, said);
      CHECK(names(said, "\n" + option + "\n"));
      if (option == "--help") continue;  // nothing follows it
      const std::string next = proposed("tapestry " + name + " " + option, 3);
      CHECK(names(next, "\n--help\n") == !takes_value(list, option));
    }
  }
  for (const std::string& task : tasks()) {
    CAPTURE(task);
    CHECK(names(proposed("tapestry train", 2), "\n" + task + "\n"));
    CHECK(names(proposed("tapestry hand --task", 3), "\n" + task + "\n"));
  }
  for (const ZooCase& one : zoo()) {
    CAPTURE(one.name);
    CHECK(names(proposed("tapestry zoo", 2), "\n" + one.name + "\n"));
  }
}
