#include "tapestry/nn/module.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tapestry {

Member::Member(std::string name, const Tensor& parameter)
    : name_(std::move(name)), parameter_(parameter) {}

Member::Member(std::string name, const Module* module) : name_(std::move(name)) {
  if (module != nullptr) modules_.push_back(module);
}

void Member::append_to(Parameters& list, const std::string& prefix) const {
  if (parameter_.defined()) list.push_back({prefix + name_, parameter_});
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const std::string number = numbered_ ? "." + std::to_string(i) : "";
    const Parameters inside = modules_[i]->parameters(prefix + name_ + number + ".");
    list.insert(list.end(), inside.begin(), inside.end());
  }
}

Parameters parameters(const Members& members, const std::string& prefix) {
  Parameters list;
  for (const Member& member : members) member.append_to(list, prefix);
  return list;
}

Parameters Module::parameters(const std::string& prefix) const {
  return tapestry::parameters(members(), prefix);
}

Index Module::num_parameters() const {
  Index count = 0;
  for (const Parameter& parameter : parameters()) count += parameter.value.numel();
  return count;
}

// ---------------------------------------------------------------- the table

namespace {

using Row = std::array<std::string, 4>;

// "blocks.0.norm" of "blocks.0.norm.bias"
std::string layer_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

Row row_of(const std::string& layer, const std::string& shapes, Index count) {
  return {layer, shapes, std::to_string(count), std::to_string(count * Index{sizeof(real)})};
}

// Columns as wide as they must be: words to the left, numbers to the right.
std::string table_of(const std::vector<Row>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string table;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& cell = row[i];
      const std::string space(widths[i] - cell.size(), ' ');
      table += i < 2 ? cell + space + "  " : space + cell + (i == 2 ? "  " : "\n");
    }
  }
  return table;
}

}  // namespace

std::string Module::summary() const {
  std::vector<Row> rows = {{"layer", "shapes", "parameters", "bytes"}};
  const Parameters list = parameters();
  for (auto one = list.begin(); one != list.end();) {
    const std::string layer = layer_of(one->name);
    std::string shapes;
    Index count = 0;
    for (; one != list.end() && layer_of(one->name) == layer; ++one) {
      shapes += (shapes.empty() ? "" : " ") + to_string(one->value.shape());
      count += one->value.numel();
    }
    rows.push_back(row_of(layer, shapes, count));
  }
  rows.push_back(row_of("all", "", num_parameters()));
  return table_of(rows);
}

}  // namespace tapestry
