#include "tapestry/plot/svg.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "plot/outlines.hpp"
#include "plot/png_bytes.hpp"
#include "plot/text_line.hpp"
#include "plot/utf8.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/plot/png.hpp"

namespace tapestry::plot {
namespace {

constexpr std::size_t most_rects = 1024;  // beyond, a block of cells is an image

// With at most three decimals; independent of the locale.
std::string number(double value) {
  char text[32];
  const double within = std::clamp(value, -1e9, 1e9);
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, within, std::chars_format::fixed, 3);
  std::string shown(text, end);
  shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.back() == '.') shown.pop_back();
  return shown == "-0" ? "0" : shown;
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string attribute(std::string_view name, std::string_view value) {
  return joined({" ", name, "=\"", value, "\""});
}

std::string attribute(std::string_view name, double value) {
  return attribute(name, number(value));
}

// fill="#1f242e", or stroke=..., and the opacity where it is not full.
std::string paint_of(const char* name, Colour colour) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "#";
  for (const int channel : {colour.r, colour.g, colour.b}) {
    text += {digits[channel / 16], digits[channel % 16]};
  }
  text = attribute(name, text);
  if (colour.a < 255) text += attribute(joined({name, "-opacity"}), colour.a / 255.0);
  return text;
}

std::string place_of(const Rect& rect) {
  return joined({attribute("x", rect.x), attribute("y", rect.y), attribute("width", rect.width),
                 attribute("height", rect.height)});
}

std::string points_of(const std::vector<Point>& points) {
  std::string text;
  for (const Point p : points) {
    text += joined({text.empty() ? "" : " ", number(p.x), ",", number(p.y)});
  }
  return attribute("points", text);
}

// One character escaped for XML; "" for a control character, which is not drawn either.
std::string escaped(char32_t point) {
  switch (point) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case 0xFFFE:
    case 0xFFFF:  // which XML does not allow
      return encode_utf8(0xFFFD);
    default:
      return point < 0x20 ? "" : encode_utf8(point);
  }
}

std::string class_of(Role role) {
  if (role == Role::other) return "";
  // In the order of Role.
  constexpr const char* names[] = {"title",  "subtitle",   "row-axis",     "column-axis", "x-axis",
                                   "y-axis", "row-label",  "column-label", "x-tick",      "y-tick",
                                   "scale",  "scale-tick", "legend",       "value",       "note"};
  return attribute("class", names[static_cast<int>(role) - 1]);
}

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) { return k < bytes.size() ? bytes[k] : 0u; };
    const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) text += digits[three >> shift & 63];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - padding, padding, padding, '=');
}

// Each kind of element, as one line or several.
struct Writer {
  std::string& out;

  void operator()(const FilledRect& shape) const {
    out += joined({"<rect", place_of(shape.rect)});
    if (shape.corner_radius > 0) out += attribute("rx", shape.corner_radius);
    out += joined({paint_of("fill", shape.colour), "/>\n"});
  }

  void operator()(const FilledCircle& shape) const {
    out += joined({"<circle", attribute("cx", shape.centre.x), attribute("cy", shape.centre.y),
                   attribute("r", shape.radius), paint_of("fill", shape.colour), "/>\n"});
  }

  void operator()(const FilledPolygon& shape) const {
    out += joined({"<polygon", points_of(shape.points), paint_of("fill", shape.colour), "/>\n"});
  }

  void operator()(const Polyline& line) const {
    std::vector<Point> run;  // up to a gap
    const auto end_run = [&] {
      if (run.size() > (line.points.size() == 1 ? 0 : 1)) write_line(run, line.stroke);
      run.clear();
    };
    for (const Point p : line.points) {
      if (std::isfinite(p.x) && std::isfinite(p.y)) {
        run.push_back(p);
      } else {
        end_run();
      }
    }
    end_run();
  }

  void write_line(const std::vector<Point>& points, const Stroke& stroke) const {
    if (points.size() == 1) {
      return (*this)(FilledCircle{points.front(), stroke.width / 2, stroke.colour});
    }
    out += joined({"<polyline", points_of(points), attribute("fill", "none"),
                   paint_of("stroke", stroke.colour), attribute("stroke-width", stroke.width)});
    if (stroke.dash > 0 && std::isfinite(stroke.dash)) {
      const double ink = inked_part(stroke.dash, stroke.width);
      out +=
          attribute("stroke-dasharray", joined({number(ink), " ", number(2 * stroke.dash - ink)}));
    }
    out += "/>\n";
  }

