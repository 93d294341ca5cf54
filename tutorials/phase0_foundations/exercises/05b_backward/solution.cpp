#include "phase0.hpp"

namespace learn {

void scalar_backward(ScalarTape& tape, std::size_t result) {
  for (ScalarRecord& record : tape.records) record.gradient = 0;
  tape.records[result].gradient = 1;
  for (std::size_t i = result + 1; i-- > 0;) {
    const ScalarRecord& record = tape.records[i];
    for (const ScalarInput& input : record.inputs) {
      tape.records[input.record].gradient += record.gradient * input.slope;
    }
  }
}

}  // namespace learn
