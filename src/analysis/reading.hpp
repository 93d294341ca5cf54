// A model that has read a text, and its answers when something on the way is changed: many changes
// are read as one batch, from the first block and the first position that they change.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tapestry/analysis/question.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/nn/key_value_cache.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// The tensors of a block that may be changed.
enum class Where {
  input,         // (length, d_model): the residual stream before the block, or behind the last
  weights,       // (heads, length, length)
  heads,         // (heads, length, d_v)
  attention,     // (length, d_model): the output of attention
  feed_forward,  // (length, d_model)
};

// Writes other numbers into such a tensor, whose rows (queries) are the positions first, first + 1,
// ...: those from the variant's first one on, and perhaps some before, to be left as they are. Rows
// behind the position that is asked about may be missing.
using Overwrite = std::function<void(const Tensor& numbers, Index first)>;

struct Change {
  Index block = 0;  // for Where::input up to the number of blocks
  Where where = Where::input;
  Overwrite overwrite = {};
};

// One reading of the text in which some things are changed.
struct TextVariant {
  Index first;  // the first position at which anything differs
  std::vector<Change> changes = {};
  std::vector<Index> hidden = {};  // positions that no other position sees

  Index block() const;  // the first one in which anything differs
};

class Reading {
 public:
  // The most positions, of all variants together, that are read at once.
  static constexpr Index rows_at_once = 1024;

  // Reads the text. `caller` begins messages. Throws Error as one_text() and position_in() do, for
  // a token that is not there, and while a Capture is active.
  Reading(const char* caller, const Transformer& model, const Indices& ids,
          const Question& question, bool need_weights = false);

  const Transformer& model;
  Indices ids;  // (1, length)
  Index length;
  Index position;  // that is asked about, from 0
  Index end;       // positions from here on cannot matter to it

  struct Block {
    Tensor input;         // (1, length, d_model)
    KeyValueCache cache;  // of all positions
    Tensor heads;         // (1, heads, length, d_v)
    Tensor weights;       // (1, heads, length, length), if needed
  };
  std::vector<Block> blocks;  // one more than the model's: its `input` is what the last one gives
  double answer;              // to the text as it is

  // Of each variant.
  std::vector<double> answers(const std::vector<TextVariant>& variants) const;

 private:
  using Chunk = std::vector<const TextVariant*>;
  std::vector<double> answers_of(const Chunk& chunk) const;
  Tensor through(Index block, const Tensor& x, const Chunk& chunk, Index first) const;
  Mask mask(const Chunk& chunk, Index count, Index first) const;
  std::vector<double> answers_at(const Tensor& x, Index row) const;

  Question question_;
};

}  // namespace tapestry
