#include "tapestry/plot/diagram.hpp"

#include <algorithm>
#include <cmath>

#include "plot/frame.hpp"
#include "plot/layers.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr double padding = 12, title_type = 13.5, line_type = 11.5, line_height = 16.5;
constexpr double gap_along = 46, gap_across = 20, label_type = 11;
constexpr double arrow_clearance = 2;  // between the tip and the box

void check_arrow(const Diagram& diagram, const Arrow& arrow) {
  if (arrow.from < diagram.boxes.size() && arrow.to < diagram.boxes.size()) return;
  throw Error("diagram: an arrow joins boxes " + std::to_string(arrow.from) + " and " +
              std::to_string(arrow.to) + ", but there are only " +
              std::to_string(diagram.boxes.size()) + " boxes, counted from 0");
}

void check(const Diagram& diagram) {
  if (diagram.boxes.empty()) throw Error("diagram: there are no boxes; add one first");
  for (const Arrow& arrow : diagram.arrows) check_arrow(diagram, arrow);
  for (const Box& box : diagram.boxes) {
    const auto& image = box.thumbnail;
    if (!image) continue;
    const std::string error_prefix = "diagram: the thumbnail of box \"" + box.title + "\"";
    if (image->rows > 0 && image->columns > 0 &&
        image->values.size() == cells_of(error_prefix, image->rows, image->columns)) {
      continue;
    }
    throw Error(error_prefix + " is " + std::to_string(image->rows) + " x " +
                std::to_string(image->columns) + " but has " +
                std::to_string(image->values.size()) + " values");
  }
}

// Cells between 2 and 14 units, which suits a 6 × 6 and a 6 × 64 matrix.
Size thumbnail_size(const Thumbnail& image) {
  const double rows = static_cast<double>(image.rows), columns = static_cast<double>(image.columns);
  const double cell_width = std::clamp(128 / columns, 0.5, 14.0);
  const double cell_height = std::clamp(96 / rows, 0.5, std::max(8.0, cell_width));
  return {cell_width * columns, cell_height * rows};
}

double words_height(const Box& box) {
  return (box.title.empty() ? 0 : 18.0) + line_height * static_cast<double>(box.lines.size());
}

