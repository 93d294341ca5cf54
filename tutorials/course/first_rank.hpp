// Several ranks work; what the first of them has is what a program goes on with.
#pragma once

#include <type_traits>
#include <utility>

#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// Calls work(ranks) on `count` threads; returns what that of the first rank returned, when all have
// ended. Throws as run_as_threads does.
template <class Work>
auto of_first_rank(int count, const Work& work) {
  std::invoke_result_t<const Work&, Ranks&> first{};
  run_as_threads(count, [&](Ranks& ranks) {
    auto made = work(ranks);
    if (ranks.rank() == 0) first = std::move(made);
  });
  return first;
}

}  // namespace tapestry
