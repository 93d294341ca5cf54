#include "tapestry/plot/flow.hpp"

#include <algorithm>
#include <cmath>

#include "plot/frame.hpp"
#include "plot/heatmap_layout.hpp"
#include "plot/utf8.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

constexpr std::size_t most_words = 48;  // per column; more would be too small or too high
constexpr double heads_height = 26, legend_height = 30, note_line = 16, longest_word = 150;
constexpr double least_pitch = 11, least_gap = 90;
constexpr Colour link_colour{17, 102, 168}, self_colour{213, 94, 0};

struct Link {
  std::size_t query, key;
  double weight;
};

// The links drawn, and the text about the rest.
struct Drawn {
  std::vector<std::string> queries, keys;
  std::vector<Link> links;  // weakest first, so that the strongest are on top
  bool same_words = false;
  std::size_t possible = 0;  // links of a weight above 0; masked ones are 0
  std::string note = {};
  double least = 1, most = 0;  // thresholds of the rows
};

// Without one of its own: twice the even weight of the keys that this query sees.
double threshold_of(const Flow& flow, std::size_t query) {
  if (flow.threshold) return *flow.threshold;
  const auto row = flow.weights.begin() + static_cast<std::ptrdiff_t>(query * flow.keys.size());
  const auto hidden =
      std::count_if(row, row + std::ssize(flow.keys), [](double weight) { return weight <= 0; });
  return std::min(0.5, 2 / static_cast<double>(std::ssize(flow.keys) - hidden));
}

void check(const Flow& flow) {
  const std::size_t queries = flow.queries.size(), keys = flow.keys.size();
  const std::string error_prefix = formatted("flow: %zu queries x %zu keys ", queries, keys);
  if (queries == 0 || keys == 0) throw Error(error_prefix + "give no links; both need a word");
  if (flow.weights.size() != queries * keys) {
    throw Error(error_prefix + formatted("need %zu weights, but %zu were given", queries * keys,
                                         flow.weights.size()));
  }
  const double threshold = flow.threshold.value_or(0);
  if (!(threshold >= 0 && threshold <= 1)) {
    throw Error(error_prefix + formatted("and a threshold of %g; choose 0 to 1", threshold));
  }
  const auto wrong = std::find_if(flow.weights.begin(), flow.weights.end(), [](double weight) {
    return weight < -1e-3 || weight > 1 + 1e-3;  // beyond rounding; NaN is allowed
  });
  if (wrong == flow.weights.end()) return;
  const auto i = static_cast<std::size_t>(wrong - flow.weights.begin());
  throw Error(error_prefix +
              formatted("have the weight %g from query %zu to key %zu; weights lie between 0 "
                        "and 1, so divide by the largest first",
                        *wrong, i / keys, i % keys));
}

std::vector<std::string> shown(const std::vector<std::string>& words) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < std::min(words.size(), most_words); ++i) {
    labels.push_back(fit_text(visible(words[i]), longest_word, label_style()));
  }
  return labels;
}

// "12 of 36 links are drawn: those of weight 0.15 or more. The other 24 hold 31 % of the
// attention." Where rows have thresholds of their own, it tells these in words.
std::string note_on(const Flow& flow, const Drawn& drawn, std::size_t nan, double all,
                    double drawn_sum) {
  const std::size_t left_out = drawn.possible - drawn.links.size();
  const std::string which = drawn.least < drawn.most
                                ? "twice the even weight of their row, or of 0.5"
                                : formatted("weight %.3g or more", drawn.most);
  std::string note = formatted("%zu of %zu links are drawn: those of %s.", drawn.links.size(),
                               drawn.possible, which.c_str());
  if (left_out > 0) {
    note += " The other " + (left_out == 1 ? "one holds " : std::to_string(left_out) + " hold ") +
            number_text(100 * (1 - drawn_sum / all), 0) + " % of the attention.";
  }
  if (nan > 0) note += formatted(" NaN: %zu.", nan);
  if (drawn.queries.size() < flow.queries.size() || drawn.keys.size() < flow.keys.size()) {
    note +=
        formatted(" Shown are the first %zu of %zu queries and %zu of %zu keys.",
                  drawn.queries.size(), flow.queries.size(), drawn.keys.size(), flow.keys.size());
  }
  return note;
}

