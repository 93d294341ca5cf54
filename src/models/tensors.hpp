// The tensors of a model's files and the parameters of a Transformer: which is which.
#pragma once

#include <string>
#include <string_view>

#include "models/table.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The name with # for its layer: "blocks.#.norm" for "blocks.11.norm", and the number, "11"; "" if
// there is none.
struct LayerName {
  explicit LayerName(std::string_view name);
  std::string pattern, number;
};

// Where the parameter stands, with the layer in place of #; null name if the table has none.
StoredName stored_name(const Architecture& table, std::string_view parameter,
                       std::string_view prefix);

// The shape of the tensor in the file that holds a parameter of this shape.
Shape stored_shape(const StoredName& name, const Shape& parameter);

// The model that a config describes, with weights of shapes but without memory of their own.
Transformer shapes_of(const TransformerOptions& options);

}  // namespace tapestry
