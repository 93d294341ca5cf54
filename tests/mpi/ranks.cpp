// What `make test-mpi` runs as ranks: ranks COUNT WHAT [RANK STEP]. WHAT is "messages", which
// compares what arrives; "busy", where others wait for a rank that computes; "refused", where no
// process can be started; or a fault that RANK has in STEP of a job that would take long.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "open_files.hpp"
#include "tapestry/distributed/agreement.hpp"
#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"

using namespace tapestry;

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw Error(std::string("wrong: ") + what);
}

template <class Number>
void exchange(Ranks& ranks, std::vector<Number>& numbers) {  // to the next rank
  std::vector<Number> came(numbers.size());
  Message sent = ranks.send(ranks.next(), 1, std::as_bytes(std::span(numbers)));
  Message got = ranks.receive(ranks.previous(), 1, std::as_writable_bytes(std::span(came)));
  ranks.wait(sent), ranks.wait(got);
  numbers = came;
}

void once_round_the_ring(Ranks& ranks, std::size_t count) {
  std::vector<int> numbers(count, ranks.rank());
  for (int hop = 1; hop <= ranks.size(); ++hop) {
    ranks.enter(hop, "ring");
    exchange(ranks, numbers);
    const int from = (ranks.rank() + ranks.size() * hop - hop) % ranks.size();
    for (const int number : numbers) require(number == from, "a number on the ring");
  }
}

// Receives begun in another order than the sends; 100 of each of two tags.
void in_order(Ranks& ranks) {
  constexpr int count = 100;
  std::vector<int> sent(2 * count), came(2 * count, -1);
  std::vector<Message> messages;
  for (int i = 0; i < 2 * count; ++i) {
    sent[std::size_t(i)] = ranks.rank() * 1000 + i;
    messages.push_back(ranks.send(ranks.next(), i % 2, bytes_of(sent[std::size_t(i)])));
  }
  for (const int tag : {1, 0}) {
    for (int i = tag; i < 2 * count; i += 2) {
      messages.push_back(ranks.receive(ranks.previous(), tag, bytes_of(came[std::size_t(i)])));
    }
  }
  for (Message& message : messages) ranks.wait(message);
  for (int i = 0; i < 2 * count; ++i) {
    require(came[std::size_t(i)] == ranks.previous() * 1000 + i, "the order of messages");
  }
}

void refuse_other_sizes(Ranks& ranks) {
  for (const std::size_t room : {std::size_t{4}, std::size_t{12}}) {
    std::vector<std::byte> eight(8), other(room);
    Message sent = ranks.send(ranks.next(), 2, eight);
    Message got = ranks.receive(ranks.previous(), 2, other);
    bool refused = false;
    try {
      ranks.wait(got);
    } catch (const Error& error) {
      refused = std::strstr(error.what(), "both ranks must name the same size") != nullptr;
    }
    require(refused, "a message of another size was taken");
    ranks.wait(sent);
  }
}

void agree(Ranks& ranks) {
  require(largest_of_all(ranks, ranks.rank() == ranks.size() / 2 ? 15 : 0) == 15, "the largest");
  check_alike(ranks, {{"weather", "fine"}});
  if (ranks.size() == 1) return;
  try {
    check_alike(ranks, {{"the option --width", ranks.rank() == ranks.size() - 1 ? "32" : "64"}});
  } catch (const Error& error) {
    require(std::strstr(error.what(), "the option --width is '64' on rank 0, but '32' on rank") !=
                nullptr,
            error.what());
    return;
  }
  require(false, "ranks that differ were not refused");
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Prints microseconds of a short message there and back, and gigabytes a second of a long one.
void measure(Ranks& ranks) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{1} << 24}) {
    const int rounds = size == 8 ? 2000 : 10;
    std::vector<std::byte> bytes(size);
    largest_of_all(ranks, 0);
    const double begun = seconds();
    for (int round = 0; round < rounds && ranks.size() > 1 && ranks.rank() < 2; ++round) {
      for (const int sender : {0, 1}) {
        Message message = ranks.rank() == sender ? ranks.send(1 - sender, 4, bytes)
                                                 : ranks.receive(sender, 4, bytes);
        ranks.wait(message);
      }
    }
    const double each = (seconds() - begun) / rounds / 2;
    if (ranks.rank() == 0) {
      std::printf("%zu bytes: %.1f us, %.2f GB/s\n", size, 1e6 * each, double(size) / each / 1e9);
    }
  }
}

void messages(Ranks& ranks) {
  for (const std::size_t count : {0, 1, 1000, 3000000}) once_round_the_ring(ranks, count);
  in_order(ranks);
  if (ranks.size() > 1) refuse_other_sizes(ranks);
  agree(ranks);
  if (ranks.rank() == 0) std::printf("messages are right on %d ranks\n", ranks.size());
}

