#include "tapestry/distributed/agreement.hpp"

#include <atomic>
#include <cstdlib>

#include "catch.hpp"
#include "distributed/board.hpp"
#include "late.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

std::string words_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("all ranks learn the largest number of any", "[phase8][distributed]") {
  for (int count = 1; count <= 9; ++count) {
    for (int holder = 0; holder < count; ++holder) {
      std::atomic<int> right = 0;
      run_as_threads(count, [&](Ranks& ranks) {
        right += largest_of_all(ranks, ranks.rank() == holder ? 15 : -3) == 15;
      });
      CHECK(right == count);
    }
  }
}

TEST_CASE("to agree takes two messages for each rank but one, and words for each fact take four",
          "[phase8][distributed]") {
  for (int count = 1; count <= 6; ++count) {
    std::atomic<int> right = 0;
    const auto others = static_cast<std::size_t>(count - 1);
    CHECK(run_late(count, [&](LateRanks& ranks) {
            right += largest_of_all(ranks, 10 + ranks.rank()) == 9 + count;
          }) == LateMessages{2 * 2 * others, 0});
    CHECK(right == count);
    CHECK(run_late(count, [](LateRanks& ranks) {
            check_alike(ranks, {{"the option --width", "64"}});
          }) == LateMessages{2 * 4 * others, 0});
  }
}

TEST_CASE("ranks that differ are refused on all of them, and the line tells in what",
          "[phase8][distributed]") {
  const auto refusal = [](const std::vector<Trait>& odd, int count) {
    std::atomic<int> refused = 0;
    std::string words;
    run_as_threads(count, [&](Ranks& ranks) {
      const std::vector<Trait> same = {{"the option --width", "64"}, {"version", "0.1.0"}};
      const std::string said =
          words_of([&] { check_alike(ranks, ranks.rank() == count - 1 ? odd : same); });
      refused += !said.empty();
      if (ranks.rank() == 0) words = said;
    });
    CHECK((refused == 0 || refused == count));
    return words;
  };
  CHECK(refusal({{"the option --width", "64"}, {"version", "0.1.0"}}, 4) == "");
  CHECK(refusal({{"the option --width", ""}, {"version", "0.1.0"}}, 3) ==
        "ranks differ: the option --width is '64' on rank 0, but '' on rank 2. All ranks must be "
        "started alike.");
  CHECK(refusal({{"the option --width", "64"}}, 2) ==
        "ranks differ: version is '0.1.0' on rank 0, but missing on rank 1. All ranks must be "
        "started alike.");
  CHECK(refusal({{"the option --width", "64"}, {"version", "0.1.0"}, {"more", "1"}}, 2) ==
        "ranks differ: more is missing on rank 0, but '1' on rank 1. All ranks must be started "
        "alike.");
}

TEST_CASE("a board keeps the first fault, and each rank's first", "[phase8][distributed]") {
  board::Board mine, same;
  mine.make(3);
  REQUIRE(same.open(mine.path().c_str(), 3));
  CHECK(board::first_fault(mine) == "");
  board::write_fault(same[2], "rank 2 failed");
  board::write_fault(same[1], "rank 1 failed later");
  board::write_fault(same[2], "rank 2 failed again");
  CHECK(board::first_fault(mine) == "rank 2 failed");
  board::Board of_two;
  REQUIRE(of_two.open(mine.path().c_str(), 2));
  CHECK(board::first_fault(of_two) == "rank 1 failed later");
  same[0].place.set(5, "loss");
  CHECK(mine[0].place.text() == "step 5, loss");
  CHECK_FALSE(board::Board().open("/nowhere", 3));
  CHECK_FALSE(board::Board().open("/dev/null", 3));  // it cannot be memory
}

// The tests link no MPI, whether or not it is installed.
TEST_CASE("without MPI a program is one rank alone, and more are refused",
          "[phase8][distributed]") {
  CHECK(mpi_version() == "");
  CHECK(ranks_started() == 0);
  CHECK(ranks_of_this_program().size() == 1);
  CHECK(words_of([] { start_ranks(2); }) ==
        "start_ranks: 2 ranks need MPI, and this program was built without: build it by make "
        "MPI=1.");
  CHECK(words_of([] { start_ranks(0); }) == "start_ranks: count is 0: it must be 1 to 1024.");
  CHECK(words_of([] { start_ranks(1025); }) == "start_ranks: count is 1025: it must be 1 to 1024.");
  for (const std::string count : {"2", "3"}) {
    ::setenv("OMPI_COMM_WORLD_SIZE", count.c_str(), 1);
    CHECK(ranks_started() == std::stoi(count));
    CHECK(words_of([] { ranks_of_this_program(); }) ==
          "mpirun has started " + count +
              " ranks, but this program was built without MPI: build it by make MPI=1.");
  }
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  CHECK(ranks_of_this_program().size() == 1);
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  int called = 0;
  CHECK(run_as_processes(1, [&](Ranks& ranks) { called += ranks.size(); }) == 0);
  CHECK(called == 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);  // mpirun has started it: how many, is said
  CHECK(run_as_processes(2, [&](Ranks& ranks) { called += ranks.size(); }) == 0);
  CHECK(called == 2);
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
}
