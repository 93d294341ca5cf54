// `tapestry train --snapshots N`: which states it keeps, what they hold, and what is refused.
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "process.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/csv.hpp"
#include "tapestry/io/transformer_file.hpp"

using namespace tapestry;

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const std::string small = "train copy --batch 2 --width 8 --heads 2 ";

std::string file_of(int step) {
  char name[32];
  std::snprintf(name, sizeof name, "%06d.safetensors", step);
  return name;
}

Names files_of(const std::vector<int>& steps) {
  Names names;
  for (const int step : steps) names.push_back(file_of(step));
  return names;
}

// How many numbers of the snapshot are not those of the file, rounded to 16 bits.
int wrong_numbers(const fs::path& snapshot, const fs::path& checkpoint) {
  const Parameters found = read_checkpoint(snapshot).weights.tensors,
                   exact = read_checkpoint(checkpoint).weights.tensors;
  REQUIRE(found.size() == exact.size());
  int wrong = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    CHECK(found[i].name == exact[i].name);
    const std::vector<real> a = found[i].value.values(), b = exact[i].value.values();
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      wrong += std::abs(a[k] - b[k]) > std::abs(b[k]) * real{0x1p-11} + real{0x1p-25};
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("snapshots are the model on its way, from before the first step to the last",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result result =
      tapestry_in(folder / "", small + "--steps 30 --snapshots 6 --checkpoint a.safetensors");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "\nwrote a.snapshots, 6 snapshots\n"));
  const std::vector<int> steps = {0, 1, 5, 11, 19, 30};  // 30 (i / 5)^2
  REQUIRE(all_in(folder / "a.snapshots") == files_of(steps));
  const CsvTable table = read_csv(folder / "out/plots/train_a_loss.csv");
  const std::vector<double> losses = table.column("held_out_loss");
  for (const int step : steps) {
    CAPTURE(step);
    const auto metadata = read_safetensors(folder / "a.snapshots" / file_of(step)).metadata;
    CHECK(metadata.at("train.step") == std::to_string(step));
    CHECK(std::stod(metadata.at("train.held_out_loss")) == losses[std::size_t(step)]);
  }
  CHECK(has(content(folder / "a.snapshots/000030.safetensors"), R"("dtype":"F16")"));
  CHECK(wrong_numbers(folder / "a.snapshots/000030.safetensors", folder / "a.safetensors") == 0);
  for (const char* of_steps : {"0", "11"}) {
    const std::string other = std::string("--checkpoint s --overwrite --steps ") + of_steps;
    CHECK(wrong(tapestry_in(folder / "", small + other)) == "");
    CHECK(wrong_numbers(folder / "a.snapshots" / file_of(std::stoi(of_steps)), folder / "s") == 0);
  }
  for (const char* command : {"analyze --text 'a b =>'", "generate --text 'a b =>'", "circuit"}) {
    const std::string file = " --checkpoint a.snapshots/000011.safetensors";
    CHECK(wrong(tapestry_in(folder / "", command + file)) == "");
  }
}

TEST_CASE("more snapshots than steps: one of each, and no other result", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result all = tapestry_in(folder / "", small + "--steps 3 --snapshots 400 --checkpoint m");
  CHECK(wrong(all) == "");
  CHECK(has(all.out, "\nwrote m.snapshots, 4 snapshots\n"));
  CHECK(all_in(folder / "m.snapshots") == files_of({0, 1, 2, 3}));
  CHECK(wrong(tapestry_in(folder / "", small + "--steps 4 --snapshots 4 --checkpoint k")) == "");
  CHECK(all_in(folder / "k.snapshots") == files_of({0, 1, 2, 4}));
  CHECK(wrong(tapestry_in(folder / "", small + "--steps 0 --snapshots 2 --checkpoint n")) == "");
  CHECK(all_in(folder / "n.snapshots") == files_of({0}));
  CHECK(wrong(tapestry_in(folder / "", small + "--steps 3 --checkpoint w")) == "");
  CHECK_FALSE(fs::exists(folder / "w.snapshots"));
  const Parameters with = read_checkpoint(folder / "m").weights.tensors,
                   without = read_checkpoint(folder / "w").weights.tensors;
  for (std::size_t i = 0; i < with.size(); ++i) {
    CHECK(with[i].value.values() == without[i].value.values());
  }
}