void draw_thumbnail(Canvas& canvas, const Rect& place, const Thumbnail& image, double zoom) {
  double low = 0, high = 0;
  for (const double value : image.values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (image.colours == ColourMap::blue_orange) low = -(high = std::max(-low, high));
  if (image.colours != ColourMap::blue_orange && low >= 0) high = std::max(high, 1.0);
  low = image.low.value_or(low);
  high = image.high.value_or(high);
  std::vector<Colour> colours;
  for (const double value : image.values) {
    const double share = high > low ? (value - low) / (high - low) : 0.5;
    colours.push_back(colour_at(image.colours, std::isnan(value) ? value : share));
  }
  canvas.cells(place, image.rows, image.columns, std::move(colours));
  canvas.stroke_rect(canvas.snap(place).inset(-0.3), {theme::frame, 0.8 * zoom});
}

void draw_box(Canvas& canvas, const Box& box, Point origin, double zoom) {
  const Rect frame{origin.x + zoom * box.frame.x, origin.y + zoom * box.frame.y,
                   zoom * box.frame.width, zoom * box.frame.height};
  canvas.fill_rect(frame, box.fill, 7 * zoom);
  canvas.stroke_rect(frame, {mix(box.fill, theme::ink, 0.32), 1.1 * zoom}, 7 * zoom);
  const double x = frame.centre().x;
  double y = frame.y + zoom * (padding - 1);
  TextStyle style{title_type * zoom, readable_on(box.fill), true, Align::centre};
  if (style.colour == black) style.colour = theme::ink;
  if (!box.title.empty()) {
    canvas.text({x, y + zoom * 13}, box.title, style, Role::note);
    y += zoom * 18;
  }
  style.size = line_type * zoom;
  style.bold = false;
  style.colour = mix(style.colour, box.fill, 0.12);
  for (const std::string& line : box.lines) {
    canvas.text({x, y + zoom * 12.5}, line, style, Role::note);
    y += zoom * line_height;
  }
  if (!box.thumbnail) return;
  const Size size = thumbnail_size(*box.thumbnail);
  draw_thumbnail(canvas,
                 {x - zoom * size.width / 2, y + zoom * (words_height(box) == 0 ? 1 : 6),
                  zoom * size.width, zoom * size.height},
                 *box.thumbnail, zoom);
}

void draw_arrow(Canvas& canvas, const Arrow& arrow, Point origin, double zoom) {
  std::vector<Point> path;
  for (const Point p : arrow.path) path.push_back(origin + zoom * p);
  const double head = 9 * zoom;
  const Point tip = path.back();
  // The curve ends straight, so the last two points give the head's direction.
  while (path.size() > 2 && std::hypot(tip.x - path.back().x, tip.y - path.back().y) < 0.8 * head) {
    path.pop_back();
  }
  const Colour colour = mix(theme::frame, theme::ink, 0.35);
  canvas.polyline(path, {colour, 1.5 * zoom, arrow.dashed ? 5 * zoom : 0});
  canvas.arrow_head(path.back(), tip, colour, head);
}

void draw_label(Canvas& canvas, const Arrow& arrow, Point origin, double zoom) {
  if (arrow.label.empty()) return;
  TextStyle style{label_type * zoom, theme::faded, false, Align::centre, VerticalAlign::middle};
  const Point middle = origin + zoom * arrow.label_at;
  const Size size = measure_text(arrow.label, style);
  canvas.fill_rect({middle.x - size.width / 2 - 3 * zoom, middle.y - 0.62 * style.size - zoom,
                    size.width + 6 * zoom, 1.24 * style.size + 2 * zoom},
                   theme::paper, 3 * zoom);
  canvas.text(middle, arrow.label, style, Role::note);
}

Size turned(Size size, Direction direction) {
  return direction == Direction::right ? size : Size{size.height, size.width};
}

Point turned(Point p, Direction direction) {
  return direction == Direction::right ? p : Point{p.y, p.x};
}

// Where arrow `i` meets box `box`: arrows on one side are spread in the order of their far ends.
double port(const Diagram& diagram, const LayerPlan& plan, std::size_t i, bool at_end) {
  const std::size_t box = at_end ? diagram.arrows[i].to : diagram.arrows[i].from;
  const auto far_end = [&](std::size_t k) {
    const auto& passes = plan.passes[k];
    if (!passes.empty()) return at_end ? passes.back().across : passes.front().across;
    return plan.nodes[at_end ? diagram.arrows[k].from : diagram.arrows[k].to].across;
  };
  double before = 0, count = 0;
  for (std::size_t k = 0; k < diagram.arrows.size(); ++k) {
    if ((at_end ? diagram.arrows[k].to : diagram.arrows[k].from) != box) continue;
    count += 1;
    if (far_end(k) < far_end(i) || (far_end(k) == far_end(i) && k < i)) before += 1;
  }
  const double extent = turned(box_size(diagram.boxes[box]), diagram.direction).height;
  const double spread = std::min(18.0, 0.7 * extent / count);
  return plan.nodes[box].across + (before - (count - 1) / 2) * spread;
}

// A path from box to box: smooth between layers, straight through them. In (along, across).
std::vector<Point> route(const LayerPlan& plan, const std::vector<NodePlace>& passes, Point from,
                         Point to) {
  std::vector<Point> path;
  Point at = from;
  const auto bend_to = [&](Point next) {
    const double half = (next.x - at.x) / 2;
    const std::vector<Point> bend =
        curve_points(at, {at.x + half, at.y}, {next.x - half, next.y}, next);
    path.insert(path.end(), bend.begin(), bend.end());
    at = next;
  };
  for (const NodePlace& pass : passes) {
    const double depth = plan.layer_depth[pass.layer] / 2;
    bend_to({pass.along - depth, pass.across});
    at = {pass.along + depth, pass.across};
  }
  bend_to(to);
  return path;
}

// A slight bend looks like an error: such arrows run straight between the two levels.
void level_out(Point& from, Point& to, bool direct) {
  if (!direct || std::abs(from.y - to.y) > 8) return;
  from.y = to.y = (from.y + to.y) / 2;
}

void lead_arrow(Diagram& diagram, const LayerPlan& plan, const std::vector<Size>& extent,
                std::size_t i) {
  Arrow& arrow = diagram.arrows[i];
  Point from{plan.nodes[arrow.from].along + extent[arrow.from].width / 2,
             port(diagram, plan, i, false)};
  Point to{plan.nodes[arrow.to].along - extent[arrow.to].width / 2 - arrow_clearance,
           port(diagram, plan, i, true)};
  level_out(from, to, plan.passes[i].empty());
  arrow.path = route(plan, plan.passes[i], from, to);
  // The middle of the last bend, where the layout has left room.
  arrow.label_at = turned(arrow.path[arrow.path.size() - 25], diagram.direction);
  for (Point& p : arrow.path) p = turned(p, diagram.direction);
}

}  // namespace

