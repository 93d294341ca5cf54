#include "tapestry/io/checkpoint.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "io/raw_safetensors.hpp"
#include "ops/expect.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"
#include "temporary_folder.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

namespace fs = std::filesystem;

// Two layers that learn a random map, with an Adam of their own.
struct Run {
  Tensor w, bias, out;
  Adam adam;

  explicit Run(std::uint64_t seed = 1) : Run(Random(seed)) {}
  explicit Run(Random random)
      : w(random.normal({5, 7})),
        bias(Tensor::zeros({7})),
        out(random.normal({7, 3})),
        adam(parameters(), {.learning_rate = 0.01, .weight_decay = 0.1}) {}

  Parameters parameters() const { return {{"w", w}, {"bias", bias}, {"out", out}}; }

  std::vector<double> train_until(Index steps) {
    const auto loss_of_step = [this](Index step) {
      Random random(42, static_cast<std::uint64_t>(step));
      const Tensor x = random.normal({33, 5});
      const Tensor y = matmul(gelu(matmul(x, w) + bias), out);
      return mse(y, slice(x, 1, 0, 3));
    };
    const auto rate = [](Index step) {
      return cosine_schedule(step, {.warmup_steps = 5, .steps = 20});
    };
    return train(adam, loss_of_step, {.steps = steps, .learning_rate = rate, .what = ""}).losses;
  }

  void save(const fs::path& path) const {
    save_checkpoint(path, parameters(), adam, {{"d_model", "7"}});
  }
};

std::vector<std::vector<real>> values_of(const Run& run) {
  std::vector<std::vector<real>> values;
  for (const Parameter& parameter : run.parameters()) values.push_back(parameter.value.values());
  for (const Parameter& memory : run.adam.state()) values.push_back(memory.value.values());
  return values;
}

}  // namespace

TEST_CASE("ten steps, a checkpoint and ten more are twenty steps, bit for bit", "[phase2][io]") {
  const TemporaryFolder folder;
  Run without_stop, first, second(99);  // whose weights are replaced
  const std::vector<double> losses = without_stop.train_until(20);
  first.train_until(10);
  first.save(folder / "a");
  load_checkpoint(second.parameters(), second.adam, read_checkpoint(folder / "a"));
  CHECK(second.adam.steps() == 10);
  const std::vector<double> rest = second.train_until(20);
  REQUIRE(rest.size() == 10);
  without_stop.save(folder / "one");
  second.save(folder / "other");
  CHECK(rest == std::vector<double>(losses.begin() + 10, losses.end()));
  CHECK(values_of(second) == values_of(without_stop));
  CHECK(content(folder / "other") == content(folder / "one"));
}

TEST_CASE("a checkpoint has the same bytes for any number of threads", "[phase2][io]") {
  const TemporaryFolder folder;
  const SmallWorkShared shared;
  std::vector<std::string> files;
  for (const int threads : {1, 2, 3}) {
    use_threads(threads);
    Run run;
    run.train_until(10);
    run.save(folder / "a");
    files.push_back(content(folder / "a"));
  }
  CHECK(files[1] == files[0]);
  CHECK(files[2] == files[0]);
}

TEST_CASE("a checkpoint holds weights, configuration and the optimiser's memory apart",
          "[phase2][io]") {
  const TemporaryFolder folder;
  Run run;
  run.train_until(3);
  run.save(folder / "deep/a");
  const Checkpoint checkpoint = read_checkpoint(folder / "deep/a");
  CHECK(checkpoint.steps == 3);
  CHECK(checkpoint.weights.metadata == std::map<std::string, std::string>{{"d_model", "7"}});
  REQUIRE(checkpoint.weights.tensors.size() == 3);
  REQUIRE(checkpoint.optimizer.tensors.size() == 6);
  CHECK(checkpoint.optimizer.tensors[0].name == "mean.w");

  const Run other(2);  // a plain reader of weights
  load_parameters(other.parameters(), checkpoint.weights);
  CHECK(difference_to(other.out, run.out, 1e-6) == "");
  const Safetensors file = read_safetensors(folder / "deep/a");
  CHECK(difference_to(file["adam.square.bias"], run.adam.state()[4].value, 1e-6) == "");
  CHECK(file.metadata.at("adam.steps") == "3");
}

TEST_CASE("an optimiser may train a part of the model", "[phase2][io]") {
  const TemporaryFolder folder;
  const Run run(5), other(6);
  Adam part({{"out", run.out}}), other_part({{"out", other.out}});
  save_checkpoint(folder / "a", run.parameters(), part);
  load_checkpoint(other.parameters(), other_part, read_checkpoint(folder / "a"));
  CHECK(difference_to(other.w, run.w, 1e-6) == "");
}

