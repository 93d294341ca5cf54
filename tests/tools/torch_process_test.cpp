// The bench's talk with PyTorch's process, played here by lines of the shell.
#include "../../tools/bench/torch_process.hpp"

#include <fstream>

#include "catch.hpp"

using tapestry::bench::TorchProcess;

namespace {

// A "python" that says hello, and then what `script` makes of each line it is told. What follows it
// in the command, "-u -c PROGRAM", are arguments that it does not look at.
std::string python(const std::string& hello, const std::string& script = "echo yes") {
  return "sh -c 'echo " + hello + "; while read first rest; do " + script + "; done' sh";
}

bool is_running(pid_t process) {  // and not only waits for init to notice its end
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return file >> number >> name >> state && state != "Z";
}

}  // namespace

TEST_CASE("PyTorch's process is asked row by row", "[tools]") {
  TorchProcess torch(python("PyTorch 2.6.0+debian 97.5",
                            "case \"$first $rest\" in \"row softmax 2 x 3\") echo yes;; "
                            "row*) echo no;; time*) echo 0.25;; esac"));
  CHECK(torch.problem() == "");
  REQUIRE(torch.is_there());
  CHECK(torch.version() == "2.6.0+debian");
  CHECK(torch.gflops() == 97.5);
  CHECK(torch.is_judged());
  CHECK_FALSE(torch.prepares("softmax 3 x 2"));
  CHECK(torch.prepares("softmax 2 x 3"));
  CHECK(torch.seconds() == 0.25);
  CHECK(torch.seconds() == 0.25);
}

TEST_CASE("PyTorch is judged from 2.6 on", "[tools]") {
  const auto judged = [](const std::string& version) {
    return TorchProcess(python("PyTorch " + version + " 1")).is_judged();
  };
  CHECK_FALSE(judged("1.13.1"));
  CHECK_FALSE(judged("2.5.9"));
  CHECK(judged("2.6.0"));
  CHECK(judged("2.10.1"));
  CHECK(judged("3.0"));
  CHECK_FALSE(judged("master"));
}

TEST_CASE("a python without PyTorch, or none, is told in words", "[tools]") {
  const auto problem = [](const std::string& command) {
    const TorchProcess torch(command, 5);
    CHECK_FALSE(torch.is_there());
    return torch.problem();
  };
  CHECK(problem(python("none No module named torch")) == "No module named torch");
  CHECK(problem("/nowhere/python3") == "it ended");
  CHECK(problem("true") == "it ended");
  CHECK(problem(python("hello")) == "it said \"hello\"");
  CHECK(problem(python("PyTorch 2.6.0")) == "it said \"PyTorch 2.6.0\"");
  CHECK(problem("yes | tr -d \"\\\\n\"; true") == "it said more than one line");
}

TEST_CASE("a PyTorch that dies, hangs or talks nonsense is not asked again", "[tools]") {
  const auto problem = [](const std::string& script, double patience = 5) {
    TorchProcess torch(python("PyTorch 2.6.0 90", script), patience);
    REQUIRE(torch.is_there());
    REQUIRE(torch.prepares("softmax 2 x 3"));
    CHECK(torch.seconds() == std::nullopt);
    CHECK(torch.seconds() == std::nullopt);
    CHECK_FALSE(torch.prepares("softmax 2 x 3"));
    return torch.problem();
  };
  const std::string yes = "case $first in row) echo yes;; time) ";
  CHECK(problem(yes + "exit 1;; esac") == "it ended");
  CHECK(problem(yes + "echo fast;; esac") == "it said \"fast\"");
  CHECK(problem(yes + "echo -1;; esac") == "it said \"-1\"");
  CHECK(problem(yes + "echo nan;; esac") == "it said \"nan\"");
  CHECK(problem(yes + "sleep 60;; esac", 0.5) == "it gave no answer within 0.5 seconds");
}

TEST_CASE("what a PyTorch's command started ends with it", "[tools]") {
  pid_t child = 0;
  {
    TorchProcess torch("sh -c 'sleep 1000 & echo PyTorch 2.6.0 $!; read line' sh");
    REQUIRE(torch.is_there());
    child = static_cast<pid_t>(torch.gflops());
    REQUIRE(is_running(child));
  }
  for (int i = 0; i < 500 && is_running(child); ++i) usleep(10'000);
  CHECK_FALSE(is_running(child));
}
