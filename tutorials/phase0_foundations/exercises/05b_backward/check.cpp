#include "course/exercise.hpp"
#include "phase0.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::scalar_backward) scalar_backward;
}

namespace {

using Backward = std::function<decltype(learn::scalar_backward)>;

// Each row of `uses` is a record, an input of it, and the slope.
Attempt attempt(const Backward& backward) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor &uses = in[0].value, &old = in[1].value;
    ScalarTape tape;
    for (const real gradient : old.values()) tape.records.push_back({0, {}, gradient});
    for (Index i = 0; i < uses.size(0); ++i) {
      tape.records[std::size_t(uses.at({i, 0}))].inputs.push_back(
          {std::size_t(uses.at({i, 1})), uses.at({i, 2})});
    }
    backward(tape, std::size_t(in[2].value.item()));
    Tensor gradients = Tensor::zeros(old.shape());  // (records)
    for (Index i = 0; i < old.numel(); ++i) {
      gradients.set({i}, tape.records[std::size_t(i)].gradient);
    }
    return {{"gradients of records 0, 1, ...", gradients}};
  };
}

void clear(ScalarTape& tape) {
  for (ScalarRecord& record : tape.records) record.gradient = 0;
}

using Arrival = double (*)(double before, double gradient, double slope);

double added(double before, double gradient, double slope) { return before + gradient * slope; }
double overwritten(double, double gradient, double slope) { return gradient * slope; }
double without_slope(double before, double gradient, double) { return before + gradient; }

// Each record hands on to its inputs, from record `from` down to 0.
void push(ScalarTape& tape, std::size_t from, Arrival arrival = added) {
  for (std::size_t i = from + 1; i-- > 0;) {
    for (const ScalarInput& input : tape.records[i].inputs) {
      double& gradient = tape.records[input.record].gradient;
      gradient = arrival(gradient, tape.records[i].gradient, input.slope);
    }
  }
}

// The other way: each record collects from those that use it, the last user first.
void pull(ScalarTape& tape, std::size_t from, Arrival arrival = added) {
  for (std::size_t j = from; j-- > 0;) {
    for (std::size_t i = from; i > j; --i) {
      for (const ScalarInput& input : tape.records[i].inputs) {
        double& gradient = tape.records[j].gradient;
        if (input.record != j) continue;
        gradient = arrival(gradient, tape.records[i].gradient, input.slope);
      }
    }
  }
}

using Loop = void (*)(ScalarTape& tape, std::size_t from, Arrival arrival);

Backward usual(Loop loop, Arrival arrival) {
  return [=](ScalarTape& tape, std::size_t result) {
    clear(tape);
    tape.records[result].gradient = 1;
    loop(tape, result, arrival);
  };
}

Backward uncleared(Loop loop) {
  return [=](ScalarTape& tape, std::size_t result) {
    tape.records[result].gradient = 1;
    loop(tape, result, added);
  };
}

Backward from_the_end(Loop loop) {
  return [=](ScalarTape& tape, std::size_t) {
    clear(tape);
    tape.records.back().gradient = 1;
    loop(tape, tape.records.size() - 1, added);
  };
}

void first_record_first(ScalarTape& tape, std::size_t result) {
  clear(tape);
  tape.records[result].gradient = 1;
  for (std::size_t i = 0; i <= result; ++i) {
    for (const ScalarInput& input : tape.records[i].inputs) {
      tape.records[input.record].gradient += tape.records[i].gradient * input.slope;
    }
  }
}

void direct_inputs(ScalarTape& tape, std::size_t result) {
  clear(tape);
  for (const ScalarInput& input : tape.records[result].inputs) {
    tape.records[input.record].gradient += input.slope;
  }
  tape.records[result].gradient = 1;
}

void no_seed(ScalarTape& tape, std::size_t result) {
  clear(tape);
  push(tape, result);
}

// Records 0 and 1 have no inputs; each other one uses the one before it and an earlier one, which
// may be the same. At least one record comes after the result, but in the smallest.
NamedTensors inputs(Random& random, Index size) {
  const Index count = size + 3, result = count - (size == 1 ? 1 : 2);
  Tensor uses = Tensor::zeros({2 * (count - 2), 3});  // (uses, 3)
  for (Index use = 0; use < uses.size(0); ++use) {
    const Index i = 2 + use / 2;
    uses.set({use, 0}, double(i));
    uses.set({use, 1}, use % 2 == 0 ? double(i - 1) : double(random.randint(i)));
    uses.set({use, 2}, random.uniform() + 0.5);
  }
  return {{"uses (record, its input, slope)", uses},
          {"old gradients", random.uniform({count}, 1, 2)},
          {"result", Tensor(double(result))}};
}

const std::vector<KnownMistake> mistakes = {
    {"gradients overwritten",
     "A gradient that arrives replaces the one that arrived before. A value that is used several "
     "times changes the result in several ways, and these add up: += and not =.",
     attempt(usual(push, overwritten)), attempt(usual(pull, overwritten))},
    {"first record first",
     "Only the inputs of the result itself got a gradient. The loop went from record 0 up, or "
     "stopped after one record: an early record handed on its gradient before it had any.",
     attempt(first_record_first), attempt(direct_inputs)},
    {"old gradients kept",
     "The gradients of before were not set to 0, and the new ones were added to them. In training "
     "this mixes the gradients of all steps.",
     attempt(uncleared(push)), attempt(uncleared(pull))},
    {"no 1 at the result",
     "All gradients are 0: no record has anything to hand on. The gradient of the result by itself "
     "is 1; set it before the loop, and after all are set to 0.",
     attempt(no_seed), attempt([](ScalarTape& tape, std::size_t) { clear(tape); })},
    {"slope left out",
     "The gradients are handed on as they are. On the way to an input each is multiplied by the "
     "slope: that is the chain rule.",
     attempt(usual(push, without_slope)), attempt(usual(pull, without_slope))},
    {"begun at the last record",
     "The loop begins at the last record of the tape, and so these are its gradients. The result "
     "is record `result`; what was recorded later does not depend on it.",
     attempt(from_the_end(push)), attempt(from_the_end(pull))}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = attempt(learn::scalar_backward),
       .right = {attempt(solution::scalar_backward), attempt(usual(pull, added))},
       .mistakes = mistakes,
       .hints = {"Three things: set all gradients to 0, set that of the result to 1, go back.",
                 "A loop over i from result down to 0; in it a loop over the inputs of "
                 "record i, which adds to the gradient of each.",
                 "for (std::size_t i = result + 1; i-- > 0;) for (const ScalarInput& "
                 "input : tape.records[i].inputs) ... += ..., as the task writes it."}},
      count, arguments);
}
