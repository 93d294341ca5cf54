#include "course/scaling_pictures.hpp"

#include <algorithm>

#include "tapestry/format.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry::scaling {
namespace {

Index last_step(const Settings& settings) { return std::ssize(settings[0].films[0]) - 1; }
Index items(const Settings& settings) { return settings[0].films[0][0].weights.size(0); }

plot::Heatmap square(const Tensor& values, const std::string& title) {
  plot::Heatmap map;
  map.rows = map.columns = values.size(0);
  map.values = doubles(values);
  map.title = title;
  map.row_axis = "query";
  map.column_axis = "key";
  map.row_labels = map.column_labels = std::vector<std::string>(std::size_t(map.rows), "");
  map.print = plot::PrintValues::never;
  map.low = 0;
  map.high = 1;
  return map;
}

void draw_maps(plot::Canvas& canvas, plot::Rect area, const Setting& setting, Index step) {
  const Look& look = setting.films[0][static_cast<std::size_t>(step)];
  const std::vector<plot::Rect> sides = plot::panels(area, 1, 2, 16);
  plot::Heatmap weights = square(look.weights, setting.name);
  weights.subtitle = formatted("weights A: %.0f rows dead, %.0f stuck", look.dead, look.stuck);
  plot::draw(canvas, sides[0], weights);
  plot::Heatmap gradient = square(look.gradient, "d loss / d A");
  gradient.subtitle = "blue: more wanted; clipped at ±0.08";
  gradient.colours = plot::ColourMap::blue_orange;
  gradient.high = 0.08;
  gradient.low = -0.08;
  plot::draw(canvas, sides[1], gradient);
}

// What a panel of curves shows of all settings.
struct Panel {
  double Look::* number;
  const char *title, *subtitle;
  double low, high;
  bool log, median;
};

// Up to step `last`; x is step + 1, for a log axis.
plot::LineChart curves(const Settings& settings, const Panel& panel, Index last) {
  plot::LineChart chart;
  chart.title = panel.title;
  chart.subtitle = panel.subtitle;
  chart.x_axis = {
      .name = "step + 1", .log = true, .low = 1, .high = double(last_step(settings) + 1)};
  chart.y_axis = {.name = "", .log = panel.log, .low = panel.low, .high = panel.high};
  for (const Setting& setting : settings) {
    plot::Series series{setting.short_name(), {}, {}};
    constexpr std::array colours = {2, 3, 5, 6};  // blue and orange are the maps'
    series.colour = plot::series_colour(colours[chart.series.size()]);
    for (Index step = 0; step <= last; ++step) {
      series.x.push_back(static_cast<double>(step + 1));
      const double y = panel.median ? setting.running_median(step, last, panel.number)
                                    : setting.mean(step, panel.number);
      series.y.push_back(std::max(panel.low, y));
    }
    series.markers = last == 0;
    series.dashed = chart.series.size() == 2;  // "small" would cover "scaled"
    chart.series.push_back(series);
  }
  return chart;
}

void draw_curves(plot::Canvas& canvas, plot::Rect area, const Settings& settings, Index last) {
  const Index rows = items(settings);
  const std::string of_rows = "of " + std::to_string(rows);
  const Panel list[] = {
      {&Look::loss, "Loss", "mean squared error", 0.001, 3, true, false},
      {&Look::entropy, "Entropy", "of the weights, nats", 0, 3, false, false},
      {&Look::by_w, "Gradient of W_Q, W_K", "running median", 1e-4, 20, true, true},
      {&Look::stuck, "Rows stuck", of_rows.c_str(), 0, double(rows), false, false}};
  const std::vector<plot::Rect> panels = plot::panels(area, 1, 4, 16);
  for (std::size_t i = 0; i < 4; ++i) {
    plot::draw(canvas, panels[i], curves(settings, list[i], last));
  }
}

// The next step of the film.
Index after(Index step) { return step + (step < 16 ? 1 : step < 40 ? 4 : step < 100 ? 10 : 25); }

double median_of(std::vector<double> numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace

std::string Setting::short_name() const { return name.substr(0, name.find(':')); }

double Setting::mean(Index first, Index last, double Look::* number) const {
  double sum = 0;
  for (const Film& film : films) {
    for (Index i = first; i <= last; ++i) sum += film[static_cast<std::size_t>(i)].*number;
  }
  return sum / static_cast<double>((last - first + 1) * std::ssize(films));
}

double Setting::median(Index first, Index last, double Look::* number) const {
  std::vector<double> all;
  for (const Film& film : films) {
    for (Index i = first; i <= last; ++i) all.push_back(film[static_cast<std::size_t>(i)].*number);
  }
  return median_of(all);
}

double Setting::running_median(Index step, Index last, double Look::* number) const {
  constexpr double reach = 1.3;
  std::vector<double> near;
  for (Index i = 0; i <= last; ++i) {
    const double ratio = static_cast<double>(i + 1) / static_cast<double>(step + 1);
    if (ratio < reach && ratio > 1 / reach) near.push_back(mean(i, number));
  }
  return median_of(near);
}

plot::Canvas frame(const Settings& settings, Index d_k, Index step, double scale) {
  plot::Canvas canvas(1240, 620, scale);
  const plot::Rect area = canvas.area().inset(12);
  canvas.text({area.x, area.y + 16},
              formatted("Step %lld. %lld queries, each should look at its own key; d_k = %lld "
                        "(curves: %zu seeds)",
                        static_cast<long long>(step), static_cast<long long>(items(settings)),
                        static_cast<long long>(d_k), settings[0].films.size()),
              {.size = 16, .bold = true});
  const std::vector<plot::Rect> top =
      plot::panels({area.x, area.y + 30, area.width, 276}, 1, 2, 24);
  for (std::size_t i = 0; i < 2; ++i) draw_maps(canvas, top[i], settings[i], step);
  draw_curves(canvas, {area.x, area.y + 316, area.width, area.height - 316}, settings, step);
  return canvas;
}

std::vector<plot::Canvas> frames(const Settings& settings, Index d_k) {
  std::vector<plot::Canvas> film;
  const Index last = last_step(settings);
  for (Index step = 0; step <= last; step = after(step)) {
    film.push_back(frame(settings, d_k, step, 1));
  }
  film.insert(film.begin(), 5, film.front());
  film.insert(film.end(), 12, frame(settings, d_k, last, 1));
  return film;
}

}  // namespace tapestry::scaling
