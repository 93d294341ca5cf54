// What models did with texts: all that the explorer's page shows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "changes.hpp"
#include "recorded_run.hpp"
#include "subject.hpp"

namespace tapestry::command {

enum class Kind { learned, untrained, snapshot };

// A model of the page. `of`: the place, among all of the page, of the learned model that it is an
// untrained copy or an earlier state of.
struct Reader {
  Subject subject;
  std::string name;  // for people
  Kind kind = Kind::learned;
  std::size_t of = 0;
  std::optional<Index> step = {};   // of a snapshot, and of the model that has some
  std::optional<double> loss = {};  // likewise: on held-out texts
  Changes changes = {};             // made while it reads
};

// The page's data. `json` is an object; "at" and "shape" stand for numbers in a block: a
// place in bytes, and their shape. They are 32-bit floats, little-endian; words are int32.
//
//   models    name, about, kind, of, step, loss, layers, heads, groups (heads of keys and values),
//             width (numbers of a query), causal, single_head, guess (next, hidden, none), unit,
//             spaced, parameters, attention: of each layer scale, softcap and window (0: none)
//   texts     given, words, ids
//   patterns  their names
//   words     that predictions point at
//   runs      one for each model and text: model, text, numbers (its block), and
//     layers  query (heads, length, width), key and value (groups, length, ...); weights
//             (heads, n), in a decoder of row i the first i + 1; in a run of more than
//             most_weights null, and pooled (heads, bins, bins) then has the mean over the queries
//             of a bin of the sum over the keys of another; bin b begins at b * length / bins.
//             bias (heads, 2 length - 1), at key - query + length - 1, or null; of each head
//             entropy, even_entropy, distance, even_distance (measures.hpp), patterns
//             (evidence.hpp) and its name
//     next    words, probabilities (length, 10) of the likeliest, and actual (length): that of the
//             word that follows, or in an encoder of the word itself; or null
//     lens    words, probabilities (layers + 1, length, 5), and final (layers + 1, length): of what
//             the last layer says; or null
struct Recording {
  Json json;
  std::vector<std::vector<std::byte>> numbers = {};  // a block for each run
};

inline constexpr Index most_weights = 2'000'000, most_bins = 64;

// Reads every text with every model. A text is recorded anew for a model that splits it into
// other words. Baselines are measured for learned models only, which takes most of the time, and if
// they are wanted. Throws Error for a text that a model cannot read (read_text_for), and for
// changes that do not fit it.
enum class Baselines { of_learned, none };
Recording record(const std::vector<Reader>& readers, const std::vector<std::string>& texts,
                 Baselines baselines = Baselines::of_learned);

}  // namespace tapestry::command
