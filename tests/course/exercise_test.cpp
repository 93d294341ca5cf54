// The judge of exercises: what it finds, and what it says.
#include "course/exercise.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "catch.hpp"
#include "course/judgement.hpp"
#include "course/learn.hpp"
#include "printed_by.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

using Doubled = std::function<Tensor(const Tensor&)>;

Attempt doubling(Doubled f) { return attempt("doubled", std::move(f)); }

const Doubled doubled = [](const Tensor& x) { return 2 * x; };

// "Twice the matrix", with two known mistakes.
Exercise twice(Doubled learner) {
  return {
      .inputs = [](Random& random, Index size) -> NamedTensors {
        return {{"x", random.normal({size, size + 1})}};
      },
      .learner = doubling(std::move(learner)),
      .right = {doubling(doubled), doubling([](const Tensor& x) { return x + x; })},
      .mistakes = {{"squared", "It is squared.", doubling([](const Tensor& x) { return x * x; }),
                    doubling([](const Tensor& x) { return abs(x) * abs(x); })},
                   {"not doubled", "It is as it was.", doubling([](const Tensor& x) { return x; }),
                    doubling([](const Tensor& x) { return 1 * x; })}},
      .hints = {"one", "two", "three"}};
}

struct Answer {
  int status = 0;
  std::string text;
};

Answer answer_of(const Exercise& exercise, std::vector<std::string> words) {
  std::vector<char*> arguments;
  words.insert(words.begin(), "check");
  for (std::string& word : words) arguments.push_back(word.data());
  Answer answer;
  const int threads = threads_in_use();  // the judge makes it one
  answer.text = stdout_of([&] {
    answer.status = judge(exercise, static_cast<int>(arguments.size()), arguments.data());
  });
  use_threads(threads);
  return answer;
}

