#include "hand_heads.hpp"

#include <algorithm>

#include "tapestry/analysis/cuts.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/csv.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/text/vocabulary.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

constexpr const char* matrices = "matrices";

// "0.1" as its layer and head.
HandMadeHead place_of(const std::string& name, const std::string& text) {
  ModelPart part{PartKind::link};
  try {
    part = parse_part(name);
  } catch (const Error&) {  // its words offer more than heads
  }
  if (part.kind == PartKind::head) return {part.layer, part.head};
  throw Error("--head " + in_quotes(text) +
              " must begin with a layer and a head, as in --head \"0.0 previous word\".");
}

bool has_files(const HandOptions& o) {
  return !(o.query.empty() && o.key.empty() && o.value.empty() && o.output.empty());
}

Tensor matrix_if_named(const Path& path) { return path.empty() ? Tensor() : read_matrix(path); }

HandMadeHead head_in(const std::string& text, const HandOptions& options) {
  const Words words = split_words(text);
  HandMadeHead head = place_of(words.empty() ? "" : words.front(), text);
  std::string does;
  for (std::size_t i = 1; i < words.size(); ++i) does += (i > 1 ? " " : "") + words[i];
  if (does != matrices) {
    head.phrase = phrase_of(does);
    return head;
  }
  if (options.query.empty() || options.key.empty()) {
    throw Error("--head " + in_quotes(text) + " needs two files: --query FILE and --key FILE.");
  }
  head.matrices = {matrix_if_named(options.query), matrix_if_named(options.key),
                   matrix_if_named(options.value), matrix_if_named(options.output)};
  return head;
}

Tensor from_csv(const Path& path) {
  const CsvTable table = read_csv(path);
  std::vector<real> numbers;
  for (const CsvRow& row : table.rows) {
    for (const std::optional<double>& cell : row) {
      if (!cell) throw Error(path.string() + " has an empty cell, but a matrix has none.");
      numbers.push_back(static_cast<real>(*cell));
    }
  }
  return Tensor({std::ssize(table.rows), std::ssize(table.columns)}, numbers);
}

}  // namespace

Tensor read_matrix(const Path& path) {
  return path.extension() == ".npy" ? read_npy(path) : from_csv(path);
}

std::vector<HandMadeHead> heads_in(const HandOptions& options) {
  std::vector<HandMadeHead> heads;
  for (const std::string& text : options.heads) heads.push_back(head_in(text, options));
  const auto of_files = std::count_if(heads.begin(), heads.end(),
                                      [](const HandMadeHead& head) { return !head.phrase; });
  if (of_files > 1) throw Error("only one --head can be \"matrices\": there is one set of files.");
  if (of_files == 1 || !has_files(options)) return heads;
  throw Error(
      "--query, --key, --value and --output are of a head of matrices: name it, as in --head "
      "\"0.1 matrices\".");
}

}  // namespace tapestry::command
