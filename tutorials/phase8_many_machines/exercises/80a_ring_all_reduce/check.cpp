#include <span>
#include <vector>

#include "course/exercise.hpp"
#include "phase8.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::ring_all_reduce) ring_all_reduce;
}

namespace {

using Reduce = std::function<decltype(learn::ring_all_reduce)>;

// Each row of `numbers` belongs to a rank.
Attempt on_threads(const Reduce& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor& numbers = in[0].value;  // (ranks, n)
    const Index n = numbers.size(1);
    std::vector<std::vector<real>> rows(std::size_t(numbers.size(0)));
    run_as_threads(int(rows.size()), [&](Ranks& ranks) {
      const Index r = ranks.rank();
      rows[std::size_t(r)] = f(ranks, slice(numbers, 0, r, r + 1).values());
    });
    std::vector<real> all;
    for (const auto& row : rows) {
      if (std::ssize(row) != n) throw Error("a rank has another number of sums than of numbers");
      all.insert(all.end(), row.begin(), row.end());
    }
    return {{"sums of all ranks", Tensor(numbers.shape(), all)}};  // (ranks, n)
  };
}

enum Kind { right, adds_always, replaces_always, too_few, first_half, own_chunk, no_rest };

struct Plan {
  Kind kind;
  int size;
  std::size_t n;

  std::size_t begin(int chunk) const {
    if (kind == no_rest) return n / std::size_t(size) * std::size_t(chunk);
    return n * std::size_t(chunk) / std::size_t(size);
  }
  int half() const { return kind == too_few ? size - 2 : size - 1; }
  int steps() const { return kind == first_half ? half() : 2 * half(); }
  int out(int rank, int step) const {
    if (kind == own_chunk) return rank;
    return (rank - step + 2 * size) % size;
  }
  bool adds(int step) const {
    if (kind == adds_always || kind == replaces_always) return kind == adds_always;
    return step < half();
  }
};

Reduce by_messages(Kind kind) {
  return [=](Ranks& ranks, std::vector<real> numbers) {
    const Plan plan{kind, ranks.size(), numbers.size()};
    for (int s = 0; s < plan.steps(); ++s) {
      const int out = plan.out(ranks.rank(), s), in = plan.out(ranks.previous(), s);
      const std::vector<real> chunk(numbers.begin() + std::ptrdiff_t(plan.begin(out)),
                                    numbers.begin() + std::ptrdiff_t(plan.begin(out + 1)));
      std::vector<real> came(plan.begin(in + 1) - plan.begin(in));
      Message sent = ranks.send(ranks.next(), 1, std::as_bytes(std::span(chunk)));
      Message got = ranks.receive(ranks.previous(), 1, std::as_writable_bytes(std::span(came)));
      ranks.wait(sent), ranks.wait(got);
      for (std::size_t i = 0; i < came.size(); ++i) {
        real& mine = numbers[plan.begin(in) + i];
        mine = plan.adds(s) ? mine + came[i] : came[i];
      }
    }
    return numbers;
  };
}

// The same without messages: all ranks at once.
Attempt at_once(Kind kind) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Index size = in[0].value.size(0), n = in[0].value.size(1);
    const Plan plan{kind, int(size), std::size_t(n)};
    Tensor now = in[0].value + 0;  // (ranks, n)
    for (int s = 0; s < plan.steps(); ++s) {
      const Tensor before = now + 0;  // (ranks, n)
      for (int r = 0; r < plan.size; ++r) {
        const int to = (r + 1) % plan.size, c = plan.out(r, s);
        for (auto i = Index(plan.begin(c)); i < Index(plan.begin(c + 1)); ++i) {
          const double came{before.at({r, i})}, mine{before.at({to, i})};
          now.set({to, i}, plan.adds(s) ? mine + came : came);
        }
      }
    }
    return {{"sums of all ranks", now}};
  };
}

NamedTensors inputs(Random& random, Index size) {
  const Index ranks = size + 1, n = size == 1 ? 2 : 3 * ranks - 1;
  return {{"numbers of each rank", random.normal({ranks, n})}};
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, on_threads(by_messages(kind)), at_once(kind)};
}

const std::vector<KnownMistake> mistakes = {
    known(adds_always, "added in the second half, too",
          "From step R - 1 on what comes is a complete sum, but it was added to the rank's own "
          "numbers, which are in it already. It has to replace them."),
    known(
        replaces_always, "never added",
        "The chunks go round, but no sum does. Either what comes replaces the rank's numbers from "
        "the first step on, or the second half begins again with chunk r, which is the rank's own: "
        "complete after R - 1 steps is chunk (r + 1) mod R."),
    known(too_few, "one step too few in each half",
          "Each half has R - 1 steps, one for each other rank. With R - 2 one rank's numbers are "
          "missing in every chunk."),
    known(first_half, "only the first half",
          "After R - 1 steps each rank has the complete sum of one chunk only. The second half "
          "brings the others."),
    known(own_chunk, "the same chunk in every step",
          "In each step the chunk of the rank's own number was sent. What has to travel on is the "
          "chunk that came in the step before: (r - s) mod R."),
    known(no_rest, "the rest left out",
          "Chunks of n / R numbers leave out the last n mod R of them. Chunk c is "
          "[n c / R, n (c + 1) / R).")};

}  // namespace

int main(int count, char** arguments) {
  const Attempt by_library = [](const NamedTensors& in) -> NamedTensors {
    const Tensor& numbers = in[0].value;  // (ranks, n)
    return {{"sums of all ranks", sum(numbers, 0, true) + numbers * 0}};
  };
  return judge(
      {.inputs = inputs,
       .learner = on_threads(learn::ring_all_reduce),
       .right = {on_threads(solution::ring_all_reduce), at_once(right), by_library},
       .mistakes = mistakes,
       .hints = {"One loop over 2 (R - 1) steps. In each: which chunk goes out, which comes "
                 "in, send, receive, wait for both, then add or replace.",
                 "out = (rank - step + 2 R) % R keeps the left side positive; in = (out + "
                 "R - 1) % R. Receive into a vector of its own, of the size of chunk in.",
                 "for (i of the chunk `in`): mine = step < R - 1 ? mine + came : came."}},
      count, arguments);
}
