// Ranks through MPI. Only what asks for MPI in the Makefile compiles and links this file.
#include <mpi.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/check_message.hpp"
#include "distributed/mpi_signs.hpp"
#include "distributed/pause.hpp"
#include "distributed/tags.hpp"
#include "tape/between.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

namespace tapestry {
namespace {

double patience() {
  const char* const text = std::getenv("TAPESTRY_PATIENCE");
  double seconds = 0;
  return text != nullptr && read_number(text, seconds) && seconds > 0 ? seconds : 5;
}

bool is_set_up() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

// Sets MPI up, and has this process killed when its parent ends: mpirun, or its like on another
// machine. That parent was there while MPI was set up; if it is another one now, it has just ended.
void set_up() {
  const pid_t parent = ::getppid();
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks()
      : rank_(asked(MPI_Comm_rank)),
        size_(asked(MPI_Comm_size)),
        comm_(copy_of_world()),
        signs_(size_),
        patience_(patience()) {
    between_operations = {[](void* ranks) { static_cast<MpiRanks*>(ranks)->poll(); }, this};
    if (!signs_.board()) return;
    signs_.board()[rank_].process = ::getpid();
    if (rank_ == 0) process::print_where_the_starter_prints();
  }

  // The end of the program: in order if all ranks come to it.
  ~MpiRanks() override {
    between_operations = {};
    enter(here().step, "the end");
    meet();
    if (signs_.board()) signs_.board()[rank_].ended = 1;
    // A rank may be stopped even now; MPI itself may take a second.
    ::alarm(static_cast<unsigned>(std::max(patience_, 5.0)));
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Message send(int to, int tag, std::span<const std::byte> bytes) override {
    check_message("send", to, tag, size_);
    Pending pending{to, tag, bytes.size(), false};
    cut(bytes, [&](const std::byte* part, int count) {
      return MPI_Isend(part, count, MPI_BYTE, to, tag, comm_, &pending.parts.emplace_back());
    });
    return begun(std::move(pending));
  }

  Message receive(int from, int tag, std::span<std::byte> bytes) override {
    check_message("receive", from, tag, size_);
    Pending pending{from, tag, bytes.size(), true};
    cut(bytes, [&](std::byte* part, int count) {
      return MPI_Irecv(part, count, MPI_BYTE, from, tag, comm_, &pending.parts.emplace_back());
    });
    return begun(std::move(pending));
  }

  bool done(Message& message) override {
    if (message.number == 0) return true;
    signs_.look(nullptr);
    return take(message);
  }

  void wait(Message& message) override {
    if (message.number == 0 || take(message)) return;
    signs::Wait wait(pending_.at(message.number).other, now());
    double next_question = now() + 0.25;
    for (Pause pause; !take(message); pause()) {
      if (!pause.is_long()) continue;
      signs_.look(&wait);
      const double time = now();
      if (time < next_question) continue;
      if (parts_move()) wait.live(time);
      const double longer = wait.sees_it(rank_, time) ? 0 : 1;
      if (wait.quiet(time) > patience_ + longer) give_up(wait, time);
      signs_.ask(wait.other());
      next_question = time + 0.5;
    }
  }

  void poll() override { signs_.look(nullptr); }
  void enter(Index step, const char* operation) override { signs_.enter(step, operation); }

  const board::Place& here() { return signs_.place(); }
  board::Board& board() { return signs_.board(); }

 private:
  // Long messages are cut: MPI counts bytes by an int, and each part that comes is a sign of life.
  static constexpr std::size_t longest = std::size_t{1} << 24;

  struct Pending {
    int other, tag;
    std::size_t size;
    bool receives;
    std::vector<MPI_Request> parts = {};
    std::size_t ended = 0;  // how many parts
  };

  template <class Bytes, class Begin>
  void cut(Bytes bytes, Begin begin) {
    do {
      const std::size_t count = std::min(bytes.size(), longest);
      if (begin(bytes.data(), static_cast<int>(count)) != MPI_SUCCESS) {
        throw Error("MPI refused a message of " + std::to_string(count) + " bytes.");
      }
      bytes = bytes.subspan(count);
    } while (!bytes.empty());
  }

  Message begun(Pending&& pending) {
    pending_.emplace(++messages_, std::move(pending));
    return {messages_};
  }

  bool take(Message& message) {
    const auto found = pending_.find(message.number);
    if (found != pending_.end()) {
      if (!has_ended(found->second)) return false;
      pending_.erase(found);
    }
    message = {};
    return true;
  }

  // Whether a part of any message has ended since the last call.
  bool parts_move() {
    const std::uint64_t before = std::exchange(parts_known_, parts_ended_);
    for (auto& [number, pending] : pending_) has_ended(pending);
    return parts_ended_ != before;
  }

  bool has_ended(Pending& pending) {
    for (; pending.ended < pending.parts.size(); ++pending.ended) {
      int ended = 0;
      MPI_Status status;
      const int code = MPI_Test(&pending.parts[pending.ended], &ended, &status);
      if (code != MPI_SUCCESS) refuse(pending, "more than");
      if (ended == 0) return false;
      ++parts_ended_;
      if (!pending.receives) continue;
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      const std::size_t left = pending.size - pending.ended * longest;
      if (static_cast<std::size_t>(count) != std::min(left, longest)) refuse(pending, "fewer than");
    }
    return true;
  }

  [[noreturn]] void refuse(const Pending& pending, const char* compared) const {
    throw Error("rank " + std::to_string(rank_) + ": the message of rank " +
                std::to_string(pending.other) + ", tag " + std::to_string(pending.tag) + ", has " +
                compared + " the " + std::to_string(pending.size) +
                " bytes that there is room for: both ranks must name the same size.");
  }

  [[noreturn]] void give_up(const signs::Wait& wait, double time) {
    const auto place_of = [&](int rank) { return signs_.place_of(rank, wait); };
    end_all_ranks(signs::line_of(wait, rank_, here(), time, place_of));
  }

  // Returns when all ranks have called it.
  void meet() {
    for (int away = 1; away < size_; away *= 2) {
      const std::byte nothing[1] = {};
      std::byte came[1];
      Message sent = send((rank_ + away) % size_, tags::meeting, nothing);
      Message got = receive((rank_ + size_ - away) % size_, tags::meeting, came);
      wait(sent), wait(got);
    }
  }

  int rank_, size_;
  MPI_Comm comm_;
  Signs signs_;
  double patience_;
  std::uint64_t messages_ = 0, parts_ended_ = 0, parts_known_ = 0;
  std::unordered_map<std::uint64_t, Pending> pending_;
};

MpiRanks* of_this_program = nullptr;

}  // namespace

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

Ranks& ranks_of_this_program() {
  if (ranks_started() == 0) return alone();
  if (!is_set_up()) set_up();
  static MpiRanks ranks;
  of_this_program = &ranks;
  return ranks;
}

void end_all_ranks(const std::string& line, int status) {
  if (of_this_program == nullptr) {
    process::report(line, board::Board(), process::rank_started());
    ::_exit(status);
  }
  MpiRanks& ranks = *of_this_program;
  const bool names_ranks = line.starts_with("rank");
  const std::string place = "rank " + std::to_string(ranks.rank()) + ", " + ranks.here().text();
  const bool has_place = ranks.here().step >= 0 && !names_ranks;
  process::report(has_place ? place + ": " + line : line, ranks.board(), ranks.rank());
  MPI_Abort(MPI_COMM_WORLD, status);
  ::_exit(status);
}

}  // namespace tapestry
