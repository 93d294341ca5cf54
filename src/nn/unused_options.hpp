// Options of what a transformer lacks.
#pragma once

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// Sets those to their defaults: files and configurations of others may have them, a Transformer
// refuses them.
void leave_out_unused(TransformerOptions& options);

}  // namespace tapestry
