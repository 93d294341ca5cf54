// Steps of a tape as JSON: what is read is written as the same steps.
#include "tapestry/io/tape_file.hpp"

#include "fuzz.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  TapeSteps steps;
  if (!fuzz::done([&] { steps = tape_steps_from_json(fuzz::text_of(data, size)); })) return 0;
  for (std::size_t i = 0; i < steps.records.size(); ++i) {
    for (const std::size_t input : steps.records[i].inputs) {
      fuzz::require(input < i, "inputs are earlier");
    }
  }
  for (const TapeSteps::BackwardStep& step : steps.backward) {
    fuzz::require(step.record < steps.records.size(), "a backward step is that of a record");
  }
  const std::string text = to_json(steps);
  fuzz::require(to_json(tape_steps_from_json(text)) == text, "steps are written as they are read");
  return 0;
}
