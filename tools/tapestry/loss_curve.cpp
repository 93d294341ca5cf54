#include "loss_curve.hpp"

#include <algorithm>
#include <cmath>

#include "screen.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/svg.hpp"

namespace tapestry::command {
namespace {

std::string name_of(const Run& run) { return "train_" + run.checkpoint.stem().string() + "_loss"; }

CsvLogOptions rows_to_keep(const Run& run) {
  if (run.adam.steps() == 0) return {.replace = true};
  return {.resume_after = double(run.adam.steps())};
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

Path LossCurve::csv_of(const Run& run, const PictureOptions& options) {
  return options.out / (name_of(run) + ".csv");
}

LossCurve::LossCurve(const Run& run, const PictureOptions& options)
    : csv_(csv_of(run, options)),
      picture_(options.path(name_of(run))),
      log_(csv_, {"step", "loss", "held_out_loss"}, rows_to_keep(run)) {}

void LossCurve::add(Index step, std::optional<double> loss, std::optional<double> held_out) {
  log_.row({double(step), loss, held_out});
}

void LossCurve::draw(const Run& run) const {
  const CsvTable table = read_csv(csv_);
  plot::LineChart chart{.title = "Learning " + printable(run.material.name)};
  chart.x_axis.name = "step";
  chart.y_axis.name = "loss (nats)";
  chart.series = {series(table, "loss", "each step's batch"),
                  series(table, "held_out_loss", run.material.test_is)};
  chart.series[1].markers = true;
  chart.reference_lines.push_back({.y = std::log(double(run.model.options.vocab_size)),
                                   .label = "guessing blindly",
                                   .colour = plot::theme::frame});
  if (run.material.best_loss > 0) {
    chart.reference_lines.push_back({.y = run.material.best_loss, .label = "the best possible"});
  }
  plot::write_picture(plot::render(chart), picture_);
}

}  // namespace tapestry::command
