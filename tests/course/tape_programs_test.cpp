// The small calculations of `tapestry tape`: what is shown is what runs.
#include "course/tape_programs.hpp"

#include <cmath>
#include <set>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const TapeSteps::Record& labelled(const TapeSteps& steps, const std::string& label) {
  for (const TapeSteps::Record& one : steps.records) {
    if (one.label == label) return one;
  }
  throw Error("there is no " + label);
}

}  // namespace

TEST_CASE("each shown line of a tape program made the record with its label", "[phase0][course]") {
  for (const std::string& name : tape_program_names()) {
    CAPTURE(name);
    const TapeSteps steps = tape_program_steps(name);
    CHECK(steps.name == name);
    CHECK(!steps.formula.empty());
    std::set<std::size_t> bound;
    for (std::size_t i = 0; i < steps.lines.size(); ++i) {
      const TapeSteps::Line& line = steps.lines[i];
      CAPTURE(line.text);
      CHECK(line.text.size() <= 76);
      if (line.label.empty()) {
        CHECK(line.text.find(" = Tensor(") != std::string::npos);  // a constant
        continue;
      }
      CHECK(line.text.starts_with(line.label + " = "));
      REQUIRE(line.record);
      CHECK(bound.insert(*line.record).second);
      CHECK(steps.records[*line.record].label == line.label);
      CHECK(steps.records[*line.record].line == i);
    }
    for (const TapeSteps::Record& record : steps.records) CHECK(record.line);
    CHECK(steps.lines.back().label == "loss");
    REQUIRE(!steps.backward.empty());
    CHECK(steps.records[steps.backward[0].record].label == "loss");
    CHECK(bool{steps.non_finite} == (name == "masked"));
  }
}

TEST_CASE("a shown line is the code that runs", "[phase0][course]") {
  const TapeSteps steps = tape_program_steps("neuron");
  CHECK(steps.lines.at(0).text == "w = Tensor(0.5)");
  CHECK(steps.lines.at(3).text == "y = tanh(product + b)");
  CHECK(double{labelled(steps, "y").value.item()} == Approx(std::tanh(0.7)));
  const double slope = 2 * (std::tanh(0.7) - 0.2) * (1 - std::pow(std::tanh(0.7), 2));
  CHECK(double{labelled(steps, "w").gradient.item()} == Approx(2 * slope));
}

TEST_CASE("the masked program leads to its cause, and softmax() to zeros", "[phase2][course]") {
  const TapeSteps steps = tape_program_steps("masked");
  REQUIRE(steps.non_finite);
  CHECK(steps.records[steps.non_finite->record].label == "shifted");
  REQUIRE(steps.non_finite->causes.size() == 3);
  CHECK(steps.non_finite->causes[0].why ==
        "-inf - -inf is NaN, of masked [1, 0] and highest [1, 0]");
  CHECK(steps.non_finite->causes[1].why == "max is -inf, of 3 numbers of masked, all of them -inf");
  const Tensor naive = labelled(steps, "naive").value, right = labelled(steps, "right").value;
  for (const Index i : {0, 1, 2}) {
    CHECK(naive.at({0, i}) == Approx(right.at({0, i})));
    CHECK(std::isnan(naive.at({1, i})));
    CHECK(right.at({1, i}) == 0);
  }
}

TEST_CASE("a tape program can be looked at before its backward pass", "[phase0][course]") {
  TapeProgram program("softmax");
  CHECK(program.steps().backward.empty());
  CHECK(program.inputs().at(0).name == "s");
  (void)program.tape().backward(program.loss());
  CHECK(!program.steps().backward.empty());
}

TEST_CASE("an unknown tape program is refused by name", "[phase0][course]") {
  CHECK(complaint([] { (void)tape_program_steps("maskd"); },
                  {"'maskd'", "neuron, softmax, attention and masked", "Did you mean masked?"}) ==
        "");
}
