#include "kernels/pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include "kernels/account.hpp"
#include "kernels/part_range.hpp"

namespace tapestry::kernels {
namespace {

constexpr Index microsecond = 1000;
constexpr Index awake_share = 64;  // this part of a grain justifies a thread that is awake
constexpr Index most_parts = 64;   // of each thread
constexpr Index woken_parts = 4;   // of each thread, so that one that wakes late finds some left
constexpr Index longest_spin = 1000 * microsecond;  // of a thread that waits for parts to end

Index now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// True within a part: loops there are not shared.
thread_local bool within_part = false;

struct WithinPart {
  WithinPart() { within_part = true; }
  ~WithinPart() { within_part = false; }
};

// The data of each thread; number 0 is the thread that shares a loop.
struct alignas(64) Place {
  PartRange range;
  std::atomic<int> asleep{0};
};

// The current loop, as one atomic word: how many threads take part, how many more may join, whether
// its owner sleeps until all have left, and its number. One atomic step joins, and never a loop
// that has ended.
constexpr std::uint64_t one_inside = 1, inside = 0xff, one_place = 0x100, places = 0xff00,
                        sleeper = 0x10000, one_loop = 0x20000;

class Pool {
 public:
  // May be called by any thread at any time.
  Sharing worthwhile(Index count, Index grain, Index part);
  bool is_alone() const { return account_.alone(now()); }

  // Returns false and does nothing if another thread shares a loop.
  bool share(const Sharing& sharing, const Parts& parts);

 private:
  void run_worker(int self);
  bool spin(std::uint64_t& last);
  bool join(std::uint64_t& last);
  void sleep(int self, std::uint64_t& last);
  void wake(int other);
  void wake_next(int self);
  void leave();
  struct Own {
    Index parts = 0, shortest = 0, longest = 0;  // what one took
  };
  Own work(int self);
  void run(Index part);
  void start_threads(int others);
  void open(const Sharing& sharing, const Parts& parts);
  void close(const Own& own);

