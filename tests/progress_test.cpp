#include "tapestry/progress.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "catch.hpp"
#include "stderr_of.hpp"

using namespace tapestry;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

auto lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

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

TEST_CASE("lines stay short, and no steps are no lines", "[phase2][progress]") {
  const std::string text = stderr_of([] {
    Progress(std::string(300, 'x'), 1, "steps").step("note");
    Progress("nothing", 0, "steps");
  });
  CHECK(text.size() == 80);
  CHECK(text.starts_with("xxxxxxxx"));
  CHECK(text.ends_with("xxxxxxxx\n"));
}
