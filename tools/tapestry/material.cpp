#include "material.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "course/brackets.hpp"
#include "course/grammar.hpp"
#include "course/tasks.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

template <TaskKind kind>
Material of_task() {
  const TinyTask task(kind, kind == TaskKind::majority ? few_letters : TaskSize{.longest = 6});
  Material m{.name = to_string(kind), .vocabulary = task.vocabulary()};
  m.length = task.length();
  m.train = [task](Index rows, Random& random) { return task.batch(Part::train, rows, random); };
  m.test = [task](Index rows, Random& random) { return task.batch(Part::held_out, rows, random); };
  m.test_is = "held out";
  m.has_answers = true;
  if (kind == TaskKind::induction) m.steps = 1000;
  m.prompt = kind == TaskKind::induction ? "d a c f a" : "d a c f =>";
  if (kind == TaskKind::induction) m.answer = 2;
  if (kind == TaskKind::majority) m.prompt = "b a c a d a =>";
  return m;
}

Material of_brackets() {
  const BracketTask task;
  Material m{.name = "brackets", .vocabulary = task.vocabulary()};
  m.length = task.length();
  m.train = [task](Index rows, Random& random) { return task.batch(Part::train, rows, random); };
  m.test = [task](Index rows, Random& random) { return task.batch(Part::held_out, rows, random); };
  m.test_is = "held out";
  m.has_answers = true;
  m.prompt = "( [ { } {";
  return m;
}

Material of_grammar() {
  const Grammar grammar;
  Material m{.name = "grammar", .vocabulary = Vocabulary(grammar.words())};
  m.length = 7;
  m.train = [vocabulary = m.vocabulary](Index rows, Random& random) {
    return Grammar().batch(vocabulary, rows, random);
  };
  m.test = m.train;
  m.test_is = "new ones";
  m.best_loss = grammar.entropy() / 7;
  m.prompt = "the cat";
  return m;
}

// What --help, completion.bash and tapestry.1 list, in this order.
struct Task {
  const char* name;
  Material (*material)();
};
constexpr Task tasks[] = {{"copy", of_task<TaskKind::copy>},
                          {"reverse", of_task<TaskKind::reverse>},
                          {"sort", of_task<TaskKind::sort>},
                          {"induction", of_task<TaskKind::induction>},
                          {"majority", of_task<TaskKind::majority>},
                          {"brackets", of_brackets},
                          {"grammar", of_grammar}};

std::string fingerprint_of(const std::string& text) {  // FNV-1a, 64 bits
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return formatted("%016llx", static_cast<unsigned long long>(hash));
}

// Eight characters, from the first on that is neither blank nor a control character, or less where
// the next control character or line end comes earlier; any eight if there is none.
std::string beginning(const Vocabulary& vocabulary, const Indices& text) {
  const auto is_blank = [&](std::int32_t id) {
    return static_cast<unsigned char>(vocabulary.word(id)[0]) <= ' ';
  };
  const auto ends = [&](std::int32_t id) { return is_blank(id) && vocabulary.word(id) != " "; };
  const auto begin = text.values.begin(), end = text.values.end();
  const auto first = std::find_if_not(begin, end, is_blank);
  if (first == end) return vocabulary.decode({{8}, {begin, begin + 8}});
  const auto last = std::find_if(first, first + std::min<Index>(8, end - first), ends);
  return vocabulary.decode({{last - first}, {first, last}});
}

Material of_text(const std::string& path, Index length) {
  const std::string text = read_text(path);
  Material m{.name = "characters of " + path, .vocabulary = Vocabulary::of_characters(text)};
  const SplitText ids = split_text(m.vocabulary.encode(text));
  if (ids.held_out.shape[0] <= length) {
    throw Error(path + " is too short: its last tenth, " + std::to_string(ids.held_out.shape[0]) +
                " characters, is held out and must be longer than " + std::to_string(length) +
                ". Take a longer text or a smaller --length.");
  }
  m.length = length;
  m.train = [part = ids.train, length](Index rows, Random& random) {
    return random_windows(part, rows, length, random);
  };
  m.test = [part = ids.held_out, length](Index rows, Random& random) {
    return random_windows(part, rows, length, random);
  };
  m.test_is = "held out";
  m.fingerprint = fingerprint_of(text);
  m.prompt = beginning(m.vocabulary, ids.train);
  return m;
}

}  // namespace

std::string task_names() {
  std::string names;
  for (const Task& task : tasks) names += (names.empty() ? "" : ", ") + std::string(task.name);
  return names;
}

Material material(const std::string& task, Index length) {
  std::vector<std::string> names;
  for (const Task& one : tasks) {
    if (task == one.name) return one.material();
    names.emplace_back(one.name);
  }
  std::error_code ignored;
  if (std::filesystem::exists(task, ignored)) return of_text(task, length);
  const std::string similar = closest(task, names);
  throw Error(in_quotes(task) + " is neither a task (" + task_names() + ") nor a file." +
              (similar.empty() ? "" : " Did you mean " + similar + "?"));
}

}  // namespace tapestry::command