  std::atomic<bool> taken_{false};
  SmallLoops small_;
  Account account_;
  int started_ = 0;
  bool can_start_ = true;
  std::atomic<bool> failed_{false};
  std::exception_ptr* error_ = nullptr;  // the first one thrown
  // The current loop, on a cache line of its own: threads poll it while they wait.
  alignas(64) std::atomic<std::uint64_t> loop_{0};
  Sharing sharing_;
  Parts parts_{};
  alignas(64) std::byte body_[Parts::most_bytes] = {};
  alignas(64) std::atomic<int> awake_{0};
  std::atomic<int> ended_{0};  // changes when a thread that sleeps in close() must check again
  Place place_[most_threads];
};

// Never destroyed, for its threads run as long as the process.
constinit Pool pool;

// ---- The threads of the pool

void Pool::run_worker(int self) {
  const WithinPart within;
  for (std::uint64_t last = 0;;) {
    if (!spin(last)) {
      sleep(self, last);
      continue;
    }
    if (sharing_.wakes) wake_next(self);
    work(self);
    leave();
  }
}

// False if no loop other than `last` came for a while.
bool Pool::spin(std::uint64_t& last) {
  const Index start = now();
  for (int i = 1; !join(last); ++i) {
    pause();
    if (i % 16 == 0 && now() - start > SmallLoops::spin_time) return false;
  }
  return true;
}

bool Pool::join(std::uint64_t& last) {
  std::uint64_t loop = loop_.load(std::memory_order_relaxed);
  if ((loop & places) == 0 || loop / one_loop == last || others_come_late) return false;
  if (!loop_.compare_exchange_strong(loop, loop + one_inside - one_place)) return false;
  last = loop / one_loop;
  return true;
}

void Pool::leave() {
  const std::uint64_t before = loop_.fetch_sub(one_inside);
  if ((before & sleeper) != 0 && (before & inside) == one_inside) {
    ended_.fetch_add(1);
    ended_.notify_one();
  }
}

void Pool::sleep(int self, std::uint64_t& last) {
  std::atomic<int>& asleep = place_[self].asleep;
  awake_.fetch_sub(1);
  asleep.store(1);
  // A loop that came just now saw this thread awake, and did not wake it.
  const std::uint64_t loop = loop_.load();
  if ((loop & places) != 0 && loop / one_loop != last) wake(self);
  asleep.wait(1);
}

void Pool::wake(int other) {
  std::atomic<int>& asleep = place_[other].asleep;
  if (asleep.load() == 0 || asleep.exchange(0) == 0) return;
  awake_.fetch_add(1);
  asleep.notify_one();
}

// Threads wake each other as a tree, so that none has to wake all.
void Pool::wake_next(int self) {
  for (const int other : {2 * self + 1, 2 * self + 2}) {
    if (other < sharing_.threads) wake(other);
  }
}

// ---- Work

// Runs parts until all have been begun: its own first, then those of others.
Pool::Own Pool::work(int self) {
  Own own;
  Index before = now();
  for (int i = 0; i < sharing_.threads; ++i) {
    const int owner = (self + i) % sharing_.threads;
    PartRange& range = place_[owner].range;
    for (Index part; (part = owner == self ? range.take_first() : range.take_last()) >= 0;) {
      run(part);
      const Index after = now();
      own.shortest = own.parts++ == 0 ? after - before : std::min(own.shortest, after - before);
      own.longest = std::max(own.longest, after - before);
      before = after;
    }
  }
  return own;
}

void Pool::run(Index part) {
  try {
    parts_.run(parts_.body, part);
  } catch (...) {
    if (!failed_.exchange(true)) *error_ = std::current_exception();
  }
}

// ---- The owner of a loop

Sharing Pool::worthwhile(Index count, Index grain, Index part) {
  const Index awake_grain = std::max<Index>(1, grain / awake_share);
  const Index most = std::min<Index>(thread_count(), count / awake_grain);
  if (most < 2 || within_part) return {};
  const Index time = now();
  if (account_.alone(time)) return {};
  const Index awake = std::max(awake_.load(std::memory_order_relaxed), 0);
  const Index pays = count / grain;
  Sharing sharing;
  sharing.wakes = pays >= 2 || small_.are_a_stream(time);
  sharing.threads = int(std::min(most, std::max({pays, 1 + awake, Index(1 + sharing.wakes)})));
  const Index least = sharing.wakes ? std::min(woken_parts * sharing.threads, count / awake_grain)
                                    : sharing.threads;
  const Index parts =
      std::clamp(count / std::max<Index>(1, part), least, most_parts * sharing.threads);
  sharing.parts = parts / sharing.threads * sharing.threads;
  return sharing;
}

bool Pool::share(const Sharing& sharing, const Parts& parts) {
  if (taken_.exchange(true, std::memory_order_acquire)) return false;
  if (sharing.wakes) start_threads(sharing.threads - 1);
  std::exception_ptr error;
  error_ = &error;
  failed_.store(false, std::memory_order_relaxed);
  {
    const WithinPart within;
    open(sharing, parts);
    close(work(0));
  }
  taken_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
  return true;
}

// A child of fork() has none of the threads.
void reset_after_fork() {
  static bool done = false;
  if (!done) pthread_atfork(nullptr, nullptr, [] { new (&pool) Pool; });
  done = true;
}

// Continues without threads that cannot be created.
void Pool::start_threads(int others) {
  if (started_ >= others || !can_start_) return;
  reset_after_fork();
  sigset_t signals, before;
  sigfillset(&signals);  // for the program's threads; except a thread's own faults
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
    sigdelset(&signals, fault);
  }
  pthread_sigmask(SIG_SETMASK, &signals, &before);
  try {
    for (; started_ < others; ++started_) {
      std::thread([this, self = started_ + 1] { run_worker(self); }).detach();
      awake_.fetch_add(1);
    }
  } catch (const std::exception&) {
    can_start_ = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Pool::open(const Sharing& sharing, const Parts& parts) {
  const int threads = std::min(sharing.threads, 1 + started_);
  std::memcpy(body_, parts.body, std::size_t(parts.size));
  for (int i = 0; i < threads; ++i) {
    place_[i].range.set(sharing.parts * i / threads, sharing.parts * (i + 1) / threads);
  }
  // Last: others poll this line, and take it away from this core.
  sharing_ = sharing;
  sharing_.threads = threads;
  parts_ = parts;
  if (parts.size > 0) parts_.body = body_;
  const std::uint64_t others = std::uint64_t(threads - 1);
  loop_.store((loop_.load() / one_loop + 1) * one_loop + others * one_place);
  if (sharing_.wakes) wake_next(0);
  while (sharing_.together && !others_come_late && (loop_.load() & places) != 0) {
    std::this_thread::yield();
  }
}

// No thread joins any more. Those inside run their last parts: it waits for them, spinning for
// their expected time, and then asleep, for they may need this processor.
void Pool::close(const Own& own) {
  loop_.fetch_and(~places);
  const Index start = now(), enough = start + std::min(own.longest, longest_spin) + Account::grace;
  for (int i = 1; (loop_.load() & inside) != 0; ++i) {
    pause();
    if (i % 16 != 0 || now() < enough) continue;
    loop_.fetch_or(sleeper);
    for (;;) {
      const int ended = ended_.load();
      if ((loop_.load() & inside) == 0) break;
      ended_.wait(ended);
    }
  }
  const Index end = now();
  if (own.parts > 0) {
    account_.add(end, (sharing_.parts - own.parts) * own.shortest, end - start, 2 * own.longest);
  }
}

}  // namespace

Sharing share_if_worthwhile(Index count, Index grain, Index part) {
  return pool.worthwhile(count, grain, part);
}

Sharing share_always(Index count) {
  const Index threads = within_part ? 1 : std::min<Index>(thread_count(), count);
  return {int(threads), std::min(count, 4 * threads), true, true};
}

int threads_at_hand() {
  const int count = thread_count();
  return count == 1 || within_part || pool.is_alone() ? 1 : count;
}

void share(const Sharing& sharing, const Parts& parts) {
  if (pool.share(sharing, parts)) return;
  const WithinPart within;
  for (Index part = 0; part < sharing.parts; ++part) parts.run(parts.body, part);
}

}  // namespace tapestry::kernels
