#include "tapestry/progress.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "printed_by.hpp"
#include "training/progress_line.hpp"

using namespace tapestry;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

auto lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

TEST_CASE("times are told in seconds, minutes and hours", "[phase2][progress]") {
  CHECK(duration_text(0) == "0.0 s");
  CHECK(duration_text(99.5) == "99.5 s");
  CHECK(duration_text(100) == "2 min");
  CHECK(duration_text(5999) == "100 min");
  CHECK(duration_text(6000) == "1.7 h");
  CHECK(duration_text(36'000'000) == "10000.0 h");
}

TEST_CASE("the speed is that of the steps made here, in tokens if they are known",
          "[phase2][progress]") {
  const auto told = [](Index made, Index tokens, double seconds) {
    return speed_and_rest({1000 + made, 1000, 1100 + made, tokens, seconds});
  };
  CHECK(told(20, 0, 4) == "5.0/s, 20.0 s left");
  CHECK(told(19, 0, 2) == "9.5/s, 10.5 s left");
  CHECK(told(20, 0, 2) == "10/s, 10.0 s left");
  CHECK(told(20, 1, 4) == "5.0 tokens/s, 20.0 s left");
  CHECK(told(20, 300, 4) == "1500 tokens/s, 20.0 s left");
  CHECK(told(20, 0, 0) == "20000000000/s, 0.0 s left");  // a clock that stands still
}

TEST_CASE("on a terminal a line is due after a tenth of a second, and at the end",
          "[phase2][progress]") {
  CHECK_FALSE(line_is_due(true, 0.09, 5, 9));
  CHECK_FALSE(line_is_due(true, 0.1, 5, 9));
  CHECK(line_is_due(true, 0.11, 4, 9));
  CHECK(line_is_due(true, 0, 9, 9));
}

TEST_CASE("elsewhere a line is due five times in all", "[phase2][progress]") {
  const auto due = [](Index total) {
    std::vector<Index> steps;
    for (Index done = 1; done <= 20; ++done) {
      if (line_is_due(false, 9, done, total)) steps.push_back(done);
    }
    return steps;
  };
  CHECK(due(20) == std::vector<Index>{4, 8, 12, 16, 20});
  CHECK(due(7) == std::vector<Index>{2, 3, 5, 6, 7, 9, 10, 12, 13, 14, 16, 17, 19, 20});
  CHECK(due(1).size() == 20);
  CHECK(due(0).size() == 20);
}

TEST_CASE("into a file, progress is told in five lines", "[phase2][progress]") {
  const std::string text = stderr_of([] {
    Progress progress("training", 100, "steps");
    for (int i = 1; i <= 100; ++i) progress.step("loss " + std::to_string(i));
  });
  CHECK(lines(text) == 5);
  CHECK(text.starts_with("training 20/100 steps, "));
  CHECK(holds(text, " left  loss 20\n"));
  CHECK(holds(text, "training 100/100 steps, "));
  CHECK(holds(text, "/s, 0.0 s left  loss 100\n"));
}

TEST_CASE("a resumed run counts from where it began, and tells tokens per second",
          "[phase2][progress]") {
  const std::string text = stderr_of([] {
    Progress progress("training", 10, "steps", {.done = 8, .tokens = 64});
    progress.step();
    progress.step();
  });
  CHECK(lines(text) == 1);
  CHECK(text.starts_with("training 10/10 steps, "));
  CHECK(holds(text, " tokens/s, 0.0 s left"));
}

TEST_CASE("below ten a second, progress tells tenths; beyond 100 s, minutes",
          "[phase2][progress]") {
  const std::string text = stderr_of([] {
    Progress progress("running", 10000, "mutants", {.done = 1999});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    progress.step();  // 5 a second at most: 8000 take 1600 s at least
  });
  CHECK(holds(text.substr(0, text.find("/s")), "."));
  CHECK((text.ends_with(" min left  \n") || text.ends_with(" h left  \n")));
}

TEST_CASE("in a file no line is cut, and no steps are no lines", "[phase2][progress]") {
  const std::string what(300, 'x');
  const std::string text = stderr_of([&] {
    Progress(what, 1, "steps").step("note");
    Progress("nothing", 0, "steps");
    Progress("nothing", 5, "steps", {.done = 2, .live = true});
  });
  CHECK(lines(text) == 1);
  CHECK(text.starts_with(what + " 1/1 steps, "));
  CHECK(text.ends_with(" left  note\n"));
}

TEST_CASE("on a terminal a line is 79 columns wide, of whole characters", "[phase2][progress]") {
  const auto shown = [](const std::string& what) {
    return stderr_of([&] { Progress(what, 1, "steps", {.live = true}).step("note"); });
  };
  const std::string what(70, 'x');
  CHECK(shown(what + "√√√√√√√√√√√√") == "\r" + what + "√√√√√√√√…\n");
  CHECK(shown(what + "日本日本日") == "\r" + what + "日本日本…\n");
  const std::string narrow = shown("a");
  CHECK(narrow.starts_with("\ra 1/1 steps, "));
  CHECK(holds(narrow, " left  note   "));
  CHECK(narrow.size() == 1 + 79 + 1);
}

TEST_CASE("on a terminal the line is renewed at most ten times a second, and at the end",
          "[phase2][progress]") {
  const std::string text = stderr_of([] {
    Progress progress("work", 1000, "steps", {.live = true});
    for (int i = 0; i < 20; ++i) progress.step();  // the first is shown, then none for 0.1 s
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    for (int i = 0; i < 20; ++i) progress.step();
    for (int i = 0; i < 960; ++i) progress.step();
  });
  CHECK(text.starts_with("\rwork 1/1000 steps, "));
  CHECK(holds(text, "\rwork 21/1000 steps, "));
  CHECK(holds(text, "\rwork 1000/1000 steps, "));
  CHECK(std::count(text.begin(), text.end(), '\r') < 50);  // 4, a few more on a busy machine
}

TEST_CASE("the speed is that of the steps made here", "[phase2][progress]") {
  double least = 0;
  const std::string text = stderr_of([&] {
    Progress progress("running", 2000, "steps", {.done = 1000, .tokens = 30});
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (int i = 0; i < 1000; ++i) progress.step();
    least = 30 * 1000 / progress.seconds();
  });
  const std::string last = text.substr(text.find("2000/2000 steps, ") + 17);
  CHECK(holds(last, " tokens/s, 0.0 s left"));
  CHECK(std::stod(last) >= 0.99 * least);
  CHECK(std::stod(last) <= 300'000);
}
