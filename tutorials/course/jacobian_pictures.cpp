#include "course/jacobian_pictures.hpp"

#include "tapestry/error.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"

namespace tapestry {
namespace {

void draw_pair(plot::Canvas& canvas, const plot::Rect& area, const Words& words,
               const NamedMask& one, const Tensor& norms) {
  const std::vector<plot::Rect> halves = plot::panels(area, 1, 2, 0);
  plot::Heatmap mask = mask_heatmap(one.mask, words, words, one.name);
  mask.subtitle = "the mask: white may attend, black may not";
  plot::draw(canvas, halves[0], mask);
  plot::Heatmap map = attention_heatmap(norms, words, words, "what y_i depends on");
  map.subtitle = "‖∂y_i / ∂x_j‖, crossed: exactly 0";
  map.high = {};
  map.colour_bar = false;
  map.row_axis = "output y_i";
  map.column_axis = "input x_j";
  for (const double norm : map.values) map.masked.push_back(norm == 0);
  plot::draw(canvas, halves[1], map);
}

}  // namespace

plot::Canvas masks_beside_derivatives(const Words& words, const std::vector<NamedMask>& masks,
                                      const std::vector<Tensor>& norms) {
  plot::Canvas canvas(1360, 1440);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 4, 2, 30);
  if (masks.size() != norms.size() || masks.size() > panels.size()) {
    throw Error("masks_beside_derivatives: needs norms for each mask, and at most eight masks.");
  }
  for (std::size_t i = 0; i < masks.size(); ++i) {
    draw_pair(canvas, panels[i], words, masks[i], norms[i]);
  }
  return canvas;
}

}  // namespace tapestry
