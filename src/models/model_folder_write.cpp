// Writing a model as other programs store it.
#include <map>
#include <span>

#include "models/tensors.hpp"
#include "nn/unused_options.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/io/weight_files.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/nn/adapters.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

using Form = StoredName::Form;

// Query, key and value as one tensor.
Tensor joined(const StoredName& name, const std::vector<Tensor>& parts, Index heads) {
  if (name.form == Form::side) return concat(parts, -1);  // (..., 3 width)
  std::vector<Tensor> by_head;
  for (const Tensor& part : parts) {
    const Tensor rows = part.ndim() == 2 ? transpose(part) : part;  // (heads d_k, ...)
    // (heads, d_k, ...)
    by_head.push_back(reshape(rows, rows.shape().with(0, rows.size(0) / heads).inserted(0, heads)));
  }
  const Shape whole = stored_shape(name, parts.front().shape());
  return reshape(concat(by_head, 1), whole);  // (heads 3 d_k, ...)
}

}  // namespace

void write_model(const std::filesystem::path& folder, const Transformer& model,
                 std::string_view name) {
  if (has_adapters(model)) {
    throw Error(
        "write_model: the model has adapters, for which a folder has no place: merge them first "
        "(merge_adapters), or write them beside it (write_adapters).");
  }
  const Architecture& table = architecture(name);
  const std::string text = config_text(name, model.options);
  TransformerOptions written = model_config(text).options;
  written.has_logits = model.options.has_logits;
  leave_out_unused(written);
  std::map<std::string, Tensor> ours;
  for (const Parameter& parameter : model.parameters()) ours[parameter.name] = parameter.value;
  Parameters tensors;
  std::map<std::string, std::vector<Tensor>> parts;  // query, key and value, in this order
  const Transformer shapes = shapes_of(written);
  for (const Parameter& parameter : shapes.parameters()) {
    const StoredName stored = stored_name(table, parameter.name, table.prefix);
    const auto found = ours.find(parameter.name);
    const Tensor value =  // a bias that the model lacks is one of zeros
        found == ours.end() ? Tensor::zeros(parameter.value.shape()) : found->second;
    if (stored.form == Form::same || stored.form == Form::transposed) {
      tensors.push_back({stored.tensor, stored.form == Form::same ? value : transpose(value)});
      continue;
    }
    std::vector<Tensor>& list = parts[stored.tensor];
    list.push_back(value);
    if (list.size() == 3) {
      tensors.push_back({stored.tensor, joined(stored, list, model.options.num_heads)});
    }
  }
  // If the weights cannot be written, the old config.json stays with the old weights.
  write_file_atomically("write_model", folder / "config.json", [&](const Append& append) {
    append(std::as_bytes(std::span<const char>(text)));
    write_weight_files(folder, tensors);
  });
}

}  // namespace tapestry
