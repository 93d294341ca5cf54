// SIGINT (Ctrl-C) and SIGTERM, handled between two steps instead of within one.
#pragma once

#include <string>
#include <utility>

#include "tapestry/error.hpp"

namespace tapestry::command {

// While in scope, SIGINT and SIGTERM are only noted: writes finish, and the program stops in order
// when it asks. A second one of a kind ends the program at once. A signal that the parent process
// ignores (as under nohup) stays ignored.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static int signal();  // that came, or 0
};

// Thrown where work stops because of a signal; the text says where, and how to resume.
struct Interrupted : Error {
  int signal;
  std::string command;
  Interrupted(int number, const std::string& words, std::string go_on)
      : Error(words), signal(number), command(std::move(go_on)) {}
};

}  // namespace tapestry::command
