#include "tapestry/io/checkpoint.hpp"

#include <functional>
#include <memory>
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

using Maker = std::function<std::unique_ptr<Optimizer>(const Parameters&)>;

template <class Any, class Options>
Maker maker(const Options& options) {
  return [=](const Parameters& parameters) { return std::make_unique<Any>(parameters, options); };
}

// One of the reader's own, which remembers nothing: every weight moves by the learning rate.
class SignDescent : public Optimizer {
 public:
  SignDescent(const Parameters& parameters, double learning_rate)
      : Optimizer("sign", parameters, learning_rate, {}) {}

 private:
  void update(std::size_t i, const Tensor& gradient) override {
    const Tensor& weight = parameters()[i].value;
    for (Index j = 0; j < weight.numel(); ++j) {
      const real slope = gradient.data()[j];
      weight.data()[j] -= static_cast<real>(learning_rate()) * real((slope > 0) - (slope < 0));
    }
  }
};

// Of every kind, with all that it has.
const std::vector<Maker> makers = {
    maker<Adam>(AdamOptions{.learning_rate = 0.01}),
    maker<AdamW>(AdamWOptions{.learning_rate = 0.01, .weight_decay = 0.1}),
    maker<Sgd>(SgdOptions{.learning_rate = 0.01}),
    maker<Sgd>(
        SgdOptions{.learning_rate = 0.01, .momentum = 0.9, .nesterov = true, .weight_decay = 0.1}),
    maker<SignDescent>(0.01)};

// Two layers that learn a random map, with an optimizer of their own.
struct Run {
  Tensor w, bias, out;
  std::unique_ptr<Optimizer> optimizer;

  explicit Run(std::uint64_t seed = 1, const Maker& make = makers[0]) : Run(Random(seed), make) {}
  Run(Random random, const Maker& make)
      : w(random.normal({5, 7})),
        bias(Tensor::zeros({7})),
        out(random.normal({7, 3})),
        optimizer(make(parameters())) {}

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
    return train(*optimizer, loss_of_step, {.steps = steps, .learning_rate = rate, .what = ""})
        .losses;
  }

  void save(const fs::path& path) const {
    save_checkpoint(path, parameters(), *optimizer, {{"d_model", "7"}});
  }
};

std::vector<std::vector<real>> values_of(const Run& run) {
  std::vector<std::vector<real>> values;
  for (const Parameter& parameter : run.parameters()) values.push_back(parameter.value.values());
  for (const Parameter& memory : run.optimizer->state()) values.push_back(memory.value.values());
  return values;
}

}  // namespace

TEST_CASE("ten steps, a checkpoint and ten more are twenty steps, bit for bit", "[phase2][io]") {
  const TemporaryFolder folder;
  for (const Maker& make : makers) {
    Run without_stop(1, make), first(1, make), second(99, make);  // whose weights are replaced
    CAPTURE(first.optimizer->kind());
    const std::vector<double> losses = without_stop.train_until(20);
    first.train_until(10);
    first.save(folder / "a");
    load_checkpoint(second.parameters(), *second.optimizer, read_checkpoint(folder / "a"));
    CHECK(second.optimizer->steps() == 10);
    const std::vector<double> rest = second.train_until(20);
    REQUIRE(rest.size() == 10);
    without_stop.save(folder / "one");
    second.save(folder / "other");
    CHECK(rest == std::vector<double>(losses.begin() + 10, losses.end()));
    CHECK(values_of(second) == values_of(without_stop));
    CHECK(content(folder / "other") == content(folder / "one"));
  }
}