std::size_t Diagram::add(Box box) {
  boxes.push_back(std::move(box));
  return boxes.size() - 1;
}

void Diagram::connect(std::size_t from, std::size_t to, std::string label) {
  Arrow arrow;
  arrow.from = from;
  arrow.to = to;
  arrow.label = std::move(label);
  check_arrow(*this, arrow);
  arrows.push_back(std::move(arrow));
}

Size box_size(const Box& box) {
  double width = measure_text(box.title, {title_type, theme::ink, true}).width;
  width = std::max(width, widest(box.lines, {line_type}));
  double height = words_height(box);
  if (box.thumbnail) {
    const Size image = thumbnail_size(*box.thumbnail);
    width = std::max(width, image.width);
    height += image.height + (height == 0 ? 0 : 6);
  }
  return {std::ceil(std::max(width + 2 * padding, 54.0)), std::ceil(height + 2 * padding - 2)};
}

Size layout(Diagram& diagram) {
  check(diagram);
  const Direction direction = diagram.direction;
  std::vector<Size> extent;
  std::vector<Link> links;
  std::vector<double> room;
  for (const Box& box : diagram.boxes) extent.push_back(turned(box_size(box), direction));
  for (const Arrow& arrow : diagram.arrows) {
    links.push_back({arrow.from, arrow.to});
    double& needed = room.emplace_back();
    if (direction == Direction::down) continue;
    needed = measure_text(arrow.label, {label_type}).width + 34;
  }
  const LayerPlan plan = place_in_layers(extent, links, room, gap_along, gap_across);
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
    const Point centre = turned(Point{plan.nodes[i].along, plan.nodes[i].across}, direction);
    const Size size = box_size(diagram.boxes[i]);
    diagram.boxes[i].frame = {centre.x - size.width / 2, centre.y - size.height / 2, size.width,
                              size.height};
  }
  for (std::size_t i = 0; i < diagram.arrows.size(); ++i) lead_arrow(diagram, plan, extent, i);
  return turned(Size{plan.along, plan.across}, direction);
}

void draw(Canvas& canvas, Rect area, const Diagram& diagram) {
  Diagram placed = diagram;
  const Size size = layout(placed);
  const Rect room = draw_title(canvas, area, diagram.title, diagram.subtitle).inset(1);
  const double zoom = std::min({1.0, room.width / size.width, room.height / size.height});
  if (!(zoom > 0)) throw Error("diagram: the area has no room; give it a positive size");
  const Point origin{room.centre().x - zoom * size.width / 2,
                     room.centre().y - zoom * size.height / 2};
  for (const Arrow& arrow : placed.arrows) draw_arrow(canvas, arrow, origin, zoom);
  for (const Box& box : placed.boxes) draw_box(canvas, box, origin, zoom);
  for (const Arrow& arrow : placed.arrows) draw_label(canvas, arrow, origin, zoom);
}

Canvas render(const Diagram& diagram, double scale) {
  Diagram placed = diagram;
  const Size size = layout(placed);
  const double words = measure_text(diagram.title, {type::title, theme::ink, true}).width + 1;
  const double width = std::max({size.width, std::min(words, 420.0), 240.0}) + 2;
  const double title = title_height(diagram.title, diagram.subtitle, width);
  Canvas canvas(width + 2 * margin, title + size.height + 2 + 2 * margin, scale);
  draw(canvas, canvas.area().inset(margin), diagram);
  return canvas;
}

}  // namespace tapestry::plot
