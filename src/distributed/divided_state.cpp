// What ranks agree on after a step, and the optimizer's state that they have divided.
#include <algorithm>
#include <span>
#include <vector>

#include "distributed/exchange.hpp"
#include "distributed/tags.hpp"
#include "tapestry/distributed/training.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

using Flags = std::vector<char>;

Flags kept_of(const Parameters& state) {
  Flags kept;
  for (const Parameter& one : state) kept.push_back(one.value.defined());
  return kept;
}

// What the giver has and the taker has not.
std::vector<Tensor> given(const Parameters& state, const Flags& giver, const Flags& taker) {
  std::vector<Tensor> all;
  auto has = giver.begin(), had = taker.begin();
  for (const Parameter& one : state) {
    if (*has++ > *had++) all.push_back(one.value);
  }
  return all;
}

// To rank 0: the tensors that it has not, and this rank has.
void send_state(Ranks& ranks, const Parameters& state) {
  const Flags here = kept_of(state);
  Flags there(here.size());
  Message got = ranks.receive(0, tags::state, std::as_writable_bytes(std::span(there)));
  ranks.wait(got);
  Message told = ranks.send(0, tags::state, std::as_bytes(std::span(here)));
  ranks.wait(told);
  for (const Tensor& value : given(state, here, there)) {
    const std::span numbers(raw(value), static_cast<std::size_t>(value.numel()));
    Message sent = ranks.send(0, tags::state, std::as_bytes(numbers));
    ranks.wait(sent);
  }
}

void receive_state(Ranks& ranks, const Parameters& state, const Flags& kept, int from) {
  Message told = ranks.send(from, tags::state, std::as_bytes(std::span(kept)));
  ranks.wait(told);
  Flags there(kept.size());
  Message answer = ranks.receive(from, tags::state, std::as_writable_bytes(std::span(there)));
  ranks.wait(answer);
  for (const Tensor& value : given(state, there, kept)) {
    const std::span numbers(raw_to_change(value), static_cast<std::size_t>(value.numel()));
    Message got = ranks.receive(from, tags::state, std::as_writable_bytes(numbers));
    ranks.wait(got);
  }
}

}  // namespace

void save_from_all(Ranks& ranks, Optimizer& optimizer, const std::function<void()>& save) {
  if (ranks.rank() != 0) return send_state(ranks, optimizer.state());
  const Flags kept = kept_of(optimizer.state());
  const auto last = std::find(kept.begin(), kept.end(), 0);  // rank 0 owns the first parameters
  // After a failure, too: the next save would take the others' state for this rank's own.
  const struct DropOthers {
    Optimizer& optimizer;
    std::size_t last;
    ~DropOthers() { optimizer.drop_state_outside(0, last); }
  } at_end{optimizer, std::size_t(last - kept.begin())};
  optimizer.restore_state();
  for (int from = 1; from < ranks.size(); ++from) {
    receive_state(ranks, optimizer.state(), kept, from);
  }
  save();
}

}  // namespace tapestry
