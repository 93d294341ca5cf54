#include "tapestry/text/corpus.hpp"

#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

Indices part(const Indices& ids, Index first, Index last) {
  return Indices({last - first}, {ids.values.begin() + first, ids.values.begin() + last});
}

void check_text(const char* operation, const Indices& ids) {
  ids.check(operation);
  if (ids.shape.ndim() == 1) return;
  throw Error(std::string(operation) + ": ids are " + to_string(ids.shape) +
              ": they must be one text, (n).");
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  constexpr std::uint64_t most = 256'000'000;
  std::string text;
  read_file("read_text", path, [&](std::ifstream& file, std::uint64_t bytes) {
    if (bytes > most) {
      throw Error("it has " + std::to_string(bytes) + " bytes, and 256 MB are the limit. Cut it.");
    }
    text.resize(static_cast<std::size_t>(bytes));
    read_bytes(file, text.data(), bytes);
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    if (text.empty()) throw Error("it is empty: there is nothing to learn from.");
    check_utf8(text);
  });
  return text;
}

SplitText split_text(const Indices& ids, double held_out) {
  check_text("split_text", ids);
  if (!(held_out >= 0 && held_out <= 1)) {
    throw Error("split_text: held_out is " + exact_text(held_out) +
                ": it must be a share of the text, within 0 and 1.");
  }
  const auto count = static_cast<Index>(ids.values.size());
  const Index end = count - std::llround(held_out * static_cast<double>(count));
  return {part(ids, 0, end), part(ids, end, count)};
}

Batch random_windows(const Indices& ids, Index rows, Index length, Random& random) {
  check_text("random_windows", ids);
  const auto count = static_cast<Index>(ids.values.size());
  if (rows < 1 || length < 1 || length >= count) {
    throw Error("random_windows: " + std::to_string(rows) + " rows of " + std::to_string(length) +
                " from a text of " + std::to_string(count) +
                ": rows and length must be 1 or more, and the text longer than a row.");
  }
  const Shape shape = {rows, length};
  std::vector<std::int32_t> inputs, targets;
  for (Index row = 0; row < rows; ++row) {
    const auto first = ids.values.begin() + random.randint(count - length);
    inputs.insert(inputs.end(), first, first + length);
    targets.insert(targets.end(), first + 1, first + length + 1);
  }
  return {Indices(shape, std::move(inputs)), Indices(shape, std::move(targets)),
          std::vector<Index>(static_cast<std::size_t>(rows), length)};
}

}  // namespace tapestry