TEST_CASE("a snapshot that cannot be written stops the training, which can go on",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  const std::string plan = small + "--steps 20 --snapshots 5 --checkpoint ";
  CHECK(wrong(tapestry_in(folder / "", plan + "whole")) == "");
  const Names names = files_of({0, 1, 5, 11, 20});
  CHECK(all_in(folder / "whole.snapshots") == names);

  fs::create_directories(folder / "m.snapshots/000011.safetensors");
  const Result stopped = tapestry_in(folder / "", plan + "m");
  CHECK(stopped.status == 1);
  CHECK(stopped.err.ends_with(
      "cannot write m.snapshots/000011.safetensors: it is a folder. Stopped after "
      "step 11, which m holds: go on with --resume.\n"));
  CHECK(read_checkpoint(folder / "m").steps == 11);
  CHECK(read_safetensors(folder / "m").metadata.at("train.snapshots") == "5");
  fs::remove(folder / "m.snapshots/000011.safetensors");
  std::ofstream(folder / "m.snapshots/000015.safetensors") << "of a part that was not saved";
  CHECK(wrong(tapestry_in(folder / "", "train --resume --checkpoint m")) == "");
  REQUIRE(all_in(folder / "m.snapshots") == names);
  for (const std::string& name : names) {
    CHECK(content(folder / "m.snapshots" / name) == content(folder / "whole.snapshots" / name));
  }
  CHECK(content(folder / "m") == content(folder / "whole"));
}

TEST_CASE("a run that goes on to more steps keeps its snapshots and adds later ones",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  CHECK(wrong(tapestry_in(folder / "", small + "--steps 8 --snapshots 5 --checkpoint m")) == "");
  CHECK(all_in(folder / "m.snapshots") == files_of({0, 1, 2, 5, 8}));
  const std::string on = "train --resume --checkpoint m --steps 20";
  const Result other = tapestry_in(folder / "", on + " --snapshots 6");
  CHECK(other.status == 1);
  CHECK(has(other.err, "m: its run has --snapshots 5, not 6. Leave the option out"));
  CHECK(wrong(tapestry_in(folder / "", on + " --snapshots 5")) == "");
  CHECK(all_in(folder / "m.snapshots") == files_of({0, 1, 2, 5, 8, 11, 20}));
  CHECK(wrong(tapestry_in(folder / "", small + "--steps 2 --checkpoint n")) == "");
  const Result none = tapestry_in(folder / "", "train --resume --checkpoint n --snapshots 5");
  CHECK(none.status == 1);
  CHECK(has(none.err, "n: its run has no --snapshots. Leave the option out"));
}

TEST_CASE("a new run replaces old snapshots if it is told to, and nothing else",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  CHECK(wrong(tapestry_in(folder / "", small + "--steps 8 --snapshots 5 --checkpoint m")) == "");
  const Names others = {"0000001.safetensors", "000001.txt", "12.safetensors", "note"};
  for (const std::string& name : others) std::ofstream(folder / "m.snapshots" / name) << "mine";
  fs::remove(folder / "m");
  fs::remove(folder / "m_best_model");
  const std::string again = small + "--steps 3 --checkpoint m";
  for (const char* option : {"", " --snapshots 2"}) {
    const Result refused = tapestry_in(folder / "", again + option);
    CHECK(refused.status == 1);
    CHECK(refused.err ==
          "tapestry: m.snapshots has snapshots already: replace them with "
          "--overwrite, or name another --checkpoint.\n");
  }
  CHECK(wrong(tapestry_in(folder / "", again + " --snapshots 2 --overwrite")) == "");
  const Names expected = {"000000.safetensors", "0000001.safetensors", "000001.txt",
                          "000003.safetensors", "12.safetensors",      "note"};
  CHECK(all_in(folder / "m.snapshots") == expected);
  CHECK(wrong(tapestry_in(folder / "", again + " --overwrite")) == "");
  CHECK(all_in(folder / "m.snapshots") == others);
  for (const std::string& name : others) fs::remove(folder / "m.snapshots" / name);
  CHECK(wrong(tapestry_in(folder / "", again + " --snapshots 2 --overwrite")) == "");
  CHECK(wrong(tapestry_in(folder / "", again + " --overwrite")) == "");
  CHECK_FALSE(fs::exists(folder / "m.snapshots"));
}

TEST_CASE("snapshots that cannot be are refused before the training", "[phase5][tools]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "text") << std::string(500, 'a');
  std::ofstream(folder / "n.snapshots") << "a file";
  const Names before = all_in(folder / "");
  const auto problem = [&](const std::string& arguments) {
    const Result result = tapestry_in(folder / "", arguments);
    CHECK(result.status != 0);
    CHECK(all_in(folder / "") == before);
    return result.err;
  };
  CHECK(has(problem("train copy --snapshots 1"), "--snapshots: Value 1 not in range"));
  CHECK(has(problem("train copy --snapshots 401"), "--snapshots: Value 401 not in range"));
  CHECK(has(problem("train copy --snapshots"), "--snapshots: a value must follow it"));
  const std::string of_folder =
      "--snapshots go beside a checkpoint, and a model of tokens is a folder: leave it out.";
  CHECK(has(problem("train text --merges 5 --snapshots 9"), of_folder));
  CHECK(has(problem("train text --model m --snapshots 9"), of_folder));
  CHECK(has(problem(small + "--snapshots 9 --checkpoint /dev/null"),
            "--snapshots go beside the checkpoint, but /dev/null is no regular file"));
  CHECK(problem(small + "--snapshots 9 --checkpoint n") ==
        "tapestry: cannot make the folder n.snapshots: Not a directory\n");
}
