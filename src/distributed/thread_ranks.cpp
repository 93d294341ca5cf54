// Ranks that are threads of one process: a message is copied from one thread's memory to another's.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/board.hpp"
#include "distributed/check_message.hpp"
#include "tapestry/distributed/ranks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"

namespace tapestry {
namespace {

// What the threads share. A message waits here until its receiver copies it: no thread writes
// another's memory, which is gone when that one fails.
struct Post {
  using Key = std::tuple<int, int, int, std::uint64_t>;  // from, to, tag, and which of those

  struct Sent {
    std::vector<std::byte> bytes;
    board::Place place;  // of the sender
  };

  explicit Post(int ranks) : ended(std::size_t(ranks)) {}

  void fail(const std::exception_ptr& why) {
    const std::lock_guard lock(mutex);
    if (!failure) failure = why;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<Key, Sent> sent;
  std::vector<std::optional<board::Place>> ended;  // by rank, where it was
  std::exception_ptr failure;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(Post& post, int rank, int size) : post_(post), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // The bytes are copied, so that a sent message has ended at once.
  Message send(int to, int tag, std::span<const std::byte> bytes) override {
    check_message("send", to, tag, size_);
    Post::Sent message{{bytes.begin(), bytes.end()}, place_};
    const Post::Key key{rank_, to, tag, ++sent_[{to, tag}]};
    const std::lock_guard lock(post_.mutex);
    post_.sent.emplace(key, std::move(message));
    post_.changed.notify_all();
    return {};
  }

  Message receive(int from, int tag, std::span<std::byte> bytes) override {
    check_message("receive", from, tag, size_);
    const Post::Key key{from, rank_, tag, ++received_[{from, tag}]};
    wanted_.emplace(++messages_, Wanted{key, bytes});
    return {messages_};
  }

  bool done(Message& message) override {
    const std::lock_guard lock(post_.mutex);
    return take(message);
  }

  void wait(Message& message) override {
    std::unique_lock lock(post_.mutex);
    while (!take(message)) {
      check_sender(wanted_.at(message.number));
      post_.changed.wait(lock);
    }
  }

  void enter(Index step, const char* operation) override { place_.set(step, operation); }

  // Called when nothing more will be sent.
  void end() {
    const std::lock_guard lock(post_.mutex);
    post_.ended[std::size_t(rank_)] = place_;
    post_.changed.notify_all();
  }

 private:
  struct Wanted {
    Post::Key key;
    std::span<std::byte> bytes;
  };
  using Counts = std::map<std::pair<int, int>, std::uint64_t>;  // by the other rank and the tag

  bool take(Message& message) {
    const auto wanted = wanted_.find(message.number);
    if (wanted != wanted_.end()) {
      const auto sent = post_.sent.find(wanted->second.key);
      if (sent == post_.sent.end()) return false;
      check_size(sent->second, wanted->second);
      std::ranges::copy(sent->second.bytes, wanted->second.bytes.begin());
      post_.sent.erase(sent);
      wanted_.erase(wanted);
    }
    message = {};
    return true;
  }

  void check_size(const Post::Sent& sent, const Wanted& wanted) const {
    if (sent.bytes.size() == wanted.bytes.size()) return;
    const auto [from, to, tag, count] = wanted.key;
    throw Error(text_of(rank_, place_) + ": the message of " + text_of(from, sent.place) +
                ", tag " + std::to_string(tag) + ", has " + std::to_string(sent.bytes.size()) +
                " bytes, and there is room for " + std::to_string(wanted.bytes.size()) +
                ": both ranks must name the same size.");
  }

  void check_sender(const Wanted& wanted) const {
    const auto [from, to, tag, count] = wanted.key;
    const auto& ended = post_.ended[std::size_t(from)];
    if (!post_.failure && !ended) return;
    std::string why = "a rank has failed.";
    if (!post_.failure) {
      why = text_of(from, *ended) + " has ended: all ranks must make the same exchanges.";
    }
    throw Error(text_of(rank_, place_) + " waits for a message of rank " + std::to_string(from) +
                ", tag " + std::to_string(tag) + ", but " + why);
  }

  static std::string text_of(int rank, const board::Place& place) {
    return "rank " + std::to_string(rank) + " (" + place.text() + ")";
  }

  Post& post_;
  int rank_, size_;
  board::Place place_;
  Counts sent_, received_;
  std::uint64_t messages_ = 0;
  std::map<std::uint64_t, Wanted> wanted_;  // what has been asked for and not taken, by its number
};

}  // namespace

Ranks& alone() {
  static thread_local Post post(1);
  static thread_local ThreadRanks ranks(post, 0, 1);
  return ranks;
}

void run_as_threads(int count, const std::function<void(Ranks&)>& work) {
  if (count < 1 || count > 1024) {
    throw Error("run_as_threads: count is " + std::to_string(count) + ": it must be 1 to 1024.");
  }
  Post post(count);
  const int threads_of_caller = threads_in_use();
  const auto run = [&](int rank) {
    ThreadRanks ranks(post, rank, count);
    try {
      use_threads(threads_of_caller);
      work(ranks);
    } catch (...) {
      post.fail(std::current_exception());
    }
    ranks.end();
  };
  std::vector<std::thread> threads;
  try {
    for (int rank = 0; rank < count; ++rank) threads.emplace_back(run, rank);
  } catch (const std::exception& fault) {
    post.fail(std::make_exception_ptr(Error(
        "run_as_threads: only " + std::to_string(threads.size()) + " of " + std::to_string(count) +
        " threads could be started (" + fault.what() + "): take fewer ranks.")));
  }
  for (std::thread& thread : threads) thread.join();
  if (post.failure) std::rethrow_exception(post.failure);
}

}  // namespace tapestry
