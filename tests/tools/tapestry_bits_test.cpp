// `tapestry bits`: what it says of two runs, and its exit status.
#include <cmath>
#include <fstream>

#include "catch.hpp"
#include "process.hpp"
#include "tapestry/io/safetensors.hpp"

using namespace tapestry;

namespace {

const std::string small = "train copy --batch 4 --width 8 --heads 2 --steps 6 --save-every 2 ";

// In which a and b are the same run, and c is another.
void train_three(const TemporaryFolder& folder) {
  for (const char* run : {"a.safetensors", "b.safetensors", "c.safetensors --seed 2"}) {
    const std::string arguments = small + "--snapshots 4 --checkpoint " + run;
    CHECK(wrong(tapestry_in(folder / "", arguments)) == "");
  }
}

}  // namespace

TEST_CASE("bits of two runs: the same, or the first step and tensor that differ",
          "[tools][phase8]") {
  const TemporaryFolder folder;
  train_three(folder);
  const Result same = tapestry_in(folder / "", "bits a.safetensors b.safetensors");
  CHECK(wrong(same) == "");
  CHECK(same.out.starts_with("the same bits: 5 files, "));  // four snapshots, and the checkpoint

  const Result different = tapestry_in(folder / "", "bits a.safetensors c.safetensors");
  CHECK(different.status == 1);
  CHECK(different.err.empty());
  CHECK(different.out.starts_with("after step 0: '"));
  CHECK(has(unfolded(different.out), " ulp apart "));
  CHECK(widest(different.out) <= 80);
  CHECK(tapestry_in(folder / "", "bits a.snapshots c.snapshots").out == different.out);
}

TEST_CASE("bits of two folders: all files, in the order of their steps", "[tools][phase8]") {
  const TemporaryFolder folder;
  train_three(folder);
  const auto said = [&] { return tapestry_in(folder / "", "bits a.snapshots b.snapshots"); };
  CHECK(said().out.starts_with("the same bits: 4 files, "));
  const auto later = folder / "b.snapshots/000003.safetensors";
  std::filesystem::remove(later);
  std::filesystem::copy_file(folder / "c.snapshots/000003.safetensors", later);
  CHECK(said().out.starts_with("after step 3: '"));
  std::filesystem::remove(later);
  CHECK(said().status == 1);
  CHECK(unfolded(said().out) ==
        "a.snapshots/000003.safetensors has no file beside it in the other folder; 3 files that "
        "both have have the same bits ");
}

TEST_CASE("bits names tensor, place, values and distance", "[tools][phase8]") {
  const TemporaryFolder folder;
  const real next = std::nextafter(real{0.5}, real{1});
  write_safetensors(folder / "a", {{"w", Tensor({2, 2}, {1, 2, 0.5, 4})}, {"v", Tensor::ones({2})}},
                    {{"optimizer", "adam"}, {"adam.steps", "7"}, {"seed", "1"}});
  write_safetensors(folder / "b",
                    {{"w", Tensor({2, 2}, {1, 2, next, 5})}, {"v", Tensor::ones({2})}},
                    {{"optimizer", "adam"}, {"adam.steps", "7"}});
  const Result one = tapestry_in(folder / "", "bits a b");
  CHECK(one.status == 1);
  CHECK(one.out ==
        "after step 7: 'w' at [1, 0] 0.5 and 0.50000006, 1 ulp apart\n"
        "  2 of its 4 numbers differ, and 1 of 2 tensors\n");
  write_safetensors(folder / "c", {{"w", Tensor({2, 2}, {1, 2, 0.5, 4})}, {"v", Tensor::ones({2})}},
                    {{"optimizer", "adam"}, {"adam.steps", "9"}, {"seed", "2"}});
  const Result texts = tapestry_in(folder / "", "bits a c");
  CHECK(texts.status == 0);
  CHECK(texts.out ==
        "a: texts differ, no numbers: 'adam.steps', 'seed'\n"
        "the same bits: 2 tensors, 6 numbers\n");
  write_safetensors(folder / "d", {{"w", Tensor::ones({4})}, {"v", Tensor::ones({2})}});
  CHECK(tapestry_in(folder / "", "bits a d").out == "'w' F32 (2, 2) and F32 (4)\n");
}

TEST_CASE("bits ends with 2 for what it cannot compare", "[tools][phase8]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{"w", Tensor::ones({2})}});
  std::filesystem::create_directory(folder / "empty");
  std::ofstream(folder / "text") << "text";
  const auto said = [&](const std::string& arguments) {
    const Result result = tapestry_in(folder / "", "bits " + arguments);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK(said("a none") == "tapestry: none: there is no such file.\n");
  CHECK(said("a text").starts_with("tapestry: text: "));
  CHECK(said("a empty") ==
        "tapestry: give two files or two folders: a is a file, and empty is not.\n");
  CHECK(said("empty empty") == "tapestry: empty has no .safetensors files.\n");
  CHECK(has(said("a"), "B is required"));
  CHECK(has(said("a ''"), "the name is empty"));
}
