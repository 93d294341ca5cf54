// Ctrl-C and its like, noticed between two steps instead of in the middle of one.
#pragma once

#include <string>
#include <utility>

#include "tapestry/error.hpp"

namespace tapestry::command {

// While one lives, SIGINT and SIGTERM are noted: what is being written is finished, and who asks
// stops in order. The second one of a kind ends the program at once, as if none lived. A signal
// that whoever started the program has switched off (nohup, say) stays so.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static int signal();  // that came, or 0
};

// Thrown where work stops because of a signal; the words say where, and the command how to go on.
struct Interrupted : Error {
  int signal;
  std::string command;
  Interrupted(int number, const std::string& words, std::string go_on)
      : Error(words), signal(number), command(std::move(go_on)) {}
};

}  // namespace tapestry::command
