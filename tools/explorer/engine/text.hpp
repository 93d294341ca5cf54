// A text that is being written, word after word.
#pragma once

#include "tapestry/generation.hpp"
#include "tapestry/text/text_stream.hpp"
#include "writer.hpp"

namespace tapestry::engine {

struct Text {
  command::Writer writer;
  NextLogits next_logits;
  Indices ids;
  Random random;
  GenerationOptions options = {};
  TextStream stream = TextStream();
  bool is_first = true, ended = false;
};

}  // namespace tapestry::engine