Drawn prepare(const Flow& flow) {
  check(flow);
  Drawn drawn{shown(flow.queries), shown(flow.keys), {}, flow.queries == flow.keys};
  std::size_t nan = 0;
  double all = 0, drawn_sum = 0;
  for (std::size_t i = 0; i < drawn.queries.size(); ++i) {
    const double threshold = threshold_of(flow, i);
    drawn.least = std::min(drawn.least, threshold), drawn.most = std::max(drawn.most, threshold);
    for (std::size_t j = 0; j < drawn.keys.size(); ++j) {
      const double weight = flow.weights[i * flow.keys.size() + j];
      if (std::isnan(weight)) {
        ++nan;
        continue;
      }
      if (weight <= 0) continue;
      ++drawn.possible;
      all += weight;
      if (weight < threshold) continue;
      drawn_sum += weight;
      drawn.links.push_back({i, j, std::min(weight, 1.0)});
    }
  }
  drawn.note = note_on(flow, drawn, nan, all, drawn_sum);
  std::stable_sort(drawn.links.begin(), drawn.links.end(),
                   [](const Link& a, const Link& b) { return a.weight < b.weight; });
  return drawn;
}

std::vector<std::string> note_lines(const Drawn& drawn, double width) {
  return wrap(drawn.note, width, {type::subtitle});
}

double comfortable_pitch(std::size_t words) { return words <= 12 ? 36 : words <= 24 ? 28 : 20; }

// A column of words, each in a frame of its own.
struct Column {
  Rect area;
  std::vector<std::string> words;
  double pitch = 0;
  double middle(std::size_t i) const { return area.y + (static_cast<double>(i) + 0.5) * pitch; }
};

double column_width(const std::vector<std::string>& words, double size) {
  TextStyle style = label_style();
  style.size = size;
  return widest(words, style) + 16;
}

// What the words of a column are to the reader, and the name of all.
struct ColumnName {
  std::string head;
  Role axis, label;
};

void draw_column(Canvas& canvas, const Column& column, double size, Align align,
                 const ColumnName& name) {
  TextStyle style = label_style();
  const double x = align == Align::right ? column.area.right() - 8 : column.area.x + 8;
  style.align = align;
  canvas.text({x, column.area.y - 10}, name.head, {type::label, theme::faded, false, align},
              name.axis);
  style.vertical = VerticalAlign::middle;
  style.size = size;
  const double height = 0.8 * column.pitch;
  for (std::size_t i = 0; i < column.words.size(); ++i) {
    const double y = column.middle(i);
    canvas.fill_rect({column.area.x, y - height / 2, column.area.width, height}, {240, 243, 248},
                     std::min(6.0, height / 3));
    canvas.text({x, y}, column.words[i], style, name.label);
  }
}

// A ribbon with the head of an arrow, as one shape: with opacity, two would be darker where they
// overlap. Both ends are horizontal.
void draw_ribbon(Canvas& canvas, Point from, Point to, double width, Colour colour) {
  const double head = 5 + 1.5 * width, half_head = 2.5 + 0.85 * width;
  const Point base = to - Point{head, 0};
  const double reach = 0.45 * (base.x - from.x);
  const std::vector<Point> line =
      curve_points(from, from + Point{reach, 0}, base - Point{reach, 0}, base);
  std::vector<Point> upper, lower;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const Point along = line[std::min(i + 1, line.size() - 1)] - line[i == 0 ? 0 : i - 1];
    const double factor = width / 2 / std::hypot(along.x, along.y);
    const Point across{-factor * along.y, factor * along.x};
    upper.push_back(line[i] - across);
    lower.push_back(line[i] + across);
  }
  upper.insert(upper.end(), {base - Point{0, half_head}, to, base + Point{0, half_head}});
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  canvas.fill_polygon(upper, colour);
}

Colour with_opacity(Colour colour, double weight) {
  colour.a = static_cast<std::uint8_t>(std::lround(255 * (0.2 + 0.7 * weight)));
  return colour;
}

double ribbon_width(double weight, double pitch) { return weight * std::min(11.0, 0.38 * pitch); }

// Where the link meets its word: the links of a word are spread in the order of their other ends.
double port(const Drawn& drawn, const Link& link, bool at_key, double pitch) {
  double before = 0, count = 0;
  for (const Link& other : drawn.links) {
    if (at_key ? other.key != link.key : other.query != link.query) continue;
    count += 1;
    if (at_key ? other.query < link.query : other.key < link.key) before += 1;
  }
  const double spread = std::min(0.16 * pitch, 0.6 * pitch / count);
  return (before - (count - 1) / 2) * spread;
}

