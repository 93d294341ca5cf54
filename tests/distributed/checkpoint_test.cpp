// Checkpoints do not know how many ranks wrote them.
#include "tapestry/io/checkpoint.hpp"

#include <string>

#include "catch.hpp"
#include "check_in_thread.hpp"
#include "copier.hpp"
#include "ops/expect.hpp"
#include "tapestry/io/bits.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

namespace fs = std::filesystem;

struct Part {
  int ranks;
  Index steps;  // in all
  bool shard_state = false;
};

// Trains up to that step and saves; goes on from `from`, if it is not empty.
void train_part(const Part& part, const fs::path& from, const fs::path& to) {
  run_as_threads(part.ranks, [&](Ranks& ranks) {
    const Copier model;
    Adam adam(model.parameters());
    if (!from.empty()) load_checkpoint(model.parameters(), adam, read_checkpoint(from));
    train_in_parts(adam, model.loss(6), {6, part.shard_state}, {.steps = part.steps, .what = ""},
                   ranks);
    save_from_all(ranks, adam, [&] { save_checkpoint(to, model.parameters(), adam); });
  });
}

std::string difference(const fs::path& a, const fs::path& b) {
  const BitsCompared found = compare_bits(a, b);
  if (!found.texts.empty()) return found.texts.front();
  return found.differences.empty() ? "" : found.differences.front().name;
}

}  // namespace

TEST_CASE("a run goes on with another number of ranks, with the same bits",
          "[distributed][phase8]") {
  const TemporaryFolder folder;
  train_part({1, 5}, "", folder / "whole");
  train_part({1, 4}, "", folder / "shorter");
  CHECK(difference(folder / "whole", folder / "shorter") != "");
  for (const Part& first : {Part{4, 3, true}, Part{2, 3, false}, Part{6, 3, true}}) {
    for (const Part& second : {Part{2, 5, true}, Part{1, 5, false}, Part{3, 5, true}}) {
      CAPTURE(first.ranks, second.ranks);
      train_part(first, "", folder / "begun");
      train_part(second, folder / "begun", folder / "ended");
      CHECK(difference(folder / "whole", folder / "ended") == "");
    }
  }
}

TEST_CASE("what is loaded and saved again without a step is the same", "[distributed][phase8]") {
  const TemporaryFolder folder;
  train_part({3, 2, true}, "", folder / "a");
  for (const bool shard_state : {false, true}) {
    train_part({4, 2, shard_state}, folder / "a", folder / "b");
    CHECK(difference(folder / "a", folder / "b") == "");
    CHECK(compare_bits(folder / "a", folder / "b").tensors == 18);  // 6, and two of each for Adam
  }
}

TEST_CASE("saving in the midst changes nothing for what comes", "[distributed][phase8]") {
  const TemporaryFolder folder;
  train_part({1, 4}, "", folder / "whole");
  run_as_threads(3, [&](Ranks& ranks) {
    const Copier model;
    Adam adam(model.parameters());
    const auto save = [&](Index step, double) {
      const fs::path path = folder / std::to_string(step);
      save_from_all(ranks, adam, [&] { save_checkpoint(path, model.parameters(), adam); });
      Index kept = 0;
      for (const Parameter& one : adam.state()) kept += one.value.defined();
      CHECK_IN_THREAD(kept < 12);  // each rank has a part again
    };
    train_in_parts(adam, model.loss(6), {6, true}, {.steps = 4, .what = "", .after_step = save},
                   ranks);
  });
  CHECK(difference(folder / "whole", folder / "4") == "");
  CHECK(difference(folder / "whole", folder / "3") != "");
}

TEST_CASE("a save that fails leaves to each rank its part, and the next has the numbers of then",
          "[distributed][phase8]") {
  run_as_threads(2, [](Ranks& ranks) {
    const Parameters parameters{{"a", Tensor::zeros({2})}, {"b", Tensor::zeros({2})}};
    const auto own = static_cast<std::size_t>(ranks.rank());
    Adam adam(parameters);
    adam.drop_state_outside(own, own + 1);
    const auto step = [&] {
      std::vector<Tensor> gradients(2);
      gradients[own] = Tensor::ones({2});
      adam.step(gradients);
    };
    const Tensor& mean_of_b = adam.state()[1].value;
    step();
    const auto fails = [] { throw Error("the disk is full"); };
    const std::string said =
        complaint([&] { save_from_all(ranks, adam, fails); }, {"the disk is full"});
    CHECK_IN_THREAD(said == (ranks.rank() == 0 ? "" : "nothing was thrown"));
    CHECK_IN_THREAD(mean_of_b.defined() == (ranks.rank() == 1));
    step();
    save_from_all(ranks, adam, [&] {
      CHECK_IN_THREAD(mean_of_b.at({0}) == Approx(0.19));  // after one step it was 0.1
    });
  });
}
