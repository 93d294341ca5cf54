// Long texts as training data.
//
//   const std::string text = read_text("shakespeare.txt");
//   const Vocabulary vocabulary = Vocabulary::of_characters(text);
//   const SplitText ids = split_text(vocabulary.encode(text));
//   const Batch batch = random_windows(ids.train, 32, 64, random);
#pragma once

#include <filesystem>
#include <string>

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry {

// The content of a text file, without the byte order mark that some editors put first. Throws
// Error naming the file if there is none, it is a folder, empty, not UTF-8, or above 256 MB.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

struct SplitText {
  Indices train, held_out;  // (n) each, in the order of the text
};

// The last part of the text is held out, `held_out` of it rounded to a whole id. ids (n); throws
// Error for another rank, or a share that is not within 0 and 1.
[[nodiscard]] SplitText split_text(const Indices& ids, double held_out = 0.1);

// `rows` windows of `length` ids, each from a random place of the text; the target of each position
// is the next id. ids (n), n > length; inputs and targets (rows, length). Throws Error if the text
// is too short, or rows or length are below 1.
[[nodiscard]] Batch random_windows(const Indices& ids, Index rows, Index length, Random& random);

}  // namespace tapestry
