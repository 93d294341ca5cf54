#include "loss_curve.hpp"

#include <algorithm>
#include <cmath>

#include "screen.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/svg.hpp"

namespace tapestry::command {
namespace {

std::string name_of(const Learning& learning) { return "train_" + learning.name + "_loss"; }

CsvLogOptions rows_to_keep(const Learning& learning) {
  if (learning.steps_before == 0) return {.replace = true};
  return {.resume_after = double(learning.steps_before)};
}

// The points that have a value; if more than a thousand, means of neighbours.
plot::Series series(const CsvTable& table, const char* column, const std::string& name) {
  constexpr std::size_t most = 1000;
  const std::vector<double> steps = table.column("step"), values = table.column(column);
  plot::Series all{name, {}, {}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::isnan(values[i])) continue;
    all.x.push_back(steps[i]);
    all.y.push_back(values[i]);
  }
  const std::size_t group = (all.x.size() + most - 1) / most;
  plot::Series some{name, {}, {}};
  for (std::size_t first = 0; first < all.x.size(); first += group) {
    const std::size_t count = std::min(group, all.x.size() - first);
    double x = 0, y = 0;
    for (std::size_t i = first; i < first + count; ++i) x += all.x[i], y += all.y[i];
    some.x.push_back(x / double(count));
    some.y.push_back(y / double(count));
  }
  return some;
}

}  // namespace

Learning learning_of(const Run& run) {
  return {run.checkpoint.stem().string(), run.material.name,
          run.material.test_is,           std::log(double(run.model.options.vocab_size)),
          run.material.best_loss,         run.adam.steps()};
}

Path LossCurve::csv_of(const Learning& learning, const PictureOptions& options) {
  return options.out / (name_of(learning) + ".csv");
}

LossCurve::LossCurve(const Learning& learning, const PictureOptions& options)
    : learning_(learning),
      csv_(csv_of(learning, options)),
      picture_(options.path(name_of(learning))),
      log_(csv_, {"step", "loss", "held_out_loss"}, rows_to_keep(learning)) {}

void LossCurve::add(Index step, std::optional<double> loss, std::optional<double> held_out) {
  log_.row({double(step), loss, held_out});
}

void LossCurve::draw() const {
  const CsvTable table = read_csv(csv_);
  plot::LineChart chart{.title = "Learning " + printable(learning_.what)};
  chart.x_axis.name = "step";
  chart.y_axis.name = "loss (nats)";
  chart.series = {series(table, "loss", "each step's batch"),
                  series(table, "held_out_loss", learning_.test_is)};
  chart.series[1].markers = true;
  chart.reference_lines.push_back(
      {.y = learning_.blindly, .label = "guessing blindly", .colour = plot::theme::frame});
  if (learning_.best > 0) {
    chart.reference_lines.push_back({.y = learning_.best, .label = "the best possible"});
  }
  plot::write_picture(plot::render(chart), picture_);
}

}  // namespace tapestry::command
