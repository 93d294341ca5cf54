#include "models/tensors.hpp"

#include <algorithm>

#include "tapestry/ops.hpp"

namespace tapestry {

LayerName::LayerName(std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    const bool is_number =
        number.empty() && !part.empty() && std::all_of(part.begin(), part.end(), digit);
    if (is_number) number = part;
    pattern += is_number ? "#" : std::string(part);
    if (end < name.size()) pattern += '.';
    begin = end + 1;
  }
}

StoredName stored_name(const Architecture& table, std::string_view parameter,
                       std::string_view prefix) {
  const LayerName ours(parameter);
  for (const auto* list : {&table.names, &table.head}) {
    for (StoredName name : *list) {
      if (name.parameter != ours.pattern) continue;
      if (const std::size_t at = name.tensor.find('#'); at != std::string::npos) {
        name.tensor.replace(at, 1, ours.number);
      }
      if (list == &table.names) name.tensor.insert(0, prefix);
      return name;
    }
  }
  return {std::string(parameter), ""};
}

Shape stored_shape(const StoredName& name, const Shape& parameter) {
  using Form = StoredName::Form;
  const bool turned =
      name.form == Form::transposed || (name.form == Form::by_head && parameter.ndim() == 2);
  const Shape shape = turned ? Shape{parameter[1], parameter[0]} : parameter;
  if (name.form != Form::side && name.form != Form::by_head) return shape;
  const int axis = name.form == Form::side ? -1 : 0;  // along which the three lie
  return shape.with(axis, 3 * shape[axis]);
}

Transformer shapes_of(const TransformerOptions& options) {
  TransformerOptions light = options;
  light.initializer = [](const Shape& shape, Random&) {  // one number, seen everywhere
    return expand(Tensor::zeros({}), shape);
  };
  Random unused(0);
  return Transformer(light, unused);
}

}  // namespace tapestry
