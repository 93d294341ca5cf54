#include "train_ranks.hpp"

#include <bit>

#include "screen.hpp"
#include "tapestry/distributed/agreement.hpp"
#include "tapestry/distributed/mpi.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/version.hpp"

namespace tapestry::command {
namespace {

std::string text_of(Index number) { return std::to_string(number); }
std::string text_of(bool flag) { return flag ? "given" : "not given"; }

// FNV-1a of 32 bits each.
class Fingerprint {
 public:
  void add(std::uint32_t bits) { hash_ = (hash_ ^ bits) * 1099511628211u; }
  std::string text() const { return formatted("%016llx", static_cast<unsigned long long>(hash_)); }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

std::string weights_of(const Transformer& model) {
  Fingerprint all;
  for (const Parameter& parameter : model.parameters()) {
    const Tensor& value = parameter.value;
    for (Index i = 0; i < value.numel(); ++i) {
      all.add(std::bit_cast<std::uint32_t>(static_cast<float>(value.data()[i])));
    }
  }
  return all.text();
}

std::string tokens_of(const Indices& ids) {
  Fingerprint all;
  for (const std::int32_t id : ids.values) all.add(static_cast<std::uint32_t>(id));
  return all.text();
}

// What every run has.
std::vector<Trait> traits_of(const Transformer& model, const TrainOptions& o) {
  return {{"the version", version()},
          {"the kernel set (TAPESTRY_KERNELS)", kernel_set()},
          {"--divide-state", text_of(o.shard_state)},
          {"the number of weights", text_of(model.num_parameters())},
          {"the weights' fingerprint", weights_of(model)}};
}

void check_alike(Ranks& ranks, std::vector<Trait> traits, const std::vector<Trait>& more) {
  traits.insert(traits.end(), more.begin(), more.end());
  tapestry::check_alike(ranks, traits);
}

}  // namespace

bool starts_ranks(const TrainOptions& o) { return o.ranks.value_or(1) > 1 && ranks_started() == 0; }

void start_and_wait(const TrainOptions& o) {
  const JobEnd end = start_ranks(static_cast<int>(*o.ranks));
  if (end.status != 0) throw Exit(end.status, end.fault);
}

Ranks& ranks_of(const TrainOptions& o) {
  Ranks& ranks = ranks_of_this_program();
  if (!o.ranks || *o.ranks == ranks.size()) return ranks;
  throw Error("--ranks " + std::to_string(*o.ranks) + ", but mpirun has started " +
              std::to_string(ranks.size()) + ": leave the option out.");
}

std::string micro_batches_text(Index micro_batches, const Ranks& ranks) {
  return text_of(micro_batches) + " micro-batches a step, on " + std::to_string(ranks.size()) +
         (ranks.size() == 1 ? " rank" : " ranks");
}

void check_same_run(Ranks& ranks, const Run& run, const TrainOptions& o) {
  const Settings& s = run.settings;
  check_alike(ranks,
              {{"the task", s.task},
               {"the text's fingerprint", s.fingerprint},
               {"--checkpoint", run.checkpoint.string()},
               {"--length", text_of(s.length)},
               {"--steps", text_of(s.steps)},
               {"--batch", text_of(s.batch)},
               {"--micro-batches", text_of(s.micro_batches)},
               {"--rate", exact_text(s.rate)},
               {"--seed", std::to_string(s.seed)},
               {"--snapshots", text_of(s.snapshots)},
               {"--save-every", text_of(o.save_every)},
               {"--resume", text_of(o.resume)},
               {"the steps made before", text_of(run.adam.steps())}},
              traits_of(run.model, o));
}

void check_same_lesson(Ranks& ranks, const Lesson& lesson, const TrainOptions& o) {
  const auto given = [](const auto& option) { return option ? exact_text(double(*option)) : "-"; };
  check_alike(ranks,
              {{"the text", o.task},
               {"the tokens' fingerprint", tokens_of(lesson.train)},
               {"--save", o.save.string()},
               {"--length", text_of(lesson.length)},
               {"--steps", given(o.steps)},
               {"--batch", given(o.batch)},
               {"--micro-batches", given(o.micro_batches)},
               {"--rate", given(o.rate)},
               {"--seed", given(o.seed)}},
              traits_of(lesson.model, o));
}

}  // namespace tapestry::command
