// `tapestry train --micro-batches M`: the same bits after every stop, and what is refused.
#include <fstream>

#include "catch.hpp"
#include "process.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/csv.hpp"

using namespace tapestry;

namespace {

const std::string small = "train copy --batch 8 --width 8 --heads 2 --checkpoint ";

std::string refusal(const TemporaryFolder& folder, const std::string& arguments) {
  const Result result = tapestry_in(folder / "", arguments);
  CHECK(result.status == 1);
  CHECK(result.out.empty());
  return result.err;
}

}  // namespace

TEST_CASE("a run in micro-batches goes on with the same bits", "[tools][phase8]") {
  const TemporaryFolder folder;
  const Result whole = tapestry_in(folder / "", small + "a --steps 6 --micro-batches 4");
  CHECK(wrong(whole) == "");
  CHECK(has(whole.out, "\n4 micro-batches a step, on 1 rank\n"));
  CHECK(read_checkpoint(folder / "a").weights.metadata.at("train.micro_batches") == "4");
  CHECK(wrong(tapestry_in(folder / "", small + "b --steps 3 --micro-batches 4 --divide-state")) ==
        "");
  CHECK(tapestry_in(folder / "", "bits a b").status == 1);
  CHECK(wrong(tapestry_in(folder / "", "train --resume --checkpoint b --steps 6")) == "");
  const Result bits = tapestry_in(folder / "", "bits a b");
  CHECK(bits.status == 0);
  CHECK(bits.out.starts_with("the same bits: "));
  CHECK(content(folder / "a") == content(folder / "b"));
}

TEST_CASE("the bits of a run in micro-batches do not depend on threads", "[tools][phase8]") {
  const TemporaryFolder folder;
  const std::string options = " --steps 3 --micro-batches 8";
  CHECK(wrong(tapestry_in(folder / "", small + "a" + options)) == "");
  CHECK(wrong(tapestry_in(folder / "", small + "b" + options, "OMP_NUM_THREADS=2")) == "");
  CHECK(content(folder / "a") == content(folder / "b"));
}

TEST_CASE("one micro-batch learns as a whole batch does", "[tools][phase8]") {
  const TemporaryFolder folder;
  CHECK(wrong(tapestry_in(folder / "", small + "a --steps 4")) == "");
  CHECK(wrong(tapestry_in(folder / "", small + "b --steps 4 --micro-batches 1")) == "");
  CHECK(wrong(tapestry_in(folder / "", small + "c --steps 4 --micro-batches 2")) == "");
  const auto losses = [&](const std::string& name) {
    return read_csv(folder / ("out/plots/train_" + name + "_loss.csv")).column("loss");
  };
  const std::vector<double> a = losses("a"), b = losses("b"), c = losses("c");
  REQUIRE(a.size() == 5);
  for (std::size_t step = 1; step < a.size(); ++step) {
    CHECK(b[step] == Approx(a[step]).epsilon(1e-4));
    CHECK(c[step] != Approx(a[step]).epsilon(1e-4));  // other texts
  }
}

TEST_CASE("a model of tokens and its adapters learn in micro-batches, too", "[tools][phase8]") {
  const TemporaryFolder folder;
  std::ofstream book(folder / "book");
  for (int i = 0; i < 100; ++i) book << "the cat sat on the mat " << i % 7 << '\n';
  book.close();
  const std::string options = " --batch 4 --length 8 --steps 3", parts = " --micro-batches 4";
  const auto train = [&](const std::string& arguments) {
    return tapestry_in(folder / "", "train book " + arguments + options);
  };
  const std::string fresh = "--merges 3 --width 8 --heads 2 --layers 1 --save ";
  CHECK(wrong(train(fresh + "whole")) == "");
  const Result made = train(fresh + "a" + parts);
  CHECK(wrong(made) == "");
  CHECK(has(made.out, "\n4 micro-batches a step, on 1 rank\n"));
  CHECK(wrong(train(fresh + "b --divide-state" + parts)) == "");
  CHECK(content(folder / "a/model.safetensors") == content(folder / "b/model.safetensors"));
  CHECK(content(folder / "a/model.safetensors") != content(folder / "whole/model.safetensors"));
  const auto losses = [&](const std::string& name) {
    return read_csv(folder / ("out/plots/train_" + name + "_loss.csv")).column("loss");
  };
  CHECK(losses("a")[1] == Approx(losses("whole")[1]).epsilon(0.1));  // other texts
  CHECK(wrong(train("--model a --rank 2 --save low.safetensors" + parts)) == "");
  CHECK(std::filesystem::exists(folder / "low.safetensors"));
}

TEST_CASE("micro-batches that cannot be are refused before anything is written",
          "[tools][phase8]") {
  const TemporaryFolder folder;
  CHECK(refusal(folder, small + "a --micro-batches 3") ==
        "tapestry: --micro-batches 3 must divide --batch 8: each gets as many texts.\n");
  CHECK(refusal(folder, small + "a --divide-state") ==
        "tapestry: ranks share the micro-batches of each step: say how many there are, with "
        "--micro-batches.\n");
  std::ofstream(folder / "book") << std::string(400, 'a');
  CHECK(refusal(folder, "train book --merges 3 --batch 4 --micro-batches 3") ==
        "tapestry: --micro-batches 3 must divide --batch 4: each gets as many texts.\n");
  CHECK(refusal(folder, "train book --merges 3 --divide-state") ==
        "tapestry: ranks share the micro-batches of each step: say how many there are, with "
        "--micro-batches.\n");
  CHECK(all_in(folder / "") == std::vector<std::string>{"book"});
  CHECK(has(tapestry_in(folder / "", small + "a --micro-batches 0").err, "--micro-batches"));
}

TEST_CASE("a resumed run keeps its micro-batches", "[tools][phase8]") {
  const TemporaryFolder folder;
  tapestry_in(folder / "", small + "a --steps 2 --micro-batches 4");
  tapestry_in(folder / "", small + "b --steps 2");
  const std::string go_on = "train --resume --steps 4 --checkpoint ";
  CHECK(refusal(folder, go_on + "a --micro-batches 8") ==
        "tapestry: a: its run has --micro-batches 4, not 8. Leave the option out, or start again "
        "with --overwrite.\n");
  CHECK(refusal(folder, go_on + "b --micro-batches 8") ==
        "tapestry: b: its run has no --micro-batches. Leave the option out, or start again with "
        "--overwrite.\n");
  CHECK(refusal(folder, go_on + "b --divide-state") ==
        "tapestry: ranks share the micro-batches of each step: this run has none; start again with "
        "--overwrite and --micro-batches.\n");
  CHECK(wrong(tapestry_in(folder / "", go_on + "a --micro-batches 4")) == "");
}
