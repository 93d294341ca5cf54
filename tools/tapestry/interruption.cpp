#include "interruption.hpp"

#include <csignal>

namespace tapestry::command {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t came = 0;

void note(int signal) { came = signal; }

void handle(int signal, void (*handler)(int)) {
  struct sigaction old{}, now{};
  ::sigaction(signal, nullptr, &old);
  if (old.sa_handler == SIG_IGN) return;
  now.sa_handler = handler;
  now.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &now, nullptr);
}

}  // namespace

Interruption::Interruption() {
  for (const int signal : signals) handle(signal, note);
}

Interruption::~Interruption() {
  for (const int signal : signals) handle(signal, SIG_DFL);
}

int Interruption::signal() { return came; }

}  // namespace tapestry::command