Answer answer_to(Doubled learner) { return answer_of(twice(std::move(learner)), {"--seed", "5"}); }

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What is said of the first number that differs.
std::string difference(const Tensor& found, const Tensor& right) {
  Exercise exercise = twice([=](const Tensor&) { return found; });
  exercise.right = {doubling([=](const Tensor&) { return right; })};
  const std::string text = answer_of(exercise, {"--seed", "5"}).text, before = "differs first at ";
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return "nothing";
  return text.substr(at + before.size(), text.find('\n', at) - at - before.size());
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("distance: of the largest expected element, infinite where forms differ",
          "[phase1][course]") {
  const auto one = [](const Tensor& x) { return NamedTensors{{"x", x}}; };
  const Tensor expected({3}, {1, -4, 0});
  CHECK(distance(one(expected), one(expected)) == 0);
  CHECK(distance(one(Tensor({3}, {1, -4, 0.1})), one(expected)) == Approx(0.025));
  CHECK(distance(one(Tensor({3}, {1.5, -4.1, 0})), one(expected)) == Approx(0.125));
  CHECK(distance(one(Tensor({1, 3}, {1, -4, 0})), one(expected)) == infinity);
  CHECK(distance(one(Tensor()), one(expected)) == infinity);
  CHECK(distance(one(Tensor()), one(Tensor())) == 0);
  CHECK(distance({{"y", expected}}, one(expected)) == infinity);
  CHECK(distance({}, one(expected)) == infinity);
  CHECK(distance({{"x", expected}, {"y", 2 * expected}}, {{"x", expected}, {"y", expected}}) == 1);
  const Tensor nan({2}, {NAN, 2}), plus({2}, {infinity, 2}), minus({2}, {-infinity, 2});
  CHECK(distance(one(nan), one(nan)) == 0);
  CHECK(distance(one(plus), one(plus)) == 0);
  CHECK(distance(one(plus), one(minus)) == infinity);
  CHECK(distance(one(plus), one(nan)) == infinity);
  CHECK(distance(one(Tensor({2}, {1, 2})), one(nan)) == infinity);
  CHECK(distance(one(Tensor({2}, {NAN, 3})), one(nan)) == Approx(0.5));
  CHECK(distance(one(Tensor({1}, {1e-4})), one(Tensor({1}, {0}))) == Approx(0.1));
}

TEST_CASE("an attempt runs apart: what it returns, throws, prints, and how it ends",
          "[phase1][course]") {
  const Exercise exercise = twice(doubled);
  const std::vector<Case> cases = {{1, 1}, {2, 3}};
  const auto apart = [&](const Doubled& f) { return run_apart(exercise, doubling(f), cases, 2); };

  const Apart right = apart(doubled);
  CHECK(right.ending == Apart::finished);
  REQUIRE(right.outcomes.size() == 2);
  CHECK(right.outcomes[1].results[0].name == "doubled");
  CHECK(right.outcomes[1].results[0].value.shape() == Shape{3, 4});
  CHECK(right.outcomes[1].results[0].value.values() ==
        (2 * inputs_of(exercise, cases[1])[0].value).values());

  CHECK_FALSE(apart([](const Tensor&) { return Tensor(); }).outcomes[0].results[0].value.defined());
  CHECK(apart([](const Tensor&) { return Tensor(3); }).outcomes[0].results[0].value.item() == 3);
  CHECK(apart([](const Tensor&) -> Tensor { learn::not_written_yet(); }).outcomes[0].kind ==
        Outcome::not_written);
  const Apart threw = apart([](const Tensor& x) { return matmul(x, x); });
  CHECK(threw.outcomes[1].kind == Outcome::threw);
  CHECK(starts_with(threw.outcomes[1].text, "matmul: "));
  CHECK(apart([](const Tensor&) -> Tensor { throw 3; }).outcomes[0].kind == Outcome::threw);
  const Apart changed = apart([](const Tensor& x) {
    x.data()[0] += 1;
    return x;
  });
  CHECK(changed.outcomes[0].kind == Outcome::changed_input);
  CHECK(changed.outcomes[0].text == "x");
  const Apart left = apart([](const Tensor& x) -> Tensor {
    if (x.size(0) == 1) return x;
    std::_Exit(0);
  });
  CHECK(left.ending == Apart::left);
  CHECK(left.outcomes.size() == 1);
  // Bytes that are no outcome: a text said to be longer than what follows.
  std::array<bool, 64> others{};  // files that are open already, such as a pipe of make's
  const auto is_open = [](std::size_t file) { return ::fcntl(int(file), F_GETFD) >= 0; };
  for (std::size_t file = 0; file < others.size(); ++file) others[file] = is_open(file);
  const Apart cut = apart([&](const Tensor&) -> Tensor {
    const std::uint64_t broken[] = {Outcome::threw, std::uint64_t{1} << 40, 0};
    for (std::size_t file = 3; file < others.size(); ++file) {
      if (others[file] || !is_open(file)) continue;
      if (::write(int(file), broken, sizeof broken) < 0) continue;
    }
    std::_Exit(0);
  });
  CHECK(cut.ending == Apart::left);
  CHECK(cut.outcomes.empty());
  // What belongs to the parent stays: no destructor of a static object runs in the child.
  struct Mark {
    std::filesystem::path path;
    ~Mark() { std::filesystem::remove(path); }
  };
  const TemporaryFolder folder;
  static Mark mark{folder / "mark"};
  std::ofstream(mark.path) << "here";
  CHECK(apart([](const Tensor&) -> Tensor { std::exit(0); }).ending == Apart::left);
  CHECK(std::filesystem::exists(mark.path));
  const Apart killed = apart([](const Tensor&) -> Tensor { std::raise(SIGKILL), std::abort(); });
  CHECK(killed.ending == Apart::signalled);
  CHECK(killed.signal == SIGKILL);
  CHECK(killed.outcomes.empty());
  const Apart endless = run_apart(exercise, doubling([](const Tensor&) -> Tensor {
                                    for (;;) ::pause();
                                  }),
                                  cases, 0.2);
  CHECK(endless.ending == Apart::too_long);
  CHECK(contains(apart([](const Tensor& x) { return std::puts("hello"), 2 * x; }).said, "hello\n"));
}

TEST_CASE("an attempt that ran apart leaves no file open", "[phase1][course]") {
  const Exercise exercise = twice(doubled);
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open();
  CHECK(run_apart(exercise, doubling(doubled), {{1, 1}}, 5).ending == Apart::finished);
  CHECK(open() == before);
}

TEST_CASE("judgement: right, not written, known by its results, unknown", "[phase1][course]") {
  const auto judged = [](const Doubled& f) { return judge_attempt(twice(f), doubling(f), 5); };
  CHECK(judged(doubled).verdict == Judgement::right);
  CHECK(judged([](const Tensor& x) { return 2.00001 * x; }).verdict == Judgement::right);
  CHECK(judged([](const Tensor&) -> Tensor { learn::not_written_yet(); }).verdict ==
        Judgement::not_written);
  const Judgement known = judged([](const Tensor& x) { return x / 1; });
  CHECK(known.verdict == Judgement::known);
  CHECK(known.mistake == 1);
  // A mistake only on larger inputs is not the known one.
  const Judgement large = judged([](const Tensor& x) { return x.size(0) > 2 ? x : 2 * x; });
  CHECK(large.verdict == Judgement::unknown);
  CHECK(large.at.size == 3);
  CHECK(large.expected[0].value.shape() == Shape{3, 4});
  CHECK(distance(large.found.results, large.expected) == Approx(0.5));
  CHECK_FALSE(large.is_always_the_same);
  CHECK(judged([](const Tensor& x) { return Tensor::ones(x.shape()); }).is_always_the_same);
  const auto first_differs = [calls = 0](const Tensor& x) mutable {  // of each size
    return Tensor::full(x.shape(), calls++ % 4 == 0 ? 2 : 1);
  };
  CHECK_FALSE(judged(first_differs).is_always_the_same);
  const Judgement leaves = judged([](const Tensor&) -> Tensor { std::_Exit(0); });
  CHECK(leaves.verdict == Judgement::unreadable);
  CHECK(leaves.at.size == 1);
  CHECK(judged([](const Tensor& x) { return matmul(x, x); }).verdict == Judgement::unreadable);
  CHECK(cases_of(7).front().size == 1);
  CHECK(cases_of(7).back().size == Exercise::sizes);
  CHECK(cases_of(7).size() == 4 * Exercise::sizes);
}

TEST_CASE("an answer was typed in only if each right one differs from the one before",
          "[phase1][course]") {
  const Doubled typed_in = [](const Tensor& x) { return Tensor::full(x.shape(), 3); };
  const auto is_found = [&](int every, double by) {  // how often right ones change, and by how much
    Exercise exercise = twice(typed_in);
    exercise.right = {doubling([=, calls = 0](const Tensor& x) mutable {
      return Tensor::full(x.shape(), 1 + calls++ / every % 2 * by);
    })};
    return judge_attempt(exercise, exercise.learner, 5).is_always_the_same;
  };
  CHECK(is_found(1, 1));
  CHECK_FALSE(is_found(2, 1));
  CHECK(is_found(1, 10.5e-4));  // ten tolerances
  CHECK_FALSE(is_found(1, 9.5e-4));
  const auto judged = [](const Doubled& f) { return judge_attempt(twice(f), doubling(f), 5); };
  const auto smallest_differ = [calls = 0](const Tensor& x) mutable {
    return Tensor::full(x.shape(), ++calls < 4 ? calls : 1);
  };
  CHECK(judged(smallest_differ).is_always_the_same);
  CHECK_FALSE(judged([calls = 0](const Tensor& x) mutable {
                return calls++ == 1 ? std::_Exit(0), x : Tensor::ones(x.shape());
              }).is_always_the_same);
}

TEST_CASE("answers to a learner, and their exit status", "[phase1][course]") {
  const Answer right = answer_to(doubled);
  CHECK(right.status == 0);
  CHECK(right.text == "right, on 16 inputs of all sizes\n");
  const Answer given = answer_to([](const Tensor&) -> Tensor { learn::not_written_yet(); });
  CHECK(given.status == 2);
  CHECK(given.text == "not written yet\n");
  const Answer known = answer_to([](const Tensor& x) { return x; });
  CHECK(known.status == 1);
  CHECK(known.text ==
        "wrong: not doubled\nIt is as it was.\n  (the same inputs again: --seed 5)\n");
  Exercise wordy = twice([](const Tensor& x) { return x; });
  const std::string long_word(70, 'a');
  wordy.mistakes[1].sentence = long_word;
  wordy.mistakes[1].sentence += " bb ccccccc d";
  CHECK(contains(answer_of(wordy, {"--seed", "5"}).text, long_word + " bb\nccccccc d\n"));
  const Answer unknown = answer_to([](const Tensor& x) { return 3 * x; });
  CHECK(unknown.status == 3);
  CHECK(contains(unknown.text, "not by a mistake that I know. The smallest input that fails:\n"));
  CHECK(contains(unknown.text, "  given    x\n    (1, 2)\n    [["));
  CHECK(contains(unknown.text, "  doubled differs first at (0, 0): "));
  const Answer shape = answer_to([](const Tensor& x) { return transpose(x); });
  CHECK(contains(shape.text, "  doubled has shape (2, 1), expected (1, 2)\n"));
  CHECK(contains(answer_to([](const Tensor&) { return Tensor(); }).text, "doubled is nothing"));
  CHECK(contains(answer_to([](const Tensor& x) { return Tensor::ones(x.shape()); }).text,
                 "the same numbers whatever the inputs"));
  const Answer threw = answer_to([](const Tensor& x) { return matmul(x, x); });
  CHECK(threw.status == 1);
  CHECK(contains(threw.text, "no result: it threw: matmul: "));
  CHECK(contains(answer_to([](const Tensor&) -> Tensor { std::_Exit(0); }).text,
                 "no result: it ended the program"));
  CHECK(contains(answer_to([](const Tensor&) -> Tensor { std::raise(SIGKILL), std::abort(); }).text,
                 "no result: it crashed: Killed"));
  const Answer said = answer_to([](const Tensor& x) { return std::puts("hello"), 2 * x; });
  CHECK(contains(said.text, "  it printed:\n    hello\n"));
  CHECK(contains(said.text, "    ...\n") == false);
  CHECK(answer_of(twice(doubled), {"--hint", "2"}).text == "two\n");
}

TEST_CASE("the first number that differs is named with what it is and should be",
          "[phase1][course]") {
  const auto row = [](double a, double b, double c) { return Tensor({1, 3}, {a, b, c}); };
  CHECK(difference(row(1, 1, 3), row(1, 2, 3)) == "(0, 1): 1, expected 2");
  CHECK(difference(row(2, 3, 3), row(2, 2, 3)) == "(0, 1): 3, expected 2");
  CHECK(difference(row(1000.05, 2.2, 0), row(1000, 2, 0)) == "(0, 1): 2.2, expected 2");
  CHECK(difference(row(NAN, infinity, 0), row(NAN, infinity, 1)) == "(0, 2): 0, expected 1");
  CHECK(difference(row(1, 2, 0), row(1, NAN, 1)) == "(0, 1): 2, expected nan");
  CHECK(difference(row(1, NAN, 0), row(1, 2, 1)) == "(0, 1): nan, expected 2");
}

TEST_CASE("a wrong matrix is drawn beside the right one", "[phase1][course]") {
  const TemporaryFolder folder;
  const std::string path = (folder / "both.png").string();
  const Answer answer =
      answer_of(twice([](const Tensor& x) { return 3 * x; }), {"--seed", "5", "--picture", path});
  CHECK(contains(answer.text, "  both drawn: " + path + "\n"));
  CHECK(std::filesystem::file_size(path) > 1000);
}

TEST_CASE("a learner's test: how many planted faults it caught", "[phase1][course]") {
  const auto tests = [](std::initializer_list<double> passes) {
    const Tensor result({3}, passes);
    return Attempt([=](const NamedTensors&) -> NamedTensors { return {{"passes", result}}; });
  };
  Exercise exercise = twice(doubled);
  exercise.mistakes.clear();
  exercise.right = {tests({1, 0, 0})};
  exercise.faults = {"a hole", "a leak"};
  exercise.learner = tests({1, 0, 1});
  const std::string text = answer_of(exercise, {"--seed", "5"}).text;
  CHECK(starts_with(text, "wrong: you caught 1 of 2 faults\n  it lets pass: a leak\n"));
  exercise.learner = tests({0, 0, 0});
  CHECK(
      starts_with(answer_of(exercise, {"--seed", "5"}).text,
                  "wrong: you caught 2 of 2 faults\n  your test refuses a function that is right"));
}

TEST_CASE("a learner's test passes the right functions, and each wrong one or not",
          "[phase1][course]") {
  const auto is_even = [](int number) { return number % 2 == 0; };
  const auto result = [&](const std::vector<int>& right, const std::vector<int>& wrong) {
    return passes(is_even, right, wrong).at(0).value.values();
  };
  CHECK(result({2, 4}, {1, 6, 3}) == std::vector<real>{1, 0, 1, 0});
  CHECK(result({2, 3}, {8}) == std::vector<real>{0, 1});
}

TEST_CASE("the proof of an exercise finds what is wrong with it", "[phase1][course]") {
  const Doubled given = [](const Tensor&) -> Tensor { learn::not_written_yet(); };
  const auto wrong_ones = [](const Exercise& exercise) { return answer_of(exercise, {"--prove"}); };
  const Answer good = wrong_ones(twice(given));
  CHECK(good.status == 0);
  CHECK(good.text == "2 right forms, 2 known mistakes, 0 wrong\n");
  CHECK(contains(wrong_ones(twice(doubled)).text, "the task as given is not 'not written'"));

  Exercise unnamed = twice(given);
  unnamed.mistakes[0].also = doubling([](const Tensor& x) { return x * x + 0.1; });
  const Answer one = wrong_ones(unnamed);
  CHECK(one.status == 1);
  CHECK(one.text ==
        "  wrong: 'squared', written in another way, is not named\n"
        "2 right forms, 2 known mistakes, 1 wrong\n");

  Exercise close = twice(given);
  close.mistakes[1].wrong = close.mistakes[1].also =
      doubling([](const Tensor& x) { return 2.0005 * x; });
  CHECK(contains(wrong_ones(close).text, "'not doubled' and the solution differ by only 0.00"));

  Exercise refused = twice(given);
  refused.right.push_back(doubling([](const Tensor& x) { return 2 * x + 1; }));
  CHECK(contains(wrong_ones(refused).text, "right form 2 is refused"));

  Exercise silent = twice(given);
  silent.mistakes[0].wrong = silent.mistakes[0].also =
      doubling([](const Tensor& x) { return matmul(x, x); });
  CHECK(contains(wrong_ones(silent).text, "'squared' returns nothing (matmul: "));

  Exercise few = twice(given);
  few.hints.pop_back();
  CHECK(contains(wrong_ones(few).text, "there have to be three hints"));
}
