// The first number on a tape that is not finite, and the elements that led to it.
#pragma once

#include <optional>
#include <vector>

#include "tapestry/tape_steps.hpp"

namespace tapestry {

// Without the causes. For what is skipped, see Tape::first_non_finite. The values must be there.
std::optional<TapeSteps::NonFinite> find_non_finite(const std::vector<Tape::Entry>& all);

// Its first element that is not finite, the element that this was made from, and so on, back to
// one that was made from finite ones.
std::vector<TapeSteps::Cause> causes_of(const TapeSteps::NonFinite& found,
                                        const std::vector<Tape::Entry>& all,
                                        const std::vector<Tape::Contribution>& contributions);

}  // namespace tapestry
