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
#include "texts.hpp"

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

std::vector<Table> each_of(const Asked& asked) {
  const TransformerOptions& o = asked.model().options;
  const PartFalls falls = tapestry::cut_each(asked.model(), asked.reading.ids, asked.question);
  return {{"heads", "layer", "head", numbered(o.num_layers), numbered(o.num_heads), falls.heads,
           "the answer falls by"},
          {"layers", "layer", "part", numbered(o.num_layers), {"attn", "mlp"}, falls.layers},
          {"positions", "position", "", asked.places(), {"fall"}, unsqueeze(falls.positions, 1)}};
}

void draw_each(const Findings& findings, const std::string& words, const std::string& subtitle,
               const CutOptions& options) {
  write_heatmap(findings.tables.front(), "Without each head: " + words, subtitle,
                options.path("cut"));
  write_files(findings, options);
}

void cut_each(const CutOptions& options) {
  const Asked asked = ask(options, Against::if_given);
  print_question(asked);
  flush();
  Findings findings = findings_of("cut", asked);
  findings.tables = each_of(asked);
  print("by how much the answer falls without\n\n");
  for (const Table& table : findings.tables) print_table(table);
  print_spread(findings.tables.front());
  draw_each(findings, asked.words, asked.subject.path.filename().string(), options);
}

void cut_each_of_many(const CutOptions& options) {
  const Many many = ask_many(options, {.places = options.position ? "--position" : ""},
                             [](Asked& asked, const Words&) { return each_of(asked); });
  const Findings findings = findings_of("cut", many);
  print_question(many);
  print("by how much the answer falls without\n\n");
  print_tables(many);
  print_spread(findings.tables.front());
  draw_each(findings, many.words, subtitle_of(many), options);
}

// ---- Parts that were named

struct Fall {
  std::string name;
  double value;
  RandomCuts random;
  double interval = NAN;  // of a mean over many texts, half the 95 % interval
};

void print_falls(const std::vector<Fall>& falls, Index draws) {
  const bool many = !falls.empty() && std::isfinite(falls.front().interval);
  print("without               falls by%s   at random     as far\n", many ? "       " : "");
  for (const Fall& fall : falls) {
    print("%s  %s%s   %s  %lld of %lld\n", left(fall.name, 20).c_str(),
          right(two_digits(fall.value), 8).c_str(),
          many ? left(formatted(" ±%.2f", fall.interval), 7).c_str() : "",
          left(spread_text(fall.random.spread), 12).c_str(), (long long)fall.random.as_far,
          (long long)draws);
  }
  print("\n%s\n\n",
        folded((many ? "All numbers are means over the texts; behind ± of a fall is half the 95 % "
                       "interval of the mean. "
                     : "") +
                   ("at random: as many others of the same kinds, drawn " + std::to_string(draws)) +
                   " times" + (many ? ", the same in each text" : "") +
                   ": mean and deviation. as far: how many of the draws change the answer at least "
                   "as far.",
               0)
            .c_str());
}

void draw_falls(const std::vector<Fall>& falls, const std::string& words,
                const std::string& subtitle, const Path& path) {
  plot::BarChart chart;
  chart.title = plot::fit_text("Without parts: " + words, 600, {.size = 18});
  chart.subtitle = subtitle;
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
  const bool many = !falls.empty() && std::isfinite(falls.front().interval);
  if (many) table.columns.push_back("interval");
  table.values = Tensor::empty({std::ssize(falls), std::ssize(table.columns)});
  for (std::size_t i = 0; i < falls.size(); ++i) {
    const RandomCuts& random = falls[i].random;
    const double row[] = {falls[i].value, random.spread.mean, random.spread.deviation,
                          static_cast<double>(random.as_far), falls[i].interval};
    table.rows.push_back(falls[i].name);
    for (Index j = 0; j < table.values.size(1); ++j) {
      table.values.set({static_cast<Index>(i), j}, row[j]);
    }
  }
  return table;
}

std::vector<ModelPart> parts_of(const CutOptions& options) {
  std::vector<ModelPart> parts;
  for (const std::string& name : options.parts) {
    const ModelPart part = parse_part(name);
    if (std::find(parts.begin(), parts.end(), part) != parts.end()) {
      throw Error(in_quotes(name) + " is named twice.");
    }
    parts.push_back(part);
  }
  return parts;
}