TEST_CASE("a checkpoint tells its optimizer, and another kind refuses it", "[phase2][io]") {
  const TemporaryFolder folder;
  for (const Maker& make : makers) {
    Run run(1, make);
    run.train_until(2);
    run.save(folder / "a");
    const Checkpoint checkpoint = read_checkpoint(folder / "a");
    const std::string kind = run.optimizer->kind();
    CHECK(checkpoint.kind == kind);
    CHECK(checkpoint.weights.tensors.size() == 3);
    CHECK(checkpoint.weights.metadata == std::map<std::string, std::string>{{"d_model", "7"}});
    for (const Maker& other : makers) {
      Run into(2, other);
      const std::string own = into.optimizer->kind();
      if (own == kind || (kind == "adam" && own == "adamw")) continue;
      const auto before = values_of(into);
      CHECK(
          complaint([&] { load_checkpoint(into.parameters(), *into.optimizer, checkpoint); },
                    {"load_checkpoint: the file holds what the optimizer '", kind.c_str(), "not '",
                     own.c_str(), "load_parameters", "or train with the same optimizer."}) == "");
      CHECK(values_of(into) == before);
    }
  }
}

TEST_CASE("a checkpoint of the time when there was only Adam opens, in AdamW too", "[phase2][io]") {
  const TemporaryFolder folder;
  Run run;
  run.train_until(2);
  Parameters tensors = run.parameters();
  for (const Parameter& memory : run.optimizer->state()) {
    tensors.push_back({"adam." + memory.name, memory.value});
  }
  write_safetensors(folder / "a", tensors, {{"adam.steps", "2"}, {"optimizer", "my own text"}});
  const Checkpoint checkpoint = read_checkpoint(folder / "a");
  CHECK(checkpoint.kind == "adam");
  for (const std::size_t which : {0, 1}) {
    Run into(7, makers[which]);
    load_checkpoint(into.parameters(), *into.optimizer, checkpoint);
    CHECK(values_of(into) == values_of(run));
    CHECK(into.optimizer->steps() == 2);
  }
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

TEST_CASE("a checkpoint holds weights, configuration and the optimizer's memory apart",
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
  CHECK(difference_to(file["adam.square.bias"], run.optimizer->state()[4].value, 1e-6) == "");
  CHECK(file.metadata.at("adam.steps") == "3");
}

TEST_CASE("an optimizer may train a part of the model", "[phase2][io]") {
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
    return complaint([&] { save_checkpoint(folder / "a", model, *run.optimizer, text); }, words);
  };
  CHECK(refused(run.parameters(), {{"text", "\xff"}}, {"not UTF-8"}) == "");
  CHECK(refused(run.parameters(), {{"adam.steps", "1"}},
                {"save_checkpoint: the text 'adam.steps'", "begins with 'adam.'"}) == "");
  CHECK(refused(run.parameters(), {{"optimizer", "my own"}}, {"the text 'optimizer'"}) == "");
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
  CHECK(complaint(
            [&] { load_checkpoint(wider, adam, checkpoint); },
            {"the file does not fit the model.", "Missing in the file: 'gain', 'adam.mean.gain'",
             "Not in the model: 'out'", "Of another shape: 'w' is (5, 7), not (5, 8)"}) == "");
  CHECK(difference(wider[1].value, {7}, std::vector<double>(7, 0), 0) == "");
  CHECK(adam.steps() == 0);

  Run other(3);
  const auto before = values_of(other);
  Adam part({{"out", other.out}});  // an optimizer of less than the file has
  CHECK(complaint([&] { load_checkpoint(other.parameters(), part, checkpoint); },
                  {"Not in the model: 'adam.mean.w', 'adam.mean.bias'"}) == "");
  CHECK(values_of(other) == before);
}

TEST_CASE("a file of weights alone is read, but training does not go on from it", "[phase2][io]") {
  const TemporaryFolder folder;
  Run run;
  write_safetensors(folder / "a", run.parameters(), {{"d_model", "7"}});
  const Checkpoint checkpoint = read_checkpoint(folder / "a");
  CHECK(checkpoint.steps == 0);
  CHECK(checkpoint.weights.metadata.at("d_model") == "7");
  CHECK(complaint([&] { load_checkpoint(run.parameters(), *run.optimizer, checkpoint); },
                  {"load_checkpoint: the file holds weights alone", "load_parameters",
                   "and begin the training anew."}) == "");
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
                  {"Missing in the file: 'adam.square.w'.", "Not read: 'w' (numbers of its dtype",
                   "'adam.mean.w' (numbers of its dtype, F8_E5M2"}) == "");
}
