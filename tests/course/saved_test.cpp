// Files that one step writes and another reads.
#include "course/saved.hpp"

#include "catch.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

TEST_CASE("a file of another step is read, or the message tells how to get it",
          "[phase1][course]") {
  const TemporaryFolder folder;
  const std::string path = folder / "numbers.safetensors";
  CHECK_THROWS_WITH(read_saved(path, "step 1 writes it."),
                    path + " is not there yet: step 1 writes it.");
  write_safetensors(path, {{"x", Tensor({2}, {3, 4})}});
  CHECK(read_saved(path, "")["x"].values() == std::vector<real>{3, 4});
}
