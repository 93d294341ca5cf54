// `tapestry tape --step`: printed to a pipe, by keys on a terminal, and of a file.
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "catch.hpp"
#include "course/tape_programs.hpp"
#include "process.hpp"
#include "tapestry/io/tape_file.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// The command on a terminal of its own.
class Terminal {
 public:
  explicit Terminal(const std::vector<std::string>& arguments) : master_(posix_openpt(O_RDWR)) {
    REQUIRE(master_ >= 0);
    REQUIRE(grantpt(master_) == 0);
    REQUIRE(unlockpt(master_) == 0);
    const std::string slave = ptsname(master_), program = command_path();
    slave_ = ::open(slave.c_str(), O_RDWR | O_NOCTTY);  // so that its settings can be looked at
    std::vector<char*> words = {const_cast<char*>(program.c_str())};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    child_ = fork();
    if (child_ != 0) return;
    for (const int stream : {0, 1, 2}) dup2(slave_, stream);
    ::close(master_);
    execv(program.c_str(), words.data());
    _exit(127);
  }
  ~Terminal() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::close(slave_);
    ::close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // The page that is shown after these keys; lines end in \r\n.
  std::string after(const std::string& keys) {
    if (!keys.empty()) {
      REQUIRE(::write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }
    std::string page;
    while (!page.ends_with("q quit\r\n")) {
      pollfd ready{master_, POLLIN, 0};
      if (::poll(&ready, 1, 60'000) != 1) return page + "(no answer)";
      char bytes[4096];
      const ssize_t count = ::read(master_, bytes, sizeof bytes);
      if (count <= 0) return page + "(ended)";
      page.append(bytes, static_cast<std::size_t>(count));
    }
    return page;
  }

  int ended(const std::string& key) {
    REQUIRE(::write(master_, key.data(), key.size()) == static_cast<ssize_t>(key.size()));
    int status = 0;
    ::waitpid(std::exchange(child_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
  }

  bool is_as_before() const {
    termios settings{};
    REQUIRE(tcgetattr(slave_, &settings) == 0);
    return (settings.c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG);
  }

 private:
  int master_, slave_ = -1;
  pid_t child_ = -1;
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("in a pipe tape --step prints all steps, and draws nothing", "[phase0][tools]") {
  const TemporaryFolder folder;
  for (const std::string& name : tape_program_names()) {
    CAPTURE(name);
    const Result result = tapestry_in(folder / "", "tape " + name + " --step");
    CHECK(wrong(result) == "");
    const TapeSteps steps = tape_program_steps(name);
    CHECK(count_of(result.out, ", forward\n") == steps.records.size());
    CHECK(count_of(result.out, ", backward\n") == steps.backward.size());
    CHECK(count_of(result.out, "\n  > ") == steps.records.size() + steps.backward.size());
    CHECK(count_of(result.out, "The first number that is not finite") ==
          (steps.non_finite ? 1 : 0));
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("a printed step has its line, numbers, and what it adds", "[phase0][tools]") {
  const TemporaryFolder folder;
  const std::string said = tapestry_in(folder / "", "tape --step").out;
  CHECK(has(said, "Step 1 of 12, forward\nneuron: loss = (tanh(w x + b) - 0.2)^2"));
  CHECK(has(said, "  > y = tanh(product + b)\n"));
  CHECK(has(said, "4: y = tanh(record 3)\n   shape (), " + std::to_string(sizeof(real)) +
                      " bytes saved for the backward pass\n"
                      "value             0.6044\n  of record 3        0.7\n"));
  CHECK(has(said, "Step 8 of 12, backward\n"));
  CHECK(has(said,
            "6: loss = multiply(difference, difference)\n"
            "gradient               1\n"
            "to the gradient of difference\n"
            "  it adds         0.4044\n"
            "  so far          0.4044\n"
            "to the gradient of difference\n"
            "  it adds         0.4044\n"
            "  so far          0.8087\n"));
  const std::string masked = tapestry_in(folder / "", "tape masked --step").out;
  CHECK(has(masked, "- shifted [1, 0] is NaN: -inf - -inf is NaN, of masked [1, 0] and highest"));
  CHECK(has(masked, "- highest [1, 0] is -inf: max is -inf, of 3 numbers of masked, all of them"));
}

// Whether this machine gives terminals; a bare container may have none.
bool has_terminals() {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  const bool works = master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 &&
                     ptsname(master) != nullptr && ::access(ptsname(master), R_OK | W_OK) == 0;
  if (master >= 0) ::close(master);
  if (!works) {
    WARN("left out: this machine gives no terminals (mount devpts to /dev/pts)");
    SUCCEED("a test without any check would count as failed");
  }
  return works;
}

TEST_CASE("on a terminal keys lead through the steps", "[phase0][tools]") {
  if (!has_terminals()) return;
  Terminal terminal({"tape", "masked", "--step"});
  CHECK(has(terminal.after(""), "Step 1 of "));
  CHECK(!terminal.is_as_before());
  CHECK(has(terminal.after("p"), "This is the first step."));
  CHECK(has(terminal.after("n"), "Step 2 of "));
  CHECK(has(terminal.after("\r"), "Step 3 of "));
  CHECK(has(terminal.after(" "), "Step 4 of "));
  CHECK(has(terminal.after("\x1b[C"), "Step 5 of "));
  CHECK(has(terminal.after("\x1bOC"), "Step 6 of "));
  CHECK(has(terminal.after("\x1b[1;5D"), "Step 5 of "));
  CHECK(has(terminal.after("p"), "Step 4 of "));
  CHECK(has(terminal.after("x"), "Step 4 of "));
  CHECK(has(terminal.after("b"), "backward\r\n"));
  const std::string bad = terminal.after("f");
  CHECK(has(bad, "The first number that is not finite"));
  CHECK(has(bad, "  > shifted = masked - highest\r\n"));
  CHECK(has(terminal.after(std::string(60, 'n')), "This is the last step."));
  CHECK(terminal.ended("q") == 0);
  CHECK(terminal.is_as_before());
}

TEST_CASE("Ctrl-C and Ctrl-D leave the terminal as it was", "[phase0][tools]") {
  if (!has_terminals()) return;
  for (const char* const key : {"\x03", "\x04"}) {
    Terminal terminal({"tape", "--step"});
    CHECK(has(terminal.after(""), "Step 1 of 12"));
    CHECK(has(terminal.after("f"), "All numbers are finite."));
    CHECK(terminal.ended(key) == 0);
    CHECK(terminal.is_as_before());
  }
}

TEST_CASE("tape --json writes the steps, and --step reads them", "[phase0][tools]") {
  const TemporaryFolder folder;
  const Result said = tapestry_in(folder / "", "tape masked --step --json s.json");
  CHECK(wrong(said) == "");
  CHECK(has(said.out, "wrote s.json\n"));
  CHECK(content(folder / "s.json") == to_json(tape_program_steps("masked")));
  const Result read = tapestry_in(folder / "", "tape --step s.json");
  CHECK(wrong(read) == "");
  CHECK(read.out + "wrote s.json\n" == said.out);
  CHECK(wrong(tapestry_in(folder / "", "tape softmax --json t.json --out o")) == "");
  CHECK(content(folder / "t.json") == to_json(tape_program_steps("softmax")));
  CHECK(is_picture(folder / "o/tape_softmax.png"));
}

TEST_CASE("a file of a program of one's own cannot command the terminal", "[phase0][tools]") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::ones({9, 9});
  Tape tape(Parameters{{"\x1b[2Jx" + std::string(300, 'w'), x}}, Tape::Keep::values);
  (void)tape.backward(sum(x));
  write_tape_steps(folder / "own.json", tape_steps(tape, {{"a\nb\x1b[2J\u009b", ""}}));
  const Result result = tapestry_in(folder / "", "tape --step own.json");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "    a?b?[2J?\n"));
  CHECK(has(result.out, "1        1        1…\n"));
  CHECK(has(result.out, "… and 3 rows more"));
}

TEST_CASE("tape --step refuses what is no file of steps in one line", "[phase0][tools]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "bad.json") << "{}";
  std::string empty = to_json(TapeSteps());
  std::ofstream(folder / "empty.json") << empty;
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const Result result = tapestry_in(folder / "", arguments);
    const bool one_line = count_of(result.err, "\n") == 1 && result.out.empty();
    return result.status == 1 && one_line && has(result.err, words) ? "" : result.err;
  };
  CHECK(refused("tape --step bad.json", "bad.json: it has no \"format\"") == "");
  CHECK(refused("tape --step none.json", "none.json") == "");
  CHECK(refused("tape --step ./", "./") == "");
  CHECK(refused("tape --step empty.json", "the tape is empty") == "");
  CHECK(refused("tape bad.json", "step through it with --step") == "");
  CHECK(refused("tape --step maskd", "Did you mean masked?") == "");
  CHECK(refused("tape --step --json .", "is a folder") == "");
  CHECK(folder.files() == 2);
}
