// Exchanges in which all ranks take part. Each is called by all of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/layout.hpp"
#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// Every rank has filled its own part of `all`, parts[rank]; afterwards all parts are filled.
template <class Number>
void gather(Ranks& ranks, std::span<Number> all, const std::vector<Range>& parts, int tag);

// The same, without waiting for the messages: `all` must stay until they have ended.
template <class Number>
std::vector<Message> begin_gather(Ranks& ranks, std::span<Number> all,
                                  const std::vector<Range>& parts, int tag);

// The text of rank `from`, on all ranks.
std::string text_of(Ranks& ranks, int from, const std::string& text);

}  // namespace tapestry
