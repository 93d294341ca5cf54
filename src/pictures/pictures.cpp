#include "tapestry/pictures.hpp"

#include "tapestry/error.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry {
namespace {

plot::Thumbnail thumbnail(const Tensor& matrix) {
  plot::Thumbnail picture;
  picture.rows = matrix.ndim() > 1 ? matrix.size(0) : 1;
  picture.columns = matrix.numel() / picture.rows;
  picture.values = doubles(matrix);
  return picture;
}

std::string value_text(const char* name, const Tensor& number) {
  return std::string(name) + " " + plot::number_text(double{number.item()}, 3);
}

plot::Box box_for(const Tape::Entry& entry) {
  plot::Box box;
  const bool watched = entry.operation == "watched";
  box.title = entry.label.empty() ? entry.operation
              : watched           ? entry.label
                                  : entry.label + " = " + entry.operation;
  if (watched) box.fill = {255, 244, 230};
  if (entry.shape.ndim() > 0) box.lines.push_back(to_string(entry.shape));
  if (!entry.value.defined() || entry.value.numel() == 0) return box;
  if (entry.value.numel() == 1) {
    box.lines.push_back(value_text("value", entry.value));
    if (entry.gradient.defined()) box.lines.push_back(value_text("gradient", entry.gradient));
  } else if (entry.value.ndim() <= 2) {
    box.thumbnail = thumbnail(entry.value);
  }
  return box;
}

}  // namespace

std::vector<double> doubles(const Tensor& tensor) {
  const std::vector<real> values = tensor.values();
  return std::vector<double>(values.begin(), values.end());
}

plot::Heatmap attention_heatmap(const Tensor& weights, const std::vector<std::string>& queries,
                                const std::vector<std::string>& keys, const std::string& title) {
  if (weights.ndim() != 2) {
    throw Error("attention_heatmap: the weights are " + to_string(weights.shape()) +
                ", but must be one matrix (queries, keys). Slice out a batch element and a head.");
  }
  return plot::attention_heatmap(doubles(weights), queries, keys, title);
}

plot::Heatmap mask_heatmap(const Mask& mask, const std::vector<std::string>& queries,
                           const std::vector<std::string>& keys, const std::string& title,
                           Index batch) {
  plot::Heatmap picture;
  picture.rows = static_cast<Index>(queries.size());
  picture.columns = static_cast<Index>(keys.size());
  for (Index i = 0; i < picture.rows; ++i) {
    for (Index j = 0; j < picture.columns; ++j) {
      picture.values.push_back(mask.allows(batch, i, j) ? 0 : 1);
    }
  }
  picture.row_labels = queries;
  picture.column_labels = keys;
  picture.title = title;
  picture.subtitle = "white: may attend, black: may not";
  picture.colours = plot::ColourMap::greys;
  picture.low = 0;
  picture.high = 1;
  picture.print = plot::PrintValues::never;
  picture.colour_bar = false;
  return picture;
}

plot::Diagram tape_diagram(const Tape& tape, const std::string& title) {
  plot::Diagram diagram;
  diagram.title = title;
  for (const Tape::Entry& entry : tape.entries()) {
    const std::size_t box = diagram.add(box_for(entry));
    for (const std::size_t input : entry.inputs) diagram.connect(input, box);
  }
  return diagram;
}

Tensor image_tensor(const plot::Image& image) {
  const Shape shape{image.height, image.width, image.channels};
  std::vector<real> values;
  for (const std::uint8_t value : image.values) values.push_back(static_cast<real>(value / 255.0));
  return Tensor(shape, std::span<const real>(values));
}

}  // namespace tapestry
