#include "distributed/signs_of_life.hpp"

#include "catch.hpp"

using namespace tapestry;
using board::Place;
using signs::Sign;
using signs::Wait;

namespace {

Place place(Index step, const char* operation) {
  Place made;
  made.set(step, operation);
  return made;
}

Sign computing() { return {place(7, "backward pass"), 0, -1, {}, -1}; }

Sign waiting(double quiet, int waits_for) {
  return {place(7, "sum of gradients"), quiet, waits_for, place(6, "loss"), waits_for};
}

std::string line_of(const Wait& wait, double now) {
  return signs::line_of(wait, 0, place(7, "sum of losses"), now, [&](int rank) {
    return rank == wait.other() ? wait.heard().place : wait.heard().place_of_that;
  });
}

}  // namespace

TEST_CASE("a wait is quiet since it began, or since it heard of life", "[phase8][distributed]") {
  Wait wait(1, 100);
  CHECK(wait.quiet(103) == 3);
  wait.hear(computing(), 104);
  CHECK(wait.quiet(106) == 2);
  wait.hear(waiting(5, 2), 106);  // which knew of life at 101: older than what is known
  CHECK(wait.quiet(106) == 2);
  wait.hear(waiting(0.5, 2), 106);
  CHECK(wait.quiet(106) == 0.5);
}

// Each waits for the next, and all ask once a second; what one hears is what the other knew then.
TEST_CASE("ranks that wait in a circle all become quiet", "[phase8][distributed]") {
  Wait a(1, 0), b(2, 1), c(0, 2);
  for (int now = 3; now <= 10; ++now) {
    a.hear(waiting(b.quiet(now), 2), now);
    b.hear(waiting(c.quiet(now), 0), now);
    c.hear(waiting(a.quiet(now), 1), now);
  }
  for (const Wait* wait : {&a, &b, &c}) CHECK(wait->quiet(10) == 8);  // since the last began
}

TEST_CASE("a rank that computes keeps all alive that wait for it in a row",
          "[phase8][distributed]") {
  Wait a(1, 0), b(2, 0);
  for (int now = 1; now <= 20; ++now) {
    b.hear(computing(), now);
    a.hear(waiting(b.quiet(now), 2), now);
    CHECK(a.quiet(now) == 0);
  }
}

TEST_CASE("the line of a wait names the rank at its end, step and operation",
          "[phase8][distributed]") {
  Wait wait(1, 0);
  CHECK(line_of(wait, 8) ==
        "rank 1, its start: it has given no sign of life for 8 s; rank 0 (step 7, sum of losses) "
        "waits for it (longer with TAPESTRY_PATIENCE=60).");
  wait.hear(computing(), 0);
  CHECK(line_of(wait, 7) ==
        "rank 1, step 7, backward pass: it has given no sign of life for 7 s; rank 0 (step 7, sum "
        "of losses) waits for it (longer with TAPESTRY_PATIENCE=60).");
  wait.hear(waiting(7, 2), 7);
  CHECK(
      line_of(wait, 7) ==
      "rank 2, step 6, loss: it has given no sign of life for 7 s; rank 0 (step 7, sum of losses) "
      "waits for it (longer with TAPESTRY_PATIENCE=60).");
  wait.hear(waiting(7, 0), 7);
  CHECK(line_of(wait, 7) ==
        "rank 0 (step 7, sum of losses) and rank 1 (step 7, sum of gradients) have waited for each "
        "other for 7 s: all ranks must make the same exchanges.");
}

TEST_CASE("a wait tells what it sees itself from hearsay", "[phase8][distributed]") {
  Wait wait(1, 0);
  CHECK(wait.sees_it(0, 1));  // it heard nothing
  wait.hear(computing(), 1);
  CHECK(wait.sees_it(0, 2));
  Sign sign = waiting(1, 1);  // rank 1 waits, and at the end of its chain stands rank 1
  sign.next = 0;              // by way of this rank
  wait.hear(sign, 6);
  CHECK(wait.sees_it(0, 7));
  CHECK(line_of(wait, 7).starts_with("rank 0 (step 7, sum of losses) and rank 1 (step 7, sum"));
  sign.next = 2;  // by way of another
  wait.hear(sign, 6);
  CHECK_FALSE(wait.sees_it(0, 7));
  CHECK(
      line_of(wait, 7) ==
      "rank 1, step 7, sum of gradients: it and others have waited for each other for 2 s; rank 0 "
      "(step 7, sum of losses) waits for it: all ranks must make the same exchanges.");
  sign.waits_for = 3;  // a chain
  wait.hear(sign, 6);
  CHECK_FALSE(wait.sees_it(0, 7));
  CHECK(line_of(wait, 7).starts_with("rank 3, step 6, loss: it has given no sign of life"));
  sign.waits_for = 0;  // a circle of three
  wait.hear(sign, 6);
  CHECK(wait.sees_it(0, 7));
  CHECK(line_of(wait, 7).find("have waited for each other") != std::string::npos);
  // Whatever it said: now it is silent.
  CHECK_FALSE(wait.silent(8));
  CHECK(wait.silent(8.1));
  CHECK(wait.sees_it(0, 8.1));
  CHECK(line_of(wait, 8.1).starts_with("rank 1, step 7, sum of gradients: it has given no sign"));
}

TEST_CASE("a place is cut where its text is longer than there is room", "[phase8][distributed]") {
  Place long_one = place(3, std::string(100, 'x').c_str());
  CHECK(long_one.text() == "step 3, " + std::string(47, 'x'));
  CHECK(Place().text() == "its start");
}
