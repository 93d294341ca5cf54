#include "tape_step.hpp"

#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "screen.hpp"
#include "step_text.hpp"
#include "tapestry/error.hpp"

namespace tapestry::command {
namespace {

// While in scope, keys arrive at once, unseen, and Ctrl-C is one of them: so the terminal is always
// left as it was.
class KeyByKey {
 public:
  KeyByKey() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) throw Error("the terminal has no settings.");
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
  }
  ~KeyByKey() { tcsetattr(STDIN_FILENO, TCSADRAIN, &before_); }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;

  // What was typed; "" when the terminal is gone.
  static std::string read() {
    std::array<char, 64> bytes{};
    ssize_t count = -1;
    do {
      count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    } while (count < 0 && errno == EINTR);
    return {bytes.data(), static_cast<std::size_t>(count < 0 ? 0 : count)};
  }

 private:
  termios before_{};
};

void step_by_keys(const TapeSteps& steps) {
  const KeyByKey keys;
  Stepping now;
  while (!now.ends) {
    const std::string word(now.word);
    print("\033[H\033[2J%s\n%s%s%s\n", step_text(steps, now.step).c_str(), word.c_str(),
          word.empty() ? "" : "\n", step_keys);
    flush();
    const std::string typed = KeyByKey::read();
    if (typed.empty()) return;
    now = after_keys(steps, now, typed);
  }
}

}  // namespace

void step_through(const TapeSteps& steps) {
  if (step_count(steps) == 0) throw Error("the tape is empty: there is no step to show.");
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) return step_by_keys(steps);
  for (std::size_t step = 0; step < step_count(steps); ++step) {
    print("%s%s", step == 0 ? "" : "\n", step_text(steps, step).c_str());
  }
}

}  // namespace tapestry::command
