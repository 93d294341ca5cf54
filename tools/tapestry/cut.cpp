// `tapestry cut`: by how much an answer falls without parts of the model.
#include <algorithm>
#include <cmath>

#include "asking.hpp"
#include "screen.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/svg.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

std::string spread_text(const Spread& spread) {
  return two_digits(spread.mean) + formatted(" ±%.2f", spread.deviation);
}

// ---- Each part alone

void print_spread(const Table& table) {
  const Spread all = spread(table.values);
  print("%s\n\n", folded("Mean and deviation over the single " + table.name + ": " +
                             spread_text(all) + ". Compare each with them.",
                         0)
                      .c_str());
}

void cut_each(const Asked& asked, const CutOptions& options) {
  const Transformer& model = asked.model();
  const Indices& ids = asked.reading.ids;
  const TransformerOptions& o = model.options;
  print_question(asked);
  flush();
  Findings findings = findings_of("cut", asked);
  const PartFalls falls = tapestry::cut_each(model, ids, asked.question);
  findings.tables = {
      {"heads", "layer", "head", numbered(o.num_layers), numbered(o.num_heads), falls.heads},
      {"layers", "layer", "part", numbered(o.num_layers), {"attn", "mlp"}, falls.layers},
      {"positions", "position", "", asked.places(), {"fall"}, unsqueeze(falls.positions, 1)}};
  findings.tables.front().unit = "the answer falls by";
  print("by how much the answer falls without\n\n");
  for (const Table& table : findings.tables) print_table(table);
  print_spread(findings.tables.front());
  write_heatmap(findings.tables.front(), "Without each head: " + asked.words,
                asked.subject.path.filename().string(), options.path("cut"));
  write_files(findings, options);
}

// ---- Parts that were named

struct Fall {
  std::string name;
  double value;
  RandomCuts random;
};

void print_falls(const std::vector<Fall>& falls, Index draws) {
  print("without               falls by   at random     as far\n");
  for (const Fall& fall : falls) {
    print("%s  %s   %s  %lld of %lld\n", left(fall.name, 20).c_str(),
          right(two_digits(fall.value), 8).c_str(),
          left(spread_text(fall.random.spread), 12).c_str(), (long long)fall.random.as_far,
          (long long)draws);
  }
  print("\n%s\n\n",
        folded("at random: as many others of the same kinds, drawn " + std::to_string(draws) +
                   " times: mean and deviation. as far: how many of the draws change "
                   "the answer at least as far.",
               0)
            .c_str());
}

void draw_falls(const std::vector<Fall>& falls, const Asked& asked, const Path& path) {
  plot::BarChart chart;
  chart.title = plot::fit_text("Without parts: " + asked.words, 600, {.size = 18});
  chart.subtitle = asked.subject.path.filename().string();
  chart.label_axis = "cut";
  chart.y_axis.name = "the answer falls by";
  plot::BarSeries found{"these", {}, {}}, random{"at random (mean)", {}, {}};
  for (const Fall& fall : falls) {
    chart.labels.push_back(fall.name);
    found.values.push_back(fall.value);
    random.values.push_back(fall.random.spread.mean);
  }
  chart.series = {found, random};
  plot::write_picture(plot::render(chart), path);
  print("wrote %s\n", path.c_str());
}

Table table_of(const std::vector<Fall>& falls) {
  Table table{"falls", "cut", "", {}, {"fall", "random mean", "random deviation", "as far"}, {}};
  table.values = Tensor::empty({std::ssize(falls), 4});
  for (std::size_t i = 0; i < falls.size(); ++i) {
    const RandomCuts& random = falls[i].random;
    const double row[] = {falls[i].value, random.spread.mean, random.spread.deviation,
                          static_cast<double>(random.as_far)};
    table.rows.push_back(falls[i].name);
    for (Index j = 0; j < 4; ++j) table.values.set({static_cast<Index>(i), j}, row[j]);
  }
  return table;
}

void cut_named(const Asked& asked, const CutOptions& options) {
  std::vector<ModelPart> parts;
  for (const std::string& name : options.parts) {
    const ModelPart part = parse_part(name);
    if (std::find(parts.begin(), parts.end(), part) != parts.end()) {
      throw Error(in_quotes(name) + " is named twice.");
    }
    parts.push_back(part);
  }
  std::vector<Fall> falls;
  const auto add = [&](const std::string& name, std::span<const ModelPart> some) {
    Random random(static_cast<std::uint64_t>(options.seed));
    const RandomCuts found = cut_at_random(asked.model(), asked.reading.ids, asked.question, some,
                                           options.draws, random);
    falls.push_back({name, found.fall, found});
  };
  for (const ModelPart& part : parts) add(to_string(part), {&part, 1});
  if (parts.size() > 1) add("together", parts);
  print_question(asked);
  print_falls(falls, options.draws);
  draw_falls(falls, asked, options.path("cut"));
  Findings findings = findings_of("cut", asked);
  findings.tables = {table_of(falls)};
  write_files(findings, options);
}

}  // namespace

void cut(const CutOptions& options) {
  const Asked asked = ask(options, Against::if_given);
  options.parts.empty() ? cut_each(asked, options) : cut_named(asked, options);
}

}  // namespace tapestry::command
