// `tapestry analyze`: attention weights and patterns of a model on a text.
#include <algorithm>
#include <cmath>

#include "commands.hpp"
#include "cuts.hpp"
#include "detectors.hpp"
#include "measures.hpp"
#include "screen.hpp"
#include "subject.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/ascii.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/svg.hpp"

namespace tapestry::command {
namespace {

struct Head {
  Index layer, number;
  Tensor weights;  // (queries, keys)
  Mask mask;

  std::string name() const {
    return "layer " + std::to_string(layer) + ", head " + std::to_string(number);
  }
};

std::vector<Head> heads_asked_for(const Subject& subject, const Capture& seen, Index layer,
                                  Index head) {
  const TransformerOptions& o = subject.model.options();
  constexpr Index most = 64;  // shown in one picture
  if ((layer < 0 && o.num_layers > most) || (head < 0 && o.num_heads > most)) {
    throw Error(subject.description +
                ": too many for one picture; choose with --layer and --head.");
  }
  std::vector<Head> heads;
  for (Index l = layer < 0 ? 0 : layer; l < (layer < 0 ? o.num_layers : layer + 1); ++l) {
    const Tensor all = seen["blocks." + std::to_string(l) + ".attention.weights"];
    const Mask mask = mask_of(subject.model.attention(l));
    for (Index h = head < 0 ? 0 : head; h < (head < 0 ? o.num_heads : head + 1); ++h) {
      heads.push_back({l, h, of_head(all, h).contiguous(), mask});
    }
  }
  return heads;
}

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

std::string score_text(const Spread& s) {
  if (s.count == 0) return "-";  // no row counts for the pattern
  if (s.count == 1) return formatted("%.2f", s.mean);
  return formatted("%.2f ±%.2f", s.mean, s.deviation);
}

std::string pattern_text(const Evidence& one) {
  return to_string(one.pattern) + (one.offset == 0 ? "" : " " + std::to_string(one.offset));
}

void print_score(const std::string& name, const Evidence& one) {
  print("%s %5s  %s  %s  %s", left(name, 22).c_str(), score_text(one.score).c_str(),
        left(score_text(one.untrained), 10).c_str(), left(score_text(one.shuffled), 10).c_str(),
        std::isnan(one.uniform) ? "   -" : score_text({one.uniform, 0, 1}).c_str());
}

// The pattern that was asked for, or else the one that the name is about; of a head without a name
// the one that comes closest.
const Evidence& shown_pattern(const std::vector<Evidence>& scores, const std::string& name,
                              const std::string& asked) {
  for (const Evidence& one : scores) {
    if (to_string(one.pattern) == asked) return one;
    if (!asked.empty()) continue;
    const bool by_place = name == "by place" && one.pattern == Pattern::induction;
    if (by_place || name == pattern_text(one)) return one;
  }
  return best_pattern(scores);
}

// All patterns of one head; of several heads one each, with the name that it deserves.
void print_detectors(const Detected& found, const std::vector<Head>& heads, const Cuts& cuts,
                     const std::string& asked) {
  const bool several = heads.size() > 1, has_cuts = several && !cuts.word.empty();
  if (several && !asked.empty()) {
    print("scores of the pattern \"%s\", and the name of each head\n", asked.c_str());
  }
  print("layer head   %s  text  untrained   shuffled    even%s\n",
        left(several ? asked.empty() ? "name (best pattern)" : "name" : "pattern", 22).c_str(),
        has_cuts ? "     cut" : "");
  for (const Head& head : heads) {
    const auto layer = std::size_t(head.layer), number = std::size_t(head.number);
    const std::vector<Evidence>& scores = found[layer][number];
    const std::string name = head_name(scores);
    for (const Evidence& one : scores) {
      if (several && &one != &shown_pattern(scores, name, asked)) continue;
      const std::string text = pattern_text(one);
      print("%5zu %4zu   ", layer, number);
      const bool both = several && asked.empty() && name != text;
      print_score(both ? name + " (" + text + ")" : several ? name : text, one);
      print("%s\n",
            has_cuts
                ? formatted("  %6.2f", double{cuts.heads.at({head.layer, head.number})}).c_str()
                : "");
    }
  }
  print("\n");
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

void print_legend(int baselines) {
  print("%s\n\n",
        folded(formatted("Scores from 0 to 1. untrained: %d models of this size with random "
                         "weights. shuffled: this model, the first words in %d random orders. "
                         "even: equal weights. A name takes one half, and %.1f above untrained and "
                         "even; else \"none\". One text is little evidence: see `make run-33`.",
                         baselines, baselines, naming_margin),
               0)
            .c_str());
}

void print_map(const Head& head, const Words& words) {
  print("%s: each row a query, each column a key\n%s\n", head.name().c_str(),
        plot::matrix_with_words(doubles(head.weights), words, words).c_str());
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

// "cat 0.31, dog 0.22, ...": the five likeliest by logits (length, vocabulary) at a position.
std::string likeliest(const Subject& subject, const Tensor& logits, Index place) {
  const Tensor shares = softmax(squeeze(slice(logits, 0, place, place + 1), 0));
  std::string text;
  for (const Link& link : strongest_links(unsqueeze(shares, 0), 5, false)) {
    text += (text.empty() ? "" : ", ") + subject.word(static_cast<std::int32_t>(link.key)) +
            formatted(" %.2f", link.weight);
  }
  return text;
}

// The model's prediction after the text, or for each <mask>, as it was trained.
void print_guesses(const Subject& subject, const Reading& reading, const Tensor& logits) {
  const Index length = reading.ids.shape[0];
  const Guess guess = subject.guess;
  for (Index place = 0; place < length; ++place) {
    const bool hidden =
        guess == Guess::hidden_word && reading.ids.values[std::size_t(place)] == Vocabulary::mask;
    const bool next = guess == Guess::next_word && place + 1 == length;
    if (!hidden && !next) continue;
    const std::string what = next ? "next: " : "<mask>@" + std::to_string(place) + ": ";
    print("%s\n\n", folded(what + likeliest(subject, logits, place), 7).c_str());
  }
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

}  // namespace

void analyze(const AnalyzeOptions& options) {
  const Subject subject = read_subject(options);
  check_layer(subject, std::max<Index>(options.layer, 0));
  check_head(subject, std::max<Index>(options.head, 0));
  const Reading reading = read_text_for(subject, options.text);
  const Detected detected = detect(subject, reading.ids);
  const Cuts cuts = cuts_of(subject, reading.ids);
  const Capture seen;
  const Tensor logits = subject.model(reading.ids, {.need_weights = true});
  const std::vector<Head> heads = heads_asked_for(subject, seen, options.layer, options.head);
  const bool causal = subject.model.options().is_causal;
  const auto written = write_pictures(heads, reading.labels, causal, options);
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
