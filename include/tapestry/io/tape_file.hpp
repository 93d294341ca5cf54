// The steps of a tape as JSON: for `tapestry tape --step FILE`, the explorer's page, and programs.
//
// An object:
//   format      "tapestry tape steps 1"
//   name, formula   texts; "" if there is none
//   lines       of the shown program: {text, label, record (a number, or null)}
//   records     {operation, label, inputs (numbers of earlier records), line (a number, or null),
//               shape, value, gradient, summary, saved_bytes}
//   forward     the numbers of the records in the order of the forward steps: 0, 1, ...
//   backward    in the order of the backward steps: {record, gives: [{to, contribution, sum}]}
//   non_finite  null, or {record, in_gradient, text, causes: [{record, in_gradient, place, value,
//               why}]}
// value, gradient, contribution and sum are lists of numbers in row-major order, or null where
// there are none or more than most_shown; shape is their shape, for the last two that of record
// `to`. A number that JSON does not know is a text: "nan", "inf" or "-inf".
#pragma once

#include <filesystem>
#include <string>

#include "tapestry/tape_steps.hpp"

namespace tapestry {

// Tensors of more elements are left out of a file.
inline constexpr Index most_shown = 10'000;

[[nodiscard]] std::string to_json(const TapeSteps& steps);

// Throws Error for what is not such an object: another format, a field that is missing or of
// another type, a number of a record or line that does not exist, inputs that are not earlier, and
// lists whose length is not that of the shape.
[[nodiscard]] TapeSteps tape_steps_from_json(const std::string& text);

// The same in a file. Throws Error, which names the file; reading likewise for more than 32 MiB.
void write_tape_steps(const std::filesystem::path& path, const TapeSteps& steps);
[[nodiscard]] TapeSteps read_tape_steps(const std::filesystem::path& path);

}  // namespace tapestry
