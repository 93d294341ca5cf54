// Which parts a model has when it reads a text, and how each of them is cut.
#pragma once

#include <vector>

#include "analysis/reading.hpp"
#include "tapestry/analysis/cuts.hpp"

namespace tapestry {

// Throws Error unless the model that reads the text has such a part.
void check_part(const Reading& reading, const ModelPart& part);

// The reading of the text without these parts.
TextVariant without(const Reading& reading, std::span<const ModelPart> parts);

// True if, in this layer, the query sees the key.
bool sees(const Transformer& model, Index layer, Index query, Index key);

// How many parts of a kind there might be, and which one is number i; some are not in the model, or
// cannot change its answer.
Index count_of(const Reading& reading, PartKind kind);
ModelPart part_of(const Reading& reading, PartKind kind, Index i);
bool can_matter(const Reading& reading, const ModelPart& part);

}  // namespace tapestry