void draw_links(Canvas& canvas, const Drawn& drawn, const Column& queries, const Column& keys) {
  for (const Link& link : drawn.links) {
    const Point from{queries.area.right() + 2,
                     queries.middle(link.query) + port(drawn, link, false, queries.pitch)};
    const Point to{keys.area.x - 2, keys.middle(link.key) + port(drawn, link, true, keys.pitch)};
    const bool self = drawn.same_words && link.query == link.key;
    draw_ribbon(canvas, from, to, ribbon_width(link.weight, std::min(queries.pitch, keys.pitch)),
                with_opacity(self ? self_colour : link_colour, link.weight));
  }
}

struct LegendLink {
  double weight;
  std::string words;
  Colour colour;
};

// Weights below the threshold are left out; without room for all, the weakest are, too.
void draw_flow_legend(Canvas& canvas, const Rect& area, const Drawn& drawn, double pitch) {
  const TextStyle style{type::subtitle, theme::ink, false, Align::left, VerticalAlign::middle};
  std::vector<LegendLink> entries = {
      {0.25, "0.25", link_colour}, {0.5, "0.5", link_colour}, {1, "weight 1", link_colour}};
  std::erase_if(entries, [&](const LegendLink& one) { return one.weight < drawn.least; });
  if (drawn.same_words) entries.push_back({1, "to itself", self_colour});
  const auto width = [&](const LegendLink& entry) {
    return 40 + measure_text(entry.words, style).width;
  };
  double widths = 0;
  for (const LegendLink& entry : entries) widths += width(entry);
  const auto gaps = [&] { return static_cast<double>(entries.size() - 1); };
  for (; gaps() > 0 && widths + 8 * gaps() > area.width; entries.erase(entries.begin())) {
    widths -= width(entries.front());
  }
  double x = area.x;
  const double y = area.y + legend_height / 2;
  for (const LegendLink& entry : entries) {
    draw_ribbon(canvas, {x, y}, {x + 34, y}, ribbon_width(entry.weight, pitch),
                with_opacity(entry.colour, entry.weight));
    canvas.text({x + 40, y}, entry.words, style, Role::legend);
    x += width(entry) + std::min(20.0, (area.width - widths) / gaps());
  }
  const std::vector<std::string> lines = note_lines(drawn, area.width);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    canvas.text({area.x, area.y + legend_height + (static_cast<double>(i) + 0.5) * note_line},
                lines[i], {type::subtitle, theme::faded, false, Align::left, VerticalAlign::middle},
                Role::legend);
  }
}

double below(const Drawn& drawn, double width) {
  return 8 + legend_height + note_line * static_cast<double>(note_lines(drawn, width).size());
}

}  // namespace

void draw(Canvas& canvas, Rect area, const Flow& flow) {
  const Drawn drawn = prepare(flow);
  Rect room = draw_title(canvas, area, flow.title, flow.subtitle);
  const double height = room.height - heads_height - below(drawn, area.width);
  const auto most = static_cast<double>(std::max(drawn.queries.size(), drawn.keys.size()));
  const double pitch = std::min(36.0, height / most);
  const double size = std::min(type::label, 0.68 * pitch);
  const double left = std::max(column_width(drawn.queries, size), 50.0);
  const double right = std::max(column_width(drawn.keys, size), 50.0);
  if (!(pitch >= least_pitch && room.width - left - right >= least_gap)) {
    throw Error(
        "flow: the area is too small for the words and the links between them; give it more "
        "room or fewer words");
  }
  const double top = room.y + heads_height;
  // The shorter list is centred beside the longer one.
  const auto column = [&](double x, double width, const std::vector<std::string>& words) {
    const double spare = pitch * (most - static_cast<double>(words.size()));
    return Column{{x, top + spare / 2, width, height - spare}, words, pitch};
  };
  const Column queries = column(room.x, left, drawn.queries);
  const Column keys = column(room.right() - right, right, drawn.keys);
  draw_links(canvas, drawn, queries, keys);
  draw_column(canvas, queries, size, Align::right, {"query", Role::row_axis, Role::row_label});
  draw_column(canvas, keys, size, Align::left, {"key", Role::column_axis, Role::column_label});
  draw_flow_legend(canvas, {.x = room.x, .y = top + pitch * most + 8, .width = room.width}, drawn,
                   pitch);
}

Canvas render(const Flow& flow, double width, double scale) {
  const Drawn drawn = prepare(flow);
  const double inner = width - 2 * margin;
  const std::size_t most = std::max(drawn.queries.size(), drawn.keys.size());
  const double height = title_height(flow.title, flow.subtitle, inner) + heads_height +
                        static_cast<double>(most) * comfortable_pitch(most) + below(drawn, inner);
  Canvas canvas(width, height + 2 * margin, scale);
  draw(canvas, canvas.area().inset(margin), flow);
  return canvas;
}

}  // namespace tapestry::plot
