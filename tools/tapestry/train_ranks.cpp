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

// FNV-1a of the bits of all weights.
std::string weights_of(const Run& run) {
  std::uint64_t hash = 14695981039346656037u;
  for (const Parameter& parameter : run.model.parameters()) {
    const Tensor& value = parameter.value;
    for (Index i = 0; i < value.count(); ++i) {
      hash ^= std::bit_cast<std::uint32_t>(static_cast<float>(value.data()[i]));
      hash *= 1099511628211u;
    }
  }
  return formatted("%016llx", static_cast<unsigned long long>(hash));
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

void check_same_run(Ranks& ranks, const Run& run, const TrainOptions& o) {
  const Settings& s = run.settings;
  check_alike(ranks, {{"the version", version()},
                      {"the kernel set (TAPESTRY_KERNELS)", kernel_set()},
                      {"the task", s.task},
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
                      {"--divide-state", text_of(run.divide_state)},
                      {"--resume", text_of(o.resume)},
                      {"the number of weights", text_of(run.model.parameter_count())},
                      {"the steps made before", text_of(run.adam.steps())},
                      {"the weights' fingerprint", weights_of(run)}});
  if (ranks.size() == 1 || ranks.size() <= s.micro_batches) return;
  throw Error("there are " + std::to_string(ranks.size()) + " ranks, but " +
              std::to_string(s.micro_batches) +
              " micro-batches to share: each rank needs one at least.");
}

}  // namespace tapestry::command
