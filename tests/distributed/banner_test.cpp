#include "distributed/banner.hpp"

#include <sstream>
#include <vector>

#include "catch.hpp"

using namespace tapestry;

namespace {

Banner banner_of(const std::string& text, std::vector<std::string>* shown = nullptr) {
  Banner banner;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (banner.is_of_rank(line) && shown != nullptr) shown->push_back(line);
  }
  return banner;
}

const std::string dashes(74, '-');

}  // namespace

TEST_CASE("of mpirun's words, those of ranks are shown and its own kept back",
          "[phase8][distributed]") {
  std::vector<std::string> shown;
  const Banner banner =
      banner_of("a warning of a rank\n[1] and another: 2\n[vm:7] *** It\n[vm:05428] *** Process" +
                    ("\n" + dashes) + "\nmpirun noticed\nmore\n",
                &shown);
  CHECK(shown == std::vector<std::string>{"a warning of a rank", "[1] and another: 2"});
  CHECK(banner.text() ==
        "[vm:7] *** It\n[vm:05428] *** Process\n" + dashes + "\nmpirun noticed\nmore\n");
  CHECK(!banner.rank());
  CHECK(banner.how() == "has ended");
}

// The banners of Open MPI 4.1 and 5.0, and that of a rank which ended without MPI_Finalize.
TEST_CASE("the banner tells which rank ended, and how", "[phase8][distributed]") {
  const Banner killed =
      banner_of(dashes +
                "\nmpirun noticed that process rank 2 with PID 0 on node vm exited on signal 9 "
                "(Killed).\n" +
                dashes);
  CHECK(killed.rank() == 2);
  CHECK(killed.how() == "was killed by signal 9");
  for (const char* const words :
       {"process rank 1 with PID 30533 on node vm exited on\nsignal 9 (",
        "process\nrank 1 with PID 30533 on node vm exited on signal\n9 ("}) {
    const Banner broken = banner_of(dashes + "\nprterun noticed that " + words + "Killed).\n");
    CHECK(broken.rank() == 1);
    CHECK(broken.how() == "was killed by signal 9");
  }
  const Banner ended = banner_of(dashes +
                                 "\nmpirun detected that one or more processes exited\n"
                                 "  Process name: [[31178,1],12]\n  Exit code:    3\nso, 4\n");
  CHECK(ended.rank() == 12);
  CHECK(ended.how() == "ended with status 3");
  const Banner newer = banner_of(dashes +
                                 "\n   Process name: [prterun-vm-123@1,1]\n   Exit code: "
                                 "   3\n");
  CHECK(newer.rank() == 1);
  CHECK(!banner_of(dashes + "\n   Process name: unknown\nso, 4\n").rank());
  CHECK(!banner_of(dashes + "\nprocess rank \n").rank());
  const Banner early = banner_of(
      "mpirun has exited due to process rank 1 with PID 0 on\nnode vm "
      "exiting improperly.\n");
  CHECK(early.rank() == 1);
  CHECK(early.how() == "has ended");
}
