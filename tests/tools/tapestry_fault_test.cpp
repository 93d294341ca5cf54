// Faults around `tapestry`: output that cannot be written, signals, limits.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "catch.hpp"
#include "process.hpp"
#include "small_folder.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/csv.hpp"
#include "token_training.hpp"

using namespace tapestry;

namespace {

const std::string small = " --batch 2 --width 8 --heads 2";

// `tapestry train` in `folder`, running; its words go to another.
class Training {
 public:
  Training(const std::filesystem::path& folder, const std::string& arguments) {
    const std::string line = "cd '" + folder.string() + "' && OMP_NUM_THREADS=1 exec '" +
                             command_path() + "' train " + arguments;
    process_ = ::fork();
    if (process_ != 0) return;
    std::signal(SIGINT, SIG_DFL);  // whatever started the tests may have switched it off
    ::dup2(::open((words_ / "out").c_str(), O_WRONLY | O_CREAT, 0600), 1);
    ::dup2(::open((words_ / "err").c_str(), O_WRONLY | O_CREAT, 0600), 2);
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training() { ended(SIGKILL); }

  // True as soon as it has printed that; false if a minute passes.
  bool has_printed(const std::string& words) const {
    for (int i = 0; i < 6000; ++i) {
      if (has(content(words_ / "out"), words)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  // How it ended after that signal.
  Result ended(int signal) {
    if (process_ <= 0) return {256, "", ""};
    int status = 0;
    ::kill(process_, signal);
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 256, content(words_ / "out"),
            content(words_ / "err")};
  }

 private:
  TemporaryFolder words_;
  pid_t process_ = 0;
};

}  // namespace

TEST_CASE("output that cannot be written is told by every command", "[phase5][tools]") {
  const std::string model = " --checkpoint '" + (models() / "words").string() + "'";
  for (const std::string& arguments : std::vector<std::string>{
           "--help", "--version", "train --help", "doctor", "tape", "lab --lengths 4 --repeats 1",
           "train copy --steps 0" + small,
           "plot --tensor norm.bias '" + (models() / "copy").string() + "'", "generate" + model,
           "analyze --text the" + model, "why --text the --query the --key the" + model}) {
    for (const char* nowhere : {" >/dev/full", " >&-"}) {
      CAPTURE(arguments, nowhere);
      const TemporaryFolder folder;
      const Result result = tapestry_in(folder / "", arguments + nowhere);
      CHECK(result.status == 1);
      CHECK(result.err == "tapestry: standard output cannot be written.\n");
      CHECK((arguments.starts_with("train") ? all_in(folder / "").empty() : true));
    }
  }
}

TEST_CASE("a signal stops the training after a step, and the file holds it", "[phase5][tools]") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    const TemporaryFolder folder;
    Training training(folder / "", "copy --steps 5000000 --checkpoint m" + small);
    REQUIRE(training.has_printed("guessing blindly"));
    const Result result = training.ended(signal);
    CHECK(result.status == 128 + signal);
    const Index steps = read_checkpoint(folder / "m").steps;
    const std::vector<double> losses =
        read_csv(folder / "out/plots/train_m_loss.csv").column("loss");
    REQUIRE(losses.size() == std::size_t(steps + 1));
    char of_step[32] = "";
    if (steps > 0) std::snprintf(of_step, sizeof of_step, " (loss %.3f)", losses.back());
    CHECK(result.err == "tapestry: stopped after step " + std::to_string(steps) + " of 5000000" +
                            of_step + ", which m holds; to resume:\n" +
                            "  tapestry train --resume --checkpoint m\n");
    CHECK(is_picture(folder / "out/plots/train_m_loss.png"));

    const std::string same = "train copy --checkpoint n --steps " + std::to_string(steps);
    CHECK(wrong(tapestry_in(folder / "", same + small)) == "");
    const Parameters stopped = read_checkpoint(folder / "m").weights.tensors,
                     whole = read_checkpoint(folder / "n").weights.tensors;
    REQUIRE(stopped.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CHECK(largest_difference(stopped[i].value, whole[i].value) == 0);
    }
  }
}

TEST_CASE("a signal saves the adapters that are trained, and tells how to go on",
          "[phase7][tools]") {
  const Desk desk;
  const std::filesystem::path folder = desk.folder / "";
  std::filesystem::copy(small_desk() / "m", folder / "m");
  const std::string line = "count.txt --model m --rank 1 --length 8 --steps 5000000 --save ";
  Training beside(folder, line + "a"),
      whole(folder, line + "w --alpha 2 --whole --batch 2 --rate 0.01 --seed 3");
  REQUIRE(beside.has_printed("says"));
  REQUIRE(whole.has_printed("says"));
  const std::string of_file = beside.ended(SIGINT).err, of_folder = whole.ended(SIGTERM).err;
  const std::string go_on = "tapestry train count.txt --model ";
  CHECK(has(of_file, "a has the adapters; to go on:\n  " + go_on +
                         "m --adapters a --save a --overwrite --length 8 --steps 4"));
  CHECK(has(of_folder,
            "w has the model; to go on:\n  " + go_on +
                "w --rank 1 --alpha 2 --maps query,value --whole --save w --overwrite --length 8 "
                "--batch 2 --rate 0.01 --seed 3 --steps 4"));
  const auto again = [&](const std::string& err) {
    const std::string arguments = err.substr(err.find("\n  tapestry train ") + 18);
    return desk.train(arguments.substr(0, arguments.find("--steps")) + "--steps 1");
  };
  CHECK(wrong(again(of_file)) == "");
  CHECK(wrong(again(of_folder)) == "");
}

TEST_CASE("the command line to resume asks for the same pictures", "[phase5][tools]") {
  const TemporaryFolder folder;
  Training training(folder / "",
                    "copy --steps 5000000 --checkpoint m --out o --format svg" + small);
  REQUIRE(training.has_printed("guessing blindly"));
  CHECK(has(training.ended(SIGINT).err, "train --resume --checkpoint m --out o --format svg\n"));
  CHECK(content(folder / "o/train_m_loss.svg").starts_with("<svg xmlns="));
}

TEST_CASE("a limit on the size of files is an error like a full disk", "[phase5][tools]") {
  const TemporaryFolder folder;
  CHECK(wrong(tapestry_in(folder / "", "train copy --steps 1 --checkpoint m" + small)) == "");
  const Result full =
      tapestry_in(folder / "", "train --resume --steps 2 --checkpoint m", "ulimit -f 4;");
  CHECK(full.status == 1);
  CHECK(has(full.err, "cannot write m: File too large"));
  CHECK(folder.files() == 3);  // the best model, and out
  CHECK(read_checkpoint(folder / "m").steps == 1);
}