  // Without anti-aliasing at the edges, or the background would be visible between cells.
  void operator()(const Cells& block) const {
    if (block.colours.empty()) return;
    if (block.colours.size() > most_rects) {
      const auto png =
          png_bytes(block.colours, static_cast<int>(block.columns), static_cast<int>(block.rows));
      out += joined({"<image", place_of(block.area), attribute("preserveAspectRatio", "none"),
                     attribute("style", "image-rendering:pixelated"),
                     attribute("href", joined({"data:image/png;base64,", base64(png)})), "/>\n"});
      return;
    }
    out += "<g shape-rendering=\"crispEdges\">\n";
    for (std::int64_t i = 0; i < block.rows; ++i) {
      for (std::int64_t j = 0; j < block.columns; ++j) {
        const Colour colour = block.colours[static_cast<std::size_t>(i * block.columns + j)];
        (*this)(FilledRect{block.cell(i, j), colour});
      }
    }
    out += "</g>\n";
  }

  void operator()(const Text& text) const {
    const TextStyle& style = text.style;
    const double y = text.at.y + style.size * base_line(style);
    out += joined({"<text", class_of(text.role), attribute("x", text.at.x), attribute("y", y),
                   attribute("font-size", style.size), paint_of("fill", style.colour)});
    if (style.align == Align::centre) out += attribute("text-anchor", "middle");
    if (style.align == Align::right) out += attribute("text-anchor", "end");
    if (style.bold) out += attribute("font-weight", "bold");
    if (style.angle != 0) {
      out += attribute("transform", joined({"rotate(", number(-style.angle), " ", number(text.at.x),
                                            " ", number(text.at.y), ")"}));
    }
    out += joined({">", signs_of(text), "</text>\n"});
  }

  // Each subscript is a smaller, lower piece; what follows is at the base line again.
  static std::string signs_of(const Text& text) {
    std::string signs, end;
    double level = 0;
    for (const Glyph& glyph : set_line(text.words, text.style).glyphs) {
      const double drop = text.style.size * glyph.pen.y;
      if (drop != level) {
        signs += joined({end, "<tspan", attribute("dy", drop - level)});
        if (drop > 0) signs += attribute("font-size", text.style.size * subscript_size);
        signs += ">";
        end = "</tspan>";
        level = drop;
      }
      signs += escaped(glyph.point);
    }
    return signs + end;
  }
};

// The first title, which may have several lines.
std::string title_of(std::span<const Element> elements) {
  std::string title;
  for (const Element& element : elements) {
    const Text* text = std::get_if<Text>(&element.what);
    if (text == nullptr || text->role != Role::title) {
      if (title.empty()) continue;
      break;
    }
    if (!title.empty()) title += " ";
    for (const char32_t point : decode_utf8(text->words)) title += escaped(point);
  }
  return title;
}

}  // namespace

std::string encode_svg(const Canvas& canvas) {
  const std::string width = number(canvas.width()), height = number(canvas.height());
  std::string out = joined(
      {"<svg xmlns=\"http://www.w3.org/2000/svg\"", attribute("width", width),
       attribute("height", height), attribute("viewBox", joined({"0 0 ", width, " ", height})),
       " font-family=\"'DejaVu Sans', Verdana, sans-serif\" xml:space=\"preserve\""
       " stroke-linecap=\"round\" stroke-linejoin=\"round\">\n"});
  const std::string title = title_of(canvas.elements());
  if (!title.empty()) out += joined({"<title>", title, "</title>\n"});
  const Writer write{out};
  write(FilledRect{canvas.area(), canvas.background()});
  std::optional<Rect> clip;
  const auto change_clip = [&](const std::optional<Rect>& next) {  // a picture inside cuts off
    if (clip == next) return;
    if (clip) out += "</svg>\n";
    clip = next;
    if (!clip) return;
    out += joined({"<svg", place_of(*clip),
                   attribute("viewBox", joined({number(clip->x), " ", number(clip->y), " ",
                                                number(clip->width), " ", number(clip->height)})),
                   ">\n"});
  };
  for (const Element& element : canvas.elements()) {
    change_clip(element.clip);
    std::visit(write, element.what);
  }
  change_clip(std::nullopt);
  out += "</svg>\n";
  return out;
}

void write_svg(const Canvas& canvas, const std::filesystem::path& path) {
  const std::string text = encode_svg(canvas);
  write_file_atomically("write_svg", path, std::as_bytes(std::span(text)));
}

void write_picture(const Canvas& canvas, const std::filesystem::path& path) {
  const std::filesystem::path end = path.extension();
  if (end == ".png") return write_png(canvas, path);
  if (end == ".svg") return write_svg(canvas, path);
  throw Error("write_picture: " + path.string() + " must end in .png or .svg");
}

}  // namespace tapestry::plot
