// `tapestry analyze`: attention weights and patterns of a model on a text.
#include <algorithm>
#include <utility>

#include "commands.hpp"
#include "findings.hpp"
#include "heads.hpp"
#include "measures.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/csv.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/svg.hpp"

namespace tapestry::command {
namespace {

std::string link_text(const Link& link, const Words& words) {
  const auto word = [&](Index place) {
    return words[static_cast<std::size_t>(place)] + "@" + std::to_string(place);
  };
  return word(link.query) + " → " + word(link.key);
}

void print_introduction(const Subject& subject, const Reading& reading) {
  print("%s\n", folded("model: " + subject.path.string(), 7).c_str());
  print("       %s\n", folded(subject.description, 7).c_str());
  print("text:  %s\n\n", folded(reading.text, 7).c_str());
}

// One line for each head.
void print_summary(const std::vector<Head>& heads, const Words& words, bool causal) {
  print("             entropy          distance\n");
  print("layer head   (nats)  even   (words)  even   strongest link\n");
  for (const Head& head : heads) {
    const Measures m = measure(head.weights, head.mask);
    print("%5lld %4lld   %6.2f %5.2f   %7.2f %5.2f   ", (long long)head.layer,
          (long long)head.number, m.entropy, m.even_entropy, m.distance, m.even_distance);
    for (const Link& link : strongest_links(head.weights, 1, causal)) {
      print("%s %4.2f", left(link_text(link, words), 30).c_str(), link.weight);
    }
    print("\n");
  }
  print("\n%s\n\n", folded("even: for equal weights. Entropy 0: all weight on one word. A word "
                           "that sees less than three has no choice, and no link.",
                           0)
                        .c_str());
}

// The numbers of the summary, all digits; the cells of a link are empty where it prints none.
void write_table(const std::vector<Head>& heads, bool causal, const Path& path) {
  CsvTable table{{"layer", "head", "entropy", "even entropy", "distance", "even distance",
                  "link query", "link key", "link weight"},
                 {}};
  for (const Head& head : heads) {
    const Measures m = measure(head.weights, head.mask);
    CsvRow row = {double(head.layer), double(head.number), m.entropy,
                  m.even_entropy,     m.distance,          m.even_distance};
    for (const Link& link : strongest_links(head.weights, 1, causal)) {
      row.insert(row.end(), {double(link.query), double(link.key), link.weight});
    }
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  write_csv(path, table);
}

// Where place and letter disagree, for heads that may pass for induction.
void print_disagreement(const Detected& found, const std::vector<Head>& heads) {
  bool any = false;
  for (const Head& head : heads) {
    for (const Evidence& one : found[std::size_t(head.layer)][std::size_t(head.number)]) {
      if (one.pattern != Pattern::induction || !(one.score.mean >= 0.5)) continue;
      if (!any) print("induction or place? the shuffled text, where the two disagree\n");
      any = true;
      print("%5lld %4lld   behind the same word %s, at its old place %s\n", (long long)head.layer,
            (long long)head.number, score_text(one.letter).c_str(), score_text(one.place).c_str());
    }
  }
  if (any) print("\n");
}

void print_name(const Detected& found, const Head& head, const Cuts& cuts) {
  const auto layer = std::size_t(head.layer), number = std::size_t(head.number);
  print("name: %s\n", head_name(found[layer][number]).c_str());
  if (cuts.word.empty()) return;
  print("without it, ln(chance) of \"%s\" falls by %.2f; without all of its layer, %.2f\n",
        cuts.word.c_str(), double{cuts.heads.at({head.layer, head.number})},
        double{cuts.layers.at({head.layer, 0})});
}

void print_cuts(const Cuts& cuts) {
  if (cuts.word.empty()) return;
  std::string text = "cut: by how much ln(chance) of \"" + cuts.word +
                     "\", the likeliest word, falls without the head.";
  for (Index l = 0; l < cuts.layers.size(0); ++l) {
    text += formatted(" All of layer %lld: %.2f.", (long long)l, double{cuts.layers.at({l, 0})});
  }
  print("%s\n\n", folded(text, 0).c_str());
}

void print_links(const std::vector<Head>& heads, const Words& words, bool causal) {
  struct Found {
    const Head* head;
    Link link;
  };
  std::vector<Found> all;
  for (const Head& head : heads) {
    for (const Link& link : strongest_links(head.weights, 10, causal)) all.push_back({&head, link});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Found& a, const Found& b) { return a.link.weight > b.link.weight; });
  print("strongest links (query → key)\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 10); ++i) {
    print("  %s  %4.2f   %s\n", left(link_text(all[i].link, words), 40).c_str(), all[i].link.weight,
          all[i].head->name().c_str());
  }
  print("\n");
}

Tensor mean_of(const std::vector<Head>& heads) {
  std::vector<Tensor> maps;
  for (const Head& head : heads) maps.push_back(head.weights);
  return mean(stack(maps, 0), 0);
}

// Cells that no query sees are crossed out: in a decoder the later keys.
plot::Heatmap map_of(const Tensor& weights, const Words& words, const Mask& mask,
                     const std::string& title) {
  plot::Heatmap map = attention_heatmap(weights, words, words, title);
  const bool all = mask.allows_everything();
  for (Index i = 0; !all && i < map.rows * map.columns; ++i) {
    map.masked.push_back(!mask.allows(0, i / map.columns, i % map.columns));
  }
  return map;
}

// Their maps must be small, and have short names.
bool is_crowded(const std::vector<Head>& heads) { return heads.size() > 36; }

plot::HeatmapGrid grid_of(const std::vector<Head>& heads, const Words& words) {
  plot::HeatmapGrid grid;
  grid.title = "Who attends to whom";
  grid.columns = std::count_if(heads.begin(), heads.end(),
                               [&](const Head& head) { return head.layer == heads.front().layer; });
  for (const Head& head : heads) {
    const std::string short_name = std::to_string(head.layer) + "." + std::to_string(head.number);
    grid.maps.push_back(
        map_of(head.weights, words, head.mask, is_crowded(heads) ? short_name : head.name()));
  }
  return grid;
}

// The files that it wrote.
std::vector<Path> write_pictures(const std::vector<Head>& heads, const Words& words, bool causal,
                                 const AnalyzeOptions& options) {
  const std::string model = printable(
      (options.checkpoint.empty() ? options.model : options.checkpoint).filename().string());
  const std::string title = heads.size() == 1
                                ? heads.front().name()
                                : "mean of " + std::to_string(heads.size()) + " heads";
  const std::vector<Path> files = {options.path("analyze_heatmap"), options.path("analyze_grid"),
                                   options.path("analyze_flow")};
  const Tensor weights = mean_of(heads);
  const double scale = words.size() > 48 ? 1 : 2;  // of pictures that are large anyway
  plot::Heatmap map = map_of(weights, words, causal ? Mask::causal() : Mask(), title);
  plot::HeatmapGrid grid = grid_of(heads, words);
  map.subtitle = grid.subtitle = model;
  if (is_crowded(heads)) grid.subtitle += ": layer.head";
  plot::write_picture(plot::render(map, std::nullopt, scale), files[0]);
  plot::write_picture(plot::render(grid, is_crowded(heads) ? 70 : 150), files[1]);
  plot::Flow flow{.queries = words, .keys = words, .weights = doubles(weights)};
  for (double& weight : flow.weights) weight = std::clamp(weight, 0.0, 1.0);  // rounding
  flow.title = title;
  flow.subtitle = model;
  plot::write_picture(plot::render(flow, 640, scale), files[2]);
  return files;
}

void check_pattern_is_used(const Subject& subject, const AnalyzeOptions& options) {
  const TransformerOptions& model = subject.model.options();
  const bool single =
      (options.layer >= 0 || model.num_layers == 1) && (options.head >= 0 || model.num_heads == 1);
  if (!single || options.pattern.empty()) return;
  throw Error(
      "--pattern is for several heads: of a single head all patterns are shown. Leave the option "
      "out.");
}

}  // namespace

void analyze(const AnalyzeOptions& options) {
  check_file("--table", options.table, options);
  const Subject subject = read_subject(options);
  check_layer(subject, std::max<Index>(options.layer, 0));
  check_head(subject, std::max<Index>(options.head, 0));
  check_pattern_is_used(subject, options);
  const Reading reading = read_text_for(subject, options.text);
  const Detected detected = detect(subject, reading.ids);
  const Cuts cuts = cuts_of(subject, reading.ids);
  const Capture seen;
  const Tensor logits = subject.model(reading.ids, {.need_weights = true});
  const std::vector<Head> heads = heads_of(subject, seen, options.layer, options.head);
  const bool causal = subject.model.options().is_causal;
  // First the file whose name is the user's: it may be refused, and then nothing is left behind.
  if (!options.table.empty()) write_table(heads, causal, options.table);
  std::vector<Path> written = write_pictures(heads, reading.labels, causal, options);
  if (!options.table.empty()) written.push_back(options.table);
  print_introduction(subject, reading);
  print_summary(heads, reading.labels, causal);
  print_detectors(detected, heads, cuts, options.pattern);
  print_disagreement(detected, heads);
  heads.size() == 1 ? print_name(detected, heads.front(), cuts) : print_cuts(cuts);
  print_legend(baselines_of(subject.model));
  if (heads.size() == 1) print_map(heads.front(), reading.labels);
  print_links(heads, reading.labels, causal);
  print_guesses(subject, reading, logits);
  for (const Path& path : written) print("wrote %s\n", path.c_str());
}

}  // namespace tapestry::command