// More bytes than an int counts.
void huge(Ranks& ranks) {
  const std::size_t count = (std::size_t{1} << 31) + 12345;
  std::vector<std::byte> bytes(ranks.rank() < 2 ? count : 0, std::byte(ranks.rank()));
  if (ranks.rank() == 0) bytes.back() = bytes[count / 2] = std::byte{7};
  if (ranks.rank() > 1) return;
  Message message = ranks.rank() == 0 ? ranks.send(1, 1, bytes) : ranks.receive(0, 1, bytes);
  ranks.wait(message);
  require(bytes.back() == std::byte{7} && bytes[count / 2] == std::byte{7} &&
              bytes.front() == std::byte{0},
          "a message of more than 2 GB");
  if (ranks.rank() == 1) std::printf("a message of %zu bytes is right\n", count);
}

void note_fault(const std::string& kind) {
  if (const char* const file = std::getenv("FAULT_FILE")) std::ofstream(file) << kind;
}

// Longer than the patience of those who wait, in operations alone.
void busy(Ranks& ranks) {
  ranks.enter(1, "compute");
  const double begun = seconds();
  Tensor x = Tensor::ones({64, 64});
  while (ranks.rank() == 0 && seconds() - begun < 5) x = tanh(matmul(x, x));
  largest_of_all(ranks, 1);
  if (ranks.rank() == 0) std::printf("a busy rank was waited for\n");
}

// Trains; the loss of one micro-batch of `failing` is not finite in that step.
void not_finite(Ranks& ranks, int failing, int step_of_fault) {
  const Tensor x = Tensor::ones({4});
  Adam adam({{"x", x}});
  const TreeNode share = share_of(8, ranks.size(), failing);
  const auto loss = [&](Index step, Index micro_batch) -> MicroBatch {
    const bool fails = step == step_of_fault && micro_batch == share.first;
    if (fails) note_fault("nan");
    return {sum(log(fails ? x * -1.0 : x)), 4};
  };
  train_in_parts(adam, loss, {8}, {.steps = 1000, .what = ""}, ranks);
}

void fail(Ranks& ranks, const std::string& kind) {
  note_fault(kind);
  if (kind == "killed") ::raise(SIGKILL);
  if (kind == "crash") ::raise(SIGSEGV);
  if (kind == "abort") std::abort();
  if (kind == "exit") ::_exit(3);
  if (kind == "exit0") ::_exit(0);
  if (kind == "leave") std::exit(3);
  if (kind == "stopped") ::raise(SIGSTOP);
  if (kind == "stuck") std::this_thread::sleep_for(std::chrono::hours(1));
  if (kind == "error") throw Error("the loss is NaN.");
  if (kind == "skip") ranks.enter(99, "next step"), largest_of_all(ranks, 1);
  if (kind == "orphaned") ::kill(::getppid(), SIGKILL);  // mpirun
}

// Steps that compute for a while and then exchange numbers along the ring.
void work(Ranks& ranks, const std::string& kind, int failing, int step_of_fault) {
  std::vector<double> numbers(100000, 1);
  for (int step = 1; step <= 1000; ++step) {
    ranks.enter(step, "compute");
    for (int part = 0; part < 5; ++part) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kind == "slow" ? 3000 : 2));
      ranks.poll();
    }
    if (ranks.rank() == failing && step == step_of_fault) fail(ranks, kind);
    if (kind == "slow" && step == 2) return;
    ranks.enter(step, "exchange");
    exchange(ranks, numbers);
  }
}

// A start for which there are no processes. The superuser, whom no limit binds, becomes nobody.
int refused(int count) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_NPROC, &none);
  if (::getuid() == 0 && ::setuid(65534) != 0) return 3;
  const auto before = open_files();
  try {
    start_ranks(count);
  } catch (const Error& error) {
    std::puts(error.what());
    const bool is_wanted =
        error.what() == std::string("start_ranks: this machine starts no more processes.");
    return is_wanted && open_files() == before ? 0 : 1;
  }
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string what = words[2];
  if (what == "refused") return refused(std::atoi(words[1]));
  return run_as_processes(std::atoi(words[1]), [&](Ranks& ranks) {
    if (what == "messages") return messages(ranks);
    if (what == "huge") return huge(ranks);
    if (what == "measure") return measure(ranks);
    if (what == "busy") return busy(ranks);
    const int failing = count > 3 ? std::atoi(words[3]) : -1;
    const int step = count > 4 ? std::atoi(words[4]) : 0;
    what == "nan" ? not_finite(ranks, failing, step) : work(ranks, what, failing, step);
  });
}