// Of each part, and of all together.
std::vector<Fall> falls_of(const Asked& asked, const std::vector<ModelPart>& parts,
                           const CutOptions& options) {
  std::vector<Fall> falls;
  const auto add = [&](const std::string& name, std::span<const ModelPart> some) {
    Random random(static_cast<std::uint64_t>(options.seed));
    const RandomCuts found = cut_at_random(asked.model(), asked.reading.ids, asked.question, some,
                                           options.draws, random);
    falls.push_back({name, found.fall, found});
  };
  for (const ModelPart& part : parts) add(to_string(part), {&part, 1});
  if (parts.size() > 1) add("together", parts);
  return falls;
}

void write_named(Findings& findings, const std::vector<Fall>& falls, const std::string& words,
                 const std::string& subtitle, const CutOptions& options) {
  print_falls(falls, options.draws);
  draw_falls(falls, words, subtitle, options.path("cut"));
  findings.tables.insert(findings.tables.begin(), table_of(falls));
  write_files(findings, options);
}

void cut_named(const CutOptions& options) {
  const std::vector<ModelPart> parts = parts_of(options);
  const Asked asked = ask(options, Against::if_given);
  const std::vector<Fall> falls = falls_of(asked, parts, options);
  print_question(asked);
  Findings findings = findings_of("cut", asked);
  write_named(findings, falls, asked.words, asked.subject.path.filename().string(), options);
}

// ---- The same in many texts, with the same draws in each

// Of one text: a row for each fall, its own number first and then those of the draws.
Table with_draws(const std::vector<Fall>& falls) {
  Table table{"with draws", "cut", "", {}, {"fall"}, {}};
  std::vector<Tensor> rows;
  for (const Fall& fall : falls) {
    table.rows.push_back(fall.name);
    rows.push_back(concat({Tensor({1}, {static_cast<real>(fall.value)}), fall.random.falls}, 0));
  }
  table.values = stack(rows, 0);  // (falls, 1 + draws)
  for (Index i = 1; i < table.values.size(1); ++i) {
    table.columns.push_back("draw " + std::to_string(i));
  }
  return table;
}

// From the means of such tables.
std::vector<Fall> mean_falls(const Table& means) {
  std::vector<Fall> falls;
  const Index columns = means.values.size(1);
  for (Index i = 0; i < means.values.size(0); ++i) {
    const Tensor row = squeeze(slice(means.values, 0, i, i + 1), 0);  // (1 + draws)
    Fall fall{means.rows[static_cast<std::size_t>(i)], double{row.at({0})}, {}};
    fall.interval = double{means.interval.at({i, 0})};
    fall.random.falls = slice(row, 0, 1, columns).contiguous();  // (draws)
    fall.random.spread = spread(fall.random.falls);
    for (const real other : fall.random.falls.values()) {
      const double far = fall.value < 0 ? -double{other} : double{other};
      if (far >= std::abs(fall.value)) ++fall.random.as_far;
    }
    falls.push_back(fall);
  }
  return falls;
}

// The first part that is a place of a text; "" without.
std::string place_among(const std::vector<ModelPart>& parts) {
  for (const ModelPart& part : parts) {
    if (part.kind == PartKind::position || part.kind == PartKind::link) return to_string(part);
  }
  return "";
}

void cut_named_in_many(const CutOptions& options) {
  const std::vector<ModelPart> parts = parts_of(options);
  const std::string places = options.position ? "--position" : place_among(parts);
  const Many many = ask_many(options, {.places = places}, [&](Asked& asked, const Words&) {
    return std::vector<Table>{with_draws(falls_of(asked, parts, options))};
  });
  print_question(many);
  Findings findings = findings_of("cut", many);
  write_named(findings, mean_falls(many.tables.front()), many.words, subtitle_of(many), options);
}

}  // namespace

void cut(const CutOptions& options) {
  const bool many = !options.texts.empty();
  if (options.parts.empty()) return many ? cut_each_of_many(options) : cut_each(options);
  many ? cut_named_in_many(options) : cut_named(options);
}

}  // namespace tapestry::command
