// Step 13. Why divide by the square root of d_k?
//
// New here: the spread of a dot product grows like sqrt(d_k). What that does to the weights and to
// the gradient that passes softmax is measured; what it does to learning, in step 17.
// Writes out/plots/phase1_scaling.png; takes less than a second.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr int items = 16, queries = 512;
const std::vector<int> sizes = {8, 32, 128, 512};

struct Spread {
  double deviation;   // of the scores
  double largest;     // mean of each row's largest weight
  double at_score;    // mean |gradient| that reaches a score, through softmax
  double at_product;  // the same that reaches q k^T: divided once more where scores are
};

Spread measure(int d_k, bool scaled, std::uint64_t seed = 42) {
  Random random(seed);
  const Tensor q = random.normal({queries, d_k});  // (queries, d_k)
  const Tensor k = random.normal({items, d_k});    // (items, d_k)
  const double divisor = scaled ? std::sqrt(d_k) : 1;
  const Tensor scores = (matmul(q, transpose(k)) / divisor).clone();  // (queries, items)
  // The gradient that reaches the weights: (queries, items)
  const Tensor direction = random.normal(scores.shape());
  Tape tape({scores});
  const Tensor weights = softmax(scores);                          // (queries, items)
  const Tensor slope = tape.backward(weights, direction)[scores];  // (queries, items)
  const double at_score = mean(sqrt(slope * slope)).item();
  return {std::sqrt(var(scores).item()), mean(max(weights, -1)).item(), at_score,
          at_score / divisor};
}

plot::LineChart against_size(const std::string& title, const std::string& y_name, bool log_y) {
  plot::LineChart chart;
  chart.title = title;
  chart.x_axis = {.name = "d_k", .log = true, .low = {}, .high = {}};
  chart.y_axis = {.name = y_name, .log = log_y, .low = {}, .high = {}};
  return chart;
}

void measure_all(plot::LineChart& saturation, plot::LineChart& slopes) {
  std::printf("Random queries and keys, each element N(0, 1), %d keys\n", items);
  std::printf("             spread of    largest   gradient   gradient\n");
  std::printf("        d_k     scores     weight   at scores   at q k^T\n");
  for (const bool scaled : {false, true}) {
    plot::Series largest{scaled ? "scaled: divided by √d_k" : "raw: not divided", {}, {}};
    largest.markers = true;
    largest.dashed = !scaled;  // in both pictures
    // Raw is green and scaled pink in steps 17, 37 and 56, too.
    largest.colour = plot::series_colour(scaled ? 3 : 2);
    plot::Series slope = largest;
    for (const int d_k : sizes) {
      const Spread spread = measure(d_k, scaled);
      std::printf("%-7s %4d %9.2f %10.3f %11.5f %10.5f\n", scaled ? "scaled" : "raw", d_k,
                  spread.deviation, spread.largest, spread.at_score, spread.at_product);
      largest.x.push_back(d_k);
      largest.y.push_back(spread.largest);
      slope.x.push_back(d_k);
      slope.y.push_back(spread.at_score);
    }
    saturation.series.push_back(largest);
    slopes.series.push_back(slope);
  }
}

// The first two columns with ten other draws of the keys and queries: one draw may be an exception.
void other_draws() {
  std::printf("Ten other draws (seeds 1 to 10): mean, least and greatest\n");
  std::printf("        d_k    spread of scores       largest weight\n");
  for (const bool scaled : {false, true}) {
    for (const int d_k : sizes) {
      std::vector<double> deviations, largest;
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Spread spread = measure(d_k, scaled, seed);
        deviations.push_back(spread.deviation);
        largest.push_back(spread.largest);
      }
      std::printf("%-7s %4d", scaled ? "scaled" : "raw", d_k);
      for (std::vector<double>* of : {&deviations, &largest}) {
        std::sort(of->begin(), of->end());
        const double mean = std::accumulate(of->begin(), of->end(), 0.0) / 10;
        std::printf(of == &largest ? "  %7.3f %5.3f %5.3f" : "  %6.2f %5.2f %5.2f", mean,
                    of->front(), of->back());
      }
      std::printf("\n");
    }
  }
}

}  // namespace

int main() try {
  std::printf("Step 13: why scale (takes less than a second)\n\n");
  plot::LineChart saturation = against_size("Mean of the largest weight", "weight", false);
  plot::LineChart slopes = against_size("Gradient at the scores", "mean |gradient|", true);
  saturation.y_axis.low = 0;
  saturation.y_axis.high = 1;
  measure_all(saturation, slopes);
  other_draws();

  plot::Canvas canvas(1040, 460);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], saturation);
  plot::draw(canvas, panels[1], slopes);
  plot::write_png(canvas, "out/plots/phase1_scaling.png");
  std::printf("\nwrote out/plots/phase1_scaling.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
