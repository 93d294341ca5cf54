// Ranks over a slower link: the same messages, and none of them early.
#include "course/delayed_ranks.hpp"

#include <vector>

#include "catch.hpp"
#include "check_in_thread.hpp"
#include "ops/expect.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

TEST_CASE("a delayed message arrives whole, in its order, and not before its time",
          "[phase8][course]") {
  const NetworkLink link{0.02, 1e5};  // a message of 1000 bytes: 20 ms + 10 ms
  CHECK(link.seconds(1000) == Approx(0.03));
  CHECK(NetworkLink().seconds(1e12) == 0);
  double waited = 0, second = 0;
  std::vector<int> got;
  const double start = now();
  run_as_threads(2, [&](Ranks& fast) {
    Delayed ranks(fast, link);
    CHECK_IN_THREAD(ranks.size() == 2);
    std::vector<int> first(250, 7), next(250, 8);
    if (ranks.rank() == 0) {
      Message a = ranks.send(1, 3, std::as_bytes(std::span(first)));
      Message b = ranks.send(1, 3, std::as_bytes(std::span(next)));
      ranks.wait(a), ranks.wait(b);
      return;
    }
    std::vector<int> x(250), y(250);
    Message a = ranks.receive(0, 3, std::as_writable_bytes(std::span(x)));
    Message b = ranks.receive(0, 3, std::as_writable_bytes(std::span(y)));
    ranks.wait(a), waited = now() - start;
    CHECK_IN_THREAD(a.number == 0);
    while (!ranks.done(b)) ranks.poll();
    CHECK_IN_THREAD(b.number == 0);
    second = now() - start, got = {x[0], x[249], y[0], y[249]};
    CHECK_IN_THREAD(ranks.done(b));  // ended: for ever
  });
  CHECK(got == std::vector<int>{7, 7, 8, 8});
  CHECK(waited >= 0.03);
  CHECK(second >= 0.04);  // bytes follow each other
}

TEST_CASE("a link without delay adds none", "[phase8][course]") {
  run_as_threads(1, [](Ranks& fast) {
    Delayed ranks(fast, {});
    const int out = 5;
    int in = 0;
    Message sent = ranks.send(0, 1, bytes_of(out)), got = ranks.receive(0, 1, bytes_of(in));
    ranks.wait(sent), ranks.wait(got);
    CHECK_IN_THREAD(in == 5);
    CHECK_IN_THREAD(sent.number == 0);
    ranks.wait(sent);  // ended: nothing to wait for
    CHECK_IN_THREAD(complaint([&] { ranks.send(1, 1, bytes_of(out)); }, {"ranks are 0 to 0"}) ==
                    "");
  });
}
