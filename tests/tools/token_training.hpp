// For tests of `tapestry train` with tokens: a text, a folder with it, and what a table says.
#pragma once

#include <cmath>
#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "process.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/tokenizer.hpp"

namespace tapestry {

inline std::string counting() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "one two three four five. ";
  return text;
}

// A folder with that text.
struct Desk {
  TemporaryFolder folder;
  Desk() { std::ofstream(folder / "count.txt") << counting(); }
  Result train(const std::string& arguments) const {
    return tapestry_in(folder / "", "train " + arguments);
  }
  std::string problem(const std::string& arguments) const {
    const std::vector<std::string> before = all_in(folder / "");
    const Result result = train(arguments);
    CHECK(result.status == 1);
    CHECK(result.out == "");
    CHECK(all_in(folder / "") == before);
    return result.err;
  }
};

// Of a row of the table: number `column` of it.
inline double in_row(const std::string& out, const std::string& step, int column) {
  std::istringstream row(out.substr(out.find("\n" + std::string(8 - step.size(), ' ') + step)));
  std::string word;
  for (int i = 0; i <= column; ++i) row >> word;
  return word == "-" ? NAN : std::stod(word);
}

// Bits per byte of the held-out text, computed from the folder alone.
inline double bits_per_byte(const std::filesystem::path& folder, Index length) {
  const Transformer model = read_model(folder);
  const Tokenizer tokenizer = read_tokenizer(folder);
  const SplitText parts = split_text(tokenizer.encode(counting(), false));
  const Indices& held = parts.held_out;
  double nats = 0;
  Index count = 0;
  for (Index begin = 0; begin + length < held.shape[0] && count < 64; begin += length, ++count) {
    const auto first = held.values.begin() + begin;
    const Tensor logs = log_softmax(model(Indices({length}, {first, first + length})));
    for (Index i = 0; i < length; ++i) nats -= double{logs.at({i, first[i + 1]})};
  }
  const double per_token = nats / static_cast<double>(count * length);
  const auto bytes = static_cast<double>(tokenizer.decode(held.values).size());
  return per_token / std::log(2.0) * static_cast<double>(held.shape[0]) / bytes;
}

}  // namespace tapestry