TEST_CASE("a save that fails leaves the old checkpoint as it was", "[phase2][io]") {
  const TemporaryFolder folder;
  Run run;
  run.save(folder / "a");
  const std::string before = content(folder / "a");
  run.train_until(2);
  const auto refused = [&](const Parameters& model, const std::map<std::string, std::string>& text,
                           std::initializer_list<const char*> words) {
    return complaint([&] { save_checkpoint(folder / "a", model, run.adam, text); }, words);
  };
  CHECK(refused(run.parameters(), {{"text", "\xff"}}, {"not UTF-8"}) == "");
  CHECK(refused(run.parameters(), {{"adam.steps", "1"}},
                {"save_checkpoint: the text 'adam.steps' begins with 'adam.'"}) == "");
  CHECK(refused({{"adam.mean.w", run.w}}, {}, {"the parameter 'adam.mean.w'", "another name"}) ==
        "");
  CHECK(refused({{"w", run.w}, {"w", run.out}}, {}, {"two tensors are called 'w'"}) == "");
  CHECK(content(folder / "a") == before);
  CHECK(folder.files() == 1);
  CHECK(complaint([&] { run.save("/dev/full"); }, {"/dev/full", "No space left"}) == "");
}

TEST_CASE("a checkpoint that does not fit is refused in one line and changes nothing",
          "[phase2][io]") {
  const TemporaryFolder folder;
  Run run;
  run.train_until(2);
  run.save(folder / "a");
  const Checkpoint checkpoint = read_checkpoint(folder / "a");

  const Parameters wider = {
      {"w", Tensor::zeros({5, 8})}, {"bias", Tensor::zeros({7})}, {"gain", Tensor::zeros({7})}};
  Adam adam(wider);
  CHECK(complaint([&] { load_checkpoint(wider, adam, checkpoint); },
                  {"the file does not fit the model.", "Missing in the file: gain, adam.mean.gain",
                   "Not in the model: out", "Of another shape: w is (5, 7), not (5, 8)"}) == "");
  CHECK(difference(wider[1].value, {7}, std::vector<double>(7, 0), 0) == "");
  CHECK(adam.steps() == 0);

  Run other(3);
  const auto before = values_of(other);
  Adam part({{"out", other.out}});  // an optimiser of less than the file has
  CHECK(complaint([&] { load_checkpoint(other.parameters(), part, checkpoint); },
                  {"Not in the model: adam.mean.w, adam.mean.bias"}) == "");
  CHECK(values_of(other) == before);
}

TEST_CASE("a file of weights alone is read, but training does not go on from it", "[phase2][io]") {
  const TemporaryFolder folder;
  Run run;
  write_safetensors(folder / "a", run.parameters(), {{"d_model", "7"}});
  const Checkpoint checkpoint = read_checkpoint(folder / "a");
  CHECK(checkpoint.steps == 0);
  CHECK(checkpoint.weights.metadata.at("d_model") == "7");
  CHECK(complaint([&] { load_checkpoint(run.parameters(), run.adam, checkpoint); },
                  {"load_checkpoint: the file holds weights alone", "load_parameters"}) == "");
}

TEST_CASE("a count of steps that is none is refused", "[phase2][io]") {
  const TemporaryFolder folder;
  for (const char* bad : {"", "-1", "7x", "1e3", " 7", "99999999999999999999"}) {
    CAPTURE(bad);
    write_safetensors(folder / "a", {}, {{"adam.steps", bad}});
    CHECK(complaint([&] { read_checkpoint(folder / "a"); },
                    {"read_checkpoint: ", "'adam.steps' must be a whole number"}) == "");
  }
  CHECK(complaint([&] { read_checkpoint(folder / "b"); }, {"there is no such file"}) == "");
}

TEST_CASE("tensors that are skipped are told of on either side", "[phase2][io]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a", std::ios::binary)
      << with_length(R"({"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]},)"
                     R"("adam.mean.w":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[1,2]}})",
                     "ab");
  const Checkpoint checkpoint = read_checkpoint(folder / "a");
  REQUIRE(checkpoint.weights.skipped.size() == 1);
  CHECK(checkpoint.weights.skipped[0].name == "w");
  REQUIRE(checkpoint.optimizer.skipped.size() == 1);
  CHECK(checkpoint.optimizer.skipped[0].name == "mean.w");
  const Parameters model = {{"w", Tensor::zeros({1})}};
  Adam adam(model);
  CHECK(complaint([&] { load_checkpoint(model, adam, checkpoint); },
                  {"Missing in the file: adam.square.w.", "Not read: w (numbers of its dtype",
                   "adam.mean.w (numbers of its dtype, F8_E5M2"}) == "");
}
