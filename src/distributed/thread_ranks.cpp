// Ranks that are threads of one process: a message is copied from one thread's memory to another's.
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "distributed/check_message.hpp"
#include "tapestry/distributed/ranks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"

namespace tapestry {
namespace {

// What the threads share: for each sender, receiver and tag the messages that wait, in their order.
struct Post {
  using Line = std::tuple<int, int, int>;  // from, to, tag

  struct Wanted {
    std::span<std::byte> bytes;
    std::uint64_t number;
    std::set<std::uint64_t>* under_way;  // of its receiver
  };
  struct Sent {
    std::vector<std::byte> bytes;
  };

  std::mutex mutex;
  std::condition_variable arrived;
  std::map<Line, std::vector<Sent>> sent;
  std::map<Line, std::vector<Wanted>> wanted;
  std::exception_ptr failure;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(Post& post, int rank, int size) : post_(post), rank_(rank), size_(size) {}
  // What a rank that failed still waited for is not written any more: its room is gone.
  ~ThreadRanks() override {
    const std::lock_guard lock(post_.mutex);
    for (auto& [line, wanted] : post_.wanted) {
      if (std::get<1>(line) == rank_) wanted.clear();
    }
  }
  ThreadRanks(const ThreadRanks&) = delete;
  ThreadRanks& operator=(const ThreadRanks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // The bytes are copied, so that a sent message has ended at once.
  Message send(int to, int tag, std::span<const std::byte> bytes) override {
    check_message("send", to, tag, size_);
    const std::lock_guard lock(post_.mutex);
    const Post::Line line{rank_, to, tag};
    if (auto& wanted = post_.wanted[line]; !wanted.empty()) {
      deliver(bytes, wanted.front());
      wanted.erase(wanted.begin());
      post_.arrived.notify_all();
    } else {
      post_.sent[line].push_back({{bytes.begin(), bytes.end()}});
    }
    return {};
  }

  Message receive(int from, int tag, std::span<std::byte> bytes) override {
    check_message("receive", from, tag, size_);
    const std::lock_guard lock(post_.mutex);
    const Post::Line line{from, rank_, tag};
    const Post::Wanted wanted{bytes, ++messages_, &under_way_};
    under_way_.insert(wanted.number);
    if (auto& sent = post_.sent[line]; !sent.empty()) {
      deliver(sent.front().bytes, wanted);
      sent.erase(sent.begin());
    } else {
      post_.wanted[line].push_back(wanted);
    }
    return {wanted.number};
  }

  bool done(Message& message) override {
    const std::lock_guard lock(post_.mutex);
    return take(message);
  }

  void wait(Message& message) override {
    std::unique_lock lock(post_.mutex);
    while (!take(message)) {
      if (post_.failure) {
        throw Error("rank " + std::to_string(rank_) + ": " + operation_ + " of step " +
                    std::to_string(step_) + " waits for a rank that has failed.");
      }
      post_.arrived.wait(lock);
    }
  }

  void enter(Index step, const char* operation) override {
    step_ = step;
    operation_ = operation;
  }

 private:
  void deliver(std::span<const std::byte> bytes, const Post::Wanted& wanted) const {
    if (bytes.size() != wanted.bytes.size()) {
      throw Error("rank " + std::to_string(rank_) + ": a message of " +
                  std::to_string(bytes.size()) + " bytes meets room for " +
                  std::to_string(wanted.bytes.size()) + ": both ranks must name the same size.");
    }
    if (!bytes.empty()) std::memcpy(wanted.bytes.data(), bytes.data(), bytes.size());
    wanted.under_way->erase(wanted.number);
  }

  bool take(Message& message) {
    if (under_way_.contains(message.number)) return false;
    message = {};
    return true;
  }

  Post& post_;
  int rank_, size_;
  std::uint64_t messages_ = 0;
  std::set<std::uint64_t> under_way_;  // what has not come yet
  Index step_ = 0;
  const char* operation_ = "work";
};

}  // namespace

Ranks& alone() {
  static thread_local Post post;
  static thread_local ThreadRanks ranks(post, 0, 1);
  return ranks;
}

void run_as_threads(int count, const std::function<void(Ranks&)>& work) {
  if (count < 1 || count > 1024) {
    throw Error("run_as_threads: count is " + std::to_string(count) + ": it must be 1 to 1024.");
  }
  Post post;
  const int threads_of_caller = threads_in_use();
  const auto run = [&](int rank) {
    use_threads(threads_of_caller);
    ThreadRanks ranks(post, rank, count);
    try {
      work(ranks);
    } catch (...) {
      const std::lock_guard lock(post.mutex);
      if (!post.failure) post.failure = std::current_exception();
      post.arrived.notify_all();
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
  if (post.failure) std::rethrow_exception(post.failure);
}

}  // namespace tapestry
