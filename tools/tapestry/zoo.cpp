// `tapestry zoo`: pictures of broken models, of which you say what is wrong.
#include "course/zoo.hpp"

#include "commands.hpp"
#include "screen.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/svg.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

void list() {
  for (const ZooCase& one : tapestry::zoo()) {
    print("%s%s\n", left(one.name, 12).c_str(), folded(one.question, 12).c_str());
  }
  print("\ntapestry zoo NAME draws one.\n");
}

ZooCase chosen(const std::string& name) {
  std::vector<std::string> names;
  for (ZooCase& one : tapestry::zoo()) {
    if (one.name == name) return std::move(one);
    names.push_back(one.name);
  }
  const std::string similar = closest(name, names);
  throw Error(in_quotes(name) + " is not in the zoo; `tapestry zoo` lists what is." +
              (similar.empty() ? "" : " Did you mean " + similar + "?"));
}

}  // namespace

void zoo(const ZooOptions& options) {
  if (options.name.empty()) {
    if (options.answer) throw Error("--answer needs a name: tapestry zoo map1 --answer");
    return list();
  }
  const ZooCase one = chosen(options.name);
  const Path path = options.path("zoo_" + one.name);
  print("%s\n\n", folded(one.question, 0).c_str());
  flush();
  plot::write_picture(zoo_picture(one, one.compute()), path);
  if (options.answer) {
    print("%s\n\n%s\n\n", folded(one.mistake, 0).c_str(), folded(one.sign, 0).c_str());
  }
  print("wrote %s\n", path.c_str());
  if (!options.answer) print("The answer: tapestry zoo %s --answer\n", one.name.c_str());
}

}  // namespace tapestry::command
